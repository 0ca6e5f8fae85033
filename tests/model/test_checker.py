# SPDX-License-Identifier: Apache-2.0
"""The program checker: compiled programs pass, and each kind of mistake is found with its instructions."""

import numpy as np
import pytest

from beatmatch import digits
from beatmatch.checker import check
from beatmatch.compiler import compile_digits, compile_gemm
from beatmatch.config import PRESETS, Config
from beatmatch.isa import Instruction, decode
from beatmatch.isa.asm import assemble

PRELUDE = """
.config tiny
.semaphore full
.semaphore free 1
.semaphore done
.base 0 0x1000 4096
.base 1 0x4000 4096
.address 0x8000
.data 0x1000
.zeros 4096
"""
CHAIN = """
load row_bytes=64 signal=full
weights_sp wait=full:1 src=0 row_stride=1
matmul x=8 width=8 src=4 src_pitch_x=1 signal=done
requant x=8 src_space=2 src_format=1 src_pitch_x=1 dst=100 dst_pitch=1 clip_high=127 wait=done:1 signal=free
store base=1 row_bytes=32 src=100 wait=free:2
"""


def kinds(text, prelude=PRELUDE):
    return [(f.kind, f.instructions) for f in check(assemble(prelude + text))]


def test_a_clean_chain_has_no_findings():
    assert kinds(CHAIN) == []


def test_compiled_programs_have_no_findings():
    rng = np.random.default_rng(2)
    for config in (PRESETS["small"], Config(rows=16, cols=4), Config(rows=4, cols=16, sp_banks=1, queue_depth=1)):
        a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((37, 50), (50, 41)))
        for out in ("int8", "int32"):
            assert check(compile_gemm(a, b, config, out)) == []
    for name in digits.NAMES:
        network = digits.load(name)
        assert check(compile_digits(network, network.quantize(network.images[:5]), PRESETS["tiny"])) == []


@pytest.fixture(scope="module", params=["int8", "int32"])
def product(request):
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((40, 32), (32, 24)))
    program = compile_gemm(a, b, PRESETS["tiny"], request.param)
    assert check(program) == []
    return program


