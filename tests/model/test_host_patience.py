# SPDX-License-Identifier: Apache-2.0
"""A host that only waits may be skipped ahead: it is then where it would have waited to be."""

import copy
from types import SimpleNamespace

import pytest

from beatmatch.config import preset
from beatmatch.host_agent import HostAgent
from beatmatch.isa import Opcode, make
from beatmatch.program import HostEvent, Program

WORKING = SimpleNamespace(awready=True, wready=True, arready=True, bvalid=True, rvalid=True, rdata=0, done=False)
DONE = SimpleNamespace(**vars(WORKING) | {"done": True})


def waiting(*events):
    """An agent that has started the core and has nothing to do; the cycles that this took."""
    agent = HostAgent(Program(preset("tiny"), [make(Opcode.LOAD)], host=events))
    for cycle in range(200):
        if agent.patience():
            return agent, cycle
        agent.commit(WORKING)
    raise AssertionError("the host never comes to rest")


def shown(agent, core, cycles):
    """What the core sees of an agent in the next cycles."""
    seen = []
    for _ in range(cycles):
        seen.append((agent.outputs(), agent.rst_n, agent.finished, agent.quiet, agent.patience()))
        agent.commit(core)
    return seen


@pytest.mark.parametrize("action", ["reset", "start"])
@pytest.mark.parametrize("event", [120, 157])
def test_skipping_is_waiting(event, action):
    agent, cycle = waiting(HostEvent(event, action, 3))
    patience = agent.patience()
    assert patience == event - cycle - 1 and not agent.quiet  # quiet: not even an event is left
    other = copy.deepcopy(agent)
    for output, rst_n, finished, *_ in shown(agent, WORKING, patience):
        assert output is None and rst_n and not finished
    other.skip(patience)
    assert shown(agent, WORKING, 40) == shown(other, WORKING, 40)


def test_without_an_event_only_the_core_ends_the_waiting():
    agent, _ = waiting()
    assert agent.patience() >= 1 << 62 and agent.quiet and not agent.finished
    agent.skip(10**9)
    seen = shown(agent, DONE, 200)
    assert [entry[3] for entry in seen[:2]] == [True, False]  # it reads the registers back as soon as the core is done
    assert all(not patience for *_, patience in seen[1:])
    assert seen[-1][2] and agent.quiet
