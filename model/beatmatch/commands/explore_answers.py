# SPDX-License-Identifier: Apache-2.0
"""The answers of ``explore``: tables on the terminal, JSON, CSV, pages and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from rich.table import Table

from beatmatch.commands.common import PROBLEM, CommandError, console, write_json
from beatmatch.explore import area, changes, charts, page, store
from beatmatch.explore import compare as comparing
from beatmatch.explore import pareto as paretos
from beatmatch.explore import roofline as rooflines
from beatmatch.explore import sensitivity as sensitivities
from beatmatch.explore.columns import Row
from beatmatch.explore.compare import Duel
from beatmatch.explore.study import Study
from beatmatch.explore.totals import Total, totals

MOST_LINES = 40
"""Lines of a table on the terminal; files hold all."""

Timed = Callable[[argparse.Namespace, Study], list[Row]]


def run(arguments: argparse.Namespace, rows: list[Row]) -> int:
    """Write and show the table of a study; the exit code is 1 if no machine runs its network."""
    if arguments.out:
        (store.write_csv if arguments.out.endswith(".csv") else store.write_parquet)(rows, arguments.out)
    found = totals(rows)
    lines = [_line(total) for total in found]
    _give(arguments, {"points": [total.to_dict() for total in found]}, [total.to_dict() for total in found], lines)
    return 0 if any(total.cycles is not None for total in found) else PROBLEM


def pareto(arguments: argparse.Namespace) -> int:
    """Show the fronts of a table."""
    objectives = paretos.check(arguments.objectives.split(","))
    found = paretos.fronts(totals(store.read_table(arguments.table)), objectives)
    if not found:
        raise CommandError(f"No machine of {arguments.table} runs its network; see its column reason.")
    rows = [
        {
            "front": on, **total.to_dict(),
            **{name: paretos.OBJECTIVES[name](total) for name in objectives},
        }
        for total, on in found
    ]  # fmt: skip
    ordered = sorted((total for total, on in found if on), key=lambda total: (total.network, total.cycles))
    lines = [_line(total) for total in ordered]
    lead = [f"{len(lines)} of {len(found)} machines are beaten by no other in {' and '.join(objectives)}.", area.note()]
    data = {"objectives": list(objectives), "points": rows}
    _give(arguments, data, rows, lines, lead, "Pareto front", charts.pareto(found, objectives))
    return 0


def sensitivity(arguments: argparse.Namespace, study: Callable, run: Timed) -> int:
    """Show how much each parameter matters."""
    scan = sensitivities.scan(parameters=arguments.parameters, **study(arguments))
    found = totals(run(arguments, scan))
    bars = sensitivities.tornado(scan, found)
    rows = sensitivities.rows(bars)
    lines = []
    for bar in bars:
        shown = {name: bar.ratios.get(name) for name in sensitivities.factors()}
        why = next(iter(bar.reasons.values()), "")
        lines.append({"network": bar.network, "parameter": bar.parameter, **shown, "not possible": why})
    base = [total for total in found if total.point == "base"]
    lead = [f"{total.network}: {total.cycles:,} cycles at 1x, fidelity {total.fidelity}." for total in base]
    lead.append("Cycles over the base's, one parameter at a time, the widest swing first.")
    data = {"base": [total.to_dict() for total in base], "parameters": rows}
    _give(arguments, data, rows, lines, lead, "Sensitivity", charts.tornado(rows))
    return 0


def roofline(arguments: argparse.Namespace, study: Callable, run: Timed) -> int:
    """Show the layers below their roofs."""
    table = run(arguments, Study(**study(arguments)))
    total = totals(table)
    for one in total:
        if one.cycles is None:
            raise CommandError(f"The base does not run {one.network}: {one.reason}")
    found = rooflines.spots(table)
    if not found:
        raise CommandError("No layer has multiply-accumulates: there is no roofline.")
    rows = [{**asdict(spot), "share": spot.share} for spot in found]
    keys = ("network", "layer", "op", "shape", "cycles", "intensity", "reached", "roof", "share")
    ordered = sorted(rows, key=lambda row: -row["cycles"])
    lines = [{key: row[key] for key in keys} | {"lower roof": row["bound"]} for row in ordered]
    networks = dict.fromkeys(spot.network for spot in found)
    drawn = [charts.roofline([spot for spot in found if spot.network == network]) for network in networks]
    lead = [f"{one.network}: {one.cycles:,} cycles, {one.utilization:.1%} of the peak." for one in total]
    _give(arguments, {"layers": rows, "totals": [one.to_dict() for one in total]}, rows, lines, lead, "Roofline", drawn)
    return 0


def compare(arguments: argparse.Namespace, study: Callable, run: Timed) -> int:
    """Show A against B."""
    a, b = (tuple(map(changes.parse_change, chosen)) for chosen in (arguments.a, arguments.b))
    duel = Duel(**study(arguments), a=a, b=b)
    found = comparing.verdicts(duel, run(arguments, duel))
    rows = [total.to_dict() for verdict in found for total in verdict.sides.values()]
    lines = [_line(total) for verdict in found for total in verdict.sides.values()]
    data = {
        "a": changes.label(a),
        "b": changes.label(b),
        "answers": [
            {
                "network": verdict.network,
                "answer": verdict.sentence,
                "sides": {side: total.to_dict() for side, total in verdict.sides.items()},
                "layers": verdict.layers,
            }
            for verdict in found
        ],
    }
    drawn = []
    for verdict in found:
        timed = [total for total in verdict.sides.values() if total.cycles is not None]
        drawn += [charts.categories(timed, f"{verdict.network}: where the cycles go"), charts.layers(verdict)]
    _give(arguments, data, rows, lines, [verdict.sentence for verdict in found], "A against B", drawn)
    return 0


def _line(total: Total) -> dict:
    """What the terminal shows of a total."""
    cost = total.area
    return {
        "network": total.network,
        "machine": total.point,
        "cycles": total.cycles,
        "utilization": f"{total.utilization:.1%}" if total.cycles else None,
        "read bytes": total.read_bytes if total.cycles else None,
        "area (proxy)": round(cost.proxy) if cost else None,
        "fidelity": total.fidelity if total.cycles else None,
        "estimate": f"{total.estimated / total.cycles:.1%}" if total.cycles else None,
        "why not": total.reason,
    }


def _give(
    arguments: argparse.Namespace,
    data: Mapping,
    rows: Sequence[Mapping],
    lines: Sequence[Mapping],
    lead: Sequence[str] = (),
    title: str = "",
    drawn: Sequence[Mapping] = (),
) -> None:
    """The answer in each form that was asked for; on the terminal unless JSON goes there."""
    if arguments.json:
        write_json({"area": area.note(), **data}, arguments.json)
    if arguments.csv:
        store.write_csv(list(rows), arguments.csv)
    if getattr(arguments, "html", None):
        page.write_page(arguments.html, title, lead, drawn, {"Figures": lines})
    if getattr(arguments, "svg", None):
        page.write_svg(arguments.svg, drawn[0])
    if arguments.json == "-":
        return
    out = console()
    for text in lead:
        out.print(text, markup=False)
    out.print(_table(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        out.print(f"{len(lines) - MOST_LINES:,} more lines; --csv or --json FILE holds them all.")


def _table(lines: Sequence[Mapping]) -> Table:
    """A table of which empty columns are left out."""
    table = Table()
    kept = [name for name in (lines[0] if lines else ()) if any(line[name] not in (None, "") for line in lines)]
    for name in kept:
        number = any(isinstance(line[name], int | float) for line in lines)
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for line in lines:
        table.add_row(*(page.shown(line[name]) for name in kept))
    return table