def test_leaving_out_any_wait_for_data_is_found(product):
    waits = [(i, s) for i, w in enumerate(product.instructions) for s in "01" if decode(w).fields[f"wait{s}_n"]]
    waits = [(i, s) for i, s in waits if not product.semaphores[decode(product.instructions[i]).fields[f"wait{s}_id"]]]
    assert len(waits) > 20
    for index, slot in waits[:: len(waits) // 20]:
        instruction = decode(product.instructions[index])
        words = list(product.instructions)
        words[index] = Instruction(instruction.opcode, {**instruction.fields, f"wait{slot}_n": 0}).word()
        assert any(f.kind == "hazard" for f in check(product.replace(instructions=words))), (index, slot)


def test_one_credit_too_many_is_found(product):
    """Counters that start above 0 count free slots: with one more than there are, something is overwritten."""
    waited = [decode(w).fields for w in product.instructions]
    found = 0
    for index, count in enumerate(product.semaphores):
        uses = sum(f[f"wait{s}_n"] for f in waited for s in "01" if f[f"wait{s}_id"] == index)
        if not count or uses <= count + 1:
            continue
        counts = list(product.semaphores)
        counts[index] += 1
        assert any(f.kind == "hazard" for f in check(product.replace(semaphores=tuple(counts)))), product.names[index]
        found += 1
    assert found >= 3


def test_hazard_names_both_instructions():
    program = assemble(PRELUDE + CHAIN.replace("wait=full:1 ", ""))
    finding = next(f for f in check(program) if f.kind == "hazard")
    assert finding.instructions == (0, 1)
    assert "instruction 1 (WEIGHTS_SP) reads scratchpad word 0, which instruction 0 (LOAD) writes" in finding.text


@pytest.mark.parametrize(
    ("old", "new", "pair"),
    [
        (" signal=done", "", None),  # vector waits for ever: no hazard but a deadlock
        (" wait=done:1", "", (2, 3)),
        ("wait=free:2", "wait=free:1", (3, 4)),
    ],
)
def test_accumulator_and_store_hazards(old, new, pair):
    found = kinds(CHAIN.replace(old, new))
    if pair is None:
        assert found[0][0] == "deadlock" and 3 in found[0][1]
    else:
        assert ("hazard", pair) in found


def test_a_signal_of_two_givers_proves_only_what_the_other_cannot_have_given():
    """One token may be vector's, so it says nothing about load; two of two say that both have ended."""
    text = """
load row_bytes=16 dst=0 signal=full
requant x=1 src=200 src_pitch_x=1 dst=300 dst_pitch=1 clip_high=127 signal=full
store base=1 row_bytes=16 src=0 wait=full:{0}
"""
    assert ("hazard", (0, 2)) in kinds(text.format(1))
    assert ("hazard", (0, 2)) not in kinds(text.format(2))


def test_iterations_of_each_are_told_apart():
    """Two slots and two credits are right; a third credit lets load overwrite what weights still reads."""
    text = """
load row_bytes=16 dst=500 signal=done
load each outer=6 row_bytes=16 outer_stride=16 dst_outer_stride=4 dst_ring=1 wait=free:1 signal=full
weights_sp each outer=6 k_rows=4 n_lanes=4 row_stride=1 outer_stride=4 src_ring=1 wait=full:1 signal=free
matmul outer=6 x=1 src=500 acc=0 acc_outer_stride=1 wait=done:1
"""
    assert kinds(text, PRELUDE.replace("free 1", "free 2")) == []
    assert ("hazard", (1, 2)) in kinds(text, PRELUDE.replace("free 1", "free 3"))


def test_memory_hazard_between_store_and_load():
    text = """
load row_bytes=64 signal=full
store base=1 row_bytes=64 wait=full:1 signal=done
load base=1 row_bytes=64 dst=200 {wait}
"""
    assert kinds(text.format(wait="wait=done:1")) == []
    assert ("hazard", (1, 2)) in kinds(text.format(wait=""))


def test_vector_must_not_read_what_the_same_iteration_writes():
    text = """
load row_bytes=64 signal=full
requant x=4 src=0 src_pitch_x=1 dst={dst} dst_pitch=1 wait=full:1
"""
    assert kinds(text.format(dst=0)) == []  # in place: every element is read before it is written
    assert ("hazard", (1,)) in kinds(text.format(dst=1))


def test_program_over_itself():
    found = kinds(CHAIN, PRELUDE.replace(".address 0x8000", ".address 0x4000"))
    assert ("hazard", (4,)) in found


def test_deadlock_says_who_waits_on_what():
    text = "load row_bytes=4 wait=full:1 signal=done\nstore base=1 row_bytes=4 wait=done:1 signal=full"
    program = assemble(PRELUDE + text)
    (finding,) = check(program)
    assert finding.kind == "deadlock" and finding.instructions == (0, 1)
    assert "load instruction 0 waits for semaphore 0 (0 of 1)" in finding.text
    assert "store instruction 1 waits for semaphore 2 (0 of 1)" in finding.text


def test_deadlock_of_one_entry_queues_and_of_the_weight_fifo():
    queue = """
load row_bytes=4 wait=done:1
load row_bytes=4 dst=1
load row_bytes=4 dst=2
load row_bytes=4 dst=3
weights_mem row_stride=4 signal=done
matmul x=1 src=0
"""
    assert kinds(queue)[0][0] == "deadlock"
    fifo = "weights_mem row_stride=4 inner=4\nmatmul x=1 width=1 pad_left=1"
    assert ("deadlock", (0,)) in [(k, i) for k, i in kinds(fifo)] or kinds(fifo) == []
    assert kinds("matmul x=1 pad_left=1 width=1")[0][0] == "deadlock"


def test_two_waiters_and_overflow():
    found = kinds("load row_bytes=4 wait=free:1\nstore base=1 row_bytes=4 wait=free:1 src=5")
    assert ("waiters", (0, 1)) in found
    assert kinds("load each outer=255 row_bytes=4 signal=free")[0][0] == "overflow"
    late = "load each outer=250 row_bytes=4 signal=full,full\nstore each outer=250 base=1 row_bytes=4 wait=full:2"
    assert ("overflow", (0,)) in kinds(late)


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (".word 0", "illegal", "The opcode is 0"),
        ("load rows=0 row_bytes=4", "illegal", "LOAD rows is 0; it must be from 1 to 4095"),
        ("matmul k_lanes=5", "illegal", "k_lanes is 5"),
        ("load row_bytes=4 dst=1024", "range", "Scratchpad word 1024 is out of range; it must be from 0 to 1023"),
        ("load row_bytes=4 dst_space=1 dst=128", "range", "Parameter word 128"),
        ("load row_bytes=4 offset=2", "range", "no multiple of 4"),
        ("load row_bytes=4097 base=0", "range", "leave the window of base register 0, which has 4096 bytes"),
        ("store each outer=3 base=1 row_bytes=4 outer_stride=2048", "range", "outer iteration 2"),
        ("weights_sp src=1020 row_stride=2 k_rows=ROWS", "range", "Column operand 1026"),
        ("matmul x=9 width=9 src=1020 src_pitch_x=1", "range", "Activation operand 1028"),
        ("matmul x=2 width=1 acc=63", "range", "Accumulator row 64"),
        ("requant param_mode=1 param=16", "range", "Parameter row 16"),
        ("requant dst=1021 dst_format=1", "range", "Destination operand 1024"),
        ("add src2=1024", "range", "Second operand"),
        ("requant src_space=2 src_format=1 src=64", "range", "Accumulator row 64"),
    ],
)
def test_illegal_and_out_of_range(line, kind, text):
    (finding, *_) = check(assemble(PRELUDE + line))
    assert finding.kind == kind and text in finding.text


def test_reads_of_what_nothing_wrote():
    for text, what in (
        ("store base=1 row_bytes=4 src=7", "byte 0 of scratchpad word 7"),
        ("load row_bytes=2 signal=full\nstore base=1 row_bytes=4 wait=full:1", "byte 2 of scratchpad word 0"),
        ("requant src_space=2 src_format=1 src=5", "accumulator row 5"),
        ("load row_bytes=4 signal=full\nrequant param_mode=1 param=3 wait=full:1", "parameter memory row 3"),
        ("load base=1 row_bytes=4", "memory near 0x4000"),
        ("weights_mem row_stride=4 signal=full\nmatmul accumulate=1 pad_left=1 wait=full:1", "accumulator row 0"),
    ):
        findings = check(assemble(PRELUDE + text))
        assert any(f.kind == "unwritten" and what in f.text for f in findings), (text, findings)


def test_empty_and_misplaced_programs():
    assert kinds("") == [("program", ())]
    assert ("program", ()) in kinds("load row_bytes=4", PRELUDE.replace("0x8000", "0x8010"))
