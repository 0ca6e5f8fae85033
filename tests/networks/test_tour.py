# SPDX-License-Identifier: Apache-2.0
"""The tutorial's script runs, and what docs/tutorial_networks.md concludes from it is so."""

import json
import re
import runpy
import sys

from tb.toolchain import ROOT


def test_the_tour_shows_what_the_tutorial_says(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["network_tour.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "docs/examples/network_tour.py"), run_name="__main__")
    said = capsys.readouterr().out
    share = int(re.search(r"groups takes (\d+)% of the cycles", said)[1])
    assert share > 50
    assert 1 < float(re.search(r"Half of the array takes ([\d.]+) times", said)[1]) < 1.5
    separate, fused = (
        [
            int(number.replace(",", ""))
            for number in re.search(rf"{name}: (\S+) multiply\S+ (\S+) cycles", said).groups()
        ]
        for name in ("separate", "fused")
    )
    assert fused[0] > 4 * separate[0] and fused[1] < separate[1] / 2
    assert re.search(r"[1-9]\d* programs stand for", said)
    assert "A against B" in (tmp_path / "mobilenet_v2.html").read_text()
    assert json.loads((tmp_path / "mobilenet_v2.perfetto.json").read_text())["traceEvents"]
    assert (tmp_path / "mobilenet_v2.csv").read_text().startswith("name,op,where")
