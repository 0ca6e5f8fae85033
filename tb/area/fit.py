# SPDX-License-Identifier: Apache-2.0
"""Fit the cells of each module to what the module is made of, and see how far that is off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression

from beatmatch.config import Config
from beatmatch.explore.area import COUNTS, TERMS
from tb.area import plan
from tb.area.structure import FIXED, STRUCTURE
from tb.toolchain import ROOT

RESULT = ROOT / "model/beatmatch/data/area.json"
PRESETS_RECORD = ROOT / "docs/data/presets.json"


def counts_of(entry: Mapping) -> dict[str, dict[str, int]]:
    """Counts by module of an entry of the record."""
    return {module: dict(zip(COUNTS, found[1:], strict=True)) for module, found in entry["modules"].items()}


def fit(entries: Sequence[Mapping]) -> dict[str, dict[str, dict[str, float]]]:
    """Coefficients by module, count and term; none is negative, because more of something takes no cells away.

    Parameters
    ----------
    entries : sequence of mapping
        Entries of the record (`measure.load`).
    """
    configs = [Config.from_dict(entry["config"]) for entry in entries]
    measured = [counts_of(entry) for entry in entries]
    result: dict[str, dict[str, dict[str, float]]] = {}
    for module in sorted({name for found in measured for name in found}):
        terms = STRUCTURE.get(module, (FIXED,))
        matrix = np.array([[TERMS[name](config) for name in terms] for config in configs], float)
        scale = matrix.max(axis=0)
        for count in COUNTS:
            target = np.array([found.get(module, {}).get(count, 0) for found in measured], float)
            if target.any():
                model = LinearRegression(positive=True, fit_intercept=False).fit(matrix / scale, target)
                factors = zip(terms, model.coef_, scale, strict=True)
                kept = {name: float(f"{found / most:.6g}") for name, found, most in factors if found}
                result.setdefault(module, {})[count] = kept
    return result


def predicted(modules: Mapping, config: Config) -> dict[str, float]:
    """Counts of a configuration by these coefficients."""
    return {
        count: sum(
            factor * TERMS[term](config)
            for counts in modules.values()
            for term, factor in counts.get(count, {}).items()
        )
        for count in COUNTS
    }  # fmt: skip


def totals_of(entry: Mapping) -> dict[str, int]:
    """Counts of a whole entry of the record."""
    parts = counts_of(entry).values()
    return {count: sum(part[count] for part in parts) for count in COUNTS}


def errors(modules: Mapping, measured: Sequence[tuple[Config, Mapping[str, int]]]) -> dict[str, object]:
    """Largest relative error of each count over configurations and their totals, and which they are."""
    worst = dict.fromkeys(COUNTS, 0.0)
    for config, true in measured:
        found = predicted(modules, config)
        worst = {count: max(worst[count], round(abs(found[count] / true[count] - 1), 4)) for count in COUNTS}
    largest = max((config for config, _ in measured), key=lambda config: config.peak_macs)
    return {**worst, "configurations": len(measured), "largest": f"{largest.rows}x{largest.cols}"}


def held_out() -> list[tuple[Config, dict]]:
    """Presets that the fit has not seen, and their cells as the README shows them."""
    presets = json.loads(PRESETS_RECORD.read_text())["presets"]
    return [(config, presets[config.name]["cells"]) for config in plan.held_out()]


def result(record: Mapping[str, Mapping]) -> dict:
    """What goes into the package; raises KeyError if the record lacks a configuration of the plan."""
    seen, unseen = [record[config.digest()] for config in plan.fitted()], held_out()
    modules = fit(seen)
    measured = [(Config.from_dict(entry["config"]), totals_of(entry)) for entry in seen]
    rtl = {entry["rtl"] for entry in seen} | {cells["rtl"] for _, cells in unseen}
    return {
        "source": "python -m tb.area fit, from docs/data/area.json and docs/data/presets.json",
        "rtl": sorted(rtl),
        "error": {"fit": errors(modules, measured), "held out": errors(modules, unseen)},
        "modules": modules,
    }


def text(found: Mapping) -> str:
    """As it stands in the file."""
    return json.dumps(found, indent=1) + "\n"


def write(found: Mapping, path: Path = RESULT) -> None:
    """Write the package's file."""
    path.write_text(text(found))
