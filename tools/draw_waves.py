# SPDX-License-Identifier: Apache-2.0
"""Draw the timing diagrams of the documents, which stand there as WaveJSON, to `docs/images/waves/`.

python tools/draw_waves.py            draw all, and delete pictures that nothing asks for any more
python tools/draw_waves.py --check    draw nothing; fail if a picture is missing, stale or left over
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import wavedrom

ROOT = Path(__file__).resolve().parents[1]
WAVES = ROOT / "docs/images/waves"
BLOCK = re.compile(r"!\[[^\]\n]*\]\(([^)\n]+)\)\n\n<details><summary>WaveJSON</summary>\n\n```json\n(.*?)```", re.S)
"""A picture in a page, and what it is drawn from."""
PAPER = '<rect x="0" y="0" width="100%" height="100%" fill="#ffffff" />'
"""Under the black lines, for readers with a dark page."""


def draw(source: str) -> str:
    """A diagram as SVG; ValueError if it is no WaveJSON or its rows differ in length."""
    rows = json.loads(source)["signal"]
    if len({len(row["wave"]) for row in rows}) != 1:
        raise ValueError("the waves differ in length")
    for row in rows:
        if sum(mark == "=" for mark in row["wave"]) != len(row.get("data", [])):
            raise ValueError(f"{row['name']} has not one text for each '='")
    text = wavedrom.render(source).tostring()
    # Of the shapes that every drawing brings along keep those that it uses.
    used = set(re.findall(r'xlink:href="#([^"]+)"', text))
    text = re.sub(r'<g id="([^"]+)">(?:<(?:path|rect)[^>]*/>)*</g>', lambda g: g[0] if g[1] in used else "", text)
    head, shapes, drawing = text.partition("</defs>")
    return f"{head}{shapes}{PAPER}{drawing}\n".replace("><g ", ">\n<g ")


def wanted() -> dict[Path, str]:
    """All pictures that the pages show, and their text."""
    found = {}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text()
        blocks = BLOCK.findall(text)
        if len(blocks) != text.count('{"signal"'):
            raise SystemExit(f"{page.relative_to(ROOT)}: a diagram stands without its picture in front.")
        for target, source in blocks:
            try:
                found[(page.parent / target).resolve()] = draw(source)
            except ValueError as error:
                raise SystemExit(f"{page.relative_to(ROOT)}: {Path(target).name}: {error}.") from None
    return found


def main(arguments: list[str] | None = None) -> int:
    """Draw or check; 1 if the check finds something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a picture is not what is drawn")
    options = parser.parse_args(arguments)
    pictures = wanted()
    there = {path.resolve(): path.read_text() for path in WAVES.glob("*.svg")}
    stale = sorted(path for path in {*pictures, *there} if pictures.get(path) != there.get(path))
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what the page says; run make generate.", file=sys.stderr)
        return 1 if stale else 0
    WAVES.mkdir(parents=True, exist_ok=True)
    for path in stale:
        if path in pictures:
            path.write_text(pictures[path])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
