# SPDX-License-Identifier: Apache-2.0
"""A port and a memory for weights: a core without them is what it was, values do not depend on them, time does."""

import dataclasses
import json
from importlib import resources

import numpy as np
import pytest

from beatmatch import functional
from beatmatch.compiler import compile_gemm, default_timing
from beatmatch.config import Config, ConfigError, preset
from beatmatch.fast import run_fast
from beatmatch.fast.compare import compare
from beatmatch.features import features
from beatmatch.isa.asm import AssemblyError, assemble
from beatmatch.isa.disasm import disassemble
from beatmatch.isa.fields import Engine, Error
from beatmatch.machine import run_stepped
from beatmatch.memory import ErrorRange, MemoryTiming
from beatmatch.program import Program, ProgramError
from beatmatch.report.recording import record
from tb.lockstep import random_programs
from tb.lockstep.streams import derive

ALONE = preset("tiny")
SPLIT = dataclasses.replace(ALONE, weight_port=1, name="split")
SLOW = MemoryTiming(read_latency=90, read_bandwidth=(1, 1), stalls=(20, 60, 0, 0, 0), seed=3)


def untimed(program):
    """Values of the functional tier."""
    return program.read(functional.run(program).image)


def product(config, size=24, weight_timing=None):
    """A matrix product whose weights come straight from memory, on any core."""
    rng = np.random.default_rng(size)
    a, b = (rng.integers(-128, 128, (size, size), dtype=np.int8) for _ in range(2))
    return compile_gemm(a, b, SPLIT).replace(config=config, weight_timing=weight_timing)


# ----- a core without the port -----


def test_configurations_keep_their_names():
    """Digests of cores that were there before the field do not know it."""
    rows = json.loads((resources.files("beatmatch.data") / "fidelity.json").read_text())["configurations"]
    older = [row for row in rows if not row["config"].get("weight_port")]
    assert len(older) > 5
    assert [Config.from_dict(row["config"]).digest() for row in older] == [row["digest"] for row in older]
    assert SPLIT.digest() != ALONE.digest() and "weight_port" not in ALONE.record()
    assert Config.from_dict(SPLIT.record()) == SPLIT


def test_another_number_of_ports_is_refused():
    for value in (2, -1, True):
        with pytest.raises(ConfigError, match="weight_port"):
            Config(weight_port=value)


def test_program_files_without_it_hold_nothing_new():
    program = product(ALONE)
    assert b"weight" not in program.to_bytes().partition(b"\n")[2] and program.weight_timing is None
    assert Program.from_bytes(program.to_bytes()) == program


# ----- programs with two memories -----


@pytest.mark.parametrize("timing", [None, MemoryTiming(), dataclasses.replace(SLOW, errors=(ErrorRange(0, 9),))])
def test_both_memories_are_in_the_file_and_in_the_text(timing):
    program = product(SPLIT, 4, timing)
    assert Program.from_bytes(program.to_bytes()) == program == assemble(disassemble(program))
    assert Program.from_bytes(program.to_bytes()).weight_timing == timing


def test_a_memory_that_nothing_reads_is_refused():
    with pytest.raises(ProgramError, match="no weight port"):
        product(ALONE, 4, SLOW)
    with pytest.raises(ProgramError, match="None or a MemoryTiming"):
        product(SPLIT, 4, "slow")
    with pytest.raises(AssemblyError, match=r"weight_timing has no 'speed'"):
        assemble(".config rows=4 cols=4 weight_port=1\n.weight_timing speed=4\n")


def test_features_tell_the_memories_apart():
    found = features(product(SPLIT, 4, dataclasses.replace(SLOW, write_latency=77)))
    assert {"weight_port.own_timing", "weight_memory.stall_r", "weight_memory.read_bandwidth"} <= found.flags
    assert "memory.stall_r" not in found.flags and "weight_memory.write_latency" not in found.sizes
    assert found.sizes["weight_memory.read_latency"] == 90 and found.sizes["memory.read_latency"] == 50
    assert "weight_port" in features(product(SPLIT, 4)).flags
    assert not any("weight_" in name for name in (*features(product(ALONE, 4)).flags, *features(product(ALONE)).sizes))


# ----- values, time, events -----


def test_values_do_not_depend_on_the_port():
    timings = (None, SLOW)
    runs = [run_stepped(product(ALONE)), *(run_stepped(product(SPLIT, weight_timing=item)) for item in timings)]
    expected = untimed(product(SPLIT))["out"]
    for run in runs:
        np.testing.assert_array_equal(run.values["out"], expected)
    assert len({run.cycles for run in runs}) == 3
    assert runs[1].cycles < runs[0].cycles < runs[2].cycles


def test_bursts_of_weights_are_on_their_port():
    alone, split = (run_stepped(product(config)).events for config in (ALONE, SPLIT))
    ids = alone.headers("port", "ar")[1]["id"]
    here, there = split.headers("port", "ar"), split.headers("weight_port", "ar")
    assert (ids == 2).sum() == len(there[0]) > 0
    assert sorted(ids[ids != 2]) == sorted(here[1]["id"])


