# SPDX-License-Identifier: Apache-2.0
"""Timelines, pages and traces from a recording written by hand: every expected figure is counted from it."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest

from beatmatch import stimulus
from beatmatch.accounting import Accounting
from beatmatch.config import preset
from beatmatch.isa import Opcode, make
from beatmatch.program import Program
from beatmatch.report import Recording, Section, Timeline, page, trace_events
from beatmatch.report.html import where
from beatmatch.report.timeline import describe
from beatmatch.trace import VALID, layout

TINY = preset("tiny")  # 4 x 4
START, CYCLES = 10, 60
PROGRAM = Program(
    TINY,
    [
        make(Opcode.LOAD, row_bytes=8),
        make(Opcode.WEIGHTS_MEM, inner=2),
        # Two tiles of three rows; the second has one lane less, and one column is not used.
        make(Opcode.MATMUL, x=3, kc=2, k_lanes=3, n_lanes=3),
        make(Opcode.REQUANT, x=3),
        make(Opcode.STORE, row_bytes=8, outer=2, each=1),
    ],
)


class Writer:
    """Records and stimulus of some cycles, slot by slot."""

    def __init__(self, cycles: int) -> None:
        self.place = layout(TINY)
        self.rows = np.zeros((cycles, stimulus.words(TINY)), np.uint32)
        self.records = np.zeros((cycles, self.place.words), np.uint32)

    def show(self, cycle: int, station: str, name: str, **fields: int) -> None:
        placed = self.place.slot(station, name)
        header, shift = VALID if placed.slot.kind == "event" else 0, 0
        for field, width in placed.slot.fields:
            header |= fields.get(field, 0) << shift
            shift += width
        self.records[START + cycle, placed.offset] |= header

    def read(self, cycle: int, reader: int) -> None:
        flags = 1 << stimulus.SHIFT["m_axi_rvalid"] | reader << stimulus.SHIFT["m_axi_rid"]
        self.rows[START + cycle, 0] |= flags
        self.show(cycle, "port", "ready", rready=1)


def write_run(w: Writer) -> None:
    """A run of `PROGRAM` in which every number is easy to count."""
    for cycle in range(CYCLES):
        active = 20 <= cycle < 26
        w.show(cycle, "host", "status", busy=1, active=active, weight_stall=18 <= cycle < 20)
    for seq, engine in enumerate((1, 2, 3, 4, 5)):
        w.show(2 + seq, "frontend", "dispatch", seq=seq, engine=engine)
    spans = [("load", 5, 12), ("weights", 6, 15), ("matmul", 10, 34), ("vector", 35, 44)]
    for seq, (engine, issue, retire) in enumerate(spans):
        w.show(issue, engine, "issue", seq=seq, last=1)
        w.show(retire, engine, "retire", seq=seq, last=1)
    for iteration, (issue, retire) in enumerate([(45, 52), (47, 55)]):  # overlap
        w.show(issue, "store", "issue", seq=4, iteration=iteration)
        w.show(retire, "store", "retire", seq=4, iteration=iteration)
    for row in range(6):
        w.show(20 + row, "matmul", "row", acc=row % 3)
    for cycle in (3, 4):
        w.read(cycle, 0)
    w.read(8, 1)
    for cycle in (11, 12, 13):
        w.read(cycle, 2)
    w.rows[START + 30, 0] |= 1 << stimulus.SHIFT["m_axi_rvalid"]  # without ready: not a beat
    for cycle in (50, 51):
        w.show(cycle, "port", "w")


@pytest.fixture
def recording() -> Recording:
    w = Writer(START + CYCLES + 5)
    write_run(w)
    recording = Recording(TINY)
    for first in range(0, len(w.rows), 32):  # blocks, which the machine overwrites
        rows, records = w.rows[first : first + 32].copy(), w.records[first : first + 32].copy()
        recording.add(rows, records)
        rows[:] = records[:] = 0
    return recording


@pytest.fixture
def timeline(recording) -> Timeline:
    return Timeline(recording, PROGRAM, groups={"first": range(0, 4), "never": range(7, 9)})


# useful: 3 rows x 4 lanes x 3 columns + 3 rows x 3 lanes x 3 columns
ACCOUNTING = Accounting(CYCLES, 6, 0, 2, 52, 0, 0, 63, 16)


def test_runs_are_where_the_host_says_busy(recording):
    assert recording.cycles == START + CYCLES + 5
    assert recording.runs() == [(START, START + CYCLES)]


def test_intervals_reach_from_issue_to_retire(timeline):
    found = [(i.engine, i.index, i.iteration, i.dispatched, i.start, i.end) for i in timeline.intervals]
    assert found == [
        ("load", 0, 0, 2, 5, 13),
        ("weights", 1, 0, 3, 6, 16),
        ("matmul", 2, 0, 4, 10, 35),
        ("vector", 3, 0, 5, 35, 45),
        ("store", 4, 0, 6, 45, 53),
        ("store", 4, 1, 6, 47, 56),
    ]
    assert timeline.busy("store") == 11
    assert timeline.lanes("store")[1:] == ([0, 1], 2)
    assert timeline.lanes("matmul")[1:] == ([0], 1)


def test_what_never_retires_ends_with_the_run():
    w = Writer(START + 30)
    for cycle in range(20):
        w.show(cycle, "host", "status", busy=1)
    w.show(5, "load", "issue", seq=0)
    recording = Recording(TINY)
    recording.add(w.rows, w.records)
    (interval,) = Timeline(recording, PROGRAM).intervals
    assert (interval.start, interval.end, interval.dispatched) == (5, 20, -1)


def test_a_recording_without_a_run_is_refused():
    with pytest.raises(ValueError, match="never started"):
        Timeline(Recording(TINY), PROGRAM)


def test_groups_span_their_matrix_and_vector_work(timeline):
    assert timeline.group_spans() == {"first": [(10, 45)]}


def test_useful_work_per_pe(timeline):
    assert timeline.useful_macs == 63
    use = timeline.array_use()
    assert use.shape == (4, 4)
    assert use[:, 3].tolist() == [0, 0, 0, 0]
    assert use[:, 0].tolist() == [6, 6, 6, 3]


@pytest.mark.parametrize("most", [7, 60, 1000])
def test_windows_add_up_to_the_run(timeline, most):
    windows = timeline.windows(most)
    assert len(windows.length) <= most
    assert windows.length.sum() == CYCLES
    assert np.array_equal(sum(windows.categories.values()), windows.length)
    totals = {name: int(values.sum()) for name, values in windows.categories.items()}
    assert totals == {"active": 6, "weight_shift": 0, "weight_stall": 2, "input_stall": 0, "raw_stall": 0, "other": 52}
    assert {name: int(values.sum()) for name, values in windows.port.items()} == {
        "fetch": 2, "load": 1, "weights": 3, "store": 2,
    }  # fmt: skip
    assert windows.useful_macs.sum() == 63
    assert windows.rows.sum(axis=1).tolist() == [6, 6, 6, 3]
    assert windows.cols.sum(axis=1).tolist() == [6, 6, 6, 0]


def test_a_window_holds_what_happened_in_it(timeline):
    windows = timeline.windows(10)  # of six cycles
    assert windows.categories["active"].tolist() == [0, 0, 0, 4, 2, 0, 0, 0, 0, 0]
    assert windows.rows[3].tolist() == [0, 0, 0, 3, 0, 0, 0, 0, 0, 0]
    assert windows.port["store"].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 2, 0]


def test_an_instruction_in_words():
    text = describe(make(Opcode.STORE, row_bytes=8, outer=2, each=1, wait0_id=3, wait0_n=1, sig1_en=1, sig1_id=5))
    assert text == "STORE outer=2 row_bytes=8 each wait(3, 1) signal(5)"
    assert describe(make(Opcode.MATMUL)) == "MATMUL"


def test_where_the_cycles_went_adds_up():
    assert sum(where(ACCOUNTING).values()) == pytest.approx(CYCLES)
    assert where(ACCOUNTING)["useful"] == 63 / 16


# ----- the page -----


class Links(HTMLParser):
    """Collects what a browser would fetch, and the stack of open elements."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.fetched, self.open, self.wrong = [], [], []

    def handle_starttag(self, tag, attributes):
        self.fetched += [v for name, v in attributes if name in ("src", "href", "data", "srcset", "action")]
        if tag == "link":
            self.fetched.append("link")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.fixture
