# SPDX-License-Identifier: Apache-2.0
"""The sign-off report: it reaches a stage only if every bar is met, and hides nothing."""

import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from tb.report.__main__ import main
from tb.report.collect import PART_FILES
from tests.repo.signoff_parts import MET, TESTS, write

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

PROBE = """
<script>
  addEventListener("error", event => { document.body.dataset.error = event.message; });
  const box = document.querySelector('[data-filter="plan-table"]');
  box.value = "point_V2";
  box.dispatchEvent(new Event("input"));
  const rows = [...document.getElementById("plan-table").rows].slice(1);
  document.body.dataset.shown = rows.filter(row => row.getBoundingClientRect().height > 0).length;
  document.body.dataset.bar = document.querySelector(".bar i").getBoundingClientRect().width;
  document.body.dataset.reached = document.getElementById("reached").textContent;
</script>
</body>
"""

BELOW = {
    "regress-verilator": [{"programs": 299}, {"cycles": 299_999}, {"configs": 5}, {"mismatches": 1}],
    "regress-icarus": [{"configs": 29}, {"mismatches": 1}, {"shared_sha256": "ee" * 32}, {"shared_sha256": None}],
    "nightly-verilator": [{"programs": 4_999}, {"cycles": 9_999_999}, {"configs": 59}, {"mismatches": 1}],
    "nightly-icarus": [{"cycles": 499_999}, {"mismatches": 1}],
    "uvm": [{"mismatches": 1}, {"programs": 0}],
    "coverage": [{"functional": 99.9}, {"line": 99.9}, {"branch": 99.9}, {"toggle": 97.9}, {"waivers": 11}],
    "mutants-rtl": [{"total": 4_999}, {"killed": 4_989}],
    "mutants-model": [{"killed": 489}, {"total": 499}],
    "formal": [{"properties": 59}, {"proven": 59}, {"covers": 59}],
    "faults": [{"flips": 4_999}, {"flagged": 3_999}, {"median_latency_cycles": 2}],
    "planted": [{"total": 29, "caught": 29}, {"caught": 29}],
    "reruns": [{"reruns": 199}, {"flaky": 1}],
    "testplan": [{"testpoints": []}],
}
"""Every figure just below its bar."""


def report_of(tmp_path, *arguments, changes=None, tests=TESTS):
    parts = write(tmp_path / "in", changes, tests)
    code = main(["--parts", str(parts), "--output", str(tmp_path / "out"), *arguments])
    return code, json.loads((tmp_path / "out/report.json").read_text())


def test_every_bar_met_is_the_last_stage(tmp_path):
    code, report = report_of(tmp_path, "--require", "V3")
    assert code == 0 and report["stage"] == "V3" and report["missing"] == []
    assert report["regress"]["icarus"]["configs"] == 30 and report["nightly"]["verilator"]["cycles"] == 10_000_000
    assert report["mutants"]["rtl"]["killed"] == 4_990 and report["mutants"]["model"]["total"] == 500
    assert report["tests"]["passed"] == 2 and report["tests"]["slowest"][0]["name"] == "a::slow"
    assert [hole["kind"] for hole in report["holes"]] == ["model mutant"]  # a survivor within the 2 % is still shown


@pytest.mark.parametrize(("part", "change"), [(part, change) for part, changes in BELOW.items() for change in changes])
def test_a_figure_below_its_bar_is_missed(tmp_path, part, change):
    code, report = report_of(tmp_path, "--require", "V3", changes={part: change})
    assert code == 1 and report["stage"] != "V3"
    assert any(row["met"] is False for row in report["stages"])


@pytest.mark.parametrize("part", MET)
def test_a_run_that_was_not_made_is_no_success(tmp_path, part):
    code, report = report_of(tmp_path, "--require", "V3", changes={part: None})
    assert code == 1 and report["stage"] != "V3"
    assert [item["part"] for item in report["missing"]] == [part]
    assert ("not run", part) in {(hole["kind"], hole["where"]) for hole in report["holes"]}


def test_a_failing_test_is_a_failure_and_a_bucket(tmp_path):
    failing = TESTS.replace('time="9.5"/>', 'time="9.5"><failure/></testcase>')
    code, report = report_of(tmp_path, "--require", "V1", tests=failing)
    assert code == 1 and report["tests"]["failures"] == ["a::slow"]
    assert "a::slow" in (tmp_path / "out/report.html").read_text().split('id="failures"')[1].split('id="plan"')[0]


def test_failures_of_one_kind_share_a_bucket(tmp_path):
    failure = {"kind": "value", "station": "store", "slot": "issue", "headline": "wrong", "replay": "make replay RUN=x"}
    failures = [failure | {"seed": seed} for seed in (3, 4)] + [failure | {"kind": "late", "seed": 5}]
    report_of(tmp_path, changes={"nightly-icarus": {"mismatches": 3, "failures": failures}})
    shown = (tmp_path / "out/report.html").read_text().split('id="failures"')[1].split('id="plan"')[0]
    assert re.findall(r'class="missed">(\d+)</b> (\w+)', shown) == [("2", "value"), ("1", "late")]
    assert shown.count("make replay RUN=x") == 3


def test_junit_says_what_the_stages_say(tmp_path):
    _, report = report_of(tmp_path, changes={"faults": {"flagged": 1}, "reruns": None})
    root = ElementTree.parse(tmp_path / "out/junit.xml").getroot()
    words = {
        case.get("name"): next((child.tag for child in case if child.tag != "system-out"), "passed")
        for case in root.iter("testcase")
        if case.get("classname") == "V3"
    }
    met = {True: "passed", False: "failure", None: "skipped"}
    assert words == {row["what"]: met[row["met"]] for row in report["stages"] if row["stage"] == "V3"}
    assert words["fault injection"] == "failure" and words["reruns"] == "skipped"


@pytest.mark.parametrize("text", ["{", "[]", '{"total": 1}'])
def test_an_unusable_part_is_named_with_the_command_that_makes_it(tmp_path, capsys, text):
    parts = write(tmp_path / "in")
    (parts / "planted.json").write_text(text)
    assert main(["--parts", str(parts), "--output", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "planted.json" in message and "make planted" in message


def test_every_part_is_judged_by_some_stage():
    from tb.report.stages import CRITERIA

    judged = {path for criterion in CRITERIA for path in criterion.needs}
    assert {part.path for part in PART_FILES} <= judged


@pytest.mark.skipif(BROWSER is None, reason="NO CHROMIUM: the sign-off page was not looked at")
def test_the_page_works_in_a_browser(tmp_path):
    report_of(tmp_path)
    path = tmp_path / "page.html"
    path.write_text((tmp_path / "out/report.html").read_text().replace("</body>", PROBE))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=3000", "--enable-logging=stderr", "--dump-dom", path.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    body = re.search(r"<body([^>]*)>", run.stdout)[1]
    seen = dict(re.findall(r'data-([\w-]+)="([^"]*)"', body))
    assert "CONSOLE" not in run.stderr, run.stderr
    assert "error" not in seen and seen["shown"] == "1" and seen["reached"] == "V3" and float(seen["bar"]) > 50
