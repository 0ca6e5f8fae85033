# SPDX-License-Identifier: Apache-2.0
"""What people look at: timelines of a run as data, as a web page, and for the Perfetto viewer."""

from beatmatch.report.html import Section, page, where
from beatmatch.report.perfetto import trace_events
from beatmatch.report.recording import Recording, record
from beatmatch.report.timeline import Interval, Timeline, Windows

__all__ = ["Interval", "Recording", "Section", "Timeline", "Windows", "page", "record", "trace_events", "where"]