def text(timeline) -> str:
    section = Section("by hand", timeline, ACCOUNTING, {"mismatches": "0 </script> & <b>"}, {"images": "16"})
    return page("Seen <here>", [section], "A lead & more.")


def data_of(text: str) -> list:
    body = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    return json.loads(body)


def test_the_page_is_well_formed_and_fetches_nothing(text):
    links = Links()
    links.feed(text)
    links.close()
    assert (links.fetched, links.open, links.wrong) == ([], [], [])
    for sign in ("http:", "https:", "//cdn", "@import", "url(", "fetch(", "XMLHttpRequest", "{{"):
        assert sign not in text


def test_the_page_shows_the_accounting(text):
    assert "<b>60</b><span>cycles from start to done</span>" in text
    assert "<b>6.6%</b>" in text  # 63 / (60 * 16)
    assert "no weights <b>3.3%</b> <em>2</em>" in text
    assert "Seen &lt;here&gt;" in text and "A lead &amp; more." in text
    assert "0 &lt;/script&gt; &amp; &lt;b&gt;" in text


def test_the_data_of_the_page_are_those_of_the_timeline(text):
    (run,) = data_of(text)
    assert run["cycles"] == CYCLES and run["window"] == 1 and run["count"] == CYCLES
    assert run["engines"]["store"] == {"lanes": 2, "intervals": [[45, 53, 4, 0, 0, 6], [47, 56, 4, 1, 1, 6]]}
    use = dict(run["use"])
    assert sum(use["useful"]) == pytest.approx(63 / 16, abs=0.05)
    assert [sum(column) for column in zip(*use.values(), strict=True)] == pytest.approx([1] * CYCLES)
    assert run["groups"] == [["first", 10, 45, 0]]


# ----- the trace -----


def test_the_trace_has_a_track_per_engine_and_counters(timeline):
    events = trace_events(timeline, "by hand")
    json.dumps(events)
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert [name for name in tracks.values() if "overlapping" not in name] == [
        "layers", "load", "weights", "matmul", "vector", "store",
    ]  # fmt: skip
    slices = [e for e in events if e["ph"] == "X" and tracks[e["tid"]] != "layers"]
    assert len(slices) == len(timeline.intervals)
    last_end: dict[int, float] = {}
    for event in sorted(slices, key=lambda e: e["ts"]):
        assert event["ts"] >= last_end.get(event["tid"], 0)
        last_end[event["tid"]] = event["ts"] + event["dur"] - 1e-9
    counters = {e["name"] for e in events if e["ph"] == "C"}
    assert counters == {"array occupancy (%)", "memory read beats (% of cycles)", "memory write beats (% of cycles)"}
    busiest = [e for e in events if e["ph"] == "C" and e["name"].startswith("array") and e["args"]["useful"]]
    assert len(busiest) == 6 and busiest[0]["args"] == {"useful": 75.0, "unused": 25.0}
