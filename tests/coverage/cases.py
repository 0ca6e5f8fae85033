# SPDX-License-Identifier: Apache-2.0
"""For every coverage group: records made by hand, and a bin that they have to hit.

The same records without what is special about them hit none of these bins (`test_groups`).
"""

from __future__ import annotations

from collections.abc import Callable

from beatmatch.isa import Opcode
from tb.coverage.directed_decode import _poked
from tb.coverage.pieces import from_accumulator, simple
from tests.coverage.recorder import CONFIG, Recorder

Case = tuple[str, str, Callable[[Recorder], object]]


def one(opcode: Opcode, **changes: int):
    """Dispatches one instruction."""
    return lambda r: r.busy().dispatch(simple(opcode, CONFIG, **changes))


def _sync(r: Recorder) -> None:
    """A load that waits for 2 of counter 3 and signals counter 4, and a matmul with nothing."""
    load = simple(Opcode.LOAD, CONFIG, wait0_id=3, wait0_n=2, sig0_en=1, sig0_id=4)
    r.busy(1).fetch(load.word(), at=3).dispatch(load, simple(Opcode.MATMUL, CONFIG), at=50)
    r.event(60, "load", "issue", seq=0, last=1).event(60, "matmul", "issue", seq=1, last=1)
    r.event(70, "load", "retire", seq=0, last=1).event(70, "matmul", "retire", seq=1, last=1)


def _flying(r: Recorder, *engines: str, last: int | None = None) -> Recorder:
    """Instructions of these engines are in flight from cycle 10 on."""
    for engine in engines:
        r.event(10, engine, "issue", seq=0, last=1)
    return r.busy(1, last)


def _refused(word: int, code: int):
    return lambda r: r.busy().fetch(word, at=3).error(60, 0, code)


def _requant(r: Recorder) -> None:
    """A REQUANT without parameters of the row 5, -7, 200, -300: the last two saturate."""
    r.busy().dispatch(from_accumulator(Opcode.REQUANT, CONFIG)).event(10, "vector", "issue", seq=0, last=1)
    r.event(14, "accumulator", "read", {"data": [5, -7, 200, -300]})
    r.event(18, "vector", "write", {"data": [0x807FF905]})


def _parameters(r: Recorder) -> None:
    words = [7, 3 | 63 << 24, 0, 0, 0, 0, 0, 0]
    for index, word in enumerate(words):
        r.event(20 + index, "load", "write", {"enable": [15], "data": [word]}, space=1, address=index)
    r.busy().event(40, "vector", "param_read", address=0)


def _reset(r: Recorder) -> None:
    _flying(r, "load", last=30)
    r.drive(slice(29, 31), rst_n=0)


def _deadlock(r: Recorder) -> None:
    r.busy().dispatch(simple(Opcode.STORE, CONFIG)).error(60, 5, 10)


def _twice(r: Recorder) -> None:
    r.busy(1, 40).busy(50, 90)
    r.event(slice(40, 50), "host", "status", done=1).event(slice(90, None), "host", "status", done=1)


def _rows(r: Recorder) -> None:
    r.busy()
    for start in (20, 24):
        r.event(start, "matmul", "row", swap=1)
        r.event(slice(start + 1, start + 4), "matmul", "row")
    for index in range(4):
        r.event(20 + index, "matmul", "shift", row=index)
    r.event(slice(30, 38), "accumulator", "write")


