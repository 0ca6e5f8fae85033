# SPDX-License-Identifier: Apache-2.0
"""Run the studies of docs/explore.md by the commands that it shows, and write their figures and pictures into it.

python tools/explore_studies.py            run all three (about a minute of processor time, once the cache is cold)
python tools/explore_studies.py --jobs 1   with one process
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from beatmatch.cli import main as beatmatch  # noqa: E402
from beatmatch.explore import area  # noqa: E402

PAGE, IMAGES = ROOT / "docs/explore.md", ROOT / "docs/images"

SHAPES = (
    "run --network resnet50 --base mxu128 --out shapes.parquet\n"
    "    --sweep array=64x64,64x128,128x64,128x128,64x256,256x64,128x256,256x128,256x256 sp_kib=1x"
)
FRONT = "pareto shapes.parquet --svg front.svg"
DUEL = (
    "compare --network bert_base --base mxu128,sp_banks=4 --memory bandwidth=64\n"
    "    --a sp_banks=2x --b bandwidth=2x --svg duel.svg"
)
SIZES = "run --network mobilenet_v2 --base mxu128 --sweep array=16x16,32x32,64x64,128x128,256x256"
TORNADO = "sensitivity --network mobilenet_v2 --base mxu128 --svg tornado.svg"
ROOFLINE = "roofline --network mobilenet_v2 --base mxu128 --svg roofline.svg"
PICTURES = ("front.svg", "duel.svg", "tornado.svg", "roofline.svg")


def shown(*commands: str) -> str:
    """Commands as the page has them, continued lines with a backslash."""
    return "```\n" + "\n".join(f"beatmatch explore {c}".replace("\n", " \\\n") for c in commands) + "\n```\n"


def answer(command: str, jobs: list[str]) -> dict:
    """Run a command in the current folder; its JSON."""
    timed = [] if command.startswith("pareto") else jobs
    if beatmatch(["explore", *shlex.split(command), *timed, "--json", "answer.json"]):
        raise SystemExit(f"beatmatch explore {command} failed.")
    return json.loads(Path("answer.json").read_text())


def table(head: list[str], rows: list[list[object]]) -> str:
    """A table in Markdown; the first column is text."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def picture(name: str, text: str) -> str:
    """A picture of the page."""
    return f"![{text}](images/explore_{name})\n"


def shapes(jobs: list[str]) -> str:
    """ResNet-50: which shape of the array."""
    answer(SHAPES, jobs)
    points = answer(FRONT, jobs)["points"]
    base = next(point for point in points if (point["rows"], point["cols"]) == (128, 128))
    rows = [
        [
            f"{p['rows']}x{p['cols']}", f"{p['cycles']:,}", f"{p['utilization']:.1%}",
            f"{p['read_bytes'] / 1e6:.1f} MB", f"{p['area_proxy'] / base['area_proxy']:.2f}",
            "yes" if p["front"] else "",
        ]
        for p in sorted(points, key=lambda p: -p["cycles"])
    ]  # fmt: skip
    head = ["array, rows x columns", "cycles", "of the peak", "read", "area proxy, 128x128 = 1", "front"]
    return shown(SHAPES, FRONT) + "\n" + table(head, rows) + "\n" + picture("front.svg", "Cycles against area proxy")


def duel(jobs: list[str]) -> str:
    """BERT: banks or bandwidth."""
    (found,) = answer(DUEL, jobs)["answers"]
    rows = [
        [
            side, f"{p['cycles']:,}", f"{p['utilization']:.1%}", f"{p['weight_stall'] / p['cycles']:.1%}",
            f"{p['input_stall'] / p['cycles']:.1%}", f"{p['estimated_cycles'] / p['cycles']:.1%}", p["fidelity"],
        ]
        for side, p in found["sides"].items()
    ]  # fmt: skip
    head = ["machine", "cycles", "of the peak", "weight stall", "input stall", "estimate", "fidelity"]
    drawn = picture("duel.svg", "Where the cycles of BERT go on the base, with A, with B, and with both")
    return shown(DUEL) + f"\n> {found['answer']}\n\n" + table(head, rows) + "\n" + drawn


def sizes(jobs: list[str]) -> str:
    """MobileNetV2: why a larger array does not help."""
    points = answer(SIZES, jobs)["points"]
    rows = [
        [
            f"{p['rows']}x{p['cols']}", f"{p['cycles']:,}", f"{points[0]['cycles'] / p['cycles']:.2f}",
            f"{p['rows'] * p['cols'] // 256}", f"{p['utilization']:.1%}", f"{p['read_bytes'] / 1e6:.1f} MB",
        ]
        for p in points
    ]  # fmt: skip
    head = ["array", "cycles", "times as fast as 16x16", "times its PEs", "of the peak", "read"]
    swings: dict[str, dict[str, float]] = {}
    for row in answer(TORNADO, jobs)["parameters"]:
        swings.setdefault(row["parameter"], {})[row["factor"]] = row["cycles_ratio"]
    bars = [
        [name, *("-" if ratio is None else f"{ratio:.3f}" for ratio in found.values())]
        for name, found in list(swings.items())[:6]
    ]
    factors = list(next(iter(swings.values())))
    layers = sorted(answer(ROOFLINE, jobs)["layers"], key=lambda layer: -layer["cycles"])
    spots = [
        [
            f"{layer['op']} to {layer['shape']}", f"{layer['cycles']:,}", f"{layer['intensity']:.2f}",
            f"{layer['reached']:,.0f}", f"{layer['roof']:,.0f}", layer["bound"],
        ]
        for layer in layers[:5]
    ]  # fmt: skip
    spot_head = ["layer, alone", "cycles", "MACs per byte", "MACs per cycle", "its roof", "lower roof"]
    return (
        f"{shown(SIZES)}\n{table(head, rows)}\n{shown(TORNADO, ROOFLINE)}\n"
        f"The six parameters that matter most, as cycles over the base's:\n\n{table(['parameter', *factors], bars)}\n"
        f"{picture('tornado.svg', 'Cycles of MobileNetV2 with each parameter alone')}\n"
        f"The five longest layers:\n\n{table(spot_head, spots)}\n"
        f"{picture('roofline.svg', 'Layers of MobileNetV2 below their roofs')}"
    )


def errors() -> str:
    """How far the area proxy is off."""
    found = area.data()["error"]
    rows = [
        [name, error["configurations"], error["largest"], *(f"{error[count]:.2%}" for count in area.COUNTS)]
        for name, error in found.items()
    ]
    return table(["configurations", "number", "up to", "gates", "flip-flops", "memory bits"], rows)


def filled(text: str, parts: dict[str, str]) -> str:
    """The page with each part between its markers."""
    for name, part in parts.items():
        start, end = f"<!-- {name} -->\n", f"<!-- {name}: end -->"
        before, found, rest = text.partition(start)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise SystemExit(f"{PAGE.name} lacks the markers {start.strip()} and {end}.")
        text = before + start + part + end + after
    return text


def main() -> int:
    """Run the studies and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", help="processes (one per processor)")
    options = parser.parse_args()
    jobs = ["--jobs", options.jobs] if options.jobs else []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        parts = {"area": errors(), "shapes": shapes(jobs), "duel": duel(jobs), "sizes": sizes(jobs)}
        for name in PICTURES:
            (IMAGES / f"explore_{name}").write_text(Path(name).read_text())
        os.chdir(ROOT)
    PAGE.write_text(filled(PAGE.read_text(), parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
