# SPDX-License-Identifier: Apache-2.0
"""Programs of random networks compute what the graph does, without a race, in the cycles and bytes reported."""

import numpy as np
import pytest

from beatmatch import functional, preset
from beatmatch.checker import check
from beatmatch.config import Config
from beatmatch.fast import run_fast
from beatmatch.machine import run_stepped
from beatmatch.memory import MemoryTiming
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph
from beatmatch.networks.library import load
from beatmatch.networks.lowering.layout import fresh
from beatmatch.networks.lowering.placement import CORE, place
from beatmatch.networks.lowering.program import Lowered, lower
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.reference import execute
from beatmatch.networks.timing import parts, time_layer, time_network
from tests.networks.build import Builder
from tests.networks.chains import images, random_config, rows


def feed(graph: Graph, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.integers(-128, 128, graph.tensors[name].shape).astype(np.int8) for name in graph.inputs}


def programs(graph: Graph, config: Config, seed: int):
    """Each program of a network with what its results should be; None where the chip is too small."""
    feeds = feed(graph, seed)
    values = {**feeds, **execute(graph, feeds, keep=True)}
    placement = place(graph, config)
    for kind, steps in parts(placement):
        core = [step for step in steps if step.where == CORE]
        if kind != CORE or not core:
            continue
        try:
            memory = MemoryTiming(read_bandwidth=(1, 8)) if seed % 2 else None  # so slow that tiles serve more bands
            yield placement, lower(placement, core, config, memory, values), values
        except GraphError as refusal:
            assert "sp_words" in str(refusal)
            yield placement, None, values


def results(placement, lowered: Lowered, image) -> dict[str, np.ndarray]:
    """Tensors that leave a program; those in parts joined."""
    found = lowered.program.read(image)
    whole = {}
    for name in dict.fromkeys(key.split(".")[0] for key in found):
        pieces = [found[key] for key in found if key.split(".")[0] == name]
        whole[name] = np.concatenate(pieces, placement.values[name].axis)
    return whole


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_values_equal_the_graphs(first):
    tensors = refused = 0
    for seed in range(first, first + 20):
        graph = rows(seed) if seed % 4 == 3 else images(seed, 6)
        for placement, lowered, values in programs(graph, random_config(seed), seed):
            if lowered is None:
                refused += 1
                continue
            outcome = functional.run(lowered.program)
            assert not outcome.error, (seed, outcome.text)
            for name, array in results(placement, lowered, outcome.image).items():
                assert np.array_equal(array, values[name]), (seed, name)
                tensors += 1
    assert tensors > 20
    assert refused <= 4


@pytest.mark.parametrize("seed", range(8))
def test_no_race_and_the_same_on_every_tier(seed):
    graph = rows(seed) if seed % 4 == 3 else images(seed, 5)
    for _, lowered, _ in programs(graph, random_config(seed), seed):
        program = lowered.program
        assert check(program) == []
        stepped, fast = run_stepped(program), run_fast(program)
        assert (stepped.cycles, stepped.accounting) == (fast.cycles, fast.accounting)
        found = {name.split(".")[0] for name in stepped.values}
        assert found
        assert all(np.array_equal(a, b) for a, b in zip(
            stepped.values.values(), program.read(functional.run(program).image).values(), strict=True
        ))  # fmt: skip


def port_bytes(program, events) -> dict[str, int]:
    """Bytes that the port moved: what its events say, beat by beat."""
    read = events.headers("port", "ar")[1]["len"].astype(np.int64) + 1
    written = events.headers("port", "aw")[1]["len"].astype(np.int64) + 1
    beat = program.config.mem_bytes
    return {"read": int(read.sum()) * beat, "written": int(written.sum()) * beat}


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "minilm_l6"])
def test_reported_bytes_are_the_ports(name, monkeypatch):
    from beatmatch.networks import timing

    moved = {"read": 0, "written": 0}

    def spying(program):
        result = run_fast(program)
        for way, size in port_bytes(program, result.events.log()).items():
            moved[way] += size
        return result

    monkeypatch.setattr(timing, "run_fast", spying)
    result = time_network(load(name), preset("mxu128"))
    core = {layer.name for layer in result if layer.where == CORE}
    rows_ = [row for row in result.traffic if row.layer in core]
    assert moved == {way: sum(getattr(row, way) for row in rows_) for way in ("read", "written")}


@pytest.mark.parametrize("name", ["resnet18", "densenet121", "minilm_l6", "mobilenet_v3_large"])
def test_windows_shares_and_macs_add_up(name):
    graph = load(name)
    result = time_network(graph, preset("mxu128"))
    assert [layer.start for layer in result] == [0, *(layer.end for layer in result.layers[:-1])]
    assert result.macs == graph.total_macs
    assert sorted(layer.name for layer in result) == sorted(node.name for node in graph.nodes)
    assert sum(result.shares().values()) == pytest.approx(1)
    for layer in result:
        assert min(layer.shares(result.config).values()) >= -1e-9, layer.name
        if layer.cycles:
            assert sum(layer.shares(result.config).values()) == pytest.approx(1), layer.name
    minimum = sum(graph.tensors[name].size for name in {*graph.inputs, *graph.outputs})
    assert result.memory_bytes["minimum"] >= minimum


