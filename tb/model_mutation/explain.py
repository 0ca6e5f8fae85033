# SPDX-License-Identifier: Apache-2.0
"""Survivors that were looked at by a person, with what was found: `survivors.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tb.model_mutation.mutants import all_mutants

FILE = Path(__file__).with_name("survivors.toml")
CATEGORIES = {
    "equivalent": "no program can tell it from the original",
    "performance": "only how fast the model computes changes, not what",
    "unreachable": "the changed code runs only in states that no program reaches",
    "tool": "only people who debug see it: texts, drill-down, progress",
}


class ExplanationError(ValueError):
    """`survivors.toml` says something that makes no sense; the text says what."""


@dataclass(frozen=True)
class Explanation:
    """Why a mutant may live."""

    id: str
    what: str
    category: str
    reason: str


def explanations() -> dict[str, Explanation]:
    """By the mutant's id. Raises ExplanationError for an unknown category, a missing reason or two of one id."""
    found: dict[str, Explanation] = {}
    for entry in tomllib.loads(FILE.read_text()).get("survivor", []):
        item = Explanation(**entry)
        if item.category not in CATEGORIES or len(item.reason) < 20 or item.id in found:
            raise ExplanationError(f"The entry {item.id} of {FILE.name} is not a single one with category and reason.")
        found[item.id] = item
    return found


def stale() -> list[str]:
    """Ids of explanations whose mutant no longer exists: the line has changed, look again."""
    known = {mutant.id: mutant.what for mutant in all_mutants()}
    return [item.id for item in explanations().values() if known.get(item.id) != item.what]
