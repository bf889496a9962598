"""A file appears whole or not at all."""

import os
import stat
import threading

import pytest

from askone._common.atomic_write import atomic_write, write_text
from waiting import HANGS


def test_what_was_there_stays_until_all_of_the_new_is(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "öld")
    with atomic_write(str(path)) as out:
        out.write(b"new")
        assert path.read_text(encoding="utf-8") == "öld"
    assert path.read_bytes() == b"new"
    with pytest.raises(TypeError), atomic_write(path) as out:
        out.writelines([b"half", None])
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_two_may_write_at_a_time(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as first:
        with atomic_write(path) as second:
            second.write(b"second")
        first.write(b"first")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_modes_links_and_pipes(tmp_path):
    path, link, pipe = tmp_path / "a", tmp_path / "link", tmp_path / "pipe"
    umask = os.umask(0o027)
    try:
        write_text(path, "new")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    write_text(link, "through the link")
    assert link.is_symlink()
    assert path.read_text() == "through the link"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "into the pipe")
    reader.join(HANGS)
    assert read == ["into the pipe"]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_private_file_is_never_readable_by_others_and_no_planted_link_is_followed(tmp_path, monkeypatch):
    path, victim = tmp_path / "backup.zip", tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "backup.zip.partial").symlink_to(victim)
    path.write_text("an old one that all may read")
    path.chmod(0o644)
    with atomic_write(path, private=True) as out:
        out.write(b"secret")
        assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.glob("backup.zip.*.partial")} == {0o600}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setattr("askone._common.atomic_write.secrets.token_hex", lambda _: "guessed")
    (tmp_path / "backup.zip.guessed.partial").symlink_to(victim)
    with pytest.raises(FileExistsError), atomic_write(path) as out:
        out.write(b"x")
    assert (victim.read_text(), path.read_bytes()) == ("mine", b"secret")


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/a'$"):  # and not what it is called until all is there
        write_text(tmp_path / "nowhere" / "a", "text")
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "text")
