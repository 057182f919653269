"""Files are written completely or not at all, by one process at a time."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pueval import InputError
from pueval._writing import TEMPORARY, atomic_path, lock_path, open_atomic


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_file_of_a_killed_process_is_removed_by_the_next(tmp_path):
    path = tmp_path / "out.csv"
    code = (
        "import os, sys\n"
        "from pueval._writing import atomic_path\n"
        "with atomic_path(sys.argv[1]) as name:\n"
        "    open(name, 'w').write('half')\n"
        "    os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == 9
    assert len(names(tmp_path)) == 1
    with open_atomic(path) as stream:
        stream.write("whole")
    assert names(tmp_path) == ["out.csv"]
    assert path.read_text() == "whole"


def test_files_in_use_are_kept(tmp_path):
    """Two writers of one file do not remove each other's temporary file."""
    path = tmp_path / "out.csv"
    with atomic_path(path) as first:
        Path(first).write_text("first")
        with atomic_path(path) as second:
            Path(second).write_text("second")
            assert Path(first).exists()
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert names(tmp_path) == ["out.csv"]


def test_only_own_names_are_removed(tmp_path):
    path, target = tmp_path / "out.csv", tmp_path / "notes.txt"
    target.write_text("keep")
    (tmp_path / f".out.csv.link{TEMPORARY}").symlink_to(target)
    (tmp_path / f".other.csv.x{TEMPORARY}").write_text("of another file")
    os.mkfifo(tmp_path / f".out.csv.pipe{TEMPORARY}")
    with open_atomic(path) as stream:
        stream.write("whole")
    assert target.read_text() == "keep"
    assert f".other.csv.x{TEMPORARY}" in names(tmp_path)


def test_many_writers_at_once(tmp_path):
    path = tmp_path / "out.txt"

    def write(number):
        with open_atomic(path) as stream:
            stream.write(f"{number}" * 1000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [k % 10 for k in range(200)]))
    assert len(set(path.read_text())) == 1
    assert names(tmp_path) == ["out.txt"]


def test_lock_admits_one_at_a_time(tmp_path):
    path = tmp_path / "number"
    path.write_text("0")

    def add_one(_):
        with lock_path(path):
            number = int(path.read_text())
            time.sleep(0.001)
            path.write_text(str(number + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(100)))
    assert path.read_text() == "100"
    assert names(tmp_path) == ["number"]


def test_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "number"
    code = (
        "import os, sys\n"
        "from pueval._writing import lock_path\n"
        "with lock_path(sys.argv[1]):\n"
        "    os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert names(tmp_path) == [".number.lock"]
    done = threading.Event()

    def lock():
        with lock_path(path):
            done.set()

    threading.Thread(target=lock, daemon=True).start()
    assert done.wait(10)


def test_lock_in_a_folder_that_does_not_exist(tmp_path):
    message = "does not exist. Create it first"
    with pytest.raises(InputError, match=message), lock_path(tmp_path / "no" / "number"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_copy_of_standard_input_is_removed_on_a_signal(tmp_path):
    command = [sys.executable, "-m", "pueval", "evaluate", "-", "--label", "y", "--score", "s"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        process.stdin.write(b"y,s\n1,0.5\n")
        process.stdin.flush()
        while process.poll() is None and not any(tmp_path.glob("pueval-stdin-*/*")):
            time.sleep(0.01)
        process.terminate()
        assert process.wait(60) == 143
    assert names(tmp_path) == []
