# SPDX-License-Identifier: Apache-2.0
"""``make sim``: every plain bench has its name, and a run says where its waves are."""

import re

import pytest

from tb import run_bench, toolchain
from tb.benches import BENCHES

TOOLS = {"lockstep", "fast", "model_mutation", "peers"}
"""Folders whose `bench` measures speed or records: no bench of a station."""


def test_every_bench_has_a_name():
    files = [path for path in (toolchain.ROOT / "tb").glob("*/*bench.py") if path.parent.name not in TOOLS]
    modules = {f"tb.{path.parent.name}.{path.stem}" for path in files}
    assert {bench.module for bench in BENCHES.values()} == modules


def test_without_a_name_it_lists_them(capsys):
    assert run_bench.main([]) == 0
    assert re.findall(r"^  (\w+)", capsys.readouterr().out, re.M) == list(BENCHES)


@pytest.mark.icarus
def test_a_run_names_its_waves(capsys, monkeypatch):
    monkeypatch.setenv("WAVES", "1")
    monkeypatch.setenv("CONFIG", "small")  # as `make` hands it on; the bench must see its own
    assert run_bench.main(["scratchpad", "--config", "small", "--sim", "icarus", "--length", "2000"]) == 0
    waves = re.search(r"^Waves: (\S+)$", capsys.readouterr().out, re.M)
    assert waves is not None
    assert (toolchain.ROOT / waves[1]).stat().st_size > 1000


@pytest.mark.icarus
def test_an_unknown_preset_is_refused(capsys):
    assert run_bench.main(["scratchpad", "--config", "huge", "--sim", "icarus"]) == 1
    assert "There is no preset 'huge'" in capsys.readouterr().err
