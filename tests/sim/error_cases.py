# SPDX-License-Identifier: Apache-2.0
"""Programs that the machine stops with an error, restarts after them, and the model as their side of a lockstep run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beatmatch.compiler import compile_gemm
from beatmatch.config import Config
from beatmatch.host_agent import HostAgent
from beatmatch.isa.asm import assemble
from beatmatch.isa.encode import make, positions, reserved_bits
from beatmatch.isa.fields import ENGINE_OF, Engine, Error, Opcode
from beatmatch.machine import SteppedMachine
from beatmatch.memory import MemoryImage
from beatmatch.program import Program

LIMIT = 100_000
BAD = 2
"""Sequence number of the line under test: a load and a store come before it."""

AROUND = """
.timing read_latency={latency} write_latency=4
.const UNIT {unit}
.const SP {sp_words}
.const ACC {acc_rows}
.const PARAMS {param_rows}
.const LAST {last}
.semaphore full
.semaphore both {held}
.base 0 0x100000 4096
.base 1 0x200000 4096
.base 2 0x300000 4*UNIT
.base 4 0x100000+MB//2 1024
.base 5 0xffffffffffff0000 1024
.address 0x400000
.data 0x100000
.random 1 4096
{directives}
load row_bytes=8*UNIT dst=0 signal=full
store base=1 row_bytes=4*UNIT src=0 wait=full:1
{line}
store base=1 offset=8*UNIT row_bytes=2*UNIT src=UNIT//LANES
"""


@dataclass(frozen=True)
class Case:
    """A line, or a directive, that ends a program in an error.

    Attributes
    ----------
    name : str
    line : str
        Instructions after a load and a store, before a store.
    error, engine, seq : Error, Engine, int
        What the registers must say.
    right : str
        Line that stores what the memory may hold of ``line`` in spite of the error: rows before the one that failed.
    directives : str
        More directives.
    latency : int
        Of reads.
    held : int
        Initial count of the semaphore ``both``.
    timed : bool
        The error belongs to time: the functional tier does not see it.
    address, empty : int, bool
        Added to the program's address; PROG_LEN 0.
    """

    name: str
    line: str
    error: Error
    engine: Engine = Engine.FRONTEND
    seq: int = BAD
    right: str = ""
    directives: str = ""
    latency: int = 7
    held: int = 0
    timed: bool = False
    address: int = 0
    empty: bool = False

    def program(self, config: Config) -> Program:
        """The program for a configuration."""
        program = self._assembled(self.line, config)
        program = program.replace(address=program.address + self.address)
        return program.replace(instructions=[]) if self.empty else program

    def allowed(self, config: Config) -> Program:
        """A program without the error, which writes all that the other one may write."""
        return self._assembled(self.right, config).replace(timing=Program(config, []).timing, cycle_limit=0)

    def _assembled(self, line: str, config: Config) -> Program:
        text = AROUND.format(
            line=line, held=self.held, directives=self.directives, latency=self.latency,
            unit=max(config.lanes, config.mem_bytes),
            sp_words=config.sp_words, acc_rows=config.acc_rows, param_rows=config.param_rows,
            last=config.sp_words * config.col_parts,
        )  # fmt: skip
        return assemble(text, config)


def _word(opcode: Opcode, **raw: int) -> str:
    """A line with fields of any value, legal or not, as the encoding holds them."""
    legal = {"src_space": 2, "src_format": 1} if opcode in VECTOR else {}
    word = make(opcode, **legal).word()
    for name, value in raw.items():
        shift, field = positions(opcode)[name]
        mask = (1 << field.width) - 1
        word = word & ~(mask << shift) | (value & mask) << shift
    return f".word {word:#x}"


VECTOR = (Opcode.REQUANT, Opcode.ADD, Opcode.MAXPOOL, Opcode.AVGPOOL)
SHARED_WAITS = {"wait0_id": 3, "wait0_n": 1, "wait1_id": 3, "wait1_n": 2}


def _illegal() -> Iterator[Case]:
    for number in (0, 10, 15, 31):
        yield Case(f"opcode {number}", f".word {number}", Error.ILLEGAL_OPCODE)
    yield Case("opcode before field", f".word {31 | 1 << 5 | 1 << 255:#x}", Error.ILLEGAL_OPCODE)
    for opcode in Opcode:
        name = opcode.name.lower()
        fields: list[dict[str, int]] = [{"instance": 3}, SHARED_WAITS]
        if opcode is Opcode.LOAD:
            fields += [{"dst_space": 2}, {"dst_space": 3}]
        elif ENGINE_OF[opcode] is Engine.WEIGHTS:
            fields += [{"k_rows": 255}, {"n_lanes": 255}, {"weight_format": 1}]
            fields += [{"transpose": 1}] if opcode is Opcode.WEIGHTS_SP else [{"packed": 1}]
        elif opcode is Opcode.MATMUL:
            fields += [{"k_lanes": 255}, {"n_lanes": 255}, {"act_format": 1}, {"weight_format": 8}]
        elif opcode in VECTOR:
            fields += [{"src_space": 1}, {"src_space": 3}, {"src_format": 0}, {"src_format": 2}, {"dst_format": 2}]
            fields += [{"src_space": 0}, {"param_mode": 3}, {"clip_low": 1, "clip_high": 0}]
        for raw in fields:
            shown = ", ".join(f"{key} {value}" for key, value in raw.items())
            yield Case(f"{name} {shown}", _word(opcode, **raw), Error.ILLEGAL_FIELD)
        reserved = reserved_bits(opcode)
        for bit in {reserved.bit_length() - 1, (reserved & -reserved).bit_length() - 1} if reserved else ():
            line = f".word {int(_word(opcode)[6:], 16) | 1 << bit:#x}"
            yield Case(f"{name} bit {bit}", line, Error.ILLEGAL_FIELD)
        for key, (_, field) in positions(opcode).items():
            if field.nonzero:
                yield Case(f"{name} no {key}", _word(opcode, **{key: 0}), Error.ZERO_SIZE)
    yield Case("field before size", _word(Opcode.STORE, instance=1, rows=0), Error.ILLEGAL_FIELD)


def _ranges() -> Iterator[Case]:
    def case(name: str, line: str, engine: Engine, seq: int = BAD, right: str = "") -> Case:
        return Case(name, line, Error.LOCAL_RANGE, engine, seq, right)

    load, weights, matmul, vector, store = list(Engine)[1:]
    yield case("load dst", "load row_bytes=UNIT dst=SP", load)
    yield case("load dst far", "load row_bytes=UNIT dst=262143", load)
    yield case("load last word", "load row_bytes=2*UNIT dst=SP-2*(UNIT//LANES)+1", load)
    yield case("load second row", "load row_bytes=UNIT rows=2 dst=0 dst_row_stride=4095", load)
    yield case("load iteration", "load each row_bytes=UNIT outer=3 dst_outer_stride=SP//2 signal=both", load)
    yield case("load parameters", "load row_bytes=UNIT dst_space=1 dst=PARAMS*8*COLS//LANES", load)
    yield case("weights src", "weights_sp src=LAST", weights)
    yield case("weights row", "weights_sp src=LAST-1 row_stride=1 k_rows=2 n_lanes=1", weights)
    yield case("weights tile", "weights_sp inner=2 inner_stride=LAST", weights)
    yield case("weights iteration", "weights_sp outer=2 outer_stride=LAST", weights)
    tile = "weights_mem k_rows=ROWS n_lanes=COLS row_stride=UNIT\n"
    operands = "SP*LANES//ROWS"
    yield case("matmul src", f"{tile}matmul src={operands}", matmul, BAD + 1)
    yield case("matmul second row", f"{tile}matmul src={operands}-1 x=2 width=2 src_pitch_x=1", matmul, BAD + 1)
    yield case("matmul input row", f"{tile}matmul y=2 height=2 src_pitch_y=65535", matmul, BAD + 1)
    yield case("matmul acc", f"{tile}matmul acc=ACC", matmul, BAD + 1)
    yield case("matmul last acc", f"{tile}matmul acc=ACC-1 x=2 width=2", matmul, BAD + 1)
    yield case("matmul padding", f"{tile}matmul acc=ACC pad_left=1", matmul, BAD + 1)
    two = tile.replace("weights_mem", "weights_mem outer=2")
    yield case("matmul iteration", f"{two}matmul outer=2 acc_outer_stride=ACC", matmul, BAD + 1)
    yield case("requant src", "requant src=LAST", vector)
    yield case("requant acc", "requant src_space=2 src_format=1 src=ACC", vector)
    yield case("requant second row", "requant x=2 src=LAST-1 src_pitch_x=1 dst=4*COLS", vector)
    yield case("requant dst", "requant dst=LAST", vector)
    yield case("requant chunk", "requant dst=LAST-3 dst_format=1", vector)
    yield case("requant param", "requant param_mode=1 param=PARAMS", vector)
    yield case("requant iteration param", "requant outer=2 param_mode=2 param=PARAMS-1 dst=LAST//2", vector)
    yield case("add src2", "add src2=LAST dst=LAST//2", vector)
    yield case("add second param", "add param_mode=1 param=PARAMS-1 dst=LAST//2", vector)
    yield case("maxpool window", "maxpool kx=2 width=2 src=LAST-1 src_pitch_x=1 dst=LAST//2", vector)
    yield case("avgpool dst", "avgpool x=2 width=2 dst=LAST-1 dst_pitch=1", vector)
    yield case("store src", "store base=1 offset=16*UNIT row_bytes=UNIT src=SP", store)
    yield case("store last word", "store base=1 offset=16*UNIT row_bytes=2*UNIT src=SP-1", store)
    yield case(
        "store second row", "store base=1 offset=16*UNIT rows=2 row_bytes=UNIT row_stride=UNIT src_row_stride=4095",
        store, right="store base=1 offset=16*UNIT row_bytes=UNIT",
    )  # fmt: skip
    yield case(
        "store iteration", "store base=1 offset=16*UNIT outer=2 row_bytes=UNIT outer_stride=UNIT src_outer_stride=SP",
        store, right="store base=1 offset=16*UNIT row_bytes=UNIT",
    )  # fmt: skip


def _addresses() -> Iterator[Case]:
    for name, engine, extra in (
        ("load", Engine.LOAD, " row_bytes=UNIT dst=SP//2"),
        ("weights_mem", Engine.WEIGHTS, ""),
        ("weights_mem", Engine.WEIGHTS, " packed=1 k_rows=ROWS n_lanes=COLS"),
        ("store", Engine.STORE, " row_bytes=UNIT"),
    ):
        label = f"{name} packed" if "packed" in extra else name
        # base 2 is a window of its own: what an illegal store would write there is right nowhere
        yield Case(f"{label} unaligned offset", f"{name} base=2 offset=1{extra}", Error.UNALIGNED, engine)
        yield Case(f"{label} unaligned base", f"{name} base=4{extra}", Error.UNALIGNED, engine)
        yield Case(f"{label} before the window", f"{name} base=2 offset=64*UNIT+1{extra}", Error.UNALIGNED, engine)
        yield Case(f"{label} past the window", f"{name} base=2 offset=4*UNIT{extra}", Error.WINDOW, engine)
        yield Case(f"{label} no window", f"{name} base=3{extra}", Error.WINDOW, engine)
        yield Case(f"{label} far offset", f"{name} base=2 offset=0xffffff80{extra}", Error.WINDOW, engine)
        yield Case(f"{label} around the end", f"{name} base=5 offset=0x10000{extra}", Error.WINDOW, engine)
    short = "base=2 offset=3*UNIT row_bytes=UNIT+1"
    yield Case("load one byte too many", f"load {short} dst=SP//2", Error.WINDOW, Engine.LOAD)
    yield Case("store one byte too many", f"store {short}", Error.WINDOW, Engine.STORE)
    rows = "base=2 rows=3 row_bytes=UNIT row_stride=2*UNIT"
    first = "store base=2 rows=2 row_bytes=UNIT row_stride=2*UNIT src_row_stride=1"
    yield Case("load third row", f"load {rows} dst=SP//2 dst_row_stride=1", Error.WINDOW, Engine.LOAD)
    yield Case("store third row", f"store {rows} src_row_stride=1", Error.WINDOW, Engine.STORE, right=first)
    rows = rows.replace("row_stride=2*UNIT", "row_stride=MB+1")
    first = "store base=2 row_bytes=UNIT"
    yield Case("load second row unaligned", f"load {rows} dst=SP//2", Error.UNALIGNED, Engine.LOAD)
    yield Case("store second row unaligned", f"store {rows}", Error.UNALIGNED, Engine.STORE, right=first)
    turns = "base=2 each outer=9 row_bytes=UNIT outer_stride=UNIT"
    right = "store base=2 outer=4 row_bytes=UNIT outer_stride=UNIT"
    yield Case("load fifth iteration", f"load {turns} dst=SP//2 signal=both", Error.WINDOW, Engine.LOAD)
    yield Case("store fifth iteration", f"store {turns} signal=both", Error.WINDOW, Engine.STORE, right=right)
    yield Case("tile behind the window", "weights_mem base=2 inner=2 inner_stride=4*UNIT", Error.WINDOW, Engine.WEIGHTS)


def _buses() -> Iterator[Case]:
    for response, error in ((2, Error.BUS_SLVERR), (3, Error.BUS_DECERR)):

        def case(name, line, engine, seq=BAD, first="0x300000", right="", error=error, response=response):
            directives = f".error_range {first} {first}+3 {response} 1 1"
            return Case(f"{name} {error.name}", line, error, engine, seq, right, directives)

        load, store = "load base=2 row_bytes=UNIT dst=SP//2", "store base=2 row_bytes=UNIT"
        yield case("load", load, Engine.LOAD)
        yield case("load second row", f"{load} rows=3 row_stride=UNIT", Engine.LOAD, first="0x300000+UNIT")
        yield case("weights", "weights_mem base=2", Engine.WEIGHTS)
        yield case("store", store, Engine.STORE, right=store)  # of a burst, only the refused beats are not written
        yield case("store second row", f"{store} rows=3 row_stride=UNIT", Engine.STORE, first="0x300000+UNIT",
                   right=f"{store} rows=3 row_stride=UNIT")  # fmt: skip
        yield case("header", "", Engine.FRONTEND, 65535, "0x400000")
        yield case("fetch", store, Engine.FRONTEND, BAD + 1, "0x400000+4*32", right=store)


def _waits() -> Iterator[Case]:
    """Signals that never come, tiles that nobody loads or takes, and too many signals."""
    lines = {
        Engine.LOAD: "load row_bytes=UNIT dst=SP//2",
        Engine.WEIGHTS: "weights_mem",
        Engine.MATMUL: "matmul pad_left=1",
        Engine.VECTOR: "requant dst=LAST-1",
        Engine.STORE: "store base=1 row_bytes=UNIT",
    }
    for engine, line in lines.items():
        name = engine.name.lower()
        yield Case(f"{name} waits for ever", f"{line} wait=both:1", Error.DEADLOCK, engine)
        yield Case(f"{name} waits for more", f"{line} wait=both:15", Error.DEADLOCK, engine, held=14)
        tiles = "weights_mem outer=2\n" if engine is Engine.MATMUL else ""
        seq = BAD + bool(tiles)
        turns = f"{tiles}{line} each outer=2 wait=both:1"
        yield Case(f"{name} waits in turn", turns, Error.DEADLOCK, engine, seq, held=1)
    yield Case("no tile", "matmul pad_left=1", Error.DEADLOCK, Engine.MATMUL)
    yield Case("no second tile", "weights_mem\nmatmul pad_left=1 kc=2", Error.DEADLOCK, Engine.MATMUL, BAD + 1)
    yield Case("no slot", "weights_mem inner=40", Error.DEADLOCK, Engine.WEIGHTS)
    yield Case("no slot in the scratchpad's way", "weights_sp inner=40", Error.DEADLOCK, Engine.WEIGHTS)
    yield Case("full queue", "load row_bytes=UNIT wait=both:1\n" * 40, Error.DEADLOCK, Engine.LOAD)
    circle = "load row_bytes=UNIT dst=SP//2 wait=both:1 signal=s30\nstore base=1 row_bytes=UNIT wait=s30:1 signal=both"
    yield Case("a circle", circle, Error.DEADLOCK, Engine.LOAD)
    once = "load row_bytes=UNIT dst=SP//2 signal=s31"
    overflow, full = Error.SEMAPHORE_OVERFLOW, ".semaphore s31 255"
    yield Case("256 signals", once, overflow, seq=0, directives=full)
    yield Case("two signals", f"{once},s31", overflow, seq=0, directives=".semaphore s31 254")
    yield Case("signals in turn", f"{once},s31 each outer=200", overflow, seq=0)
    yield Case("store signals", "store base=1 row_bytes=UNIT signal=s31", overflow, seq=0, directives=full,
               right="store base=1 row_bytes=UNIT")  # fmt: skip


def _starts() -> Iterator[Case]:
    for limit in (1, 2, 20, 40, 50):
        directives = f".cycle_limit {limit}"
        yield Case(f"cycle limit {limit}", "", Error.CYCLE_LIMIT, seq=0, directives=directives, timed=True)
    limit = ".cycle_limit 100"
    yield Case("slow memory", "", Error.CYCLE_LIMIT, seq=0, directives=limit, latency=400, timed=True)
    for offset in (1, 16, 31):
        yield Case(f"program address + {offset}", "", Error.PROGRAM, seq=0, address=offset)
    yield Case("no instructions", "", Error.PROGRAM, seq=0, empty=True)
    yield Case("no instructions, no alignment", "", Error.PROGRAM, seq=0, address=8, empty=True)


CASES = {case.name: case for part in (_illegal, _ranges, _addresses, _buses, _waits, _starts) for case in part()}
"""Every kind of bad input that the machine itself has to refuse, by name."""


def afterwards(config: Config) -> tuple[Program, np.ndarray]:
    """A matrix product for the restart, and its result."""
    rng = np.random.default_rng(2)
    a = rng.integers(-128, 128, (3, config.rows + 1)).astype(np.int8)
    b = rng.integers(-128, 128, (config.rows + 1, config.cols)).astype(np.int8)
    return compile_gemm(a, b, config), a.astype(np.int64) @ b.astype(np.int64)


@dataclass
class State:
    """What a run left behind."""

    error: Error
    engine: Engine
    seq: int
    status: dict[str, int]
    image: MemoryImage


class Restarts:
    """The model side: one program after the other, without a reset between them.

    Attributes
    ----------
    states : list of State
        One for each program that has ended.
    """

    def __init__(self, programs: list[Program]) -> None:
        self.programs = programs
        self.machine = SteppedMachine(programs[0], digest=True)
        self.states: list[State] = []

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Stimulus rows and records to the end of the last program."""
        machine, image = self.machine, self.machine.memory.image
        for index, program in enumerate(self.programs):
            if index:
                for segment in program.segments:
                    image.write(segment.address, segment.data)
                image.write(program.address, program.image_bytes())
                machine.agent = HostAgent(program)
                machine.finished = False
            yield from machine.blocks(machine.cycle_count + LIMIT)
            front, host = machine.frontend, machine.host
            status = {"busy": int(host.busy), "done": int(host.done)}
            self.states.append(
                State(Error(front.error_code), Engine(front.error_engine), front.error_seq, status, image.snapshot())
            )


def make_side(source: dict, config: Config) -> Restarts:
    """The side of a job item ``{"cases": names}``: one after the other, and then a program without a mistake."""
    return Restarts([*(CASES[name].program(config) for name in source["cases"]), afterwards(config)[0]])


CHAIN = [name for name, case in CASES.items() if not case.directives and case.latency == Case.latency][::3]
"""Cases for one run without a reset: those with the same memory."""
