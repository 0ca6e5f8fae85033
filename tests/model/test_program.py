# SPDX-License-Identifier: Apache-2.0
"""Program files: exact round trip, and refusal of everything else."""

import hashlib
import json
import zlib

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
        host=(HostEvent(10, "reset", 3), HostEvent(20, "start"), HostEvent(21, "write", address=20, data=1 << 31)),
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
        ({"semaphores": (256,)}, "semaphore 0 is 256; it must be an integer from 0 to 255"),
        ({"semaphores": (1.5,)}, "semaphore 0 is 1.5"),
        ({"semaphores": (0,) * 33}, "at most 32"),
        (
            {"bases": (Base(1 << 64, 0),)},
            "address of base register 0 is 18446744073709551616; it must be an integer from 0",
        ),
        ({"address": -32}, "address is -32; it must be an integer from 0"),
        ({"address": 32.0}, "address is 32.0"),
        ({"cycle_limit": 1 << 32}, "from 0 to 4294967295"),  # the register's width
        ({"seed": "x"}, "seed is 'x'"),
        ({"names": {32: "x"}}, "from 0 to 31"),
        ({"names": {0: 5}}, "must be a text"),
        ({"config": "tiny"}, "must be a Config"),
        ({"timing": None}, "a MemoryTiming"),
        ({"segments": (Segment((1 << 64) - 1, b"ab"),)}, "segment's address"),
        ({"host": (HostEvent(1, "dance"),)}, "one of reset, start"),
        ({"host": (HostEvent(-1, "start"),)}, "cycle of a host event is -1"),
        ({"host": (HostEvent(1, "write", 0, 4, 1 << 32),)}, "data of a host event is 4294967296"),
        ({"host": (HostEvent(1, "start", 0, 4),)}, "no address and no data"),
        ({"results": {"x": Result(0, "int16", (), ())}}, "Result 'x'"),
        ({"results": {"x": Result(0, "int8", (1 << 20, 1 << 20), (0, 0))}}, "at most 1073741824"),
        ({"results": {"x": Result(0, "int8", (-1,), (1,))}}, "size or stride of result 'x' is -1"),
    ):
        with pytest.raises(ProgramError, match=text):
            Program(**{"config": config, "instructions": [], **changes})


def test_a_file_with_any_wrong_value_is_refused_or_usable():
    """Whatever stands in a record whose checksum is right: one sentence, or a program."""
    payload = zlib.decompress(example().to_bytes().partition(b"\n")[2])
    size = int.from_bytes(payload[:8], "little")
    record, data = json.loads(payload[8 : 8 + size]), payload[8 + size :]
    refused = 0
    for path in paths(record):
        for value in (None, -1, 1.5, True, "x", [], {}, [[1]], 1 << 70, float("nan")):
            changed = json.loads(json.dumps(record))
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            try:
                program = Program.from_bytes(packed(json.dumps(changed).encode(), data), "it")
            except ProgramError as error:
                assert "\n" not in str(error) and str(error).endswith("."), error
                refused += 1
            else:
                program.read(program.memory())
    assert refused > 300
    for text in (b"[" * 100000, b"", b"\xff", b"{}"):
        with pytest.raises(ProgramError, match="it holds no legal program"):
            Program.from_bytes(packed(text, data), "it")


def packed(text, data):
    """A program file with this record and a right checksum."""
    payload = zlib.compress(len(text).to_bytes(8, "little") + text + data)
    return b"beatmatch-program 1 %s\n" % hashlib.sha256(payload).hexdigest().encode() + payload


def paths(value, above=()):
    """Ways to every value in a record, of lists only the first three elements."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, item in items:
        yield (*above, key)
        yield from paths(item, (*above, key))


def test_memory_holds_segments_then_program_and_results_read_with_strides():
    program = example()
    image = program.memory()
    assert bytes(image.read(1 << 40, 3)) == bytes((1, 2, 255))
    assert bytes(image.read((1 << 40) + 32, 32)) == program.decoded()[0].to_bytes()
    assert program.decoded()[1] is None
    expected = np.arange(64, dtype=np.int8)[4:28].reshape(3, 8)[:, :4]
    np.testing.assert_array_equal(program.read(image)["out"], expected, strict=True)
