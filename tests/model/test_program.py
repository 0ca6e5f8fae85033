# SPDX-License-Identifier: Apache-2.0
"""Program files: exact round trip, and refusal of everything else."""

import numpy as np
import pytest

from beatmatch.config import preset
from beatmatch.isa import Opcode, make
from beatmatch.memory import ErrorRange, MemoryTiming
from beatmatch.program import Base, HostEvent, Program, ProgramError, Result, Segment


def example():
    return Program(
        config=preset("tiny"),
        instructions=[make(Opcode.LOAD, rows=3, sig0_en=1, sig0_id=2), (1 << 256) - 1],
        semaphores=(1, 2, 255),
        bases=(Base(4096, 64), Base(1 << 63, (1 << 64) - 1)),
        address=1 << 40,
        segments=(Segment(4096, bytes(range(64))), Segment(8192, b"")),
        timing=MemoryTiming(
            read_latency=7, read_bandwidth=(3, 2), shared=True, stalls=(1, 2, 3, 4, 5), errors=(ErrorRange(0, 9),)
        ),
        cycle_limit=1000,
        host=(HostEvent(10, "reset", 3), HostEvent(20, "start")),
        results={"out": Result(4100, "int8", (3, 4), (8, 1))},
        names={2: "ready"},
        origin="a test",
        seed=1 << 63,
    )


def test_file_round_trip_is_exact(tmp_path):
    program = example()
    program.save(tmp_path / "p.bm")
    again = Program.load(tmp_path / "p.bm")
    assert again == program and again.digest() == program.digest()
    assert again.to_bytes() == program.to_bytes()


@pytest.mark.parametrize("keep", [0, 5, 30, 100, -1])
def test_truncated_files_are_refused(tmp_path, keep):
    raw = example().to_bytes()[:keep]
    (tmp_path / "p.bm").write_bytes(raw)
    with pytest.raises(ProgramError, match=r"p\.bm (is no|is truncated)"):
        Program.load(tmp_path / "p.bm")


def test_every_flipped_byte_is_noticed():
    raw = example().to_bytes()
    for index in range(0, len(raw), 7):
        with pytest.raises(ProgramError):
            Program.from_bytes(raw[:index] + bytes([raw[index] ^ 4]) + raw[index + 1 :])


def test_other_versions_foreign_and_missing_files_are_refused(tmp_path):
    raw = example().to_bytes()
    with pytest.raises(ProgramError, match="format version 9"):
        Program.from_bytes(raw.replace(b"program 1 ", b"program 9 ", 1))
    with pytest.raises(ProgramError, match="no Beatmatch program"):
        Program.from_bytes(b"PK\3\4 something else\n")
    with pytest.raises(ProgramError, match="cannot be read"):
        Program.load(tmp_path / "nothing.bm")


def test_impossible_values_are_refused_in_a_sentence():
    config = preset("tiny")
    for changes, text in (
        ({"instructions": [1 << 256]}, "more than 256 bits"),
        ({"semaphores": (256,)}, "from 0 to 255"),
        ({"semaphores": (0,) * 33}, "at most 32"),
        ({"bases": (Base(1 << 64, 0),)}, "Base register 0"),
        ({"address": -32}, "address space"),
        ({"segments": (Segment((1 << 64) - 1, b"ab"),)}, "segment"),
        ({"host": (HostEvent(1, "dance"),)}, "actions are"),
        ({"results": {"x": Result(0, "int16", (), ())}}, "Result 'x'"),
    ):
        with pytest.raises(ProgramError, match=text):
            Program(**{"config": config, "instructions": [], **changes})


def test_memory_holds_segments_then_program_and_results_read_with_strides():
    program = example()
    image = program.memory()
    assert bytes(image.read(1 << 40, 3)) == bytes((1, 2, 255))
    assert bytes(image.read((1 << 40) + 32, 32)) == program.decoded()[0].to_bytes()
    assert program.decoded()[1] is None
    expected = np.arange(64, dtype=np.int8)[4:28].reshape(3, 8)[:, :4]
    np.testing.assert_array_equal(program.read(image)["out"], expected, strict=True)
