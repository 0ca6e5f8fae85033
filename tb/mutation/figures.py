# SPDX-License-Identifier: Apache-2.0
"""What a mutation run came to, as figures: totals, by module, and every survivor with its place."""

from __future__ import annotations

import json
from pathlib import Path

from tb import toolchain
from tb.mutation.campaign import Result

KINDS = {"killed": "killed", "equivalent": "equivalent", "unreachable": "unreachable", "hole": "holes"}
"""Name of a count by the status that it counts."""


def to_dict(result: Result, command: str) -> dict:
    """The figures, ready for JSON."""
    by_module: dict[str, dict[str, int]] = {}
    for fate in result.fates:
        counts = by_module.setdefault(fate.mutant.module, dict.fromkeys(("total", *KINDS.values()), 0))
        counts["total"] += 1
        counts[KINDS[fate.status]] += 1
    return {
        "command": command,
        **{kind: sum(counts[kind] for counts in by_module.values()) for kind in ("total", *KINDS.values())},
        "seconds": round(result.seconds, 1),
        "build_seconds": round(result.build_seconds, 1),
        "cycles": result.cycles,
        "seed": result.settings.seed,
        "programs": result.settings.programs,
        "configs": [config.to_dict() for config in result.settings.configs],
        "by_module": dict(sorted(by_module.items())),
        "survivors": [
            {
                "id": fate.mutant.key,
                "module": fate.mutant.module,
                "file": _relative(fate.mutant.file),
                "line": fate.mutant.line,
                "what": fate.mutant.describe(),
                "status": fate.status,
                "reason": fate.reason,
            }
            for fate in result.fates
            if fate.status != "killed"
        ],
    }


def _relative(path: Path) -> str:
    return str(path.relative_to(toolchain.ROOT)) if path.is_relative_to(toolchain.ROOT) else path.name


def save(path: Path, figures: dict) -> None:
    """Write the JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n")
