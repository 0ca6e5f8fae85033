# SPDX-License-Identifier: Apache-2.0
"""What kind of divergence it is: decided from the two streams of one slot after the first difference.

A stream holds (cycle, words) pairs, the first of which are at or after the first difference. Several hypotheses
(late, dropped, inserted ...) say how the streams should line up behind it; the one under which most of the following
events agree wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Stream = Sequence[tuple[int, tuple[int, ...]]]

KINDS = ("value", "early", "late", "missing", "extra", "order", "unknown_x", "digest")


@dataclass(frozen=True)
class Verdict:
    """A kind, and the cycles in which the two sides show what diverged (None: not seen in the window)."""

    kind: str
    expected_cycle: int | None
    actual_cycle: int | None


def _agreement(left: Stream, right: Stream) -> int:
    """Events from the start that have the same words, whatever their cycles."""
    count = 0
    for (_, a), (_, b) in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count


def classify_event(cycle: int, expected: Stream, actual: Stream) -> Verdict:
    """The kind of a difference between event streams.

    Parameters
    ----------
    cycle : int
        The first cycle in which the slot differs.
    expected, actual : sequences of (cycle, words)
        The events of the slot on both sides from `cycle` on.
    """
    expected_now = bool(expected) and expected[0][0] == cycle
    actual_now = bool(actual) and actual[0][0] == cycle
    if expected_now and not actual_now:
        late, missing = _agreement(actual, expected), _agreement(actual, expected[1:])
        if late and late >= missing:
            return Verdict("late", cycle, actual[0][0])
        return Verdict("missing", cycle, None)
    if actual_now and not expected_now:
        early, extra = _agreement(actual, expected), _agreement(actual[1:], expected)
        if early and early >= extra:
            return Verdict("early", expected[0][0], cycle)
        return Verdict("extra", None, cycle)
    return _both(cycle, expected, actual)


def _both(cycle: int, expected: Stream, actual: Stream) -> Verdict:
    """Both sides show an event, with different words."""
    swapped = next((at for at, words in actual[1:] if words == expected[0][1]), None)
    if swapped is not None and any(words == actual[0][1] for _, words in expected[1:]):
        shifted = max(_agreement(actual, expected[1:]), _agreement(actual[1:], expected))
        if shifted < 3:  # a whole stream that moved by one event is a dropped or an added one
            return Verdict("order", cycle, swapped)
    scores = {
        "value": _agreement(actual[1:], expected[1:]),
        "missing": _agreement(actual, expected[1:]),
        "extra": _agreement(actual[1:], expected),
    }
    kind = max(scores, key=scores.__getitem__)  # the first of equals: value
    if kind == "missing":
        return Verdict("missing", cycle, None)
    if kind == "extra":
        return Verdict("extra", None, cycle)
    return Verdict("value", cycle, cycle)


def classify_level(cycle: int, before: int, expected: Sequence[int], actual: Sequence[int]) -> Verdict:
    """The kind of a difference in a field that is driven in every cycle.

    Parameters
    ----------
    cycle : int
        The first cycle in which the field differs.
    before : int
        Its value in the cycle before, equal on both sides.
    expected, actual : sequences of int
        Its values from `cycle` on.
    """
    if actual[0] == before:  # the expected side moved alone
        for delay, value in enumerate(actual):
            if value != before:
                return Verdict("late" if value == expected[0] else "value", cycle, cycle + delay)
        return Verdict("missing", cycle, None)
    if expected[0] == before:
        for delay, value in enumerate(expected):
            if value != before:
                return Verdict("early" if value == actual[0] else "value", cycle + delay, cycle)
        return Verdict("extra", None, cycle)
    return Verdict("value", cycle, cycle)
