# SPDX-License-Identifier: Apache-2.0
"""The memory agent keeps the rules of docs/timing.md, *Memory agent*, and the image keeps bytes."""

import json
import random

import numpy as np
import pytest

from beatmatch.memory import DECERR, SLVERR, ErrorRange, MemoryAgent, MemoryImage, MemoryTiming, MemoryTimingError

MB = 8
FULL = (1 << MB) - 1


class Port:
    """Drives an agent: bursts as soon as it takes them, always ready unless told otherwise."""

    def __init__(self, timing, image=None):
        self.image = MemoryImage() if image is None else image
        self.mem = MemoryAgent(timing, self.image, MB)
        self.reads, self.writes, self.beats = [], [], []
        self.log = []  # (cycle, event, detail)

    def read(self, address, beats, identity=1):
        self.reads.append((identity, address, beats - 1))

    def write(self, address, data, strobe=FULL):
        self.writes.append((address, len(data) // MB - 1))
        chunks = [bytes(data[i : i + MB]) for i in range(0, len(data), MB)]
        self.beats += [(chunk, strobe, i == len(chunks) - 1) for i, chunk in enumerate(chunks)]

    def run(self, cycles, rready=True, write_allowed=True):
        owed = getattr(self, "owed", 0)
        for _ in range(cycles):
            mem = self.mem
            now = mem.cycle
            ar = self.reads[0] if self.reads else None
            aw = self.writes[0] if self.writes else None
            w = self.beats[0] if self.beats and owed and write_allowed else None
            ready = rready() if callable(rready) else rready
            if ar is not None and mem.arready:
                self.log.append((now, "ar", ar[1]))
                self.reads.pop(0)
            if aw is not None and mem.awready:
                self.log.append((now, "aw", aw[0]))
                self.writes.pop(0)
                owed += aw[1] + 1
            if w is not None and mem.wready:
                self.log.append((now, "w", w[2]))
                self.beats.pop(0)
                owed -= 1
            if mem.rvalid and ready:
                self.log.append((now, "r", (mem.rid, mem.rdata, mem.rresp, mem.rlast)))
            if mem.bvalid:
                self.log.append((now, "b", mem.bresp))
            mem.commit(ar, aw, w, ready, True)
        self.owed = owed
        return self

    def cycles(self, event):
        return [cycle for cycle, name, _ in self.log if name == event]


def filled(size=4096):
    image = MemoryImage()
    image.write(0, np.arange(size, dtype=np.uint16).astype(np.uint8))
    return image


@pytest.mark.parametrize("latency", [1, 2, 50])
def test_first_beat_comes_read_latency_after_ar_and_then_one_a_cycle(latency):
    port = Port(MemoryTiming(read_latency=latency), filled())
    port.read(64, 4)
    port.read(0, 2, identity=2)
    port.run(latency + 20)
    assert port.cycles("ar") == [0, 1]
    assert port.cycles("r") == [latency + i for i in range(6)]
    beats = [detail for _, name, detail in port.log if name == "r"]
    assert [beat[0] for beat in beats] == [1] * 4 + [2] * 2
    assert b"".join(beat[1] for beat in beats) == bytes(range(64, 96)) + bytes(range(16))
    assert [beat[3] for beat in beats] == [False, False, False, True, False, True]


@pytest.mark.parametrize("latency", [1, 9])
def test_b_comes_write_latency_after_the_last_w(latency):
    port = Port(MemoryTiming(write_latency=latency))
    port.write(4096, bytes(range(24)))
    port.run(latency + 10)
    assert port.cycles("aw") == [0]
    assert port.cycles("w") == [1, 2, 3]
    assert port.cycles("b") == [3 + latency]
    assert port.image.read(4096, 24).tobytes() == bytes(range(24))


def test_strobes_choose_the_bytes():
    port = Port(MemoryTiming(), filled())
    port.write(8, b"\xff" * 8, strobe=0b10000001)
    port.run(5)
    assert port.image.read(8, 8).tolist() == [255, 9, 10, 11, 12, 13, 14, 255]


@pytest.mark.parametrize(("rate", "beats"), [((8, 1), 100), ((16, 3), 67), ((4, 1), 50), ((5, 2), 32), ((100, 1), 100)])
def test_bandwidth_is_the_exact_rate_of_a_busy_stream(rate, beats):
    reads = Port(MemoryTiming(read_latency=1, read_bandwidth=rate))
    for i in range(10):
        reads.read(i * 256, 32)
    reads.run(101)
    assert len(reads.cycles("r")) == beats
    writes = Port(MemoryTiming(write_bandwidth=rate))
    for i in range(10):
        writes.write(i * 256, bytes(256))
    writes.run(101)
    assert len(writes.cycles("w")) == beats


def test_an_idle_stream_saves_no_bandwidth():
    port = Port(MemoryTiming(read_latency=1, read_bandwidth=(2, 1)))
    port.run(100)
    port.read(0, 3)
    port.run(30)
    first = port.cycles("r")[0]
    assert port.cycles("r") == [first, first + 4, first + 8]


def test_shared_bandwidth_is_divided_between_reads_and_writes():
    port = Port(MemoryTiming(read_latency=1, read_bandwidth=(8, 2), shared=True))
    for i in range(20):
        port.read(i * 256, 32)
        port.write(i * 256, bytes(256))
    port.run(400)
    reads, writes = len(port.cycles("r")), len(port.cycles("w"))
    assert reads + writes in (199, 200)
    assert abs(reads - writes) <= 2


def test_a_valid_response_stays_until_it_is_taken():
    rng = random.Random(1)
    port = Port(MemoryTiming(read_latency=3, stalls=(60,) * 5, seed=5), filled())
    for i in range(8):
        port.read(i * 64, 8)
    mem = port.mem
    for _ in range(600):
        before = (mem.rvalid, mem.rdata, mem.rlast)
        ready = rng.random() < 0.3
        port.run(1, rready=ready)
        if before[0] and not ready:
            assert (mem.rvalid, mem.rdata, mem.rlast) == before
    data = b"".join(detail[1] for _, name, detail in port.log if name == "r")
    assert data == bytes(filled().read(0, 512))


def test_the_memory_holds_max_reads_bursts():
    port = Port(MemoryTiming(read_latency=10, max_reads=2))
    for i in range(4):
        port.read(i * 8, 1)
    port.run(60)
    assert port.cycles("r") == [10, 11, 21, 22]
    assert port.cycles("ar") == [0, 1, 11, 12]  # the cycle after the first burst's last beat


def test_a_read_sees_the_writes_up_to_the_cycle_before_its_beat_is_valid():
    image = MemoryImage()
    mem = MemoryAgent(MemoryTiming(read_latency=4), image, MB)
    mem.commit((1, 0, 0), (0, 0), None, True, True)  # cycle 0: AR; its beat is valid in cycle 4
    for _ in range(2):
        mem.commit(None, None, None, True, True)
    mem.commit(None, None, (b"12345678", FULL, True), True, True)  # cycle 3
    assert mem.rvalid and mem.rdata == b"12345678"


def test_errors_answer_without_data_and_without_writing():
    ranges = (ErrorRange(16, 23, DECERR), ErrorRange(40, 47, SLVERR, reads=False))
    port = Port(MemoryTiming(errors=ranges), filled())
    port.read(0, 8)
    port.write(32, b"\xee" * 24)
    port.write(16, b"\xee" * 8)
    port.run(100)
    responses = [detail[2] for _, name, detail in port.log if name == "r"]
    assert responses == [0, 0, DECERR, 0, 0, 0, 0, 0]
    assert [detail for _, name, detail in port.log if name == "b"] == [SLVERR, DECERR]
    assert port.image.read(16, 8).tolist() == list(range(16, 24))
    assert port.image.read(32, 24).tolist() == [0xEE] * 8 + list(range(40, 48)) + [0xEE] * 8


@pytest.mark.parametrize(("first", "last"), [(16, 16), (23, 23), (8, 16), (23, 40)])
def test_one_common_byte_is_enough_for_an_error(first, last):
    """The beat at 16 has the bytes 16 to 23; the range may end at the first or begin at the last of them."""
    port = Port(MemoryTiming(errors=(ErrorRange(first, last),)), filled())
    port.read(16, 1)
    port.run(60)
    assert [detail[2] for _, name, detail in port.log if name == "r"] == [SLVERR]


@pytest.mark.parametrize(("first", "last"), [(15, 15), (24, 24)])
def test_bytes_beside_a_beat_are_no_error_of_it(first, last):
    port = Port(MemoryTiming(errors=(ErrorRange(first, last),)), filled())
    port.read(16, 1)
    port.run(60)
    assert [detail[2] for _, name, detail in port.log if name == "r"] == [0]


def test_the_least_and_greatest_values_are_legal():
    least = MemoryTiming(1, 1, (1, 1), (1, 1), seed=0, max_reads=1, max_writes=1)
    greatest = MemoryTiming(65535, 65535, stalls=(255,) * 5, seed=2**64 - 1)
    assert (least.max_reads, greatest.read_latency) == (1, 65535)
    for values in ({"read_latency": 65536}, {"write_latency": 0}, {"max_writes": 0}, {"seed": 2**64}):
        with pytest.raises(MemoryTimingError):
            MemoryTiming(**values)


def test_stalls_are_a_function_of_seed_channel_and_cycle():
    timing = MemoryTiming(stalls=(0, 64, 128, 255, 1), seed=9)
    flags = np.frombuffer(timing.stall_flags(0, 50_000), np.uint8)
    assert bytes(flags[12_345:12_400]) == timing.stall_flags(12_345, 55)
    share = [(flags >> i & 1).mean() * 256 for i in range(5)]
    assert np.allclose(share, timing.stalls, atol=2)
    other = np.frombuffer(MemoryTiming(stalls=timing.stalls, seed=10).stall_flags(0, 50_000), np.uint8)
    assert (flags != other).mean() > 0.5
    # an idle agent shows the stalls of its ready signals
    mem = MemoryAgent(timing, MemoryImage(), MB)
    for cycle in range(200):
        assert (not mem.awready, not mem.wready) == (bool(flags[cycle] & 4), bool(flags[cycle] & 8))
        mem.commit(None, None, None, True, True)


@pytest.mark.parametrize(
    "fault",
    [
        lambda mem: mem.commit((0, 4, 0), None, None, True, True),
        lambda mem: mem.commit((0, 4088, 1), None, None, True, True),
        lambda mem: mem.commit(None, (4096 - 8, 1), None, True, True),
        lambda mem: mem.commit(None, None, (bytes(8), FULL, True), True, True),
    ],
)
def test_bursts_that_axi_forbids_are_refused(fault):
    with pytest.raises(ValueError, match=r"burst|W beat"):
        fault(MemoryAgent(MemoryTiming(), MemoryImage(), MB))


def test_wlast_must_end_the_burst():
    mem = MemoryAgent(MemoryTiming(), MemoryImage(), MB)
    mem.commit(None, (0, 1), None, True, True)
    with pytest.raises(ValueError, match="WLAST"):
        mem.commit(None, None, (bytes(8), FULL, True), True, True)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"read_latency": 0}, "read_latency"),
        ({"write_latency": 70000}, "write_latency"),
        ({"read_bandwidth": (0, 1)}, "read_bandwidth"),
        ({"write_bandwidth": 3}, "write_bandwidth"),
        ({"shared": True}, "read_bandwidth must be given"),
        ({"shared": True, "read_bandwidth": (1, 1), "write_bandwidth": (1, 1)}, "write_bandwidth must be None"),
        ({"stalls": (0, 0, 256, 0, 0)}, "aw"),
        ({"stalls": (0,)}, "five"),
        ({"seed": -1}, "seed"),
        ({"max_reads": 0}, "max_reads"),
        ({"errors": (3,)}, "ErrorRange"),
    ],
)
def test_impossible_timings_are_refused_in_a_sentence(values, word):
    with pytest.raises(MemoryTimingError, match=word) as caught:
        MemoryTiming(**values)
    assert str(caught.value).endswith(".")


