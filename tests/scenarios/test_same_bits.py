"""Same seed, same bits: twice, and on one thread as on two."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scripts.validation import flows, rimea
from scripts.validation.runner import run
from steer_addon.core.compiled import jit


@pytest.fixture
def threads():
    """Set how many threads kernels use; put back afterward."""
    before = jit.threads()
    yield jit.set_threads
    jit.set_threads(before)


def test_twice(threads):
    scenario = replace(flows.flow("crossing", 100), duration=3.0)
    assert run(scenario).result["digest"] == run(scenario).result["digest"]


def test_on_one_thread_and_on_two(threads):
    # more agents than one thread takes at a time
    scenario = replace(flows.flow("circle", 2 * jit.CHUNK), duration=0.5)
    digests = []
    for count in (1, 2):
        threads(count)
        digests.append(run(scenario).result["digest"])
    assert digests[0] == digests[1]


def test_another_seed_is_another_crowd():
    crowds = (replace(flows.flow("circle", 100, seed), duration=0.2) for seed in (0, 1))
    first, second = (run(crowd).result["digest"] for crowd in crowds)
    assert first != second


def test_rows_have_the_same_crowd_every_time():
    assert (rimea.row_11().position == rimea.row_11().position).all()
