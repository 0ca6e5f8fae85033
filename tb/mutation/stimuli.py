# SPDX-License-Identifier: Apache-2.0
"""The programs that mutants meet: random ones, the directed kinds of the coverage suite, and resets at any time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.isa import Opcode
from beatmatch.isa.encode import positions
from beatmatch.machine import SteppedMachine
from beatmatch.program import HostEvent, Program
from tb.coverage.pieces import simple, small_program
from tb.coverage.suite import KINDS
from tb.coverage.visitor import VisitedMachine
from tb.lockstep import random_programs
from tb.lockstep.streams import derive, stream
from tb.mutation import directed

Source = dict[str, str | int]

RANDOM, RESET, EDGE, SHARED, WINDOW = "random", "reset", "edge", "shared", "window"
LEFT_OUT = ("sequence", "overflow")
"""Kinds that need half a million cycles to reach one corner, or reach it with a wide memory port only: in these
configurations the reset of `overflow` comes long before its sums are large (`values.sums` takes its place)."""
LATE = (WINDOW, *directed.KINDS, "late_error")
"""Kinds for what is left when the others have been played and proofs been tried: two whose programs are as long
as twenty to a hundred others, and what is made for a few mutants. A new one here leaves what was played before it."""
ONCE = ("late_error",)
"""Of these kinds the first variant alone: the others are as long or longer, and killed no mutant that it left."""
TURNS = {RANDOM: 0, "visit": 8, "retires": 4, "interrupted": 6, "pages": 2, "edges": 2, "short_rows": 2}
"""How often a kind is drawn; the others once, in all variants. The caller counts the random ones."""
RESETS, UNMAPPED = 60, 0xFFC
SHARED_VARIANTS = 8
WINDOWS = tuple((opcode, below) for opcode in (Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE) for below in (0, 1))
"""Transfers whose last byte is the window's last byte, or the first one behind it."""
EDGES = tuple(
    (opcode, field, below, packed)
    for opcode in Opcode
    for field in ("k_rows", "n_lanes", "k_lanes")
    if field in positions(opcode)
    for below in (0, 1, 2)
    for packed in ((0, 1) if "packed" in positions(opcode) else (0,))
)
"""Counts of lanes at their limit: the first encoding that is too large, and the two below it."""


def choose(
    seed: int, random_count: int, config: Config, kinds: Sequence[str] = ()
) -> tuple[list[Source], list[Source]]:
    """Sources of most programs, random ones first, as a mutant meets them, and of the late ones.

    With `kinds` only those, besides the random ones.
    """
    found = [_source(seed, RANDOM, 0, turn) for turn in range(random_count)]
    found += [_source(seed, RESET, 0, turn) for turn in range(RESETS)]
    found += [_source(seed, EDGE, variant, 0) for variant in range(len(EDGES))]
    found += [_source(seed, SHARED, variant, 0) for variant in range(SHARED_VARIANTS)]
    found += [_source(seed, WINDOW, variant, 0) for variant in range(len(WINDOWS))]
    for kind, made in directed.KINDS.items():
        found += [_source(seed, kind, variant, 0) for variant in range(made.variants)]
    for kind, item in KINDS.items():
        if kind not in LEFT_OUT:
            turns = range(TURNS.get(kind, 1))
            variants = 1 if kind in ONCE else item.variants
            found += [_source(seed, kind, variant, turn) for turn in turns for variant in range(variants)]
    wanted = [source for source in found if not kinds or source["kind"] in (RANDOM, *kinds)]
    most = [source for source in wanted if source["kind"] not in LATE]
    return most, [source for source in wanted if source["kind"] in LATE]


def _source(seed: int, kind: str, variant: int, turn: int) -> Source:
    return {"kind": kind, "variant": variant, "seed": derive(seed, "mutation", kind, variant, turn) % (1 << 31)}