def test_timing_goes_through_json():
    timing = MemoryTiming(
        read_bandwidth=(34, 7), stalls=(1, 2, 3, 4, 5), seed=2**63, errors=(ErrorRange(5, 9, DECERR),)
    )
    assert MemoryTiming.from_dict(json.loads(json.dumps(timing.to_dict()))) == timing
    with pytest.raises(MemoryTimingError, match="speed"):
        MemoryTiming.from_dict({"speed": 3})


def test_image_reads_zero_where_nothing_was_written_and_spans_pages_to_the_top():
    image = MemoryImage()
    top = (1 << 64) - 10
    image.write(top, np.arange(10, dtype=np.uint8))
    image.write(4090, bytes(range(100)))
    assert image.read(top, 10).tolist() == list(range(10))
    assert image.read(4088, 104).tolist() == [0, 0, *range(100), 0, 0]
    with pytest.raises(ValueError, match="64-bit"):
        image.read(top, 11)


def test_images_compare_by_their_bytes():
    image = filled()
    copy = image.snapshot()
    assert copy == image and copy.digest() == image.digest() and not copy.differences(image)
    image.write(1 << 40, bytes(100))  # zeros make no difference
    assert copy == image and copy.digest() == image.digest()
    image.write(77, b"\x00")
    assert copy != image and copy.digest() != image.digest()
    assert image.differences(copy) == [(77, 0, 77)]
