# SPDX-License-Identifier: Apache-2.0
"""The README promises only what is there: its commands exist, its Python runs, its table is the record's."""

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest

from beatmatch import cli
from tb.toolchain import ROOT

README = (ROOT / "README.md").read_text()
MEASURE = [sys.executable, str(ROOT / "tools/measure_presets.py")]


def blocks(language: str) -> list[str]:
    """Code blocks of the README in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def commands() -> list[list[str]]:
    """Shell commands of the README, inline ones that start with make or beatmatch included."""
    lines = [line.split(" # ")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    lines += re.findall(r"`((?:make|beatmatch) [^`]+)`", README)
    return [shlex.split(line.replace("<run>", "run")) for line in lines if line.strip()]


def test_there_are_commands():
    assert ["make", "demo"] in commands() and ["make", "test"] in commands()


def test_every_make_target_exists():
    targets = set(re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text()))
    used = {word for command in commands() if command[0] == "make" for word in command[1:] if "=" not in word}
    assert used - targets == set()


def test_every_variable_of_make_is_explained():
    explained = set(re.findall(r"(?m)^#   (\w+)=", (ROOT / "Makefile").read_text()))
    used = {word.split("=")[0] for command in commands() if command[0] == "make" for word in command[1:] if "=" in word}
    assert used - explained == set()


def test_every_module_of_make_is_there():
    modules = re.findall(r"\$\(RUN_MODULE\) ([\w.]+)", (ROOT / "Makefile").read_text())
    assert len(modules) >= 8
    assert [name for name in modules if find_spec(name) is None] == []


def test_every_beatmatch_command_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = [command[1:] for command in commands() if command[0] == "beatmatch" and len(command) > 2]
    assert len(found) >= 5
    for arguments in found:
        if arguments[0] != "lockstep" and "--prove" not in arguments:  # a simulator's work has tests of its own
            assert cli.main(arguments) == 0, arguments


@pytest.mark.parametrize("code", blocks("python"))
def test_the_python_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert "exact" in capsys.readouterr().out


def test_pictures_are_there_and_say_what_they_show():
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", README)
    assert len(pictures) >= 2
    for text, path in pictures:
        assert len(text) > 20 and (ROOT / path).stat().st_size > 1000


def test_the_table_is_the_records():
    run = subprocess.run([*MEASURE, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_stale_table_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import measure_presets as measure

    stale = tmp_path / "README.md"
    monkeypatch.setattr(measure, "README", stale)
    row = next(line for line in README.splitlines() if line.startswith("| `small`"))
    stale.write_text(README.replace(row, row.replace("cycles", "cycles,", 1)))
    assert measure.main(["--check"]) == 1
    assert measure.main(["--table"]) == 0
    assert stale.read_text() == README
