# SPDX-License-Identifier: Apache-2.0
"""The command line: output, exit codes, and one sentence for every mistake."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beatmatch import cli
from beatmatch.commands.common import parse_config
from beatmatch.config import PRESETS, ConfigError
from beatmatch.memory import dram_preset
from beatmatch.program import Program

ROOT = Path(__file__).resolve().parents[2]

TEXT = """
.config tiny
.base 0 0x1000 64
.base 1 0x2000 64
.data 0x1000
.random 1 64
.result out int8 0x2000 4,4
load row_bytes=16 signal=s0
store base=1 row_bytes=16 wait=s0:1
"""


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "copy.bmasm"
    path.write_text(TEXT)
    return str(path)


def call(capsys, *argv):
    code = cli.main([str(a) for a in argv])
    return code, *capsys.readouterr()


def test_configurations(capsys, tmp_path):
    code, out, _ = call(capsys, "config", "list")
    assert code == 0 and all(name in out for name in PRESETS)
    code, out, _ = call(capsys, "config", "show", "small,mem_bits=128", "--json")
    assert code == 0 and json.loads(out)["mem_bits"] == 128
    (tmp_path / "c.json").write_text(json.dumps({"rows": 16}))
    code, out, _ = call(capsys, "config", "check", tmp_path / "c.json")
    assert code == 0 and "legal (16x8" in out
    code, _, err = call(capsys, "config", "check", "rows=5")
    assert code == 1 and err == "beatmatch: rows is 5; it must be a power of two from 4 to 256.\n"
    code, out, _ = call(capsys, "config", "check", "rows=5", "--json")
    assert code == 1 and not json.loads(out)["legal"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("none.json", None, "none.json cannot be read"),
        ("empty.json", "{}", "empty.json sets no size"),
        ("list.json", "[]", "list.json must hold one object"),
        ("text.json", "rows", "text.json is no JSON file"),
        ("sizes.toml", "rows = 16", "sizes.toml is a file, but no JSON"),
        ("huge", None, "There is no preset 'huge'"),
        ("tiny,rows=x", None, "rows must be an integer"),
    ],
)
def test_what_is_no_configuration_is_not_judged(capsys, tmp_path, monkeypatch, name, text, sentence):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text)
    for action in ("check", "show"):
        code, out, err = call(capsys, "config", action, name, "--json")
        assert code == 2 and out == "" and sentence in err


def test_a_file_beside_it_does_not_hide_a_preset(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").write_text("a file of this name")
    assert call(capsys, "config", "check", "tiny")[0] == 0


def test_an_empty_memory_is_refused(capsys, tmp_path):
    (tmp_path / "m.json").write_text("{}")
    code, _, err = call(capsys, "gemm", "4", "4", "4", "--config", "tiny", "--memory", tmp_path / "m.json")
    assert code == 2 and "m.json sets nothing" in err


def test_configurations_from_text():
    assert parse_config("base") is not None and parse_config("base,rows=32").rows == 32
    assert parse_config("rows=16,cols=0x20").cols == 32
    for text in ("huge", "base,rows", "base,rows=x", "base,fish=1", "nothing.json", "rows=0"):
        with pytest.raises(ConfigError):
            parse_config(text)


def test_assemble_disassemble_run_and_check(capsys, tmp_path, text_file):
    program = tmp_path / "copy.bmp"
    assert call(capsys, "asm", text_file, "-o", program)[0] == 0
    code, out, _ = call(capsys, "disasm", program)
    assert code == 0 and "load signal=s0:" not in out and "store" in out
    assert call(capsys, "check", program)[0] == 0
    code, out, _ = call(capsys, "run", program, "--tier", "functional", "--json", "--save", tmp_path / "r.npz")
    record = json.loads(out)
    assert code == 0 and record["error"] == "NONE" and record["cycles"] is None and record["fidelity"] == "values"
    with np.load(tmp_path / "r.npz") as stored:
        np.testing.assert_array_equal(stored["out"].reshape(-1), np.frombuffer(
            Program.load(program).segments[0].data, np.int8)[:16])  # fmt: skip
    code, out, _ = call(capsys, "run", text_file, "--json")
    record = json.loads(out)
    assert code == 0 and record["fidelity"] == "exact" and record["cycles"] > 100
    assert record["accounting"]["cycles"] == record["cycles"]


def test_findings_and_machine_errors_give_exit_code_1(capsys, tmp_path):
    path = tmp_path / "bad.bmasm"
    path.write_text(TEXT.replace("wait=s0:1", ""))
    code, out, _ = call(capsys, "check", path, "--json")
    assert code == 1 and json.loads(out)["findings"][0]["kind"] == "hazard"
    path.write_text(TEXT.replace("row_bytes=16 wait", "row_bytes=80 wait"))
    code, _, err = call(capsys, "run", path, "--tier", "functional")
    assert code == 1 and "leave the window of 64 bytes" in err
    code, _, err = call(capsys, "run", path)
    assert code == 1 and "WINDOW from store, instruction 1" in err


def test_kernels_report_cycles_against_the_bound(capsys):
    code, out, _ = call(capsys, "gemm", 16, 16, 16, "--config", "small", "--json")
    record = json.loads(out)
    assert code == 0 and record["mismatches"] == 0 and record["bound"] == 64 and record["cycles"] > 64
    code, out, _ = call(capsys, "conv", 1, 4, 4, 8, 8, "--config", "small", "--pad", 1, "--out", "int32", "--json")
    record = json.loads(out)
    assert code == 0 and record["mismatches"] == 0 and record["bound"] == 144
    code, out, _ = call(capsys, "gemm", 9, 10, 11, "--config", "tiny", "--tier", "functional", "--out", "int32")
    assert code == 0 and "0 of 99 values differ" in out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["gemm", "0", "1", "1"], "M is 0; it must be from 1"),
        (["gemm", "4", "4", "4", "--config", "huge"], "There is no preset 'huge'"),
        (["gemm", "4", "4", "4", "--latency", "0"], "read_latency is 0"),
        (
            ["gemm", "4", "4", "4", "--memory", "ddr9"],
            "There is no memory 'ddr9'; give fixed, ddr3-1066, ddr4-2400, hbm2",
        ),
        (["gemm", "4", "4", "4", "--memory", "hbm2@fast"], "'fast' is no clock in MHz; give one as in 'hbm2@700'"),
        (["gemm", "4", "4", "4", "--memory", "hbm2@0"], "The core's clock is 0 MHz; it must be from 1 to 10000"),
        (["gemm", "4", "4", "4", "--memory", "none.json"], "none.json cannot be read"),
        (["conv", "1", "2", "2", "1", "1"], "larger than the padded image"),
        (["conv", "1", "8", "8", "1", "1", "--pad", "16"], "pad is 16; it must be from 0 to 15"),
        (["run", "nothing.bmp"], "nothing.bmp cannot be read"),
        (["run", "nothing.bmasm"], "nothing.bmasm cannot be read"),
        (["run", __file__], "is no Beatmatch program file"),
        (["asm", __file__, "-o", "x"], "should be a .bmasm file"),
        (["config", "show"], "needs a configuration"),
        (["config", "show", "rows=3"], "power of two"),
        (["config", "list", "extra"], "takes no configuration"),
        (["config", "show", "tiny,=4"], "'=4' should be name=value"),
        (["gemm", "4", "4", "4", "--seed", "-5"], "seed is -5; it must be 0 or more"),
        (["gemm", "1048576", "1048576", "1"], "1099511627776 values; it may have at most 67108864"),
        (["gemm", "100000", "10", "100000"], "The result, M x N, has 10000000000 values"),
        (["conv", "1000000", "1000000", "9", "9", "9"], "The batch of images has"),
        (["conv", "1", "8", "8", "4", "4", "--kernel", "16", "--pad", "9"], "height and width must be from 1 to 15"),
        (["conv", "1", "8", "8", "4", "4", "--stride", "8"], "2 integers (down, across) from 1 to 7"),
        (["conv", "1", "20", "20", "4", "4", "--dilation", "5"], "from 1 to 4"),
        (["conv", "1", "8", "8", "4", "4", "--pad-value", "128"], "pad_value is 128"),
        (["lockstep"], "Give either program files or --random N"),
        (["lockstep", "--random", "0"], "--random is 0; it must be 1 or more"),
        (["lockstep", "--random", "1", "--jobs", "0"], "--jobs is 0"),
        (["lockstep", "--random", "1", "--configs", "-3"], "--configs is -3"),
        (["lockstep", "--random", "1", "--config", "huge"], "There is no preset 'huge'"),
        (["lockstep", "--random", "1", "--json", "/proc/none/x"], "/proc/none/x cannot be written"),
        (["lockstep", __file__], "is no Beatmatch program file"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(capsys, argv, sentence):
    code, _, err = call(capsys, *argv)
    assert code == 2 and sentence in err and err.count("\n") == 1


def test_files_without_end_or_type_are_one_sentence(capsys, tmp_path):
    path = tmp_path / "deep.json"
    refused = (("[" * 100000, "no JSON file"), ('{"name": 5}', "name must be a text"), ("[]", "one object"))
    for text, sentence in refused:
        path.write_text(text)
        code, _, err = call(capsys, "config", "show", path)
        assert code == 2 and sentence in err and err.count("\n") == 1


def test_assembly_errors_name_the_place(capsys, tmp_path):
    path = tmp_path / "bad.bmasm"
    path.write_text(".config tiny\nload fish=1\n")
    code, _, err = call(capsys, "check", path)
    assert code == 2 and err.startswith("beatmatch: 2:6: ")


def test_every_command_has_help_with_examples(capsys):
    for command in ("config", "asm", "disasm", "run", "check", "gemm", "conv"):
        with pytest.raises(SystemExit) as ended:
            cli.main([command, "--help"])
        out = capsys.readouterr().out
        assert ended.value.code == 0 and f"beatmatch {command}" in out.split("examples:")[1]


def test_without_a_command_it_prints_the_help(capsys):
    code, out, _ = call(capsys)
    assert code == 2 and "lockstep" in out and "examples:" in out


def test_without_a_simulator_lockstep_says_what_it_needs():
    code = "import sys; sys.modules['cocotb'] = None; from beatmatch import cli; sys.exit(cli.main(['lockstep']))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "make setup" in ended.stderr and "Traceback" not in ended.stderr


def test_outside_a_checkout_lockstep_says_what_it_needs(tmp_path):
    code = "import sys; from beatmatch import cli; sys.exit(cli.main(['lockstep', '--random', '1']))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "needs the repository" in ended.stderr


def test_the_package_imports_no_simulator():
    code = "import sys, beatmatch.cli, beatmatch.api, beatmatch.machine; print([m for m in sys.modules if m.split('.')[0] in ('cocotb', 'tb')])"  # noqa: E501
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_memories_have_names_clocks_and_files(tmp_path, capsys):
    size = ["gemm", "8", "8", "8", "--config", "tiny", "--json"]
    results = {}
    for text in ("fixed", "ddr4-2400", "ddr4-2400@200", "hbm2@1000"):
        assert cli.main([*size, "--memory", text]) == 0
        results[text] = json.loads(capsys.readouterr().out)
    assert results["fixed"]["dram"] is None
    assert results["fixed"]["cycles"] < results["ddr4-2400"]["cycles"]
    assert results["ddr4-2400@200"]["cycles"] < results["ddr4-2400"]["cycles"]  # fewer cycles of a slower clock
    (counters,) = results["hbm2@1000"]["dram"]
    assert counters["hits"] + counters["misses"] + counters["conflicts"] > 4
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(dram_preset("ddr4-2400").to_dict()))
    assert cli.main([*size, "--memory", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == results["ddr4-2400"]
    assert cli.main([*size[:-1], "--memory", str(path), "--latency", "30"]) == 0
    assert "DRAM: row hits" in capsys.readouterr().out


def test_a_program_runs_with_another_memory(tmp_path, capsys):
    path = str(tmp_path / "product.bmp")
    assert cli.main(["gemm", "8", "8", "8", "--config", "tiny", "--memory", "hbm2", "--save", path, "--json"]) == 0
    saved = json.loads(capsys.readouterr().out)

    def run(*options):
        assert cli.main(["run", path, "--json", *options]) == 0
        return json.loads(capsys.readouterr().out)

    assert run()["dram"] == saved["dram"] and run()["cycles"] == saved["cycles"]
    assert run("--memory", "fixed")["dram"] is None
    slower = run("--latency", "500")
    assert slower["cycles"] > saved["cycles"] and slower["dram"] is not None
