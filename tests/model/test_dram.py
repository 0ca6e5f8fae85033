# SPDX-License-Identifier: Apache-2.0
"""A DRAM keeps the contract of docs/memory.md: cycles derived from the page by hand, and properties of any traffic."""

import dataclasses
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from beatmatch.memory import Dram, MemoryAgent, MemoryImage, MemoryTiming, MemoryTimingError, dram_preset
from beatmatch.memory.banks import READ, WRITE, DramState
from beatmatch.memory.presets import STANDARDS
from tb.lockstep import random_dram
from tests.model.test_memory import MB, Port

PAGE = Path(__file__).resolve().parents[2] / "docs/memory.md"

HAND = Dram(
    banks=4,
    rows=64,
    row_bytes=256,
    access_bytes=8,
    trcd=5,
    trp=4,
    tcl=6,
    tcwl=3,
    tras=20,
    trtp=2,
    twr=7,
    twtr=3,
    trtw=2,
)
SAME_ROW, SAME_BANK, OTHER_BANK = 64, 4 * 256, 256
"""Addresses, as seen from address 0: four banks of rows of 256 bytes."""


def port(dram=HAND, rate=(MB, 1), **fields):
    """Behind it latencies of 3 (read) and 2 (write), and a beat per cycle on the data bus."""
    return Port(MemoryTiming(3, 2, read_bandwidth=rate, shared=True, dram=dram, **fields))


def read_cycles(dram, *reads, rate=(MB, 1)):
    """Cycles of the R beats of reads (cycle of AR, address, beats)."""
    driver = port(dram, rate)
    for cycle, address, beats in reads:
        driver.run(cycle - driver.mem.cycle)
        driver.read(address, beats)
    return driver.run(300).cycles("r")


# ----- cycles by hand: latencies are read_latency = 3 and write_latency = 2 -----


def test_a_closed_bank_costs_activation_and_column():
    # act 0, cas 0 + 5, begin 5 + 6 = 11: valid in 11 + 3
    assert read_cycles(HAND, (0, 0, 2)) == [14, 15]


def test_an_open_row_costs_the_column_alone():
    # cas 40, begin 46
    assert read_cycles(HAND, (0, 0, 1), (40, SAME_ROW, 2)) == [14, 49, 50]


def test_another_row_of_a_bank_costs_a_precharge_too():
    # act 40 + 4, cas 49, begin 55
    assert read_cycles(HAND, (0, 0, 1), (40, SAME_BANK, 1)) == [14, 58]


def test_a_row_stays_open_for_tras():
    # act not before 0 + tras 20 + trp 4 = 24: cas 29, begin 35
    assert read_cycles(HAND, (0, 0, 1), (1, SAME_BANK, 1)) == [14, 38]


def test_a_row_stays_open_for_trtp_behind_the_last_column():
    # 32 beats: begin 11, end 43, last access from 42, its column command in 36; precharge 38, act 42, cas 47, begin 53
    assert read_cycles(HAND, (0, 0, 32), (1, SAME_BANK, 1)) == [*range(14, 46), 56]


def test_another_bank_is_opened_while_data_pass():
    # the second is activated in 1: its data could begin in 12, the bus is free from 11 + 4 = 15 on
    assert read_cycles(HAND, (0, 0, 4), (1, OTHER_BANK, 2)) == [14, 15, 16, 17, 18, 19]


def test_a_burst_is_cut_at_a_row():
    # two beats in bank 0 (11, 12); two in bank 1, ready in 11, on the bus from 13 on
    assert read_cycles(HAND, (0, 240, 4)) == [14, 15, 16, 17]
    # the next row is in the same bank: act max(0 + 4, 24), begin 24 + 5 + 6 = 35
    neighbours = dataclasses.replace(HAND, mapping="bank-row-column")
    assert read_cycles(neighbours, (0, 240, 4)) == [14, 15, 38, 39]


def test_a_closed_page_is_activated_every_time():
    # the second finds no row: act 24 (tras + trp behind the first), begin 35
    closed = dataclasses.replace(HAND, page_policy="closed")
    assert read_cycles(closed, (0, 0, 1), (1, SAME_ROW, 1)) == [14, 38]
    # ... and after that time without a precharge of its own: act 40, begin 51
    assert read_cycles(closed, (0, 0, 1), (40, SAME_BANK, 1)) == [14, 54]


def test_a_write_is_answered_when_its_last_beat_has_passed():
    driver = port()
    driver.write(0, bytes(2 * MB))
    driver.run(80)
    # last W in 2: act 2, cas 7, begin 10, the second beat in 11: B in 11 + 2
    assert (driver.cycles("w"), driver.cycles("b")) == ([1, 2], [13])


