# SPDX-License-Identifier: Apache-2.0
"""The record of the peers as tables of a page: what each took, whether the bars are met, and where cycles went."""

from __future__ import annotations

from dataclasses import dataclass

from tb import toolchain
from tb.peers.bench import CONFIG, OURS, WORKLOADS
from tb.peers.environments import BEATMATCH, SCALE_SIM, ZIGZAG

RECORD = toolchain.ROOT / "docs/data/peers.json"
PAGE = toolchain.ROOT / "docs/peers.md"
START, END = "<!-- peers: written by python -m tb.peers from docs/data/peers.json -->", "<!-- peers: end -->"
TITLES = {peer.name: peer.title for peer in (BEATMATCH, SCALE_SIM, ZIGZAG)}


@dataclass(frozen=True)
class Bar:
    """How many times less Beatmatch has to take of something than a peer."""

    workload: str
    peer: str
    what: str
    least: float

    def ratio(self, record: dict) -> float | None:
        """The peer's over ours; None if either was not measured."""
        runs = record["runs"].get(self.workload, {})
        if OURS not in runs or self.peer not in runs:
            return None
        return runs[self.peer][self.what] / runs[OURS][self.what]


BARS = (
    Bar("resnet50", SCALE_SIM.name, "cpu_seconds", 100),
    Bar("resnet50", SCALE_SIM.name, "peak_mb", 20),
    Bar("resnet18", ZIGZAG.name, "cpu_seconds", 50),
)


def missed(record: dict) -> list[str]:
    """A sentence for each bar that was measured and not met."""
    found = [(bar, bar.ratio(record)) for bar in BARS]
    return [
        f"{TITLES[bar.peer]} takes {ratio:.1f} times our {bar.what} of {bar.workload}; the bar is {bar.least:g}."
        for bar, ratio in found
        if ratio is not None and ratio < bar.least
    ]


def tables(record: dict) -> str:
    """Everything between the page's markers."""
    return "\n".join([*_taken(record), "", *_bars(record), "", *_why(record), ""])


def _runs(record: dict) -> list[tuple[str, str, dict]]:
    order = [(workload.name, tool) for workload in WORKLOADS for tool in (OURS, *workload.peers)]
    found = record["runs"]
    return [(name, tool, found[name][tool]) for name, tool in order if tool in found.get(name, {})]


def _taken(record: dict) -> list[str]:
    lines = [f"| `{CONFIG}`, batch 1 | tool | CPU seconds | peak MB | cycles | load |", "|---|---|---|---|---|---|"]
    for name, tool, run in _runs(record):
        lines.append(
            f"| {name} | {TITLES[tool]} | {run['cpu_seconds']:,.1f} | {run['peak_mb']:,.0f} | {run['cycles']:,} | "
            f"{run['load']:.0f} |"
        )
    return lines


def _bars(record: dict) -> list[str]:
    lines = ["| bar | wanted | measured | |", "|---|---|---|---|"]
    words = {"cpu_seconds": "CPU", "peak_mb": "memory"}
    for bar in BARS:
        ratio = bar.ratio(record)
        shown, verdict = ("-", "not measured") if ratio is None else (
            f"{ratio:.0f} x", "met" if ratio >= bar.least else "**missed**",
        )  # fmt: skip
        what = f"{bar.workload}: less {words[bar.what]} than {TITLES[bar.peer]}"
        lines.append(f"| {what} | {bar.least:g} x | {shown} | {verdict} |")
    return lines


def _why(record: dict) -> list[str]:
    lines = ["| | tool | cycles against ours | where its cycles are |", "|---|---|---|---|"]
    for name, tool, run in _runs(record):
        ours = record["runs"][name].get(OURS)
        ratio = f"{run['cycles'] / ours['cycles']:.2f} x" if ours else "-"
        lines.append(f"| {name} | {TITLES[tool]} | {ratio} | {_spent(tool, run)} |")
    return lines


def _spent(tool: str, run: dict) -> str:
    cycles = run["cycles"]
    if tool == SCALE_SIM.name:
        streaming = run["streaming"] / cycles
        return f"{streaming:.0%} rows streaming, {1 - streaming:.0%} weights going in and skew, tile by tile"
    if tool == ZIGZAG.name:
        mapped = run["mapped"] / cycles
        return f"{mapped:.0%} its mapping without stalls, {1 - mapped:.0%} stalls, first loads and last stores"
    parts = sorted(((share, name) for name, share in run["shares"].items() if share >= 0.01), reverse=True)
    text = ", ".join(f"{share:.0%} {name.replace('_', ' ')}" for share, name in parts)
    other = 1 - run["matrix_cycles"] / cycles
    return f"{text}; {other:.0%} in layers that the others leave out" if other else text


def with_tables(text: str, record: dict) -> str:
    """The page with the tables between its markers.

    Raises
    ------
    ValueError
        If the page lacks the markers.
    """
    before, found, rest = text.partition(START)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{PAGE.name} lacks the markers of the tables: {START} ... {END}")
    return f"{before}{START}\n{tables(record)}{END}{after}"
