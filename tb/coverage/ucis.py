# SPDX-License-Identifier: Apache-2.0
"""Export in the XML interchange format of the Unified Coverage Interoperability Standard (UCIS 1.0).

One instance, the core, with a covergroup per coverage group and one coverpoint in each; bins that are excluded have
the type ``ignore``. Counts are numbers of different seeds. Lines of the RTL follow as statements per file.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from tb.coverage.code import CodeReport
from tb.coverage.functional import ENOUGH, FunctionalReport

NAMESPACE = "http://www.w3.org/2001/XMLSchema-instance"
WRITER = "beatmatch"
STARTED = "2026-01-01T00:00:00"
"""The format wants a date; a fixed one, so that equal coverage is an equal file."""


def _identity(parent: Element, file: int, line: int = 1, inline: int = 1) -> None:
    SubElement(parent, "id", file=str(file), line=str(line), inlineCount=str(inline))


def _contents(parent: Element, count: int) -> None:
    SubElement(parent, "contents", coverageCount=str(count))


def document(functional: FunctionalReport, code: CodeReport | None) -> Element:
    """The whole document as an element tree."""
    root = Element("UCIS", writtenBy=WRITER, writtenTime=STARTED, ucisVersion="1.0")
    names = ["tb/coverage/groups.py", *(f"rtl/{item.name}" for item in (code.files if code else []))]
    for number, name in enumerate(names, 1):
        SubElement(root, "sourceFiles", fileName=name, id=str(number))
    SubElement(
        root, "historyNodes", historyNodeId="0", logicalName="suite", physicalName="tb/coverage/suite.json",
            kind="TEST",
        testStatus="true", date=STARTED, toolCategory="UCIS:simulator", ucisVersion="1.0", vendorId=WRITER,
            vendorTool=WRITER,
        vendorToolVersion="1",
    )  # fmt: skip
    for number, item in enumerate(code.files if code else [], 2):
        instance = SubElement(
            root, "instanceCoverages", name=Path(item.name).stem, key=str(number), moduleName=Path(item.name).stem
        )
        _identity(instance, number)
        if not item.counts:  # wiring only; the format wants a statement in a block
            continue
        block = SubElement(instance, "blockCoverage")
        for line, count in sorted(item.counts.items()):
            statement = SubElement(block, "statement", alias=f"line {line}")
            _identity(statement, number, line)
            _contents(SubElement(statement, "bin"), count)
    core = SubElement(root, "instanceCoverages", name="bm_core", key="1", moduleName="bm_core")
    _identity(core, 1)
    groups = SubElement(core, "covergroupCoverage", weight="1")
    ignored = {(row.group, row.bin) for row in functional.exclusions}
    for item in functional.groups:
        group = SubElement(groups, "cgInstance", name=item.name, key="0", excluded="false")
        SubElement(group, "options", comment=item.description, at_least=str(ENOUGH))
        place = SubElement(group, "cgId", cgName=item.name, moduleName="bm_core")
        SubElement(place, "cginstSourceId", file="1", line="1", inlineCount="1")
        SubElement(place, "cgSourceId", file="1", line="1", inlineCount="1")
        point = SubElement(group, "coverpoint", name=item.name, key="0", exprString=item.kind)
        SubElement(point, "options")
        bins = [(label, seeds, "default") for label, seeds in item.seeds.items()]
        bins += [(label, 0, "ignore") for name, label in sorted(ignored) if name == item.name]
        for label, seeds, kind in bins:
            entry = SubElement(point, "coverpointBin", name=label, key="0", type=kind)
            values = SubElement(entry, "range", {"from": "0", "to": "0"})
            _contents(values, seeds)
    return root


def write(path: Path, functional: FunctionalReport, code: CodeReport | None) -> None:
    """Write the XML file."""
    tree = ElementTree.ElementTree(document(functional, code))
    ElementTree.indent(tree)
    path.parent.mkdir(parents=True, exist_ok=True)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def read(path: Path) -> dict[str, dict[str, tuple[str, int]]]:
    """Bins as a UCIS file holds them: type and count by covergroup and bin."""
    found: dict[str, dict[str, tuple[str, int]]] = {}
    for group in ElementTree.parse(path).getroot().iter("cgInstance"):
        bins = {item.get("name"): (item.get("type"), int(item.find("range/contents").get("coverageCount")))
                for item in group.iter("coverpointBin")}  # fmt: skip
        found[group.get("name")] = bins
    return found
