# SPDX-License-Identifier: Apache-2.0
"""The bench beside other tools, without those tools: its limits, its bars, its page, and the layers that it gives."""

import json
import subprocess
import sys
from math import prod

import pytest

from beatmatch.networks import library
from tb.peers import table
from tb.peers.bench import OURS, WORKLOADS
from tb.peers.environments import SCALE_SIM, ZIGZAG, Peer, PeerError, suitable_python
from tb.peers.limits import Limits, run
from tb.peers.ours import graph_of, layers
from tb.toolchain import ROOT

PYTHON = [sys.executable, "-I", "-S", "-c"]


def record(cpu: float, peak: float) -> dict:
    """One ResNet-50 on both sides, of which ours took 1 s and 100 MB."""
    ours = {"cycles": 600, "matrix_cycles": 570, "cpu_seconds": 1.0, "peak_mb": 100.0, "load": 1.0}
    ours["shares"] = {"useful": 0.75, "unused": 0.25}
    theirs = {"cycles": 1200, "streaming": 300, "cpu_seconds": cpu, "peak_mb": peak, "load": 1.0}
    return {"runs": {"resnet50": {OURS: ours, SCALE_SIM.name: theirs}}}


def test_a_run_says_what_it_took():
    used = run("python", [*PYTHON, "x = bytearray(50 << 20); sum(range(2_000_000))"], Limits(60, 4))
    assert 50 << 20 < used.peak_bytes < 200 << 20
    assert used.cpu_seconds > 0


def test_peak_memory_is_not_this_processes_own():
    """A child's peak starts with its parent's, so the parent has to be the small launcher."""
    ballast = bytearray(300 << 20)
    ballast[:: 1 << 12] = b"x" * len(ballast[:: 1 << 12])
    assert run("python", [*PYTHON, "pass"], Limits(60, 4)).peak_bytes < 100 << 20


@pytest.mark.parametrize(
    ("code", "limits", "text"),
    [
        ("import time; time.sleep(60)", Limits(1, 4), "was stopped after 1 s"),
        ("x = bytearray(2 << 30)", Limits(60, 1), "MemoryError"),
        ("raise SystemExit('no such layer')", Limits(60, 4), "ended with 1 .* no such layer"),
    ],
)
def test_limits_and_failures_are_told(code, limits, text):
    with pytest.raises(PeerError, match=text):
        run("python", [*PYTHON, code], limits)


def test_a_command_that_is_not_there():
    with pytest.raises(PeerError, match="ended with 127"):
        run("nothing", ["beatmatch-no-such-command"], Limits(10, 4))


def test_an_unsuitable_python_is_named(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert suitable_python(Peer("x", "X", (), (9, 9))) == sys.executable
    with pytest.raises(PeerError, match=r"X needs python3\.12 or python3\.11; put one on PATH"):
        monkeypatch.setattr(sys, "version_info", (3, 99))
        suitable_python(Peer("x", "X", (), (3, 12)))


@pytest.mark.parametrize(("cpu", "peak", "count"), [(100, 2000, 0), (99, 2000, 1), (100, 1999, 1), (1, 1, 2)])
def test_a_missed_bar_is_told(cpu, peak, count):
    found = record(cpu, peak)
    assert len(table.missed(found)) == count
    assert table.tables(found).count("**missed**") == count
    assert table.tables(found).count("not measured") == 1  # ZigZag's


def test_where_cycles_went():
    text = table.tables(record(100, 2000))
    assert "2.00 x | 25% rows streaming, 75% weights going in" in text
    assert "75% useful, 25% unused; 5% in layers that the others leave out" in text


def test_the_page_needs_its_markers():
    with pytest.raises(ValueError, match="lacks the markers"):
        table.with_tables("no markers", record(100, 2000))


def test_the_page_is_the_records():
    found = json.loads(table.RECORD.read_text())
    text = table.PAGE.read_text()
    assert table.with_tables(text, found) == text


def test_every_job_is_known():
    assert {peer for workload in WORKLOADS for peer in workload.peers} == {SCALE_SIM.name, ZIGZAG.name}
    assert {bar.workload for bar in table.BARS} <= {workload.name for workload in WORKLOADS}
    shown = subprocess.run([sys.executable, "-m", "tb.peers", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert shown.returncode == 0 and "examples:" in shown.stdout


def test_layers_for_others_are_the_networks(tmp_path):
    """Channels, window and pixels of every convolution, by the shapes of the graph."""
    graph = library.load("mobilenet_v2")
    found = layers(graph)
    assert (
        sum(prod(layer[key] for key in ("rows", "columns", "length", "count")) for layer in found) == graph.total_macs
    )
    for layer in found:
        if "kernel" in layer:
            assert layer["length"] == layer["channels"] * prod(layer["kernel"])
            assert layer["rows"] == prod(layer["pixels"])
    product = layers(graph_of("3x5x7", tmp_path))
    assert [(layer["rows"], layer["columns"], layer["length"]) for layer in product] == [(3, 5, 7)]
