# SPDX-License-Identifier: Apache-2.0
"""Exclusions, figures, the page and the UCIS file."""

from xml.etree import ElementTree

import pytest

from tb.coverage import functional, html, ucis
from tb.coverage.code import CodeReport, FileReport
from tb.coverage.collector import Coverage
from tb.coverage.exclusions import Exclusion, ExclusionError, exclusions
from tb.coverage.groups import GROUPS

ROW = '[[exclusion]]\ngroup = "%s"\nbins = ["%s"]\ncategory = "%s"\nreason = "%s"\n'
REASON = "the machine cannot do that at all"


def report(*excluded: Exclusion) -> functional.FunctionalReport:
    """One group with a bin from three seeds, one from one, the others never hit."""
    coverage = Coverage({"status": GROUPS["status"]})
    for seed in (1, 2, 3):
        coverage.add({"status": ["idle"]}, seed, 10)
    coverage.add({"status": ["busy"]}, 1, 10)
    return functional.evaluate(coverage, list(excluded))


def test_figures_count_seeds_and_leave_exclusions_out():
    found = report(Exclusion("status", "done", "contract", REASON))
    group = found.groups[0]
    assert (group.bins, group.hit, group.hit3) == (len(GROUPS["status"].bins) - 1, 2, 1)
    assert found.thin == [("status", "busy")]
    assert ("status", "done") not in found.holes and len(found.holes) == group.bins - 2
    assert found.percent() == pytest.approx(100 / group.bins) and found.percent("hit") == pytest.approx(
        200 / group.bins
    )


def test_an_excluded_bin_must_not_be_hit():
    with pytest.raises(ExclusionError, match="3 seeds hit it"):
        report(Exclusion("status", "idle", "unreachable", REASON))


def test_exclusions_of_the_repository_resolve():
    found = exclusions(GROUPS)
    assert found and len({(item.group, item.bin) for item in found}) == len(found)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("nothing", "a", "contract", REASON), "no coverage group"),
        (("status", "nonsense", "contract", REASON), "no bin"),
        (("status", "idle", "too hard", REASON), "needs a reason"),
        (("status", "idle", "contract", "no"), "needs a reason"),
    ],
)
def test_wrong_exclusions_are_refused(tmp_path, row, words):
    path = tmp_path / "exclusions.toml"
    path.write_text(ROW % row)
    with pytest.raises(ExclusionError, match=words):
        exclusions(GROUPS, path)


def test_exclusions_take_patterns(tmp_path):
    path = tmp_path / "exclusions.toml"
    path.write_text(ROW % ("status", "done*", "contract", REASON))
    assert {item.bin for item in exclusions(GROUPS, path)} == {"done", "done with error", "done with overflow"}


def test_the_ucis_file_holds_every_bin(tmp_path):
    found = report(Exclusion("status", "done", "contract", REASON))
    path = tmp_path / "coverage.xml"
    ucis.write(path, found, None)
    bins = ucis.read(path)["status"]
    assert bins["idle"] == ("default", 3) and bins["busy"] == ("default", 1) and bins["done"] == ("ignore", 0)
    assert set(bins) == set(GROUPS["status"].bins)


def test_the_ucis_file_has_statements_only_where_there_are_lines(tmp_path):
    path = tmp_path / "coverage.xml"
    ucis.write(path, report(), CodeReport([FileReport("a.sv"), FileReport("b.sv", counts={3: 7})], [], 0))
    blocks = list(ElementTree.parse(path).getroot().iter("blockCoverage"))
    assert [len(block) for block in blocks] == [1]
    assert blocks[0].find("statement/bin/contents").get("coverageCount") == "7"


def test_the_page_shows_holes_and_source(tmp_path):
    (tmp_path / "a.sv").write_text("module a;\n  if (x < y) z = 1;\nendmodule\n")
    item = FileReport("a.sv", counts={2: 0}, missed={2: ["if"]})
    item.branch.add(False)
    text = html.page(report(), CodeReport([item], [], 5), tmp_path, "by hand")
    assert "overflow cleared by a start" in text and "never: if" in text and "x &lt; y" in text
    assert "branch 0.0 %" in text and "5 toggle points" in text
