# SPDX-License-Identifier: Apache-2.0
"""Layers of whole networks, made small, model and RTL in lockstep."""

import json

import pytest

from beatmatch import cli


@pytest.mark.parametrize("name", ["mobilenet_v2", "minilm_l6"])
def test_kinds_of_layers_are_proven_on_the_rtl(name, tmp_path, monkeypatch):
    from tb.toolchain import ROOT

    monkeypatch.chdir(ROOT)
    target = tmp_path / "prove.json"
    assert cli.main(["network", name, "--config", "tiny", "--prove", "--sim", "icarus", "--json", str(target)]) == 0
    data = json.loads(target.read_text())
    assert data["programs"] >= 3
    assert data["mismatches"] == 0
    assert data["cycles"] > 1000
