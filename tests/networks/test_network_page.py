# SPDX-License-Identifier: Apache-2.0
"""The page of a network in a real browser: its figures are the result's, its bars are whole, its tables sort."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from beatmatch.networks.report import page, write_page
from beatmatch.networks.result import SHARES
from tests.networks.results import layer, network, random_network

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WITHOUT = "NO CHROMIUM: the page of a network was not looked at (Debian: apt-get install chromium)"
NASTY = "a\"b'c<img src=x onerror=alert(1)></script>&amp;{{title}}"

PROBE = """
<script>
  addEventListener("error", event => { document.body.dataset.error = event.message; });
  const every = selector => document.querySelectorAll(selector);
  const sum = values => values.reduce((total, value) => total + parseFloat(value), 0);
  const whole = bar => sum([...bar.children].map(part => part.style.width));
  const cells = place => rows.map(row => row.cells[place].dataset.v);
  const column = name => [...layers.tHead.rows[0].cells].findIndex(cell => cell.textContent === name);
  const now = name => [...layers.tBodies[0].rows].map(row => row.cells[column(name)].dataset.v);
  const press = name => layers.tHead.rows[0].cells[column(name)].querySelector("button").click();
  const seen = {
    data: JSON.parse(byId("data").textContent),
    bars: [...every("#total, #layers .bar")].map(whole),
    shares: Object.fromEntries([...every("[data-share]")].map(b => [b.dataset.share, Number(b.dataset.v)])),
    headline: [...every("#headline b")].map(b => b.textContent),
    names: cells(column("layer")), cycles: cells(column("cycles")).map(Number), macs: cells(column("MACs")).map(Number),
    read: cells(column("read")).map(Number), used: cells(column("used")).map(Number),
    traffic: [2, 3, 4].map(place => sum([...byId("traffic").tBodies[0].rows].map(row => row.cells[place].dataset.v))),
    shown: rows.filter(row => row.getBoundingClientRect().height > 0).length,
    circles: every("circle.dot").length, images: document.images.length,
    wide: document.documentElement.scrollWidth - innerWidth, theme: root.dataset.theme,
    background: getComputedStyle(document.body).backgroundColor, colour: getComputedStyle(document.body).color,
    hatched: [...every("#layers i.estimate")].filter(i => /gradient/.test(getComputedStyle(i).backgroundImage)).length,
    times: sum([...every("#time .layers > div")].map(part => part.style.width)),
    compared: [...every("#comparison tbody tr")].map(row => Number(row.cells[4].dataset.v)),
  };
  press("cycles"); seen.down = now("cycles").map(Number);
  press("cycles"); seen.up = now("cycles").map(Number);
  press("layer"); seen.sorted = now("layer");
  byId("free").click(); seen.all = rows.filter(row => row.getBoundingClientRect().height > 0).length;
  byId("filter").value = "ESTIMATE"; byId("filter").dispatchEvent(new Event("input"));
  seen.estimates = rows.filter(row => row.getBoundingClientRect().height > 0).length;
  const wider = document.querySelector("[data-zoom='2']");
  if (wider) {
    wider.click(); wider.click();
    seen.zoomed = byId("time").offsetWidth / byId("time").parentNode.clientWidth;
  }
  const part = document.querySelector("#time .layers > div");
  if (part) part.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: 5, clientY: 5}));
  seen.tip = tip.textContent;
  byId("theme").click(); seen.other = root.dataset.theme;
  const out = document.createElement("pre");
  out.id = "seen"; out.textContent = JSON.stringify(seen); document.body.append(out);
