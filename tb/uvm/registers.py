# SPDX-License-Identifier: Apache-2.0
"""The register model, generated from the SystemRDL declaration: its adapter, and the check of every access."""

from __future__ import annotations

from pyuvm import (
    uvm_access_e,
    uvm_predict_e,
    uvm_reg,
    uvm_reg_adapter,
    uvm_reg_bus_op,
    uvm_status_e,
    uvm_subscriber,
)

from beatmatch.config import Config
from tb.uvm.bm_csr_model import bm_csr
from tb.uvm.items import RegisterItem

OKAY, SLVERR = 0, 2
CONFIG_FIELDS = {
    "CONFIG_ARRAY": {"rows": "rows", "cols": "cols"},
    "CONFIG_SCRATCHPAD": {"words": "sp_words", "banks": "sp_banks"},
    "CONFIG_ACCUMULATOR": {"rows": "acc_rows", "banks": "acc_banks"},
    "CONFIG_DEPTH": {"fifo_tiles": "fifo_tiles", "queue": "queue_depth", "param_rows": "param_rows"},
    "CONFIG_MEMORY": {"bits": "mem_bits", "outstanding": "outstanding"},
}
"""Fields that show a size of the configuration, by register."""


class RegisterError(AssertionError):
    """The RTL answered a register access against the declaration; the text says which."""


def register_model(config: Config) -> bm_csr:
    """The register block of a core with these sizes, locked and in its state after a reset."""
    block = bm_csr("bm_csr")
    block.build()
    for name, fields in CONFIG_FIELDS.items():
        for field, size in fields.items():
            getattr(getattr(block, name), field).set_reset(getattr(config, size))
    block.lock_model()
    block.get_default_map().set_auto_predict(False)  # the monitor sees what really happened
    reset(block)
    return block


def reset(block: bm_csr) -> None:
    """Every field at its reset value. (`uvm_reg_block.reset` would also break the locks of accesses under way.)"""
    for register in block.get_registers():
        for field in register.get_fields():
            field.reset()


class RegisterAdapter(uvm_reg_adapter):
    """Accesses of the register model as items of the CSR agent; 64-bit registers are one item."""

    def reg2bus(self, rw: uvm_reg_bus_op) -> RegisterItem:
        """The item of an access."""
        bits = self.get_item().get_element().get_n_bits()
        data = rw.data if rw.kind == uvm_access_e.UVM_WRITE else None
        return RegisterItem(int(rw.addr), data, bits)

    def bus2reg(self, bus_item: RegisterItem, rw: uvm_reg_bus_op) -> None:
        """Data and status of an access that was made."""
        rw.data = bus_item.data
        rw.status = uvm_status_e.UVM_IS_OK if bus_item.response == OKAY else uvm_status_e.UVM_NOT_OK


class RegisterChecker(uvm_subscriber):
    """Follows every access that the monitor saw, and compares what the RTL answered with the register model.

    It knows nothing of the golden model: addresses, reset values and access rights come from the declaration.

    Attributes
    ----------
    writes, reads, errors : int
        Accesses checked; those that were answered SLVERR among them.
    """

    def build_phase(self) -> None:
        """Nothing has been accessed yet."""
        self.block: bm_csr = self.cdb_get("REGISTERS")
        self.writes = self.reads = self.errors = 0
        self._started = False
        self._places: dict[int, tuple[uvm_reg, int]] = {
            reg.get_address() + 4 * half: (reg, half)
            for reg in self.block.get_registers()
            for half in range(reg.get_n_bits() // 32)
        }

    def reset(self) -> None:
        """The core was reset."""
        reset(self.block)
        self._started = False

    def write(self, item: RegisterItem) -> None:
        """Check an access of 32 bits. Raises RegisterError."""
        place = self._places.get(item.address & ~3)
        wanted = OKAY if place else SLVERR
        if item.response != wanted:
            what = "a register" if place else "no register"
            raise RegisterError(f"{item}: there is {what} at this address, so the response must be {wanted}.")
        self.errors += place is None
        if item.write:
            self.writes += 1
            if place and item.effective:
                self._follow(item, *place)
        else:
            self.reads += 1
            self._compare(item, *(place or (None, 0)))

    def _follow(self, item: RegisterItem, reg: uvm_reg, half: int) -> None:
        """Let the mirror follow a write."""
        if reg.get_name() == "CTRL":
            self._started = self._started or bool(item.data & 1)
            return
        mirrored = reg.get_mirrored_value()
        writable = sum(
            ((1 << field.get_n_bits()) - 1) << field.get_lsb_pos()
            for field in reg.get_fields()
            if field.get_access() == "RW"
        )
        mask = writable & 0xFFFFFFFF << 32 * half
        value = mirrored & ~mask | (item.data << 32 * half) & mask
        reg.predict(value, kind=uvm_predict_e.UVM_PREDICT_DIRECT)

    def _compare(self, item: RegisterItem, reg: uvm_reg | None, half: int) -> None:
        """Compare what was read, except for bits that the hardware has changed since the start."""
        mirrored, unknown = 0, 0
        for field in reg.get_fields() if reg else ():
            bits = ((1 << field.get_n_bits()) - 1) << field.get_lsb_pos()
            if field.get_access() == "WO":
                continue  # reads as 0
            if field.is_volatile() and self._started:
                unknown |= bits
            else:
                mirrored |= field.get_mirrored_value() << field.get_lsb_pos()
        mirrored, unknown = mirrored >> 32 * half & 0xFFFFFFFF, unknown >> 32 * half & 0xFFFFFFFF
        if (item.data ^ mirrored) & ~unknown:
            name = reg.get_name() if reg else "no register"
            raise RegisterError(
                f"{item}: {name} (word {half}) must read as 0x{mirrored:08x}"
                + (f" except for the bits 0x{unknown:08x}." if unknown else ".")
            )