def test_a_recording_has_the_beats_of_both_ports():
    """Two requesters can have a beat in one cycle now."""
    beats = {}
    for config in (ALONE, SPLIT):
        recording = record(product(config))[1]
        beats[config.name] = {name: recording.read_beats(name) for name in ("fetch", "load", "weights")}
    assert {name: len(found) for name, found in beats["tiny"].items()} == {
        name: len(found) for name, found in beats["split"].items()
    }
    assert set(beats["split"]["weights"]) & set(beats["split"]["load"])
    assert not set(beats["tiny"]["weights"]) & set(beats["tiny"]["load"])


def test_stalls_of_the_two_memories_are_streams_of_their_own():
    timing = MemoryTiming(stalls=(128,) * 5, seed=7)
    ports = [np.frombuffer(timing.stall_flags(0, 4096, port), np.uint8) for port in (0, 1)]
    assert timing.stall_flags(0, 4096) == ports[0].tobytes()
    together = [float(np.mean((ports[0] >> i & 1) == (ports[1] >> j & 1))) for i in range(5) for j in range(5)]
    assert min(together) > 0.45 and max(together) < 0.55


STORE_THEN_WEIGHTS = """
.config rows=4 cols=4 sp_words=64 sp_banks=1 mem_bits=32 weight_port=1
.base 0 0x1000 0x400
.address 0x4000
.data 0x1000
.random 1 64
.result out int32 0x1200 1,4 16,4
load row_bytes=32 signal=s0
store row_bytes=16 offset=0x100 wait=s0:1 signal=s1,s3
weights_mem offset=0x100 k_rows=4 n_lanes=4 packed=1 wait=s1:1
matmul x=1 width=1 src=4 k_lanes=4 n_lanes=4 wait=s3:1 signal=s2
requant x=1 src_space=2 src_format=1 src_pitch_x=1 dst=16 dst_pitch=4 dst_format=1 wait=s2:1 signal=s4
store row_bytes=16 src=16 offset=0x200 wait=s4:1
"""


def test_weights_see_what_store_wrote():
    """One image behind both ports."""
    program = assemble(STORE_THEN_WEIGHTS)
    stepped = run_stepped(program)
    assert stepped.error is Error.NONE
    np.testing.assert_array_equal(stepped.values["out"], untimed(program)["out"])
    assert stepped.values["out"].any()


@pytest.mark.parametrize("where", ["timing", "weight_timing"])
def test_each_memory_fails_for_itself(where):
    """An error range over the weights: only the memory that weights are read from counts."""
    program = product(SPLIT, 8, default_timing(SPLIT))
    tiles = run_stepped(program, keep_data=True)
    first = next(int(e.data["address"][0]) for e in tiles.events if (e.station, e.kind) == ("weight_port", "ar"))
    errors = (ErrorRange(first, first + 3),)
    program = program.replace(**{where: dataclasses.replace(getattr(program, where), errors=errors)})
    expected = Error.BUS_SLVERR if where == "weight_timing" else Error.NONE
    stepped, fast, outcome = run_stepped(program), run_fast(program), functional.run(program)
    assert (stepped.error, fast.error, outcome.error) == (expected,) * 3
    if expected:
        assert stepped.error_engine is fast.error_engine is outcome.engine is Engine.WEIGHTS


# ----- the fast tier -----


@pytest.mark.parametrize("index", range(8))
def test_the_fast_tier_has_the_same_events(index):
    found, _, events = compare(random_programs.generate(derive(20261207, index), SPLIT))
    assert [str(item) for item in found] == [] and events > 0


def test_addresses_on_the_weight_port():
    program = product(SPLIT)
    expected = [
        int(event.data["address"][0]) | int(event.data["address"][1]) << 32
        for event in run_stepped(program, keep_data=True).events
        if (event.station, event.kind) == ("weight_port", "ar")
    ]
    events = run_fast(program).events
    assert events.addresses("ar", "weight_port").tolist() == expected
    assert ("weight_port", "ar") not in run_fast(product(ALONE)).events.slots()


def test_a_silence_ends_where_the_first_of_the_memories_speaks():
    """Long latencies on either side: jumps look at both."""
    for host, weights in ((3000, 3), (3, 3000), (900, 800)):
        program = product(SPLIT, 8).replace(timing=MemoryTiming(read_latency=host))
        found, _, _ = compare(program.replace(weight_timing=MemoryTiming(read_latency=weights)))
        assert [str(item) for item in found] == []


# ----- the preset -----


def test_tpu_v1_is_as_large_as_the_paper_says():
    config = preset("tpu_v1")
    assert config.peak_macs == 65536 and config.sp_words * config.lanes == 24 << 20
    assert config.acc_rows * config.cols * 4 == 4 << 20 and config.fifo_tiles == 4
    program = compile_gemm(*[np.ones((1, 1), np.int8)] * 2, config)
    assert program.weight_timing.read_bandwidth == (340, 7) and program.timing.read_bandwidth == (20, 1)
    assert round(340 / 7 * 700e6 / 1e9, 1) == 34.0


def test_its_weights_come_at_the_paper_s_rate():
    """Tiles of 64 KiB, one after the other: 1,349 cycles each, as the paper's 1,350 operations per byte have it."""
    ones = np.ones((1, 256 * 8), np.int8), np.ones((256 * 8, 256), np.int8)
    events = run_fast(compile_gemm(*ones, preset("tpu_v1"))).events
    cycles, fields = events.headers("weights", "fifo_write")
    ends = cycles[fields["row"] == 255]
    assert len(ends) == 8 and set(np.diff(ends).tolist()) <= {1349, 1350}
