# SPDX-License-Identifier: Apache-2.0
"""The text form: exact both ways, with errors that name line, column and range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beatmatch import digits
from beatmatch.compiler import compile_digits, compile_gemm
from beatmatch.config import PRESETS, Config
from beatmatch.isa import LAYOUTS, Opcode
from beatmatch.isa.asm import AssemblyError, assemble
from beatmatch.isa.disasm import disassemble, instruction_text
from beatmatch.memory import Dram, ErrorRange, MemoryTiming
from beatmatch.program import Base, HostEvent, Program, Result, Segment

EXAMPLE = """
.config tiny            ; a preset
.const N 4*COLS
.semaphore full 0
.semaphore free 2 @9
.semaphore s3 7
.base 0 0x1000 N<<4
.data 0x1000
.int8 1,-2 3
.int32 -1
.zeros N
.random 5 3
.param bias=-3 multiplier=5 shift=7
.result out int8 0x2000 2,4
load base=0 row_bytes=N dst=(1+2)*2 signal=full
matmul x=8 each outer=3 wait=full:1,free:2 pad_value=-7 k_lanes=3
.word 0xffff
"""


def test_example_means_what_it_says():
    program = assemble(EXAMPLE)
    load, matmul, raw = program.decoded()
    assert (load.opcode, load.row_bytes, load.dst, load.sig0_en, load.sig0_id) == (Opcode.LOAD, 16, 6, 1, 0)
    assert (matmul.each, matmul.outer, matmul.wait0_id, matmul.wait0_n) == (1, 3, 0, 1)
    assert (matmul.wait1_id, matmul.wait1_n, matmul.pad_value, matmul.k_lanes) == (9, 2, -7, 3)
    assert raw is None and program.instructions[2] == 0xFFFF
    assert program.semaphores[9] == 2 and program.semaphores[3] == 7 and program.names == {0: "full", 9: "free"}
    assert program.bases[0] == Base(0x1000, 256)
    (segment,) = program.segments
    assert segment.data[:7] == bytes((1, 254, 3)) + b"\xff" * 4 and len(segment.data) == 7 + 16 + 3 + 8
    assert program.results["out"] == Result(0x2000, "int8", (2, 4), (4, 1))
    assert assemble(disassemble(program)) == program


def test_round_trip_of_everything_a_program_holds():
    program = Program(
        Config(rows=4, cols=8, name="odd"),
        [0, (1 << 256) - 1, 5 << 200 | 4],
        semaphores=(0, 1) + (0,) * 29 + (255,),
        bases=(Base(), Base(1 << 63, (1 << 64) - 1)),
        address=1 << 40,
        segments=(Segment(0, b""), Segment(5, bytes(100)), Segment(64, bytes(range(70)) + bytes(64) + b"\1")),
        timing=MemoryTiming(
            3,
            4,
            (7, 2),
            None,
            True,
            (1, 2, 3, 4, 5),
            1 << 63,
            2,
            3,
            (ErrorRange(1, 2, 3, False),),
            Dram(banks=16, mapping="bank-row-column", page_policy="closed", trefi=700, trfc=30),
        ),
        cycle_limit=99,
        host=(
            HostEvent(5, "reset", 2),
            HostEvent(9, "start"),
            HostEvent(11, "write", 0, 0x14, 0xFFFFFFFF),
            HostEvent(12, "read", 0, 8),
        ),
        results={"a b": Result(1, "int32", (), ()), "c": Result(2, "uint8", (3, 4), (1, 3))},
        names={0: "full", 1: "full", 2: "s4", 3: "two words"},
        origin='a "quoted" origin; really',
        seed=12,
    )
    assert assemble(disassemble(program)) == program


@pytest.mark.parametrize("name", PRESETS)
def test_round_trip_of_compiled_programs(name):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (40, 40)).astype(np.int8) for _ in range(2))
    program = compile_gemm(a, b, PRESETS[name], "int8")
    assert assemble(disassemble(program)) == program
    network = digits.load("cnn")
    program = compile_digits(network, network.quantize(network.images[:3]), PRESETS["small"])
    text = disassemble(program)
    assert assemble(text) == program and ".word" not in text


@settings(max_examples=300, deadline=None)
@given(st.integers(0, (1 << 256) - 1), st.sampled_from(list(Opcode)), st.booleans())
def test_round_trip_of_any_word(word, opcode, used_bits_only):
    word = word & ~31 | opcode
    if used_bits_only:
        word &= (1 << sum(field.width for field in LAYOUTS[opcode])) - 1
    text = instruction_text(word)
    assert assemble(f".config tiny\n{text}\n").instructions == [word]
    assert not (used_bits_only and text.startswith(".word"))


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (".config huge", "1:9", "no preset 'huge'"),
        (".config rows=5", "1:9", "power of two"),
        ("load x", "1:6", "should be name=value"),
        ("load fish=1", "1:6", "no field 'fish'"),
        ("\n\n  jump 3", "3:3", "no instruction 'jump'"),
        ("load rows=4096", "1:6", "from 1 to 4095"),
        ("load rows=1 rows=2", "1:13", "given twice"),
        ("matmul k_lanes=0", "1:8", "from 1 to 256"),
        ("load wait=nobody", "1:6", "no semaphore 'nobody'"),
        ("load wait=s1:16", "1:6", "from 1 to 15"),
        ("load signal=s1,s2,s3", "1:6", "at most two"),
        ("load rows=1//0", "1:6", "divides by 0"),
        ("load rows=1<<9999", "1:6", "shifts by"),
        ("load rows=__import__('os')", "1:6", "no integer expression"),
        ("load rows=M", "1:6", "no constant 'M'"),
        (".base 16 0 0", "1:7", "0 to 15"),
        (".data 0\n.int8 128", "2:7", "does not fit"),
        (".int8 1", "1:1", "needs a .data"),
        (".data 0\n.hex zz", "2:6", "hex digits"),
        (".semaphore a 256", "1:14", "from 0 to 255"),
        (".semaphore a\n.semaphore a", "2:12", "declared twice"),
        (".semaphore s32", "1:12", "s0 to s31"),
        (".data", "1:1", "takes 1 arguments"),
        (".bogus", "1:1", "no directive"),
        (".timing speed=1", "1:9", "has no 'speed'"),
        (".timing read_latency=0", "1:1", "read_latency"),
        (".timing dram=4", "1:9", "has no 'dram'"),
        (".dram bank=4", "1:7", "has no 'bank'; it has access_bytes, banks"),
        (".dram banks=3", "1:1", "banks is 3; it must be a power of two"),
        (".dram mapping=row", "1:1", "mapping is 'row'"),
        (".dram banks=4", "1:1", "shared must be set with dram"),
        (".host 3 dance", "1:7", "one of reset, start"),
        (".host 3 start 0 5", "1:1", "takes 2 to 3 arguments"),
        (".host 3 read 4096", "1:7", "address of a host event"),
        ('.origin "x', "1:1", "takes 1"),
        ("load", "1:1", "No .config"),
    ],
)
def test_mistakes_are_named_with_their_place(text, where, message):
    with pytest.raises(AssemblyError) as caught:
        assemble(text, None if text == "load" else PRESETS["tiny"])
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{where}: ")
