import pytest

from askone.cli.main import main
from askone.paper.strategies import CONTENDERS, measured, rows_of
from commands import ask


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("campaigns", "askone: stopped\n"),
        ("strategies", "askone: stopped; what was finished is written\n"),
        ("reproduce", "askone: stopped; what was finished is written\n"),
    ],
)
def test_a_stop_promises_only_what_is_kept(command, said, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"askone.cli.main.run_{command}", stop)
    arguments = {"strategies": ["strategies", "--data", "digits"], "campaigns": ["demo"]}
    assert main(arguments.get(command, [command])) == 130
    assert capsys.readouterr().err == said


def test_version_and_usage(capsys):
    for arguments, status in ((["--version"], 0), (["nonsense"], 2)):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == status
    assert "askone 0." in capsys.readouterr().out
    assert main([]) == 2
    assert "make a campaign from a table" in capsys.readouterr().out


def test_strategies_are_compared_and_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("askone.paper.strategies.CONTENDERS", CONTENDERS[:1] + CONTENDERS[3:4] + CONTENDERS[11:13])
    arguments = ["--data", "digits", "--questions", "120", "--repeats", "2", "--out", str(tmp_path / "new")]
    assert main(["strategies", *arguments]) == 0
    table = (tmp_path / "new" / "strategies.md").read_text()
    assert "| likelihood (default) | one bit |" in table
    assert table.count("±") == 4
    lines = (tmp_path / "new" / "strategies.csv").read_text().splitlines()
    assert lines[0] == "strategy,asks,repeat,questions,test_error"
    assert len(lines) == 1 + 4 * 2
    assert all(0 <= float(line.split(",")[-1]) <= 1 for line in lines[1:])
    assert "strategies.md" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "mnist"], "data must be one of: 'pendigits', 'usps', 'usps-libsvm', 'digits'"),
        (["--data", "pendigits", "--directory", "/nowhere"], "directory must be"),
        (["--data", "digits", "--repeats", "0"], "repeats must be a whole number"),
        (["--data", "digits", "--questions", "3"], "questions must be a whole number"),
    ],
)
def test_bad_comparisons(options, message, tmp_path):
    assert message in ask("strategies", "--out", str(tmp_path), *options, status=2).err
    assert not list(tmp_path.iterdir())


def test_every_contender_learns_the_digits():
    """On the images that come with scikit-learn: all are far better than guessing after 500 questions."""
    rows = rows_of("digits")
    for contender in CONTENDERS:
        (error,) = measured(contender, rows, (500,), 0)
        weak = contender.name in ("min-max game", "passive sets, infimum loss", "coordinates, l1")
        assert error < (0.75 if weak else 0.35), contender  # guessing errs on nine in ten