def test_a_read_waits_for_a_write_to_turn_around():
    driver = port()
    driver.write(0, bytes(2 * MB))
    driver.run(5)
    driver.read(SAME_ROW, 1)
    driver.run(80)
    # the write ends in 12 (above): cas max(5, 12 + 3), begin 15 + 6
    assert driver.cycles("r") == [24]
    driver.read(SAME_BANK, 1)
    driver.run(80)
    # the row was opened in 2; it may close again in 12 + 7, long ago in 85: precharge, act 89, begin 100
    assert driver.cycles("r") == [24, 103]


def test_a_row_stays_open_for_twr_behind_a_write():
    driver = port()
    driver.write(0, bytes(16 * MB))
    driver.run(17)  # last W in 16: act 16, begin 24, end 40
    driver.read(SAME_BANK, 1)
    driver.run(80)
    # precharge in 40 + 7, act 51, cas 56 (not before 40 + 3), begin 62
    assert driver.cycles("r") == [65]


def test_a_write_waits_for_a_read_to_turn_around():
    driver = port()
    driver.read(0, 2)
    driver.write(SAME_ROW, bytes(2 * MB))
    driver.run(80)
    # the read passes in 11 and 12; last W in 2, cas 2, begin max(2 + 3, 13 + 2) = 15: B in 16 + 2
    assert (driver.cycles("r"), driver.cycles("b")) == ([14, 15], [18])


def test_refresh_stops_everything_and_closes_rows():
    refreshed = dataclasses.replace(HAND, trefi=100, trfc=30)
    # 70 to 99 are refresh. Begin 60 + 6, four beats (66 to 69), then four behind it (100 to 103)
    assert read_cycles(refreshed, (0, 0, 1), (60, SAME_ROW, 8)) == [14, 69, 70, 71, 72, 103, 104, 105, 106]
    # arrives in 80, which is as 100: the row is closed, act 100, begin 111
    assert read_cycles(refreshed, (0, 0, 1), (80, SAME_ROW, 1)) == [14, 114]
    # the clock stands still between activation (68) and column command: 2 cycles before, 3 + 6 behind
    assert read_cycles(refreshed, (68, 0, 1)) == [112]


def test_a_slow_bus_takes_its_exact_share():
    # 8 bytes take 16/3 cycles: positions 33, 49, 65 in thirds
    assert read_cycles(HAND, (0, 0, 3), rate=(3, 2)) == [14, 19, 24]


def test_whole_accesses_pass():
    # each read takes the bus for 64 bytes, 8 cycles; the second's beat is the second of its access
    coarse = dataclasses.replace(HAND, access_bytes=64)
    assert read_cycles(coarse, (0, 0, 1), (1, 8, 1)) == [14, 3 + 11 + 8 + 1]


def test_channels_pass_data_side_by_side():
    # each carries half of the rate: two beats in channel 0 (11, 13), two in channel 1 (11, 13), answered in order
    pair = dataclasses.replace(HAND, channels=2)
    assert read_cycles(pair, (0, 240, 4)) == [14, 16, 17, 18]


def test_a_stall_delays_the_port_and_not_the_dram():
    driver = port()
    driver.read(0, 2)
    driver.run(30, rready=False)  # the first waits on the port, the second behind it
    driver.read(SAME_ROW, 1)
    driver.run(30)  # the third arrives in 30: begin 36, as if nothing had waited
    assert driver.cycles("r") == [30, 31, 39]


# ----- properties -----


