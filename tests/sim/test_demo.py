# SPDX-License-Identifier: Apache-2.0
"""The demo: what the RTL wrote is put together rightly, its files say what it prints, and it fails when it should."""

import json
import re
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from beatmatch import digits
from beatmatch.config import preset
from beatmatch.machine import run_stepped
from beatmatch.report import where
from tb.demo import __main__ as demo
from tb.demo import networks, rtl, summary
from tb.demo.writes import WriteBeats
from tb.lockstep.report import Divergence

SMALL = preset("small")


@pytest.fixture(scope="module")
def mlp():
    """The MLP over a few images, on the model."""
    case = networks.prepare("mlp", 5, SMALL)
    beats = WriteBeats(SMALL)
    case.beats = beats
    case.stepped = run_stepped(case.program, watch=lambda rows, records: beats.add(records))
    case.functional = case.reference.copy()
    return case


def lockstep(**changes):
    values = {"index": 0, "cycles": 10, "events": 20, "digests": 30, "sha256": "00", "seconds": 1.0}
    return rtl.Result(**values | {"cpu_seconds": 0.4, "model_seconds": 0.1, "transport_seconds": 0.2} | changes)


def outcome(case, logits=None, **changes):
    found = case.stepped.values["logits"] if logits is None else logits
    return rtl.Outcome(lockstep(**changes), {"logits": found, "beats": np.int64(7)})


def test_write_beats_give_what_memory_holds(mlp):
    image = mlp.program.memory()
    assert mlp.beats.apply(image) > 0
    assert np.array_equal(mlp.program.read(image)["logits"], mlp.stepped.values["logits"])
    assert np.array_equal(networks.flat(mlp.program.read(image)["logits"]), mlp.reference[:5])


def test_a_wrong_beat_shows_in_the_values(mlp):
    watched = WriteBeats(SMALL)
    watched._bursts, watched._beats = mlp.beats._bursts, [part.copy() for part in mlp.beats._beats]
    offset = watched._relative("data")[0]
    watched._beats[0][0, offset] ^= 1
    image = mlp.program.memory()
    watched.apply(image)
    assert not np.array_equal(mlp.program.read(image)["logits"], mlp.stepped.values["logits"])


@pytest.mark.parametrize("drop", ["_beats", "_bursts"])
def test_bursts_and_beats_must_fit(mlp, drop):
    watched = WriteBeats(SMALL)
    watched._bursts, watched._beats = list(mlp.beats._bursts), list(mlp.beats._beats)
    parts = getattr(watched, drop)
    parts[-1] = parts[-1][:-1]
    with pytest.raises(ValueError, match="beats"):
        watched.apply(mlp.program.memory())


def test_figures_of_an_equal_run(mlp):
    found = summary.figures(mlp, outcome(mlp))
    assert summary.mismatches({"mlp": found}) == 0
    assert sum(found["where"].values()) == pytest.approx(found["cycles"])
    assert found["accuracy"]["int8_rtl_batch"] == found["accuracy"]["int8_model_batch"]
    assert found["accuracy"]["float"] == digits.load("mlp").float_accuracy
    assert found["streamed_rows"] <= found["accounting"]["active"]


def test_every_kind_of_difference_counts(mlp):
    wrong = mlp.stepped.values["logits"].copy()
    wrong.reshape(-1)[3] += 1
    assert summary.mismatches({"mlp": summary.figures(mlp, outcome(mlp, wrong))}) == 1
    assert summary.mismatches({"mlp": summary.figures(mlp, outcome(mlp, divergence={"kind": "late"}))}) == 1
    assert summary.mismatches({"mlp": summary.figures(mlp, None)}) == 1
    right = mlp.functional
    mlp.functional = right.copy()
    mlp.functional[100, 2] ^= 1
    assert summary.mismatches({"mlp": summary.figures(mlp, outcome(mlp))}) == 1
    mlp.functional = right


def test_the_table_has_every_figure(mlp):
    found = summary.figures(mlp, outcome(mlp))
    console = Console(file=StringIO(), width=100)
    console.print(summary.table("digits", {"mlp": found}))
    shown = console.file.getvalue()
    for text in (f"{found['cycles']:,}", f"{where(mlp.stepped.accounting)['useful'] / found['cycles']:.1%}", "98.89%"):
        assert text in shown


def run_demo(arguments, folder, monkeypatch, capsys):
    monkeypatch.setattr(demo, "FOLDER", folder)
    monkeypatch.setattr(demo.toolchain, "ROOT", folder.parent)
    monkeypatch.setattr(demo, "BATCH", {"verilator": {"cnn": 1, "mlp": 20}})
    code = demo.main(arguments)
    return code, capsys.readouterr().out


@pytest.mark.slow
def test_the_demo_and_its_files(tmp_path, monkeypatch, capsys):
    code, shown = run_demo(["--sim", "verilator"], tmp_path / "demo", monkeypatch, capsys)
    assert code == 0, shown
    record = json.loads((tmp_path / "demo/summary.json").read_text())
    assert record["mismatches"] == 0
    page = (tmp_path / "demo/timeline.html").read_text()
    for network in record["networks"].values():
        assert network["logits_that_differ"] == {
            "functional tier against oracle": 0,
            "stepped tier against functional tier": 0,
            "RTL against stepped tier": 0,
        }
        assert network["lockstep"]["cycles"] > network["cycles"]
        assert f"<b>{network['cycles']:,}</b><span>cycles from start to done</span>" in page
        assert f"{network['cycles']:,}" in shown
        assert f"{network['lockstep']['events']:,}" in shown and f"{network['lockstep']['events']:,}" in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert [run["cycles"] for run in data] == [network["cycles"] for network in record["networks"].values()]
    assert [name for name, *_ in data[0]["groups"]][:3] == ["conv1", "conv2", "conv3"]
    trace = json.loads((tmp_path / "demo/trace.perfetto.json").read_text())
    assert {event["pid"] for event in trace["traceEvents"]} == {1, 2}
    for name in record["files"]:
        assert (tmp_path / name).exists() and name in shown


@pytest.mark.slow
def test_the_demo_fails_when_something_differs(tmp_path, monkeypatch, capsys):
    right = networks.run_functional

    def wrong(case, config, progress):
        right(case, config, progress)
        case.functional[7, 1] ^= 4

    monkeypatch.setattr(networks, "run_functional", wrong)
    code, shown = run_demo(["--sim", "verilator"], tmp_path / "demo", monkeypatch, capsys)
    assert code == 1, shown
    assert "mismatches" in shown.splitlines()[-1]


def test_a_divergence_is_reported_with_its_replay_line(mlp, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "FOLDER", tmp_path / "demo")
    monkeypatch.setattr(demo.toolchain, "ROOT", tmp_path)
    found = Divergence("late", 41, 41, 42, "matmul", "row", "", "row", "nothing")
    diverged = outcome(mlp, divergence=found.to_dict())
    diverged.values = None
    figures = {"mlp": summary.figures(mlp, diverged)}
    console = Console(file=StringIO(), width=120)
    assert demo.show(console, SMALL, "verilator", [mlp], [diverged], figures, [], 1.0) == 1
    shown = console.file.getvalue()
    for text in ("cycle 41: matmul.row: late", "make replay RUN=", "not run", "1 mismatches"):
        assert text in shown
    assert (tmp_path / "demo/failure-mlp/program.bmp").exists()


def test_a_configuration_that_does_not_exist_is_a_sentence(capsys):
    assert demo.main(["--config", "huge"]) == 2
    assert "There is no preset 'huge'" in capsys.readouterr().out
