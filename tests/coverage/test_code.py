# SPDX-License-Identifier: Apache-2.0
"""Code coverage: reading and merging Verilator's data, ports, constants, waivers."""

from pathlib import Path

import pytest

from beatmatch.config import Config
from tb import toolchain
from tb.coverage import toggle_header
from tb.coverage.code import MOST_WAIVERS, Waiver, WaiverError, evaluate, waivers
from tb.coverage.constants import constant_bits, constant_everywhere
from tb.coverage.points import CoverageFileError, Hit, Point, merge, read
from tb.coverage.ports import ports
from tests.coverage.recorder import CONFIG

MODULE = """// one module
module unit #(
    parameter int W = 2  // output logic hidden_o
) (
    input  logic         clk_i,
    input  logic [W-1:0] data_i, mask_i,
    output logic [W-1:0] data_o
);
  logic [W-1:0] inner;
  always_comb begin
    data_o = data_i;
    if (mask_i == '1) data_o = '0;
  end
endmodule
"""


def line(root: Path, page: str, number: int, what: str, count: int, instance: str = "top.u", lines: str = "") -> str:
    """A line of a coverage file."""
    keys = {"f": f"{root}/unit.sv", "l": number, "n": 3, "page": f"{page}/unit", "o": what, "S": lines, "h": instance}
    return "C '" + "".join(f"\x01{key}\x02{value}" for key, value in keys.items()) + f"' {count}\n"


@pytest.fixture
def root(tmp_path) -> Path:
    """A folder with one module."""
    (tmp_path / "unit.sv").write_text(MODULE)
    return tmp_path


def data(root: Path, *lines: str) -> Path:
    """A coverage file."""
    path = root / "coverage.dat"
    path.write_text("# SystemC::Coverage-3\n" + "".join(lines))
    return path


def full(root: Path, taken: int = 1, up: int = 1) -> Path:
    """All points of the module that matter here."""
    toggles = [line(root, "v_toggle", 7, f"data_o[{bit}]:{way}", up if way == "0->1" else 1)
               for bit in (0, 1) for way in ("0->1", "1->0")]  # fmt: skip
    arms = [line(root, "v_branch", 12, "if", taken, lines="12"), line(root, "v_branch", 12, "else", 3)]
    return data(root, line(root, "v_line", 10, "block", 4, lines="10-11"), *arms, *toggles)


def test_instances_and_configurations_are_merged(root):
    first = data(root, line(root, "v_branch", 12, "if", 0, "top.a"), line(root, "v_branch", 12, "if", 2, "top.b"))
    one = read(first, root)
    assert [hit.count for hit in one.values()] == [2]
    two = read(data(root, line(root, "v_branch", 12, "if", 5), line(root, "v_branch", 12, "else", 0)), root)
    both = merge(part.items() for part in (one, two))
    assert {point.what: hit.count for point, hit in both.items()} == {"if": 7, "else": 0}
    assert one[Point("branch", "unit.sv", 12, 3, "if")].count == 2  # the parts are left alone


def test_only_ports_of_files_below_the_root_count(root):
    found = read(
        data(
            root,
            line(root, "v_toggle", 7, "data_o[1]:0->1", 1),
            line(root, "v_toggle", 9, "inner[1]:0->1", 1),
            line(root, "v_toggle", 9, "gen_a.data_o[1]:0->1", 1),
            line(Path("/elsewhere"), "v_line", 1, "block", 1),
            line(root, "v_user", 1, "cover", 1),
        ),
        root,
    )
    assert [point.what for point in found] == ["data_o[1]:0->1"]
    assert next(iter(found)).signal() == ("data_o", 1)


def test_what_is_no_coverage_file_is_refused(root):
    with pytest.raises(CoverageFileError, match="missing"):
        read(root / "none.dat", root)
    (root / "other.dat").write_text("hello\n")
    with pytest.raises(CoverageFileError, match="does not begin"):
        read(root / "other.dat", root)
    with pytest.raises(CoverageFileError, match="no point"):
        read(data(root), root)
    with pytest.raises(CoverageFileError, match="no bit"):
        Point("toggle", "unit.sv", 1, 0, "nonsense").signal()


def test_ports_are_found():
    assert ports(toolchain.ROOT / "rtl/lib/bm_round.sv") == {"value_i", "shift_i", "rounded_o"}
    assert ports(toolchain.ROOT / "rtl/bm_pkg.sv") == frozenset()
    for path in toolchain.rtl_sources():
        if not path.stem.endswith("_pkg"):
            assert len(ports(path)) >= 2, path