</script>
</body>
"""


def look(tmp_path, result, other=None, size="1400,1200", fragment=""):
    """What the probe saw on the page."""
    path = tmp_path / "page.html"
    write_page(path, result, other)
    path.write_text(path.read_text().replace("</body>", PROBE))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=3000", "--enable-logging=stderr"]
    command += ["--dump-dom", path.as_uri() + fragment]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert "CONSOLE" not in run.stderr, run.stderr
    assert "data-error" not in re.search(r"<body[^>]*>", run.stdout)[0]
    return json.loads(unescape(re.search(r'<pre id="seen">(.*?)</pre>', run.stdout, re.S)[1]))


browser = pytest.mark.skipif(BROWSER is None, reason=WITHOUT)


@browser
@pytest.mark.parametrize(
    ("count", "size", "fragment"), [(1, "1400,1200", ""), (37, "480,900", "#dark"), (900, "1400,1200", "")]
)
def test_the_page_says_what_the_result_says(tmp_path, count, size, fragment):
    result = network(lambda s: layer("one", s, rows=9)) if count == 1 else random_network(count)
    seen = look(tmp_path, result, result if count == 37 else None, size, fragment)
    data = json.loads(json.dumps(result.to_dict()))
    assert seen["data"] == data
    assert seen["shares"] == data["accounting"] and list(seen["shares"]) == list(SHARES)
    assert seen["headline"][0] == f"{data['cycles']:,}" and seen["headline"][2] == f"{data['macs']:,}"
    for name, key in (("names", "name"), ("cycles", "cycles"), ("macs", "macs"), ("read", "read_bytes")):
        assert seen[name] == [row[key] for row in data["layers"]]
    assert seen["used"] == pytest.approx([row["utilization"] for row in data["layers"]])
    assert seen["traffic"] == [data["memory_bytes"][way] for way in ("read", "written", "minimum")]
    # Bars and timeline are whole.
    timed = [row for row in data["layers"] if row["cycles"]]
    assert len(seen["bars"]) == 1 + len(timed) and seen["bars"] == pytest.approx([100] * len(seen["bars"]), abs=0.01)
    assert seen["times"] == pytest.approx(100, abs=0.1)
    estimates = sum(row["fidelity"] == "estimate" for row in data["layers"])
    assert seen["hatched"] == estimates == seen["estimates"]
    # What can be pressed works.
    cycles = [row["cycles"] for row in data["layers"]]
    assert seen["down"] == sorted(cycles, reverse=True) and seen["up"] == sorted(cycles)
    assert seen["sorted"] == sorted(seen["names"], key=lambda name: int(name.split()[-1]) if count > 1 else name)
    assert (seen["shown"], seen["all"]) == (len(timed), count)
    assert seen["zoomed"] == pytest.approx(4, abs=0.01) and timed[0]["name"] in seen["tip"]
    assert seen["circles"] == sum(bool(row["macs"] and row["accounting"]) for row in data["layers"])
    assert seen["wide"] <= 0  # nothing is cut off at the side
    assert seen["compared"] == ([0] * len(timed) if count == 37 else [])
    dark = fragment == "#dark"
    assert (seen["theme"], seen["other"]) == (("dark", "light") if dark else ("light", "dark"))
    assert sum(map(int, re.findall(r"\d+", seen["background"]))) < 200 if dark else seen["background"] > "rgb(240"


@browser
def test_names_are_text_whatever_they_hold(tmp_path):
    seen = look(tmp_path, network(lambda s: layer(NASTY, s, rows=9, note=NASTY), name=NASTY))
    assert seen["names"] == [NASTY] and seen["images"] == 0 and NASTY in seen["tip"]
    assert seen["data"]["network"] == NASTY


@browser
def test_an_empty_network_has_a_page(tmp_path):
    seen = look(tmp_path, network())
    assert seen["headline"][0] == "0" and seen["names"] == []


@browser
def test_an_error_in_a_script_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PROBE", "<script>nothingOfThisName();</script>" + PROBE)
    with pytest.raises(AssertionError, match="nothingOfThisName is not defined"):
        look(tmp_path, network(lambda s: layer("one", s, rows=9)))


def test_the_page_asks_for_nothing_else():
    text = page(random_network(20))
    assert not re.search(r"""(?:src|href)\s*=|url\(|@import|https?:|\bfetch\(|XMLHttp""", text)
