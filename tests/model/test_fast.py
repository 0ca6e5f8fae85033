# SPDX-License-Identifier: Apache-2.0
"""The fast tier: cycles on the page of timing, and every event and figure of the stepped tier."""

import dataclasses
import json
import random

import numpy as np
import pytest

from beatmatch import api, cli, csr, timing
from beatmatch.compiler import compile_gemm
from beatmatch.config import preset
from beatmatch.fast import FastError, FastMachine, compiled, frontend, run_fast
from beatmatch.fast.compare import compare, differences
from beatmatch.isa.asm import assemble
from beatmatch.machine import run_stepped
from beatmatch.memory import Dram, MemoryTiming, dram_preset
from beatmatch.program import HostEvent
from tb.lockstep import random_dram
from tests.model import test_micro_programs as micro_programs
from tests.model.test_tiers import random_program

TINY = preset("tiny")


def product(size=12, config=TINY, timing=None):
    rng = np.random.default_rng(size)
    a, b = (rng.integers(-128, 128, (size, size), dtype=np.int8) for _ in range(2))
    return compile_gemm(a, b, config, timing=timing)


def matched(program):
    """Both tiers agree; the cycles compared."""
    found, cycles, events = compare(program)
    assert [str(item) for item in found] == []
    assert events > 0
    return cycles


# ----- the page and the stepped tier -----


@pytest.mark.parametrize("micro", micro_programs.HAND, ids=lambda micro: micro.name)
def test_hand_derived_cycles(micro):
    machine = FastMachine(micro_programs.as_program(micro))
    while not machine.host.busy:
        machine.advance()
    start = machine.cycle_count - 1  # busy is 1 from the cycle after the start write on
    while not machine.finished:
        machine.advance()
    events = [(event.cycle - start, event.station, event.kind, event.fields) for event in machine.events()]
    assert micro_programs.differences(micro, events, machine.host.cycles) == []


@pytest.mark.parametrize("seed", range(8))
def test_compiled_programs(seed):
    matched(random_program(np.random.default_rng(seed), seed))


@pytest.mark.parametrize(
    "host",
    [
        (HostEvent(30, "start"),),
        (HostEvent(250, "reset", 1), HostEvent(251, "start")),
        (HostEvent(333, "reset", 4), HostEvent(400, "start")),
        (HostEvent(2500, "start"), HostEvent(2600, "reset", 2)),
        (HostEvent(0, "reset", 3), HostEvent(5, "start")),
    ],
    ids=str,
)
@pytest.mark.parametrize("stalls", [(0, 0, 0, 0, 0), (90, 40, 70, 120, 50)], ids=["steady", "stalls"])
def test_resets_and_starts(host, stalls):
    timing = MemoryTiming(read_latency=30, read_bandwidth=(7, 3), stalls=stalls, seed=5)
    matched(product(timing=timing).replace(host=host))


def test_another_program_by_the_host():
    """A host that writes the registers itself, and starts the same instructions without the first two."""
    program = product()
    words = (
        (csr.PROG_ADDR.address, program.address + 64),
        (csr.PROG_LEN.address, len(program.instructions) - 2),
        (csr.CTRL.address, 1),
    )
    writes = [HostEvent(3000 + 20 * i, "write", 0, address, data) for i, (address, data) in enumerate(words)]
    matched(program.replace(host=(*writes, HostEvent(8000, "read", 0, csr.STATUS.address))))


def test_another_timing_table(monkeypatch):
    """A core with more product registers is the same core on every tier (docs/own_core.md)."""
    usual = matched(product())
    monkeypatch.setitem(timing.TABLE, "product_stages", timing.Latency("4", "a deeper array"))
    assert matched(product()) > usual
    monkeypatch.setitem(timing.TABLE, "product_stages", timing.Latency("2000", "far too deep"))
    with pytest.raises(ValueError, match="takes 2011 cycles for a row; the fast tier has room for 1023"):
        run_fast(product())


@pytest.mark.parametrize("cycle_limit", [1, 2, 40, 399])
def test_watchdog(cycle_limit):
    program = product(timing=MemoryTiming(read_latency=300)).replace(cycle_limit=cycle_limit)
    matched(program)
    assert run_fast(program).cycles > cycle_limit


def test_long_silences_are_jumped_over():
    """The longest latency that there is, with a step in Python for the host's cycles only."""
    program = product(timing=MemoryTiming(read_latency=65535, write_latency=65535))
    machine = FastMachine(program)
    calls = 0
    while not machine.finished:
        machine.advance()
        calls += 1
    assert machine.host.cycles > 5 * 65535 > 100 * calls