@pytest.mark.parametrize("rate", [(8, 1), (5, 1), (16, 3), (1, 2)])
def test_a_stream_of_hits_has_the_full_bandwidth(rate):
    state = DramState(dataclasses.replace(HAND, row_bytes=1 << 16), rate, MB)
    passes = [cycle for burst in range(64) for cycle in state.arrive(burst * 16 * MB, 16, READ, burst)]
    assert passes == [11 + index * MB * rate[1] // rate[0] for index in range(64 * 16)]
    assert state.counters(0).hits == 63


def test_neighbouring_rows_have_the_full_bandwidth_too():
    state = DramState(HAND, (MB, 1), MB)  # a row of 32 cycles hides the 28 of another bank's tras, trp and trcd
    passes = [cycle for burst in range(256) for cycle in state.arrive(burst * 64, 8, READ, 0)]
    assert passes == list(range(11, 11 + 256 * 8))


@pytest.mark.parametrize("seed", range(6))
def test_every_conflict_costs_precharge_activation_and_column(seed):
    rng = random.Random(seed)
    dram = dataclasses.replace(random_dram.generate(rng, MB), rows=64, page_policy="open", trefi=0, trfc=0)
    state, cycle, line = DramState(dram, (MB, 1), MB), 0, dram.row_bytes * dram.channels
    step = line * dram.banks if dram.mapping == "row-bank-column" else line  # to the next row of the same bank
    for index in range(20):
        cycle += rng.randint(0, 60)
        (first,) = state.arrive(index * step, 1, READ, cycle)
        assert first >= cycle + dram.trcd + dram.tcl + (dram.trp if index else 0)
    assert state.counters(cycle).conflicts == 19


@pytest.mark.parametrize("seed", range(12))
def test_nothing_passes_during_refresh_or_before_its_time(seed):
    rng = random.Random(seed)
    dram = dataclasses.replace(random_dram.generate(rng, MB), trefi=rng.randint(40, 200), trfc=rng.randint(1, 39))
    state, cycle, newest = DramState(dram, (rng.randint(1, 20), 2), MB), 0, {}
    for _ in range(200):
        cycle += rng.choice((0, 1, 1, 40))
        direction = rng.choice((READ, READ, WRITE))
        address, beats = MB * rng.randrange(1 << 16), rng.randint(1, 16)
        passes = state.arrive(address, beats, direction, cycle)
        assert len(passes) == beats
        assert all(passed % dram.trefi < dram.trefi - dram.trfc for passed in passes)
        assert min(passes) >= cycle + (dram.tcl if direction == READ else dram.tcwl)
        for index, passed in enumerate(passes):  # a channel carries one after the other
            channel = (address + index * MB) // dram.block % dram.channels
            assert passed >= newest.get(channel, 0)
            newest[channel] = passed
    found = state.counters(cycle)
    assert found.refresh_cycles == sum(at % dram.trefi >= dram.trefi - dram.trfc for at in range(cycle))
    assert found.parts >= 200 and found.turnarounds > 20


def test_memories_do_not_share_banks():
    timing = MemoryTiming(3, 2, read_bandwidth=(MB, 1), shared=True, dram=HAND)
    drivers = [Port(timing) for _ in range(2)]
    for driver in drivers:
        driver.read(0, 1)
        driver.run(40)
    assert [driver.cycles("r") for driver in drivers] == [[14], [14]]


def test_a_reset_closes_rows_and_keeps_counters():
    driver = port()
    driver.read(0, 1)
    driver.run(40)
    driver.mem.skip_reset_cycle()
    driver.read(0, 1)
    driver.run(40)
    assert driver.cycles("r") == [14, 41 + 14]
    assert driver.mem.dram.to_dict() == {
        "hits": 0, "misses": 2, "conflicts": 0, "turnarounds": 0, "refresh_cycles": 0,
    }  # fmt: skip


# ----- descriptions -----


def test_counters_are_there_for_drams_only():
    assert MemoryAgent(MemoryTiming(), MemoryImage(), MB).dram is None


def test_descriptions_go_through_json():
    rng = random.Random(1)
    for dram in (Dram(), *(random_dram.generate(rng, MB) for _ in range(20))):
        assert Dram.from_dict(json.loads(json.dumps(dram.to_dict()))) == dram
        timing = MemoryTiming(9, 9, read_bandwidth=(7, 2), shared=True, dram=dram)
        assert MemoryTiming.from_dict(json.loads(json.dumps(timing.to_dict()))) == timing
    assert "dram" not in MemoryTiming().to_dict()  # records of other memories stay as they were


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"banks": 3}, "banks is 3; it must be a power of two from 1 to 64"),
        ({"banks": True}, "banks is True"),
        ({"rows": 0}, "rows is 0"),
        ({"row_bytes": 128}, "row_bytes is 128; it must be a power of two from 256 to 65536"),
        ({"channels": 16, "banks": 64}, "16 channels with 64 banks each are too many"),
        ({"channels": 2, "interleave": 512, "row_bytes": 256}, "a channel may keep at most a row of 256"),
        ({"access_bytes": 512, "row_bytes": 256}, "access_bytes is 512; a row, or what stays in a channel, holds only"),
        ({"mapping": "column-row"}, "mapping is 'column-row'; it must be row-bank-column or bank-row-column"),
        ({"page_policy": "adaptive"}, "page_policy is 'adaptive'; it must be open or closed"),
        ({"trcd": -1}, "trcd is -1; it must be from 0 to 65535 cycles"),
        ({"tcl": 1.5}, "tcl is 1.5"),
        ({"trefi": 100}, "trfc is 0 of trefi 100 cycles; it must be 1 or more and less, or both 0"),
        ({"trefi": 50, "trfc": 50}, "trfc is 50 of trefi 50"),
        ({"trfc": 5}, "trfc is 5 of trefi 0"),
        ({"trefi": 1 << 24, "trfc": 1}, "trefi is 16777216; it must be from 0 to 16777215"),
    ],
)
def test_impossible_drams_are_refused_in_a_sentence(fields, text):
    with pytest.raises(MemoryTimingError, match=text):
        Dram(**fields)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"dram": {"bank": 4}}, "Unknown DRAM field 'bank'; the fields are access_bytes, banks"),
        ({"dram": [1]}, "A DRAM must be an object with its fields"),
        ({"dram": {}}, "shared must be set with dram, and read_bandwidth given"),
    ],
)
def test_records_of_impossible_drams_are_refused(record, text):
    with pytest.raises(MemoryTimingError, match=text):
        MemoryTiming.from_dict(record)


