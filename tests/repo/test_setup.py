# SPDX-License-Identifier: Apache-2.0
"""The set-up installs what it can, names what it cannot, and leaves a working toolchain."""

import re
import subprocess
import time
import tomllib
from types import SimpleNamespace

import pytest

from tb import toolchain
from tools import setup, system_packages
from tools.system_packages import Need, supply


@pytest.fixture
def machine(monkeypatch):
    """A made-up machine: `absent` things, and what was asked of apt-get."""
    state = SimpleNamespace(absent=set(), prefix=None, commands=[], installs=True)

    def run(command, **_):
        state.commands.append(command)
        if "install" in command and state.installs:
            state.absent -= set(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(system_packages, "_apt_prefix", lambda: state.prefix)
    monkeypatch.setattr(system_packages.subprocess, "run", run)

    def need(package, **options):
        return Need(f"the thing {package}", lambda: package not in state.absent, (package,), **options)

    state.need = need
    return state


def test_nothing_missing_asks_nobody(machine):
    assert supply([machine.need("compiler")]) == []
    assert machine.commands == []


def test_with_rights_it_installs(machine):
    machine.absent, machine.prefix = {"compiler", "icarus"}, []
    assert supply([machine.need("compiler"), machine.need("icarus", without="tests are skipped")]) == []
    assert machine.commands[-1][-2:] == ["compiler", "icarus"]


def test_without_rights_it_names_the_command_and_goes_on(machine):
    machine.absent = {"icarus"}
    (sentence,) = supply([machine.need("icarus", without="tests are skipped")])
    assert "tests are skipped" in sentence
    assert "apt-get install icarus" in sentence
    assert machine.commands == []


def test_without_rights_and_something_required_it_stops(machine):
    machine.absent = {"compiler"}
    with pytest.raises(SystemExit, match="apt-get install compiler"):
        supply([machine.need("compiler")])


def test_an_install_that_fails_is_noticed(machine):
    machine.absent, machine.prefix, machine.installs = {"compiler"}, [], False
    with pytest.raises(SystemExit, match="Missing: the thing compiler"):
        supply([machine.need("compiler")])


def test_an_old_verilator_on_path_is_not_taken(tmp_path, monkeypatch):
    tool = tmp_path / "verilator"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for version, suits in (("5.035", False), ("5.036", True), ("4.228", False), ("6.001", True)):
        tool.write_text(f"#!/bin/sh\necho Verilator {version} 2025-01-01 rev v{version}\n")
        tool.chmod(0o755)
        assert (setup.system_verilator() is not None) == suits


def test_verilator_is_whole():
    assert re.search(r"Verilator \d+\.\d{3}", toolchain.version("verilator"))


def test_a_second_setup_does_nothing_and_takes_less_than_two_seconds():
    if setup.STAMP.read_text() != setup.stamp(setup.system_verilator()):
        pytest.skip("the set-up's inputs changed since it ran: `make setup` first")
    started = time.monotonic()
    run = subprocess.run(["python3", "tools/setup.py"], cwd=toolchain.ROOT, capture_output=True, text=True, check=True)
    assert time.monotonic() - started < 2
    assert "Set up in" not in run.stdout


def test_every_dependency_is_pinned_and_has_a_reason():
    text = (toolchain.ROOT / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    pinned = re.findall(r"(?m)^([\w.-]+)==", (toolchain.ROOT / "constraints.txt").read_text())
    pinned = {name.lower().replace("_", "-") for name in pinned}
    lines = text.splitlines()
    for requirement in sum(project["optional-dependencies"].values(), project["dependencies"]):
        name = re.match(r"[\w.-]+", requirement)[0]
        assert name.lower().replace("_", "-") in pinned, f"{name} is not in constraints.txt"
        (row,) = [row for row, line in enumerate(lines) if line.strip().startswith(f'"{requirement}"')]
        assert "#" in lines[row] or lines[row - 1].strip().startswith("#"), f"{name} has no reason beside it"


def test_set_up_installs_extras_that_exist():
    """pip only warns of an extra that pyproject.toml does not have."""
    extras = re.search(r'"\.\[([\w,]+)\]"', (toolchain.ROOT / "tools/setup.py").read_text())[1].split(",")
    project = tomllib.loads((toolchain.ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(project["optional-dependencies"])


def test_make_alone_prints_every_target():
    makefile = (toolchain.ROOT / "Makefile").read_text()
    targets = " ".join(re.findall(r"(?m)^\.PHONY: (.*)$", makefile)).split()
    shown = subprocess.run(["make"], cwd=toolchain.ROOT, capture_output=True, text=True, check=True).stdout
    missing = [target for target in targets if target != "help" and f"make {target} " not in shown]
    assert missing == []
