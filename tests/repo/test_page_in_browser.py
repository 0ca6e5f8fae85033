# SPDX-License-Identifier: Apache-2.0
"""The report's page in a real browser: its script runs without an error and its pictures are not empty."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from beatmatch.compiler import compile_gemm
from beatmatch.config import preset
from beatmatch.report import Section, Timeline, page, record

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WITHOUT = "NO CHROMIUM: the report's page was not looked at (Debian: apt-get install chromium)"

PROBE = """
<script>
  const counts = (canvas) => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = {};
    for (let i = 0; i < data.length; i += 4) {
      const key = "#" + [0, 1, 2].map(j => data[i + j].toString(16).padStart(2, "0")).join("");
      seen[key] = (seen[key] || 0) + 1;
    }
    return seen;
  };
  addEventListener("error", event => { document.body.dataset.error = event.message; });
  setTimeout(() => {
    for (const [name, {view, section, grid}] of views.entries()) {
      select(name);
      const time = counts(view.canvas), array = counts(grid);
      for (const engine of ENGINES) document.body.dataset[engine + name] = time[palette[engine]] || 0;
      document.body.dataset["array" + name] = Object.keys(array).length;
      const canvas = section.querySelector("canvas.time"), place = canvas.getBoundingClientRect();
      const band = view.bands.find(band => band.kind === "matmul"), [first] = RUNS[name].engines.matmul.intervals;
      const x = place.left + view.x((first[0] + first[1]) / 2), y = place.top + band.y + 4;
      canvas.dispatchEvent(new MouseEvent("mousemove", {clientX: x, clientY: y, bubbles: true}));
      document.body.dataset["tip" + name] = tip.textContent;
      view.zoom(0.25, first[0]);
      document.body.dataset["zoomed" + name] = (view.to - view.from) / RUNS[name].cycles;
    }
    document.getElementById("theme").click();
    document.body.dataset.done = 1;
  }, 100);
</script>
</body>
"""


@pytest.fixture(scope="module")
def sections():
    found = []
    for m, k, n in ((24, 40, 16), (9, 8, 30)):
        a, b = np.ones((m, k), np.int8), np.ones((k, n), np.int8)
        program = compile_gemm(a, b, preset("small"), out="int8")
        result, recording = record(program)
        found.append(Section(f"gemm {m} {k} {n}", Timeline(recording, program), result.accounting))
    return found


@pytest.mark.skipif(BROWSER is None, reason=WITHOUT)
@pytest.mark.parametrize("theme", ["", "#dark"])
def test_the_page_draws_itself(sections, tmp_path, theme):
    path = tmp_path / "page.html"
    path.write_text(page("In a browser", sections).replace("</body>", PROBE))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1200"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=3000", "--enable-logging=stderr"]
    run = subprocess.run(
        [*command, "--dump-dom", path.as_uri() + theme], capture_output=True, text=True, timeout=120, check=True
    )
    body = re.search(r"<body([^>]*)>", run.stdout)[1]
    seen = dict(re.findall(r'data-([\w-]+)="([^"]*)"', body))
    assert "CONSOLE" not in run.stderr, run.stderr
    assert seen.get("done") == "1" and "error" not in seen, body
    for number in range(len(sections)):
        for engine in ("load", "weights", "matmul", "vector", "store"):
            assert int(seen[f"{engine}{number}"]) > 0, f"nothing is drawn for {engine}"
        assert int(seen[f"array{number}"]) >= 2
        assert "matmul instruction" in seen[f"tip{number}"] and "MATMUL" in seen[f"tip{number}"]
        assert float(seen[f"zoomed{number}"]) == pytest.approx(0.25, abs=0.01)


def test_sections_say_what_the_machine_counted(sections):
    for section in sections:
        timeline, accounting = section.timeline, section.accounting
        totals = {name: int(values.sum()) for name, values in timeline.windows().categories.items()}
        assert timeline.cycles == accounting.cycles
        assert timeline.useful_macs == accounting.useful_macs == timeline.array_use().sum()
        for name in ("active", "weight_shift", "weight_stall", "raw_stall", "input_stall"):
            assert totals[name] == getattr(accounting, name), name
