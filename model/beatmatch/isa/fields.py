# SPDX-License-Identifier: Apache-2.0
"""The instruction set, declared once.

Everything else about encodings (Python, the RTL package, the document tables) is generated from here.
An instruction is 256 bits; fields are packed from bit 0 upwards in the order given, the rest is reserved
and must be zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

INSTRUCTION_BITS = 256
INSTRUCTION_BYTES = INSTRUCTION_BITS // 8
SEMAPHORES = 32
SEMAPHORE_MAX = 255
BASE_REGISTERS = 16


class Engine(IntEnum):
    """Who executes, reports an error, or owns an event; the order is the priority of simultaneous errors."""

    FRONTEND = 0
    LOAD = 1
    WEIGHTS = 2
    MATMUL = 3
    VECTOR = 4
    STORE = 5


class Opcode(IntEnum):
    """Operation codes; 0 is illegal so that empty memory never executes, 16 and up are for a control engine."""

    LOAD = 1
    WEIGHTS_MEM = 2
    WEIGHTS_SP = 3
    MATMUL = 4
    REQUANT = 5
    ADD = 6
    MAXPOOL = 7
    AVGPOOL = 8
    STORE = 9


class Space(IntEnum):
    """Local memories an operand can live in."""

    SCRATCHPAD = 0
    PARAMETER = 1
    ACCUMULATOR = 2


class Format(IntEnum):
    """Number formats; the other codes of the four-bit fields are reserved."""

    INT8 = 0
    INT32 = 1


class Error(IntEnum):
    """Error codes, as the CSR shows them."""

    NONE = 0
    ILLEGAL_OPCODE = 1
    ILLEGAL_FIELD = 2
    ZERO_SIZE = 3
    LOCAL_RANGE = 4
    UNALIGNED = 5
    WINDOW = 6
    BUS_SLVERR = 7
    BUS_DECERR = 8
    SEMAPHORE_OVERFLOW = 9
    DEADLOCK = 10
    CYCLE_LIMIT = 11
    PROGRAM = 12


@dataclass(frozen=True)
class Field:
    """One field of an instruction: its width in bits, what it means, and whether zero is refused."""

    name: str
    width: int
    doc: str
    nonzero: bool = False
    minus_one: bool = False


HEADER = (
    Field("opcode", 5, "operation"),
    Field("instance", 2, "engine instance; must be 0"),
    Field("each", 1, "waits and signals act on every outer iteration instead of once"),
    Field("wait0_id", 5, "semaphore of the first wait"),
    Field("wait0_n", 4, "block until the counter is at least this, then subtract it; 0 does not wait"),
    Field("wait1_id", 5, "semaphore of the second wait"),
    Field("wait1_n", 4, "as wait0_n"),
    Field("sig0_en", 1, "give the first signal"),
    Field("sig0_id", 5, "semaphore that the first signal adds one to"),
    Field("sig1_en", 1, "give the second signal"),
    Field("sig1_id", 5, "semaphore that the second signal adds one to"),
    Field("outer", 8, "outer iterations", nonzero=True),
)


def _transfer(local: str, space: tuple[Field, ...]) -> tuple[Field, ...]:
    return (
        *space,
        Field("base", 4, "base register"),
        Field("offset", 32, "bytes from the base register"),
        Field("row_bytes", 16, "bytes of one memory row", nonzero=True),
        Field("rows", 12, "memory rows per outer iteration", nonzero=True),
        Field("row_stride", 24, "bytes from one memory row to the next"),
        Field("outer_stride", 28, "bytes from one outer iteration to the next"),
        Field(local, 18, "first scratchpad (or parameter) word"),
        Field(f"{local}_row_stride", 12, "words from one row to the next"),
        Field(f"{local}_outer_stride", 16, "words from one outer iteration to the next"),
        Field(f"{local}_ring", 2, "outer index modulo 2^ring for the local address; 0 does not wrap"),
    )


_WEIGHT_TAIL = (
    Field("inner", 12, "tiles per outer iteration", nonzero=True),
    Field("k_rows", 8, "rows taken in the last inner tile, the rest are zero", minus_one=True),
    Field("n_lanes", 8, "bytes taken of each row, the rest are zero", minus_one=True),
    Field("weight_format", 4, "number format of the weights"),
)

_VECTOR = (
    Field("zero_point", 8, "signed value added after scaling"),
    Field("clip_low", 8, "signed lower bound of the result"),
    Field("clip_high", 8, "signed upper bound of the result"),
    Field("src_format", 4, "int8 in the scratchpad, int32 in the accumulators"),
    Field("dst_format", 4, "int8, or int32 for the unscaled sum (four chunks a row)"),
    Field("x", 12, "output rows, fast count", nonzero=True),
    Field("y", 9, "output rows, slow count", nonzero=True),
    Field("src_space", 2, "scratchpad or accumulator"),
    Field("src", 18, "first source: column operand in the scratchpad, or accumulator row"),
    Field("src_pitch_y", 16, "source units per input row y"),
    Field("src_pitch_x", 10, "source units per input column x"),
    Field("src_outer_stride", 16, "source units per outer iteration"),
    Field("src_ring", 2, "as for load"),
    Field("dst", 18, "first destination column operand in the scratchpad"),
    Field("dst_pitch", 10, "column operands from one output row to the next"),
    Field("dst_outer_stride", 16, "column operands per outer iteration"),
    Field("dst_ring", 2, "as for load"),
    Field("param_mode", 2, "0: bias 0, multiplier 1, shift 0; 1: row param; 2: row param + outer index"),
    Field("param", 7, "parameter row"),
)

_POOL = (
    Field("kx", 4, "window width", nonzero=True),
    Field("ky", 4, "window height", nonzero=True),
    Field("stride_x", 3, "input columns per output column", nonzero=True),
    Field("stride_y", 3, "input rows per output row", nonzero=True),
    Field("pad_left", 3, "input columns before column 0"),
    Field("pad_top", 3, "input rows before row 0"),
    Field("width", 9, "input columns; outside is padding", nonzero=True),
    Field("height", 9, "input rows; outside is padding", nonzero=True),
)

LAYOUTS: dict[Opcode, tuple[Field, ...]] = {
    Opcode.LOAD: (*HEADER, *_transfer("dst", (Field("dst_space", 2, "scratchpad or parameter"),))),
    Opcode.WEIGHTS_MEM: (
        *HEADER,
        *_WEIGHT_TAIL,
        Field("base", 4, "base register"),
        Field("offset", 32, "bytes from the base register"),
        Field("row_stride", 24, "bytes from one row of a tile to the next"),
        Field("inner_stride", 28, "bytes from one inner tile to the next"),
        Field("outer_stride", 28, "bytes from one outer iteration to the next"),
        Field("packed", 1, "a tile is one memory row of rows x cols bytes (k_rows and n_lanes are full)"),
    ),
    Opcode.WEIGHTS_SP: (
        *HEADER,
        *_WEIGHT_TAIL,
        Field("src", 18, "first column operand"),
        Field("row_stride", 12, "column operands from one row of a tile to the next"),
        Field("inner_stride", 16, "column operands from one inner tile to the next"),
        Field("outer_stride", 16, "column operands per outer iteration"),
        Field("src_ring", 2, "as for load"),
        Field("transpose", 1, "reserved; must be 0"),
    ),
    Opcode.MATMUL: (
        *HEADER,
        Field("keep", 1, "the first tile uses the weights already in the array"),
        Field("accumulate", 1, "add in the first inner tile too, instead of overwriting"),
        Field("act_format", 4, "number format of the activations"),
        Field("weight_format", 4, "number format of the weights"),
        Field("x", 12, "activation rows per tile, fast count", nonzero=True),
        Field("y", 9, "activation rows per tile, slow count", nonzero=True),
        Field("kx", 4, "inner tiles: kernel columns", nonzero=True),
        Field("ky", 4, "inner tiles: kernel rows", nonzero=True),
        Field("kc", 8, "inner tiles: channel blocks", nonzero=True),
        Field("stride_x", 3, "input columns per output column", nonzero=True),
        Field("stride_y", 3, "input rows per output row", nonzero=True),
        Field("dilation_x", 2, "input columns per kernel column", minus_one=True),
        Field("dilation_y", 2, "input rows per kernel row", minus_one=True),
        Field("pad_left", 4, "input columns before column 0"),
        Field("pad_top", 4, "input rows before row 0"),
        Field("width", 12, "input columns; outside is padding", nonzero=True),
        Field("height", 9, "input rows; outside is padding", nonzero=True),
        Field("src", 18, "first activation operand"),
        Field("src_pitch_y", 16, "activation operands per input row"),
        Field("src_pitch_x", 10, "activation operands per input column"),
        Field("src_kc_stride", 12, "activation operands per channel block"),
        Field("src_outer_stride", 16, "activation operands per outer iteration"),
        Field("src_ring", 2, "as for load"),
        Field("acc", 12, "first accumulator row"),
        Field("acc_outer_stride", 12, "accumulator rows per outer iteration"),
        Field("acc_ring", 2, "as for load"),
        Field("pad_value", 8, "signed activation value of padding"),
        Field("k_lanes", 8, "lanes used in the last channel block, the rest count as zero", minus_one=True),
        Field("n_lanes", 8, "columns used, for the accounting only", minus_one=True),
    ),
    Opcode.REQUANT: (*HEADER, *_VECTOR),
    Opcode.ADD: (
        *HEADER,
        *_VECTOR,
        Field("src2", 18, "second operand in the scratchpad, addressed as the destination"),
    ),
    Opcode.MAXPOOL: (*HEADER, *_VECTOR, *_POOL),
    Opcode.AVGPOOL: (*HEADER, *_VECTOR, *_POOL),
    Opcode.STORE: (*HEADER, *_transfer("src", ())),
}

ENGINE_OF: dict[Opcode, Engine] = {
    Opcode.LOAD: Engine.LOAD,
    Opcode.WEIGHTS_MEM: Engine.WEIGHTS,
    Opcode.WEIGHTS_SP: Engine.WEIGHTS,
    Opcode.MATMUL: Engine.MATMUL,
    Opcode.REQUANT: Engine.VECTOR,
    Opcode.ADD: Engine.VECTOR,
    Opcode.MAXPOOL: Engine.VECTOR,
    Opcode.AVGPOOL: Engine.VECTOR,
    Opcode.STORE: Engine.STORE,
}

LEGAL_SPACES: tuple[tuple[Engine, Space, str], ...] = (
    (Engine.LOAD, Space.SCRATCHPAD, "write"),
    (Engine.LOAD, Space.PARAMETER, "write"),
    (Engine.WEIGHTS, Space.SCRATCHPAD, "read"),
    (Engine.MATMUL, Space.SCRATCHPAD, "read"),
    (Engine.MATMUL, Space.ACCUMULATOR, "write"),
    (Engine.VECTOR, Space.SCRATCHPAD, "read"),
    (Engine.VECTOR, Space.ACCUMULATOR, "read"),
    (Engine.VECTOR, Space.PARAMETER, "read"),
    (Engine.VECTOR, Space.SCRATCHPAD, "write"),
    (Engine.STORE, Space.SCRATCHPAD, "read"),
)

for _opcode, _layout in LAYOUTS.items():
    _bits = sum(field.width for field in _layout)
    assert _bits <= INSTRUCTION_BITS, f"{_opcode.name} needs {_bits} bits"