def test_a_timing_takes_only_a_dram():
    with pytest.raises(MemoryTimingError, match="dram is 4; it must be None or a Dram"):
        MemoryTiming(dram=4)


# ----- presets -----


def test_nanoseconds_become_cycles_that_are_long_enough():
    timing = dram_preset("ddr4-2400")
    dram = timing.dram
    # 13.32 ns, 10 ns and 350 ns at 1000 MHz; 7.8 us hold 7800 cycles; 19.2 GB/s
    assert (dram.trcd, dram.tcwl, dram.trfc, dram.trefi, timing.read_bandwidth) == (14, 10, 350, 7800, (96, 5))
    slower = dram_preset("ddr4-2400", 700)
    # 9.324, 7, 245 and 5460
    assert (slower.dram.trcd, slower.dram.tcwl, slower.dram.trfc, slower.dram.trefi) == (10, 7, 245, 5460)
    assert slower.read_bandwidth == (192, 7) and slower.read_latency == 14


@pytest.mark.parametrize("name", STANDARDS)
@pytest.mark.parametrize("mhz", [200, 700, 940, 1000, 3000])
def test_presets_keep_rate_and_order_of_times(name, mhz):
    timing, standard = dram_preset(name, mhz), STANDARDS[name]
    assert timing.read_bandwidth[0] * standard.rate[1] * mhz == timing.read_bandwidth[1] * standard.rate[0]
    for field, picoseconds in standard.times.items():
        found = getattr(timing.dram, field) * 1_000_000
        low, high = picoseconds * mhz, picoseconds * mhz + 999_999
        assert low - 999_999 <= found <= low if field == "trefi" else low <= found <= high


@pytest.mark.parametrize(
    ("name", "mhz", "text"),
    [
        ("ddr9", 1000, "There is no memory 'ddr9'; there are ddr3-1066, ddr4-2400, hbm2"),
        ("hbm2", 0, "The core's clock is 0 MHz; it must be from 1 to 10000"),
        ("hbm2", 0.5, "The core's clock is 0.5 MHz"),
    ],
)
def test_unknown_presets_are_refused(name, mhz, text):
    with pytest.raises(MemoryTimingError, match=text):
        dram_preset(name, mhz)


def times_of_the_page():
    """Picoseconds of each preset, from the page's table."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines() if "|" in line]
    names = next(re.findall(r"`(.*?)`", " ".join(row)) for row in rows if "`hbm2`" in row)
    found = {name: {} for name in names}
    for title, *cells in rows:
        fields = re.findall(r"`(t\w+)`", title)
        for name, cell in zip(names, cells, strict=False):
            unit = ""
            numbers = re.findall(r"([\d.]+)(?: (ns|us))?", cell)
            if "each" in cell:
                numbers *= len(fields)
            for field, (number, own) in zip(reversed(fields), reversed(numbers), strict=False):  # a unit is behind
                unit = own or unit
                found[name][field] = round(float(number) * {"ns": 1e3, "us": 1e6}[unit])
    return found


def test_the_page_has_the_figures_of_the_presets():
    assert times_of_the_page() == {name: standard.times for name, standard in STANDARDS.items()}


def test_the_file_on_the_page_is_a_memory():
    (text,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert MemoryTiming.from_dict(json.loads(text)).dram.trefi == 7800


def test_the_python_on_the_page_runs():
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found = {"a": np.ones((20, 20), np.int8), "b": np.ones((20, 20), np.int8)}
    exec(text, found)
    assert found["run"].dram[0].hits > 20 and found["own"].dram.trcd == 10