def with_dram(program, dram):
    rate = program.timing.read_bandwidth or (program.config.mem_bytes, 1)
    timing = dataclasses.replace(program.timing, read_bandwidth=rate, write_bandwidth=None, shared=True, dram=dram)
    return program.replace(timing=timing)


@pytest.mark.parametrize("seed", range(8))
def test_drams_have_the_same_cycles(seed):
    program = random_program(np.random.default_rng(seed), seed)
    matched(with_dram(program, random_dram.generate(random.Random(seed), program.config.mem_bytes)))


def test_nothing_arrives_at_a_dram_in_a_reset():
    """Resets in the very cycles of requests."""
    program = with_dram(product(8), Dram())
    cycles, _ = run_fast(program).events.headers("port", "ar")
    assert len(cycles) > 3
    for cycle in map(int, cycles[:4]):
        matched(program.replace(host=(HostEvent(cycle, "reset", 2), HostEvent(cycle + 9, "start"))))


SHORT_ROWS = Dram(banks=1, row_bytes=256, access_bytes=4, tras=60, trefi=400, trfc=30)
SOON_CLOSED = dataclasses.replace(SHORT_ROWS, tras=0, trtp=40)
ONE_ROW = dataclasses.replace(SHORT_ROWS, rows=1, row_bytes=1 << 16, twtr=40, trtw=40)


