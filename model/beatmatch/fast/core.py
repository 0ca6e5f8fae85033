# SPDX-License-Identifier: Apache-2.0
"""The core and its memory without their data: one clock cycle, and many of them with jumps over quiet ones.

The order within a cycle is that of `machine.SteppedMachine.cycle`; see there.
"""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.fast import frontend, load, matmul, memories, memory, recorder, store, vector, weight_port, weights
from beatmatch.fast.compiled import compiled, entry
from beatmatch.fast.registers import layout
from beatmatch.timing import cycles

LOAD, WEIGHTS, MATMUL, VECTOR, STORE = range(5)
MARGIN = 2 * recorder.PLACES
"""Intervals for which the buffer must have room: a cycle closes at most one per slot, and so does the end."""

SIZES = layout(
    "Sizes",
    "rows cols lanes act_shift col_shift sp_shift acc_shift sp_words act_operands col_operands acc_rows fifo_tiles "
    "queue_depth mem_bytes outstanding param_rows param_limit array_depth "
    "weight_port",
)
HOST = layout(
    "Host",
    "run cycle_limit cycles prog_len prog_page prog_offset prog_unaligned prog_end_page prog_end_offset overwritten "
    "active weight_shift weight_stall raw_stall input_stall useful_macs",
    {"base_page": 16, "base_low": 16, "window": 16},
)
"""Registers and counters of the host; ``prog_end``: the program's last byte, ``overwritten``: a store came over it."""
MACHINE = layout(
    "Machine",
    "now moved streamed category",
    log=recorder.LOG,
    sizes=SIZES,
    host=HOST,
    frontend=frontend.LAYOUT,
    port=memory.PORT,
    memory=memory.MEMORY,
    weight_port=memory.PORT,
    weight_memory=memory.MEMORY,
    load=load.LAYOUT,
    weights=weights.LAYOUT,
    matmul=matmul.LAYOUT,
    vector=vector.LAYOUT,
    store=store.LAYOUT,
    scratchpad=memories.SCRATCHPAD,
    accumulator=memories.ACCUMULATOR,
)
"""``now`` counts cycles; ``moved``: in this cycle some register has changed, other than a counter of time and what the
matrix unit changes by itself (``streamed``); ``category``: what the cycle was, of the numbers below."""

NOTHING, CLEAR, RESET, FINISH = range(4)
"""What `run` does at its end: nothing, the reset values of the engines' side, those of port and memory too, or to close
the intervals that are still open."""
NONE, ACTIVE, WEIGHT_SHIFT, WEIGHT_STALL, RAW_STALL, INPUT_STALL = range(6)


def sizes_of(config: Config) -> dict[str, int]:
    """Values of `SIZES`; raises ValueError for a pipeline that is too long."""
    depth = matmul.EDGE + cycles("edge_to_commit", config)
    if depth >= matmul.RING:
        raise ValueError(f"The array takes {depth} cycles for a row; the fast tier has room for {matmul.RING - 1}.")
    return {
        "rows": config.rows,
        "cols": config.cols,
        "lanes": config.lanes,
        "act_shift": config.act_parts.bit_length() - 1,
        "col_shift": config.col_parts.bit_length() - 1,
        "sp_shift": config.sp_bank_words.bit_length() - 1,
        "acc_shift": config.acc_bank_rows.bit_length() - 1,
        "sp_words": config.sp_words,
        "act_operands": config.sp_words * config.act_parts,
        "col_operands": config.sp_words * config.col_parts,
        "acc_rows": config.acc_rows,
        "fifo_tiles": config.fifo_tiles,
        "queue_depth": config.queue_depth,
        "mem_bytes": config.mem_bytes,
        "outstanding": config.outstanding,
        "param_rows": config.param_rows,
        "param_limit": config.param_rows * config.param_words,
        "array_depth": depth,
        "weight_port": config.weight_port,
    }


@compiled
def _clear(m):
    """Reset values of the engines' side: everything but host, port and memory."""
    frontend.reset(m)
    load.reset(m)
    weights.reset(m)
    matmul.reset(m)
    vector.reset(m)
    store.reset(m)
    memories.reset_accumulator(m)


