# SPDX-License-Identifier: Apache-2.0
"""All coverage groups by name, in the order of the report."""

from __future__ import annotations

from tb.coverage import (
    arch_errors,
    arch_host,
    arch_instructions,
    arch_sync,
    arch_values,
    micro_array,
    micro_bus,
    micro_control,
    micro_engines,
    micro_memories,
    micro_weight_port,
)
from tb.coverage.group import Group, of_module

MODULES = (
    arch_instructions, arch_sync, arch_values, arch_errors, arch_host, micro_engines, micro_array, micro_memories,
        micro_bus,
    micro_weight_port,
    micro_control,
)  # fmt: skip

GROUPS: dict[str, Group] = {name: item for module in MODULES for name, item in of_module(vars(module)).items()}
"""Group by name."""