def test_ports_of_a_module_with_lists_and_comments(root):
    assert ports(root / "unit.sv") == {"clk_i", "data_i", "mask_i", "data_o"}


def test_percentages(root):
    report = evaluate(read(full(root), root), [CONFIG], root, [])
    assert [report.total(kind).percent for kind in ("line", "branch", "toggle")] == [100.0, 100.0, 100.0]
    report = evaluate(read(full(root, taken=0, up=0), root), [CONFIG], root, [])
    assert [report.total(kind).hit for kind in ("line", "branch", "toggle")] == [3, 1, 2]
    assert [report.total(kind).total for kind in ("line", "branch", "toggle")] == [3, 2, 4]
    assert report.files[0].missed == {12: ["if"], 7: ["data_o[0]:0->1", "data_o[1]:0->1"]}


def test_a_line_counts_if_one_of_its_points_was_hit(root):
    report = evaluate(read(data(root, line(root, "v_branch", 12, "if", 0, lines="12")), root), [CONFIG], root, [])
    assert (report.total("line").hit, report.total("line").total) == (0, 1)


def test_waivers_leave_out_what_they_name_and_must_be_needed(root):
    points = read(full(root, taken=0, up=0), root)
    high = Waiver("toggle", "unit.sv", "data_o", "bit 1 needs a wider world than this", first=1)
    arm = Waiver("branch", r".*\.sv", "mask_i", "nobody sets the whole mask here")
    report = evaluate(points, [CONFIG], root, [high, arm])
    assert [count for _, count in report.waived] == [1, 1]
    assert report.total("branch").percent == 100.0 and report.total("toggle").total == 3
    with pytest.raises(WaiverError, match="leaves out nothing"):
        evaluate(read(full(root), root), [CONFIG], root, [high])


def test_waivers_are_few_and_have_reasons(tmp_path):
    assert len(waivers()) <= MOST_WAIVERS
    path = tmp_path / "waivers.toml"
    row = '[[waiver]]\nkind = "line"\nfile = "a"\nwhat = "b"\nreason = "%s"\n'
    path.write_text(row % "no")
    with pytest.raises(WaiverError, match="needs a reason"):
        waivers(path)
    path.write_text(row % "a reason that is long enough" * 11)
    with pytest.raises(WaiverError, match="at most 10"):
        waivers(path)


def test_a_bit_that_is_constant_by_contract_must_not_toggle():
    root = toolchain.ROOT / "rtl"
    bit = min(constant_everywhere([CONFIG])["load/bm_load.sv", "trace_o"])
    point = Point("toggle", "load/bm_load.sv", 1, 0, f"trace_o[{bit}]:0->1")
    assert evaluate({point: Hit(0, (1,))}, [CONFIG], root, []).constant == 1
    with pytest.raises(WaiverError, match="constant by contract"):
        evaluate({point: Hit(1, (1,))}, [CONFIG], root, [])


def test_a_bit_that_holds_its_value_may_rise_at_power_up_but_never_falls():
    root = toolchain.ROOT / "rtl"
    rise, fall = (
        Point("toggle", "host/bm_weight_port.sv", 1, 0, f"m_axi_weights_arid_o[1]:{way}") for way in ("0->1", "1->0")
    )
    assert evaluate({rise: Hit(3, (1,)), fall: Hit(0, (1,))}, [CONFIG], root, []).constant == 2
    with pytest.raises(WaiverError, match="constant by contract"):
        evaluate({rise: Hit(3, (1,)), fall: Hit(2, (1,))}, [CONFIG], root, [])


def test_loops_over_words_end_at_the_word():
    """What the run-time library counts for wide signals is right only then (`tb.coverage.toggle_header`)."""
    text = f"a\n{toggle_header.WRONG}\nb\n{toggle_header.WRONG}\n"
    assert toggle_header.corrected(text) == f"a\n{toggle_header.RIGHT}\nb\n{toggle_header.RIGHT}\n"


def test_constants_follow_the_declarations():
    narrow, wide = CONFIG, Config(16, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4)
    bits, width = constant_bits(narrow)["load/bm_load.sv", "instr_i"]
    assert width == 256 and {1, 5, 6, 47, 212, 255} <= bits and not {7, 46, 48, 211} & bits
    assert 0 not in bits  # the operation code of load is 1, and 0 while the queue is empty
    matmul = constant_bits(narrow)["matmul/bm_matmul.sv", "instr_i"][0]
    assert 242 in matmul and 242 not in constant_everywhere([narrow, wide])["matmul/bm_matmul.sv", "instr_i"]  # k_lanes
    assert constant_everywhere([narrow, wide])["bm_core.sv", "trace_o"]