@compiled
def _cycle(m, code):
    """One clock cycle of core and memory, up to the step of ``now``."""
    u, s = m.frontend, m.scratchpad
    m.moved = 0
    halt = u.halt
    matmul_head, vector_head = u.head[MATMUL], u.head[VECTOR]
    load_f, weights_f, store_f = code[max(u.head[LOAD], 0)], code[max(u.head[WEIGHTS], 0)], code[max(u.head[STORE], 0)]
    matmul_f, vector_f = code[max(matmul_head, 0)], code[max(vector_head, 0)]

    # Arbitrate: grants are functions of registers.
    memories.arbitrate_scratchpad(m, halt)
    memories.arbitrate_accumulator(m)
    taken = load.taken(m, s.load_granted, halt)
    memory.select(m, taken, halt)
    if m.sizes.weight_port:
        weight_port.select(m, halt)
    frontend.arbitrate(m, load_f, weights_f, matmul_f, vector_f, store_f)

    # Observe: signals, the end of the run and the category of the cycle.
    if u.error_new:
        recorder.emit(m, recorder.HOST_ERROR, u.error_code << 20 | u.error_engine << 16 | u.error_seq, 0)
    frontend.observe(m, matmul_f)
    matmul.observe(m, matmul_head, matmul_f, u.granted[MATMUL])
    m.category = NONE
    if m.host.run:
        m.category = m.matmul.level
        if m.category == matmul.WAIT:
            m.category = INPUT_STALL if load.busy(m) else RAW_STALL

    # Step.
    vector.step(m, vector_head, vector_f, code[m.vector.place], u.head_seq[VECTOR], u.granted[VECTOR], halt)
    store.step(m, store_f, u.head_seq[STORE], u.granted[STORE], halt, s.store_granted)
    load.step(
        m, load_f, u.head_seq[LOAD], u.granted[LOAD], halt, taken,
        m.port.ar_id == load.LOAD, m.port.r_id == load.LOAD,
    )  # fmt: skip
    port, tiles = m.port, m.memory
    if m.sizes.weight_port:
        port, tiles = m.weight_port, m.weight_memory
    weights.step(
        m, weights_f, u.head_seq[WEIGHTS], u.granted[WEIGHTS], halt, s.weights_granted,
        port.ar_id == weights.WEIGHTS, port.r_id == weights.WEIGHTS, tiles,
    )  # fmt: skip
    moved = m.moved
    m.moved = 0
    more = _step_matmul(m, matmul_head, matmul_f, code[m.matmul.place], u.granted[MATMUL], halt)
    m.streamed = m.moved
    m.moved = moved or more

    # Commit.
    frontend.commit(m, code)
    memory.commit(m, m.memory, m.port)
    if m.sizes.weight_port:
        memory.commit(m, m.weight_memory, m.weight_port)


@compiled
def _step_matmul(m, head, f, own, granted, halt):
    """The matrix unit and its rows' commits; 1 if something outside of it may go on in the next cycle."""
    memories.step_accumulator(m)
    more = matmul.step(m, head, f, own, m.frontend.head_seq[MATMUL], granted, halt)
    matmul.fifo_commit(m)
    return more


@compiled
def _stream(m, code, until):
    """Cycles in which the matrix unit alone goes on, with rows that wait for nobody; at most up to ``until``."""
    u, head = m.matmul, m.frontend.head[MATMUL]
    f, own = code[max(head, 0)], code[u.place]
    more = 0
    while m.now < until and not more and u.rows and u.retire < 0 and m.log.used + MARGIN < recorder.BUFFER:
        if (u.waits or u.last or u.bad) if u.run else head >= 0:
            break
        matmul.observe(m, head, f, 0)
        m.category = u.level
        more = _step_matmul(m, head, f, own, 0, 0)
        _count(m, 1)
        m.now += 1


@compiled
def _count(m, times):
    """Count a cycle, some times."""
    h = m.host
    if m.category != m.log.category:
        m.log.category = m.category
        recorder.record(m, recorder.CATEGORY, m.category, 0)
    h.cycles += times
    h.useful_macs += m.matmul.level_useful * times
    if m.category == ACTIVE:
        h.active += times
    elif m.category == WEIGHT_SHIFT:
        h.weight_shift += times
    elif m.category == WEIGHT_STALL:
        h.weight_stall += times
    elif m.category == RAW_STALL:
        h.raw_stall += times
    elif m.category == INPUT_STALL:
        h.input_stall += times


@compiled
def _quiet(m):
    """Cycles from now on that only repeat the last one, which moved nothing: until time itself lets something move."""
    a, h = m.memory, m.host
    if m.frontend.halt or a.stalls or m.store.w_valid:
        return 0
    until = memory.next_read(a) - 1
    if m.sizes.weight_port:
        if m.weight_memory.stalls:
            return 0
        until = min(until, memory.next_read(m.weight_memory) - 1)
    if h.cycle_limit:
        until = min(until, m.now + h.cycle_limit - h.cycles)
    if a.answers_count and not a.bvalid:
        until = min(until, a.answers_time[a.answers_first] - 1)
    return max(until - m.now, 0)


def _build(digest: str):
    def run(m, code, limit, after):
        """Cycles up to ``limit``, or a run's end, or a buffer nearly full of intervals; then what ``after`` says."""
        _ = digest
        while m.now < limit and m.log.used + MARGIN < recorder.BUFFER:
            _cycle(m, code)
            _count(m, 1)
            m.now += 1
            if m.frontend.done_set:
                break
            if not m.moved:
                until = min(m.now + _quiet(m), limit)
                if m.streamed:
                    _stream(m, code, until)
                elif until > m.now:
                    _count(m, until - m.now)
                    m.now = until
        if after in (CLEAR, RESET):
            _clear(m)
        if after == RESET:
            memory.reset_port(m.port)
            memory.reset_memory(m, m.memory)
            memory.reset_port(m.weight_port)
            memory.reset_memory(m, m.weight_memory)
        elif after == FINISH:
            recorder.close_all(m)

    return run


run = entry(_build)
