# SPDX-License-Identifier: Apache-2.0
"""`beatmatch network`: what it prints and writes, and what it refuses."""

import csv
import json

import pytest

from beatmatch import preset
from beatmatch.cli import main
from beatmatch.networks.library import names, reference_macs
from beatmatch.networks.proof import proofs
from beatmatch.networks.read import read_network


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(["network", *arguments])
    found = capsys.readouterr()
    return code, found.out, found.err


def test_json_and_csv_say_the_same(capsys, tmp_path):
    table = tmp_path / "layers.csv"
    code, out, _ = run(capsys, "squeezenet1_1", "--config", "mxu128", "--json", "--csv", str(table))
    assert code == 0
    data = json.loads(out)
    needed = {"macs", "cycles", "accounting", "memory_bytes", "utilization", "fidelity", "cpu_seconds", "peak_rss_mb"}
    assert needed <= set(data)
    assert data["macs"] == reference_macs()["squeezenet1_1"]
    assert sum(data["accounting"].values()) == pytest.approx(1)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [layer["name"] for layer in data["layers"]]
    assert sum(int(row["cycles"]) for row in rows) == data["cycles"]
    assert sum(int(row["macs"]) for row in rows) == data["macs"]


def test_page_trace_and_comparison_are_written(capsys, tmp_path):
    before, page, trace = (tmp_path / name for name in ("a.json", "page.html", "trace.json"))
    assert run(capsys, "squeezenet1_1", "--json", str(before))[0] == 0
    smaller = ("--config", "mxu128,rows=64,cols=64", "--compare", str(before))
    code, out, _ = run(capsys, "squeezenet1_1", *smaller, "--html", str(page), "--perfetto", str(trace))
    assert code == 0
    assert "all layers" in out
    assert "A against B" in page.read_text()
    names_ = {event.get("name") for event in json.loads(trace.read_text())["traceEvents"]}
    assert "node_Conv_7" in names_


def test_every_packaged_network_is_listed(capsys):
    code, out, _ = run(capsys, "--list")
    assert code == 0
    assert all(name in out for name in names())


def test_a_faster_memory_and_host_take_fewer_cycles(capsys):
    def cycles(*options: str) -> int:
        return json.loads(run(capsys, "mobilenet_v3_large", "--json", *options)[1])["cycles"]

    assert cycles("--latency", "20") < cycles("--latency", "400")
    assert cycles("--host-elements", "512", "--host-bytes", "512") < cycles()


def test_beside_scale_sim(capsys, tmp_path):
    table = tmp_path / "two.csv"
    table.write_text("Layer, M, N, K,\na, 300, 130, 70,\nb, 64, 64, 64,\n")
    code, out, _ = run(capsys, str(table), "--config", "mxu128", "--like", "scale-sim", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["layer"] for row in rows] == ["a", "b", "total"]
    assert rows[-1]["ours"] == sum(row["ours"] for row in rows[:-1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name a network"),
        (("nope",), "No network is called 'nope'"),
        (("resnet18", "--dims", "batch=0"), "--dims 'batch=0' should be name=size"),
        (("resnet18", "--dims", "batch=²"), "--dims 'batch=²' should be name=size"),
        (("resnet18", "--dims", "batch=99999999999999999999"), "should be name=size with a size from 1 to 2147483647"),
        (("resnet18", "--dims", "batch=2"), ""),
        (("resnet18", "--config", "tiny"), "does not fit on the chip"),
        (("resnet18", "--host-elements", "0"), "elements_per_cycle of the host is 0"),
        (("squeezenet1_1", "--csv", "/nowhere/layers.csv"), "/nowhere/layers.csv cannot be written"),
        (("squeezenet1_1", "--memory", "nothing"), "nothing"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(capsys, arguments, says):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert says in err
    assert err.startswith("beatmatch: ")
    assert err.rstrip().endswith(".")
    assert "Traceback" not in err


@pytest.mark.parametrize("name", names())
def test_small_layers_of_every_network_compute_what_their_graphs_do(name):
    graph = read_network(name)
    found = proofs(graph, preset("small"))
    proven = [layer for proof in found for layer in proof.layers]
    assert len(set(proven)) == len(proven) > 0
