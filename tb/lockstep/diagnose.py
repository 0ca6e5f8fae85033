# SPDX-License-Identifier: Apache-2.0
"""From the first differing cycle and the cycles around it to a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import PlacedSlot, layout
from tb.lockstep.classify import Stream, Verdict, classify_event, classify_level
from tb.lockstep.instructions import ENGINES, InstructionTracker, describe
from tb.lockstep.place import Place, engine_of, field_of, find_place, slot_text
from tb.lockstep.report import Divergence

SHOWN = 24
"""Lines of the two-sided history."""
KIND_ORDER = {"event": 0, "digest": 1, "level": 2}
"""Which of several differing slots is reported: what the architecture sees says most."""


@dataclass(frozen=True)
class Evidence:
    """What a comparator knows when it stops.

    Attributes
    ----------
    cycle, before : int
        The first differing cycle, and how many equal records stand before it in `sides`.
    sides : two numpy.ndarray
        Records of model and RTL around that cycle, uint32 [cycles, words].
    unknown : dict
        Mask of unknown bits in the differing record of the RTL, by word.
    """

    config: Config
    cycle: int
    before: int
    sides: tuple[np.ndarray, np.ndarray]
    unknown: dict[int, int]
    tracker: InstructionTracker

    def now(self, placed: PlacedSlot) -> tuple[np.ndarray, np.ndarray]:
        """The words of a slot in the differing cycle, on both sides."""
        expected, actual = (rows[self.before, placed.offset : placed.offset + placed.words] for rows in self.sides)
        return expected, actual

    def unknown_words(self, placed: PlacedSlot) -> list[int]:
        """Words of the slot that hold unknown bits in the differing cycle."""
        return [word for word in range(placed.offset, placed.offset + placed.words) if word in self.unknown]


def diagnose(evidence: Evidence) -> Divergence:
    """The report of a divergence."""
    differing = _differing(evidence)
    placed = differing[0]
    expected, actual = evidence.now(placed)
    if evidence.unknown_words(placed):
        place = _unknown_place(evidence, placed, expected)
        verdict = Verdict("unknown_x", evidence.cycle, evidence.cycle)
    else:
        place = find_place(evidence.config, placed, expected, actual)
        verdict = _verdict(evidence, placed, place)
    header = int(expected[0]) or int(actual[0])
    engine = engine_of(placed, header)
    sequence = field_of(placed, header, "seq")
    if sequence is None:
        sequence = evidence.tracker.cause(engine, placed.slot.name, evidence.cycle)
    words = evidence.tracker.instructions(evidence.cycle)
    return Divergence(
        verdict.kind,
        evidence.cycle,
        verdict.expected_cycle,
        verdict.actual_cycle,
        placed.station,
        placed.slot.name,
        place.field,
        place.expected,
        place.actual,
        engine=engine,
        row=place.row,
        col=place.col,
        sequence=sequence,
        instruction=describe(words[sequence]) if sequence in words else None,
        in_flight=evidence.tracker.in_flight(engine, evidence.cycle) if engine in ENGINES else [],
        also=[f"{other.station}.{other.slot.name}" for other in differing[1:]],
        history=_history(evidence),
        config=evidence.config.to_dict(),
    )


def _differing(evidence: Evidence) -> list[PlacedSlot]:
    """The slots that differ or hold unknown bits in the first cycle, the most telling one first."""
    found = [
        placed
        for placed in layout(evidence.config).slots
        if evidence.unknown_words(placed) or not np.array_equal(*evidence.now(placed))
    ]
    return sorted(found, key=lambda placed: (not evidence.unknown_words(placed), KIND_ORDER[placed.slot.kind]))


def _unknown_place(evidence: Evidence, placed: PlacedSlot, expected: np.ndarray) -> Place:
    word = evidence.unknown_words(placed)[0]
    mask = evidence.unknown[word]
    flipped = expected.copy()
    flipped[word - placed.offset] ^= np.uint32(mask)
    place = find_place(evidence.config, placed, expected, flipped)
    return Place(place.field, place.expected, f"unknown bits 0x{mask:08x} of word {word}", place.row, place.col)


def _verdict(evidence: Evidence, placed: PlacedSlot, place: Place) -> Verdict:
    cycle, before = evidence.cycle, evidence.before
    if placed.slot.kind == "digest":
        return Verdict("digest", cycle, cycle)
    if placed.slot.kind == "event":
        return classify_event(cycle, *(_stream(rows[before:], cycle, placed) for rows in evidence.sides))
    if not before:
        return Verdict("value", cycle, cycle)
    expected, actual = (_column(rows, placed, place.field).tolist() for rows in evidence.sides)
    return classify_level(cycle, expected[before - 1], expected[before:], actual[before:])


def _stream(rows: np.ndarray, cycle: int, placed: PlacedSlot) -> Stream:
    words = rows[:, placed.offset : placed.offset + placed.words]
    return [(cycle + int(row), tuple(words[row].tolist())) for row in np.flatnonzero(words[:, 0])]


def _column(rows: np.ndarray, placed: PlacedSlot, field: str) -> np.ndarray:
    """The values of a header field, or the first word of a data field, in every record."""
    shift = 0
    for name, width in placed.slot.fields:
        if name == field:
            return (rows[:, placed.offset] >> shift) & ((1 << width) - 1)
        shift += width
    return rows[:, placed.data[field][0] if field in placed.data else placed.offset]


def _history(evidence: Evidence) -> list[tuple[int, str, str]]:
    """The last events of both sides up to a few cycles behind the difference, side by side."""
    lines: list[tuple[int, str, str]] = []
    before = evidence.before
    for index in range(min(before + 4, *map(len, evidence.sides))):
        left, right = (rows[index] for rows in evidence.sides)
        for placed in layout(evidence.config).slots:
            span = slice(placed.offset, placed.offset + placed.words)
            if placed.slot.kind != "event" and (index < before or np.array_equal(left[span], right[span])):
                continue
            texts = [_line(placed, words[span]) for words in (left, right)]
            if any(texts):
                lines.append((evidence.cycle - before + index, *texts))
    difference = next((at for at, line in enumerate(lines) if line[1] != line[2]), len(lines))
    start = max(0, difference - SHOWN // 2)
    return lines[start : start + SHOWN]


def _line(placed: PlacedSlot, words: np.ndarray) -> str:
    if placed.slot.kind == "event" and not words[0]:
        return ""
    return f"{placed.station}.{placed.slot.name} {slot_text(placed, words)}"
