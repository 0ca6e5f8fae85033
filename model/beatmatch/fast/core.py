# SPDX-License-Identifier: Apache-2.0
"""The core and its memory without their data: one clock cycle, and many of them with jumps over quiet ones.

The order within a cycle is that of `machine.SteppedMachine.cycle`; see there.
"""

from __future__ import annotations

from typing import NamedTuple

from beatmatch.config import Config
from beatmatch.fast import frontend, load, matmul, memories, memory, recorder, store, vector, weights
from beatmatch.fast.compiled import compiled, entry
from beatmatch.fast.registers import layout
from beatmatch.timing import cycles

FAR = 1 << 62
"""A cycle that never comes."""
MARGIN = 2 * len(recorder.SLOTS)
"""Intervals for which the buffer must have room: a cycle closes at most one per slot, and so does the end."""

SIZES = layout(
    "Sizes",
    "rows cols lanes act_shift col_shift sp_shift acc_shift sp_words act_operands col_operands acc_rows fifo_tiles "
    "queue_depth mem_bytes outstanding param_rows param_limit array_depth",
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
    "now moved category",
    log=recorder.LOG,
    sizes=SIZES,
    host=HOST,
    frontend=frontend.LAYOUT,
    port=memory.PORT,
    memory=memory.MEMORY,
    load=load.LAYOUT,
    weights=weights.LAYOUT,
    matmul=matmul.LAYOUT,
    vector=vector.LAYOUT,
    store=store.LAYOUT,
    scratchpad=memories.SCRATCHPAD,
    accumulator=memories.ACCUMULATOR,
)
"""``now`` counts cycles; ``moved``: some register other than a counter of time has changed in this cycle;
``category``: what the cycle was, of the numbers below."""

NOTHING, CLEAR, RESET, FINISH = range(4)
"""What `run` does at its end: nothing, the reset values of the engines' side, those of port and memory too, or to close
the intervals that are still open."""
NONE, ACTIVE, WEIGHT_SHIFT, WEIGHT_STALL, RAW_STALL, INPUT_STALL = range(6)


class Env(NamedTuple):
    """What is not a register: the program's instructions, the intervals so far, stall flags, error ranges."""

    code: object
    out: object
    flags: object
    faults: object


def sizes_of(config: Config) -> dict[str, int]:
    """Values of `SIZES`."""
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
        "array_depth": matmul.EDGE + cycles("edge_to_commit", config),
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
def _cycle(m, env):
    """One clock cycle of core and memory, up to the step of ``now``."""
    u, s = m.frontend, m.scratchpad
    m.moved = 0
    halt = u.halt
    load_head, weights_head, matmul_head = u.head[frontend.LOAD], u.head[frontend.WEIGHTS], u.head[frontend.MATMUL]
    vector_head, store_head = u.head[frontend.VECTOR], u.head[frontend.STORE]

    # Arbitrate: grants are functions of registers.
    memories.arbitrate_scratchpad(m, halt)
    memories.arbitrate_accumulator(m)
    taken = load.taken(m, s.load_granted, halt)
    memory.select(m, env, taken, halt)
    frontend.arbitrate(m, env)

    # Observe: signals, the end of the run and the category of the cycle.
    if u.error_new:
        emit_error(m, env)
    frontend.observe(m, env)
    matmul.observe(m, env, matmul_head, u.granted[frontend.MATMUL])
    m.category = NONE
    if m.host.run:
        level = m.matmul.level
        if level == matmul.WAIT:
            m.category = INPUT_STALL if load.busy(m) else RAW_STALL
        else:
            m.category = level

    # Step.
    vector.step(m, env, vector_head, u.head_seq[frontend.VECTOR], u.granted[frontend.VECTOR], halt)
    store.step(m, env, store_head, u.head_seq[frontend.STORE], u.granted[frontend.STORE], halt, s.store_granted)
    load.step(
        m, env, load_head, u.head_seq[frontend.LOAD], u.granted[frontend.LOAD], halt, taken,
        m.port.ar_id == load.LOAD, m.port.r_id == load.LOAD,
    )  # fmt: skip
    weights.step(
        m, env, weights_head, u.head_seq[frontend.WEIGHTS], u.granted[frontend.WEIGHTS], halt, s.weights_granted,
        m.port.ar_id == weights.WEIGHTS, m.port.r_id == weights.WEIGHTS,
    )  # fmt: skip
    memories.step_accumulator(m, env)
    matmul.step(m, env, matmul_head, u.head_seq[frontend.MATMUL], u.granted[frontend.MATMUL], halt)
    matmul.fifo_commit(m)

    # Commit.
    frontend.commit(m, env)
    memory.commit(m, env)


@compiled
def emit_error(m, env):
    """The host's error event."""
    u = m.frontend
    recorder.emit(m, env, recorder.HOST_ERROR, u.error_code << 20 | u.error_engine << 16 | u.error_seq, 0)


@compiled
def _count(m, times):
    """Count a cycle, some times."""
    h = m.host
    h.cycles += times
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
    until = FAR
    if h.cycle_limit:
        until = m.now + h.cycle_limit - h.cycles
    if a.answers_count and not a.bvalid:
        until = min(until, a.answers_time[a.answers_first] - 1)
    if (a.reading or a.reads_count) and not a.rvalid:
        first = 0 if a.reading else a.reads_time[a.reads_first]
        if a.read_n:  # the first cycle with bandwidth left: cycle * n + n > next
            first = max(first, a.read_next // a.read_n)
        until = min(until, first - 1)
    return max(until - m.now, 0)


def _build(digest: str):
    def run(m, env, limit, capacity, after):
        """Cycles up to ``limit``, or a run's end, or ``capacity`` intervals nearly full; then what ``after`` says."""
        _ = digest
        while m.now < limit and m.log.used + MARGIN < capacity:
            _cycle(m, env)
            _count(m, 1)
            m.host.useful_macs += m.matmul.level_useful
            m.now += 1
            if m.frontend.done_set:
                break
            if not m.moved:
                silence = min(_quiet(m), limit - m.now)
                _count(m, silence)
                m.now += silence
        if after in (CLEAR, RESET):
            _clear(m)
        if after == RESET:
            memory.reset_port(m)
            memory.reset_memory(m, env)
        elif after == FINISH:
            recorder.close_all(m, env)

    return run


run = entry(_build)
