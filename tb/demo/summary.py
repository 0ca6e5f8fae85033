# SPDX-License-Identifier: Apache-2.0
"""The demo's figures: once as a value for JSON, and the same ones as a table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from rich.table import Table

from beatmatch.report import where
from beatmatch.report.html import WHERE
from tb.demo.networks import Case, flat
from tb.demo.rtl import Outcome


def figures(case: Case, outcome: Outcome | None) -> dict[str, Any]:
    """All figures of one network, ready for JSON; without an outcome the RTL's part says that it did not run."""
    stepped, network, batch = case.stepped, case.network, case.batch
    rtl = flat(outcome.values["logits"]) if outcome is not None and outcome.values is not None else None
    lockstep = outcome.lockstep if outcome is not None else None
    compared = {
        "functional tier against oracle": _differences(case.functional, case.reference),
        "stepped tier against functional tier": _differences(case.logits, case.functional[:batch]),
        "RTL against stepped tier": None if rtl is None else _differences(rtl, case.logits),
    }
    return {
        "test_images": len(network.images),
        "batch": batch,
        "accuracy": {
            "float": network.float_accuracy,
            "int8_model": network.accuracy(case.functional),
            "int8_model_batch": network.accuracy(case.logits),
            "int8_rtl_batch": None if rtl is None else network.accuracy(rtl),
        },
        "instructions": len(case.program.instructions),
        "cycles": stepped.cycles,
        "cycles_per_image": stepped.cycles / batch,
        "streamed_rows": case.streamed_rows(),
        "where": where(stepped.accounting),
        "accounting": stepped.accounting.to_dict(),
        "lockstep": {
            "cycles": lockstep.cycles if lockstep else 0,
            "events": lockstep.events if lockstep else 0,
            "digests": lockstep.digests if lockstep else 0,
            "mismatches": int(lockstep is None or lockstep.divergence is not None),
            "trace_sha256": lockstep.sha256 if lockstep else None,
            "seconds": round(lockstep.seconds, 3) if lockstep else None,
            "rtl_write_beats": int(outcome.values["beats"]) if rtl is not None else 0,
        },
        "logits_that_differ": compared,
    }


def _differences(a: np.ndarray, b: np.ndarray) -> int:
    return int((a != b).sum()) if a.shape == b.shape else max(a.size, b.size)


def mismatches(networks: dict[str, dict[str, Any]]) -> int:
    """Everything that should be equal and is not."""
    total = 0
    for found in networks.values():
        total += found["lockstep"]["mismatches"]
        total += sum(count or 0 for count in found["logits_that_differ"].values())
    return total


def rows(found: dict[str, Any]) -> dict[str, str]:
    """The figures of one network as labelled text, in the order of the table."""
    accuracy, lockstep, cycles = found["accuracy"], found["lockstep"], found["cycles"]
    everyone, batch = found["test_images"], found["batch"]
    labelled = {
        f"accuracy, float, {everyone} images": f"{accuracy['float']:.2%}",
        f"accuracy, int8 model, {everyone} images": f"{accuracy['int8_model']:.2%}",
        "images in the timed run": f"{batch:,}",
        "  accuracy, int8 model": f"{accuracy['int8_model_batch']:.2%}",
        "  accuracy, int8 RTL": _share(accuracy["int8_rtl_batch"]),
        "  logits that differ, RTL and model": _count(found["logits_that_differ"]["RTL against stepped tier"]),
        "cycles, model and RTL": f"{cycles:,}",
        "  per image": f"{found['cycles_per_image']:,.0f}",
    }
    for name, share in found["where"].items():
        labelled[f"  {WHERE[name]}"] = f"{share / cycles:.1%}"
    return labelled | {
        "compared in lockstep: cycles": f"{lockstep['cycles']:,}",
        "  events": f"{lockstep['events']:,}",
        "  state digests": f"{lockstep['digests']:,}",
        "  mismatches": f"{lockstep['mismatches']:,}",
    }


def table(title: str, networks: dict[str, dict[str, Any]]) -> Table:
    """The rows of all networks side by side."""
    result = Table(title=title, title_justify="left")
    result.add_column("")
    for name in networks:
        result.add_column(name, justify="right")
    labelled = [rows(found) for found in networks.values()]
    labels = list(labelled[0])
    # A label that is set in continues the one before it; networks may differ in what theirs says.
    ends = [a for a, b in pairwise(labels) if a.startswith(" ") and not b.startswith(" ")]
    lines = zip(labels, *(found.values() for found in labelled), strict=True)
    for label, *texts in lines:
        style = "bold" if "mismatches" in label or "RTL" in label else None
        result.add_row(label, *texts, style=style, end_section=label in ends)
    return result


def _share(value: float | None) -> str:
    return "not run" if value is None else f"{value:.2%}"


def _count(value: int | None) -> str:
    return "not run" if value is None else f"{value:,}"