CASES: tuple[Case, ...] = (
    ("operation", "ADD each=1", one(Opcode.ADD, each=1)),
    ("outer_iterations", "LOAD outer=4-15", one(Opcode.LOAD, outer=5)),
    ("count_extremes", "MATMUL.x large", one(Opcode.MATMUL, x=4095)),
    ("transfer", "STORE several rows", one(Opcode.STORE, rows=2)),
    ("rings", "LOAD.dst_ring=1 wraps", one(Opcode.LOAD, dst_ring=1, outer=3)),
    ("base_registers", "STORE base=9", one(Opcode.STORE, base=9)),
    ("window_edges", "LOAD first byte", one(Opcode.LOAD)),
    ("weight_tiles", "WEIGHTS_MEM k_rows tail", one(Opcode.WEIGHTS_MEM, k_rows=2)),
    ("matmul_modes", "keep=1 accumulate=1 each=0", one(Opcode.MATMUL, accumulate=1)),
    ("matmul_shape", "kx>1", one(Opcode.MATMUL, kx=3)),
    ("vector_modes", "ADD scratchpad int8 mode=2", one(Opcode.ADD, param_mode=2)),
    ("vector_bounds", "REQUANT one value", one(Opcode.REQUANT, clip_low=3, clip_high=3)),
    ("pool_windows", "MAXPOOL kx>1", one(Opcode.MAXPOOL, kx=2)),
    ("parts", "weights source part 1 of 2", lambda r: r.busy().dispatch(simple(Opcode.WEIGHTS_SP, r.config, src=1))),
    ("wait_patterns", "LOAD waits=2 each=0", one(Opcode.LOAD, wait0_n=1, wait1_n=1, wait1_id=1)),
    ("signal_patterns", "LOAD signals=2 each=0", one(Opcode.LOAD, sig0_en=1, sig1_en=1)),
    ("two_signals", "LOAD different", one(Opcode.LOAD, sig0_en=1, sig1_en=1, sig1_id=1)),
    ("wait_amounts", "load n=2-7", _sync),
    ("counters_used", "signalled 4", _sync),
    ("counter_values", "one signal", _sync),
    ("rounding", "REQUANT negative no shift", _requant),
    ("saturation", "REQUANT clipped high", _requant),
    ("parameters", "shift 63", _parameters),
    ("int8_values", "result -128", _requant),
    ("sums", "read + 1-127", _requant),
    ("accumulator_writes", "add with overflow", lambda r: r.event(20, "accumulator", "write", add=1, overflow=1)),
    ("byte_enables", "one strobe", lambda r: r.event(20, "port", "w", {"strobe": [4]}, last=1)),
    ("errors", "UNALIGNED STORE", lambda r: r.busy().error(20, 5, 5)),
    ("illegal_opcodes", "16-31", _refused(31, 1)),
    ("illegal_fields", "act_format MATMUL", _refused(_poked(simple(Opcode.MATMUL, CONFIG), act_format=2), 2)),
    ("zero_sizes", "STORE.rows", _refused(_poked(simple(Opcode.STORE, CONFIG), rows=0), 3)),
    ("error_responses", "load SLVERR", lambda r: r.busy().beat(20, 1, resp=2)),
    ("run_ends", "done then done", _twice),
    ("register_access", "BASE3.high read", lambda r: r.read(20, 0x11C)),
    ("unmapped_access", "past the last", lambda r: r.read(20, 0xFFC)),
    ("write_strobes", "strobe 0101", lambda r: r.write(20, 0x014, 7, 5)),
    ("host_bus", "read response waits", lambda r: r.read(20, 0).drive(22, s_axil_rready=0)),
    ("starts", "after done", lambda r: (_twice(r), r.write(46, 0x004, 1))),
    ("status", "done with error", lambda r: r.event(20, "host", "status", done=1, error=1)),
    ("programs", "length 2-16", lambda r: r.write(4, 0x014, 3).busy(20)),
    ("configurations", "beat=word", lambda r: r),
    ("accounting", "weight shift", lambda r: r.busy(1, 20).busy(20, None, weight_shift=1)),
    ("engine_overlap", "load store", lambda r: _flying(r, "load", "store")),
    ("event_pairs", "frontend.fetch port.aw", lambda r: r.event(20, "frontend", "fetch").event(20, "port", "aw")),
    ("bubbles", "port.w 2-3", lambda r: r.event(20, "port", "w").event(23, "port", "w")),
    ("streaks", "port.w 2-3", lambda r: r.event(slice(20, 22), "port", "w")),
    ("instructions_in_flight", "load 1", lambda r: _flying(r, "load")),
    ("issue_and_retire", "retire load matmul", _sync),
    ("queues", "load one", one(Opcode.LOAD)),
    ("fetch_buffer", "buffered 2-7", lambda r: r.busy().event(slice(20, 23), "frontend", "fetch")),
    ("rows", "data swaps", _rows),
    ("swaps", "interval = rows", _rows),
    ("weight_shifts", "while a row enters", _rows),
    ("array_pipeline", "one", _rows),
    ("banks", "vector reads bank 1", lambda r: r.event(20, "vector", "sp_read", address=40)),
    ("read_conflicts", "matmul before store",
     lambda r: r.event(20, "matmul", "sp_read", address=3).event(21, "store", "sp_read", address=4)),
    ("write_conflicts", "load behind vector",
     lambda r: r.event(20, "vector", "write", address=3).event(21, "load", "write", address=4)),
    ("same_word", "store with load", lambda r: r.event(20, "load", "write", address=4).event(21, "store", "sp_read",
    address=4)),
    ("forwarding", "add after add", lambda r: r.event(slice(20, 22), "accumulator", "write", add=1, address=5)),
    ("accumulator_conflicts", "behind an add",
     lambda r: r.event(20, "accumulator", "write", add=1, address=5).event(21, "accumulator", "read", address=6)),
    ("weight_fifo", "from memory", lambda r: r.event(20, "weights", "fifo_write")),
    ("burst_lengths", "load 16-63", lambda r: r.burst(20, 1, 31)),
    ("burst_splits", "load cut at 4 KiB", lambda r: r.burst(20, 1, 3, 0x1FF0).burst(22, 1, 3, 0x2000)),
    ("outstanding", "load limit reached", lambda r: r.burst(20, 1).burst(22, 1)),
    ("read_order", "AR load then weights", lambda r: r.burst(20, 1).burst(22, 2)),
    ("channel_stalls", "AR load begun", lambda r: _flying(r, "load").drive(20, m_axi_arready=0)),
    ("read_back_pressure", "load once", lambda r: r.drive(20, m_axi_rvalid=1, m_axi_rid=1)),
    ("read_latency", "load 2-9", lambda r: r.burst(20, 1).beat(25, 1, 1)),
    ("writes", "B behind B", lambda r: r.drive(slice(20, 22), m_axi_bvalid=1)),
    ("channels_together", "AW W", lambda r: r.event(20, "port", "aw").event(20, "port", "w")),
    ("two_ports", "weights AR with AR of load", lambda r: r.event(20, "weight_port", "ar").burst(20, 1)),
    ("weight_port", "R behind R",
     lambda r: r.event(slice(20, 22), "weight_port", "ready", rready=1).drive(slice(20, 22), m_axi_weights_rvalid=1)),
    ("reset_states", "load at work", _reset),
    ("reset_lengths", "length 2-3", _reset),
    ("halt_states", "STORE beside load", lambda r: _flying(r, "load").error(30, 5, 5)),
    ("halted_drain", "W beats", lambda r: r.busy(1, None, halt=1, error=1).event(20, "port", "w")),
    ("simultaneous_errors", "STORE loses to MATMUL",
     lambda r: r.busy().drive(19, m_axi_bvalid=1, m_axi_bresp=2).error(20, 3, 4)),
    ("deadlocks", "store named", _deadlock),
    ("run_boundaries", "two runs within a hundred cycles", _twice),
)  # fmt: skip
"""Group, bin, and what makes it happen."""
