# SPDX-License-Identifier: Apache-2.0
"""What people see of a network's result: terminal, CSV, trace, page, notebook."""

from beatmatch.networks.report.compare import Comparison, compare
from beatmatch.networks.report.page import page, write_page
from beatmatch.networks.report.sheet import write_csv
from beatmatch.networks.report.table import comparison_view, view
from beatmatch.networks.report.trace import trace_events, write_trace

__all__ = [
    "Comparison",
    "compare",
    "comparison_view",
    "page",
    "trace_events",
    "view",
    "write_csv",
    "write_page",
    "write_trace",
]