@pytest.mark.parametrize(
    ("dram", "field"),
    [(SHORT_ROWS, name) for name in ("trcd", "trp", "tcl", "tcwl", "tras", "twr", "trfc")]
    + [(SOON_CLOSED, "trtp"), (ONE_ROW, "twtr"), (ONE_ROW, "trtw")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_drams_that_differ_in_one_time_are_found(dram, field):
    other = dataclasses.replace(dram, **{field: getattr(dram, field) + 1})
    program = product(20)
    stepped, fast = run_stepped(with_dram(program, dram)), run_fast(with_dram(program, other))
    assert differences(stepped, fast) != []


def test_a_difference_is_found():
    program = product()
    stepped, fast = run_stepped(program), run_fast(program)
    assert differences(stepped, fast) == []
    fast.events._rows["matmul", "row"][-1, 1] += 1
    found = differences(stepped, fast)
    assert [item.what.split()[0] for item in found] == ["matmul.row"]
    assert found[0].cycle == stepped.events.headers("matmul", "row")[0][int(found[0].what.split()[-1])]


# ----- events as intervals -----


def test_events_are_intervals_until_somebody_looks():
    program = product(128, preset("base"))
    events = run_fast(program).events
    kept = sum(len(events.intervals(*slot)) for slot in events.slots())
    assert 10 * kept < len(events) == sum(events.total(*slot) for slot in events.slots())
    rows = events.intervals("matmul", "row")
    cycles, fields = events.headers("matmul", "row")
    assert rows[:, 2].sum() == len(cycles) == events.total("matmul", "row")
    assert (np.diff(cycles) > 0).all() and fields["acc"].max() < program.config.acc_rows


def test_addresses_of_bursts():
    program = product()
    kept = run_stepped(program, keep_data=True)
    for kind in ("ar", "aw"):
        expected = [
            int(event.data["address"][0]) | int(event.data["address"][1]) << 32
            for event in kept.events
            if (event.station, event.kind) == ("port", kind)
        ]
        assert run_fast(program).events.addresses(kind).tolist() == expected


def test_accounting_by_windows():
    """One window is the run's accounting, and many add up to it; before and after the run there is nothing."""
    result = run_fast(product(20, timing=MemoryTiming(read_latency=90, read_bandwidth=(3, 2))))
    start, end = result.start, result.start + result.cycles
    assert result.events.accounting([start, end]) == [result.accounting]
    cuts = np.sort(np.random.default_rng(1).integers(start, end, 40))
    parts = result.events.accounting([start, *cuts, end])
    for name in ("cycles", "active", "weight_shift", "weight_stall", "non_matrix", "raw_stall", "input_stall"):
        assert sum(getattr(part, name) for part in parts) == getattr(result.accounting, name)
    assert sum(part.useful_macs for part in parts) == result.accounting.useful_macs == 20**3
    outside = result.events.accounting([0, start, end, result.events.cycles])
    assert [outside[0].non_matrix, outside[2].non_matrix] == [outside[0].cycles, outside[2].cycles]


def test_without_events():
    program = product()
    assert run_fast(program, events=False).events is None
    assert run_fast(program, events=False).accounting == run_fast(program).accounting


def test_an_unknown_slot_is_named():
    with pytest.raises(KeyError, match=r"There is no slot matmul\.column"):
        run_fast(product()).events.headers("matmul", "column")


# ----- what depends on values -----

LONG_SUM = """
.config tiny
.base 0 0x1000 64
.address 0x4000
.data 0x1000
.random 1 64
load row_bytes=64 signal=s0,s1
weights_sp outer=255 inner=255 wait=s0:1
matmul outer=255 kc=255 wait=s1:1
"""


def test_a_sum_that_may_overflow_is_not_called_safe():
    """255 times 255 tiles of four products leave an int32 sum only for some values."""
    program = assemble(LONG_SUM.replace("matmul outer=255", "matmul outer=255 accumulate=1"))
    assert run_fast(program, events=False).overflow is None
    run = api.Machine().run(program, "fast")
    assert run.overflow is api.Machine().run(program, "functional").overflow
    assert run_fast(assemble(LONG_SUM), events=False).overflow is False


def test_a_program_that_stores_over_itself_is_refused():
    text = ".config tiny\n.base 0 0x1000 0x4000\n.address 0x4000\nstore row_bytes=4 offset=0x3020\n"
    with pytest.raises(FastError, match="only the stepped tier"):
        run_fast(assemble(text))
    run_fast(assemble(text.replace("0x3020", "0x3060")))


def test_a_bandwidth_with_too_many_digits_is_refused():
    with pytest.raises(FastError, match="1414213562373/1000000000000 bytes per cycle has too many digits"):
        run_fast(product(timing=MemoryTiming(read_bandwidth=(1414213562373, 1000000000000))))
    matched(product(timing=MemoryTiming(read_bandwidth=(14 << 40, 5 << 40))))


def test_a_program_without_an_end_is_given_up():
    with pytest.raises(RuntimeError, match="did not end within 100 cycles"):
        run_fast(product(), limit=100)


# ----- machine code -----


def test_machine_code_kept_on_disk_is_that_of_these_sources(monkeypatch):
    """A number taken from another module counts as a source: numba makes it part of the code."""
    before = compiled._digest()
    assert before == compiled._digest()
    monkeypatch.setattr(frontend, "PATIENCE", frontend.PATIENCE + 1)
    assert compiled._digest() != before


# ----- one call, one command -----


def test_product_with_its_values():
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (9, 20), dtype=np.int8), rng.integers(-128, 128, (20, 7), dtype=np.int8)
    fast, stepped = (api.matmul(a, b, TINY, tier=tier) for tier in ("fast", "stepped"))
    np.testing.assert_array_equal(fast.values["out"], a.astype(int) @ b.astype(int))
    assert (fast.tier, fast.cycles, fast.accounting) == ("fast", stepped.cycles, stepped.accounting)
    assert fast.fidelity == stepped.fidelity


def test_convolution_in_strips():
    x = np.random.default_rng(4).integers(-128, 128, (1, 40, 40, 8), dtype=np.int8)
    w = np.random.default_rng(5).integers(-128, 128, (3, 3, 8, 4), dtype=np.int8)
    fast, functional = (api.conv2d(x, w, TINY, tier=tier) for tier in ("fast", "functional"))
    np.testing.assert_array_equal(fast.values["out"], functional.values["out"])
    assert fast.cycles > 38 * 38 * 9 * 2


def test_counters_of_strips_are_summed():
    """Strips of one row each take what they take alone."""
    x, w = np.ones((1, 2, 240, 8), np.int8), np.ones((1, 1, 8, 4), np.int8)
    timing = dram_preset("ddr4-2400")
    whole = api.conv2d(x, w, TINY, tier="fast", timing=timing)
    rows = [api.conv2d(x[:, index : index + 1], w, TINY, tier="fast", timing=timing) for index in range(2)]
    assert whole.cycles == sum(row.cycles for row in rows) and whole.dram == (rows[0].dram[0] + rows[1].dram[0],)


def test_values_may_be_left_out():
    program = product()
    run = api.Machine().run(program, "fast", values=False)
    assert run.values == {} and run.cycles == run_stepped(program).cycles


def test_errors_are_reported_without_values():
    run = api.Machine().run(product().replace(cycle_limit=50), "fast")
    assert run.error.name == "CYCLE_LIMIT" and run.values == {} and "CYCLE_LIMIT from frontend" in run.text


def test_values_after_a_reset_are_refused():
    program = product().replace(host=(HostEvent(250, "reset", 1), HostEvent(251, "start")))
    with pytest.raises(FastError, match="stepped tier, or without values"):
        api.Machine().run(program, "fast")
    assert api.Machine().run(program, "fast", values=False).cycles


def test_command(tmp_path, capsys):
    path = tmp_path / "product.bmp"
    product().save(path)
    runs = []
    for tier in ("fast", "stepped"):
        assert cli.main(["run", str(path), "--tier", tier, "--json"]) == 0
        runs.append(json.loads(capsys.readouterr().out))
    assert [run.pop("tier") for run in runs] == ["fast", "stepped"]
    assert runs[0] == runs[1]
