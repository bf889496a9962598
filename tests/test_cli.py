import pytest

from askone.cli import main


def test_the_demo_prints_a_table(capsys):
    assert main(["demo", "--questions", "100", "--repeats", "2"]) == 0
    out = capsys.readouterr().out
    assert "Algorithm 1" in out
    assert "passive" in out
    assert "label" in out
    assert "100" in out


@pytest.mark.parametrize("option", [["--questions", "3"], ["--repeats", "0"]])
def test_bad_numbers(option, capsys):
    assert main(["demo", *option]) == 2
    assert "must be a whole number" in capsys.readouterr().err


def test_version_and_usage(capsys):
    for arguments, status in ((["--version"], 0), ([], 2), (["nonsense"], 2)):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == status
    assert "askone 0." in capsys.readouterr().out
