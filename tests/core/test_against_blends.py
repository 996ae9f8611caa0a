"""Bodies that change their speed pop less than poses that are blended without any steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from blendtools import CLEAR, blended_pops
from figuretools import made
from walktools import random_journey, walk

from tests.often import often


@pytest.mark.slow
@pytest.mark.parametrize("name", often(["woman", "child", "dog"], "woman", "dog"))
def test_bodies_pop_less_than_poses_that_are_blended_without_steps(name):
    space = made(name).space
    space = replace(space, positions=space.positions[:, ::8])
    journeys = [random_journey(seed) for seed in range(3)]
    ours = np.concatenate([walk(space, *journey).pops() for journey in journeys])
    blended = np.concatenate([blended_pops(space, *journey) for journey in journeys])
    assert ours.max() < 0.7 * blended.max()
    assert np.mean(ours > CLEAR) < 0.2 * np.mean(blended > CLEAR)
