# SPDX-License-Identifier: Apache-2.0
"""The stages of sign-off as a JUnit file, for machines that show test results."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from tb.report.stages import STAGES, Verdict


def document(verdicts: Sequence[Verdict]) -> str:
    """One test suite per stage, one case per criterion; a run that was not made is skipped, not passed."""
    root = ElementTree.Element("testsuites", name="beatmatch sign-off")
    for stage in STAGES:
        own = [verdict for verdict in verdicts if verdict.criterion.stage == stage]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=stage,
            tests=str(len(own)),
            failures=str(sum(verdict.met is False for verdict in own)),
            skipped=str(sum(verdict.met is None for verdict in own)),
        )
        for verdict in own:
            case = ElementTree.SubElement(suite, "testcase", classname=stage, name=verdict.criterion.what)
            sentence = f"{verdict.criterion.bar}: {verdict.reached}"
            if verdict.met is None:
                ElementTree.SubElement(case, "skipped", message=sentence)
            elif not verdict.met:
                ElementTree.SubElement(case, "failure", message=sentence)
            else:
                ElementTree.SubElement(case, "system-out").text = sentence
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