def name(source: Source) -> str:
    """Names a program in reports."""
    return f"{source['kind']} {source['variant']} (seed {source['seed']})"


def machine(source: Source, config: Config) -> SteppedMachine:
    """The model about to run the program of a source."""
    made = directed.KINDS.get(source["kind"])
    if made:
        rng = stream(source["seed"], "mutation", source["kind"])
        return made.machine(made.make(rng, config, source["variant"]), digest=True)
    own = OWN.get(source["kind"])
    if own:
        return SteppedMachine(own(source["seed"], config, source["variant"]), digest=True)
    kind = KINDS[source["kind"]]
    program = kind.make(source["seed"], config, source["variant"])
    if kind.visits:
        return VisitedMachine(program, source["seed"], True)
    return SteppedMachine(program, digest=True)


def _reset(seed: int, config: Config, variant: int) -> Program:
    """A random program with a reset in the middle: what it does not clear shows in digests or after the next start."""
    rng = stream(seed, "mutation", "reset")
    cycle, length = rng.randint(150, 1200), rng.choice((1, 1, 2))
    events = [
        HostEvent(cycle - 8, "read", address=UNMAPPED),  # both responses are errors when the reset comes
        HostEvent(cycle - 7, "write", address=UNMAPPED),
        HostEvent(cycle, "reset", length),
        HostEvent(cycle + length + 20, "read", address=csr.STATUS.address),
    ]
    if rng.random() < 0.3:
        events.append(HostEvent(cycle + length, "start"))
    return random_programs.generate(seed, config).replace(host=tuple(events))


def _edge(seed: int, config: Config, variant: int) -> Program:
    """One instruction whose count of lanes is at, or one or two below, the first encoding that is too large."""
    opcode, field, below, packed = EDGES[variant]
    size = config.cols if field == "n_lanes" else config.rows
    shift, declared = positions(opcode)[field]
    item = simple(opcode, config, **({"packed": 1} if packed else {}))
    word = item.word() & ~(((1 << declared.width) - 1) << shift) | (size - below) << shift
    return small_program(stream(seed, "mutation", "edge"), config, [word], f"edge: {opcode.name}.{field}")


def _shared(seed: int, config: Config, variant: int) -> Program:
    """Two engines wait on one counter and are granted in one cycle, for more than it holds: it then is 0.

    The checker refuses such a program, but the contract says what the hardware does.
    """
    rng = stream(seed, "mutation", "shared")
    first, second = rng.sample((Opcode.LOAD, Opcode.WEIGHTS_SP, Opcode.MATMUL, Opcode.STORE), 2)
    amount, counter = 1 + variant // 2, rng.randrange(32)
    counts = [0] * 32
    counts[counter] = amount - 1
    giver = simple(Opcode.REQUANT, config, x=8, outer=8, sig0_en=1, sig0_id=counter)
    waits = {"wait0_id": counter, "wait0_n": amount}
    other = {"wait1_id": counter, "wait1_n": max(1, amount - variant % 2)}
    items = [giver, simple(first, config, **waits), simple(second, config, **other)]
    return small_program(rng, config, items, "shared", semaphores=tuple(counts), cycle_limit=600)


def _window(seed: int, config: Config, variant: int) -> Program:
    """A transfer that just fits into its window, or lacks one byte of it."""
    opcode, below = WINDOWS[variant]
    packed = opcode is Opcode.WEIGHTS_MEM
    offset, length = 2 * config.mem_bytes, config.peak_macs if packed else config.lanes
    item = simple(opcode, config, offset=offset, **({"packed": 1} if packed else {}))
    program = small_program(stream(seed, "mutation", "window"), config, [item], f"window: {opcode.name}")
    first, *rest = program.bases
    return program.replace(bases=(replace(first, size=offset + length - below), *rest))


OWN = {RESET: _reset, EDGE: _edge, SHARED: _shared, WINDOW: _window}
"""Makers of the kinds that are of use here only, besides those of `directed`."""
