# SPDX-License-Identifier: Apache-2.0
"""The second oracle of time: small programs whose cycles were derived with pencil from docs/timing.md alone.

Each program is a function that names the terms of its chain, from the start write to the last retire, beside the rule
of the page that gives each term; the decorator holds the busy cycles worked out on paper. Nothing here comes from
running the model or the RTL. The terms shared by all (`FIRST_AR`, `entry`, `head`) are in `micro_terms.py`.
"""

from tests.model import micro_control, micro_matrix, micro_memory, micro_vector, micro_weights
from tests.model.micro_terms import PROGRAMS, Micro, all_programs

STATIONS = (micro_memory, micro_weights, micro_matrix, micro_vector, micro_control)

__all__ = ["PROGRAMS", "STATIONS", "Micro", "all_programs"]
