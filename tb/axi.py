# SPDX-License-Identifier: Apache-2.0
"""Bus models that share no line with Beatmatch (cocotbext-axi) on the ports of a bench top."""

from __future__ import annotations

import logging
import random
import warnings

from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiRamRead, AxiReadBus

AXI_IN = "arready rvalid rid rdata rresp rlast awready wready bvalid bid bresp"
AXI_OUT = (
    "arvalid arid araddr arlen arsize arburst rready awvalid awid awaddr awlen awsize awburst wvalid wdata wstrb wlast "
    "bready"
)
AXI_READ_IN = "arready rvalid rid rdata rresp rlast"
AXI_READ_OUT = "arvalid arid araddr arlen arsize arburst rready"
AXIL_IN = "awvalid awaddr wvalid wdata wstrb bready arvalid araddr rready"
AXIL_OUT = "awready wready bvalid bresp arready rvalid rdata rresp"


warnings.filterwarnings("ignore", category=DeprecationWarning, module="cocotbext")  # it still uses names of cocotb 1


class Ports:
    """The signals of one bus, without ``_i`` and ``_o``: the names that cocotbext-axi looks for."""

    def __init__(self, dut, prefix: str, inputs: str, outputs: str) -> None:
        self._name, self._log = prefix, dut._log
        for suffix, names in (("i", inputs), ("o", outputs)):
            for name in names.split():
                setattr(self, name, getattr(dut, f"{prefix}_{name}_{suffix}"))
        logging.getLogger(f"cocotb.{prefix}").setLevel(logging.WARNING)  # the models have a line for every burst


def axi_memory(dut, size: int, content: bytearray | None = None) -> AxiRam:
    """An AXI4 memory on ``m_axi``; its addresses repeat every ``size`` bytes.

    Make it after the first cycles of a reset: it does not take X.
    """
    bus = AxiBus.from_entity(Ports(dut, "m_axi", AXI_IN, AXI_OUT))
    return AxiRam(bus, dut.clk_i, size=size, mem=content)


def axi_weight_memory(dut, size: int, content: bytearray) -> AxiRamRead:
    """An AXI4 memory that is only read, on ``m_axi_weights``; both memories show one image, so give it the content."""
    bus = AxiReadBus.from_entity(Ports(dut, "m_axi_weights", AXI_READ_IN, AXI_READ_OUT))
    return AxiRamRead(bus, dut.clk_i, size=size, mem=content)


def axil_master(dut) -> AxiLiteMaster:
    """An AXI4-Lite master on ``s_axil``."""
    return AxiLiteMaster(AxiLiteBus.from_entity(Ports(dut, "s_axil", AXIL_IN, AXIL_OUT)), dut.clk_i)


def hold_back(model, rng: random.Random, percent: int) -> None:
    """Pause every channel of a bus model in ``percent`` of the cycles, each by a random stream of its own."""
    for part in (model,) if isinstance(model, AxiRamRead) else (model.read_if, model.write_if):
        for name in ("ar", "r", "aw", "w", "b"):
            channel = getattr(part, f"{name}_channel", None)
            if channel is not None:
                channel.set_pause_generator(_pauses(random.Random(rng.getrandbits(64)), percent))


def _pauses(rng: random.Random, percent: int):
    while True:
        yield rng.randrange(100) < percent
