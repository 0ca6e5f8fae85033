# SPDX-License-Identifier: Apache-2.0
"""A fault of the model: a run ends a cycle late, so that no program agrees with the RTL."""

from __future__ import annotations

from beatmatch.stations.host import Host


def late_done(patch) -> None:
    """`done` is taken over a cycle after it is set."""
    commit = Host.commit

    def late(self, bus, done_set):
        before = late.pending
        late.pending = done_set
        return commit(self, bus, before)

    late.pending = False
    patch(Host, "commit", late)