@pytest.mark.parametrize("name", ["resnet18", "minilm_l6"])
def test_windows_end_with_the_last_instruction_of_their_layer(name, monkeypatch):
    from beatmatch.networks import timing

    programs_, wanted, base = [], {}, 0
    monkeypatch.setattr(timing, "lower", lambda *args: programs_.append(lower(*args)) or programs_[-1])
    result = time_network(load(name), preset("mxu128"))
    starts = {layer.name: layer.start for layer in result}
    for lowered in programs_:
        base, run, now = starts[lowered.steps[0].node.name], run_fast(lowered.program), 0
        ends: dict[str, int] = {}
        for engine in ("matmul", "vector"):
            cycles, fields = run.events.log([(engine, "retire")]).headers(engine, "retire")
            for cycle, seq in zip(cycles.tolist(), fields["seq"].tolist(), strict=True):
                ends[lowered.labels[seq]] = max(ends.get(lowered.labels[seq], 0), cycle - run.start + 1)
        for step in lowered.steps[:-1]:
            now = max(now, ends[step.node.name])
            wanted[step.node.name] = base + now
        wanted[lowered.steps[-1].node.name] = base + run.cycles
    assert {layer.name: layer.end for layer in result if layer.where == CORE} == wanted


def test_bytes_are_the_minimum_where_sizes_divide_and_all_fits():
    from tests.networks.chains import Chain

    chain = Chain(1)
    x = chain.input((1, 16, 8, 8))
    for _ in range(3):
        weight = chain.constant((16, 16, 3, 3))
        window = {"kernel": (3, 3), "strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 1), "groups": 1}
        x = chain.node("conv", (x, weight), [(1, 16, 8, 8)], chain.requant(16, 144), **window)
    result = time_network(chain.finish(), preset("base"))
    tensors = [row for row in result.traffic if row.kind in ("input", "output", "weights", "activation")]
    assert sum(row.read + row.written for row in tensors) == sum(row.minimum for row in tensors)


def test_a_layer_alone_keeps_its_operands_in_memory():
    graph = load("resnet18")
    node = next(node for node in graph.nodes if node.op == "conv" and graph.tensors[node.inputs[1]].shape[2] == 3)
    layer = time_layer(graph, node, preset("mxu128"))
    ins, outs = graph.tensors_of(node)
    assert layer.macs == graph.macs(node)
    assert layer.written_bytes >= outs[0].size
    assert layer.read_bytes >= ins[0].size + ins[1].size


def test_positions_begin_at_whole_beats():
    config = Config(rows=8, cols=4, mem_bits=128)
    (piece,) = fresh((2, 3, 5), 1, "x", config).pieces
    assert (piece.words, piece.dims, piece.strides) == (2, (2, 5), (10, 2))


def test_what_does_not_fit_is_refused_with_the_node():
    with pytest.raises(GraphError, match=r"Node .* does not fit on the chip: .*sp_words"):
        time_network(load("resnet18"), preset("tiny"))


def small_model(kind: str):
    """A model with something unusual about its ends."""
    b = Builder()
    if kind == "scalar":
        b.output(b.node("Relu", b.input("x")))
        return from_model(b.model())
    x, weight = b.input("x", 1, 16, 4, 4), b.constant(np.ones((16, 16, 1, 1)))
    if kind == "bias":
        b.output(b.node("Conv", x, weight, b.input("b", 16)))
        return from_model(b.model())
    y = b.node("Conv", x, weight)
    if kind == "padding":
        b.output(b.node("Conv", y, weight, pads=[0, 0, 9, 0]))
    elif kind == "two views":
        b.output(b.node("Flatten", y), b.node("Transpose", y, perm=[0, 2, 3, 1]))
    elif kind == "part":
        b.output(b.node("Slice", y, b.ints(1), b.ints(2), b.ints(2)))
    else:
        b.output(b.node("Relu", y))
    model = b.model()
    for node in model.graph.node:
        node.name = ""  # nodes are then called as their first outputs
    return from_model(model)


@pytest.mark.parametrize(("kind", "output"), [("two views", 256), ("part", 64), ("clipped", 256)])
def test_outputs_count_once_whatever_views_them(kind, output):
    result = time_network(small_model(kind), preset("small"))
    kinds = {
        k: sum(row.minimum for row in result.traffic if row.kind == k) for k in {row.kind for row in result.traffic}
    }
    assert kinds == {"input": 256, "weights": 256, "parameters": 8 * 16, "output": output, "program": 0}
    assert result.memory_bytes["minimum"] == 256 + 256 + 128 + output


def test_a_scalar_is_one_element():
    result = time_network(small_model("scalar"), preset("small"))
    assert [(layer.where, layer.shape) for layer in result] == [(CORE, ())]
    assert result.memory_bytes["minimum"] == 1 + 1 + 8


@pytest.mark.parametrize(("kind", "node", "reason"), [
    ("bias", 0, "its bias is computed"),
    ("padding", 1, "outputs that see nothing but padding"),
])  # fmt: skip
def test_what_the_core_cannot_do_is_an_estimate_with_the_reason(kind, node, reason):
    graph = small_model(kind)
    layer = time_network(graph, preset("small")).layers[node]
    assert (layer.where, layer.note) == ("estimate", reason)
    assert layer.macs == graph.macs(graph.nodes[node])
