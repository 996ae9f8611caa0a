"""Nobody gets into closed meshes, nor through them, in any scene that can be thought of.

`STEER_SCENES=1000 pytest tests/core/test_contact_scenes.py` plays more scenes.
"""

import os

import numpy as np
from contact_scenes import ContactScene, contact_scenes, count_penetrations
from crowdtools import box
from hypothesis import HealthCheck, given, settings

SCENES = int(os.environ.get("STEER_SCENES", "30"))
slow = settings(max_examples=SCENES, suppress_health_check=list(HealthCheck))


def test_the_check_finds_who_is_inside_and_who_went_through():
    before = np.array([[-2.0, 0, 0], [-2, 0, 0], [-2, 0, 0], [-2, 1.2, 0]])
    after = np.array([[0.0, 0, 0], [2, 0, 0], [-1.1, 0, 0], [2, 1.2, 0]])
    mesh = box((0, 0, 0), (2, 2, 2))
    assert count_penetrations(before, after, [mesh], [False]) == 2
    assert count_penetrations(before, after, [mesh], [True]) == 1


@slow
@given(contact_scenes())
def test_nobody_gets_into_or_through_solids(scene: ContactScene):
    assert scene.penetrations() == 0
