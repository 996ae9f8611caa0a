"""The types of `Object.steer` for type checkers; the classes themselves are made at run time.

`property_classes` makes them from core's dataclasses when the extension is registered, and a test
holds this file against them. Nothing imports it when the extension runs. The property group of a
block of settings has the fields of the settings.
"""

from __future__ import annotations

import bpy

from ...core.crowd.births import BirthsSettings
from ...core.crowd.clips import ClipsSettings
from ...core.crowd.meets import MeetsSettings
from ...core.crowd.settings import (
    AgentsSettings,
    BodiesSettings,
    MotionSettings,
    SolverSettings,
)
from ...core.crowd.ways_settings import WaysSettings
from .bake_settings import KeyframeBakeSettings, VariationSettings


class _Targets(bpy.types.PropertyGroup):
    """The targets of a crowd or of one entry."""

    target_kind: str
    target_object: bpy.types.Object | None
    target_collection: bpy.types.Collection | None


class SteerBehavior(_Targets):
    """One entry of a crowd's list of behaviors.

    Beside what stands here it has a group for each type of behavior, under the type's name.
    """

    name: str
    title: str
    type: str
    enabled: bool
    weight: float
    group: str
    use_own_target: bool
    second_target_kind: str
    second_target_object: bpy.types.Object | None
    second_target_collection: bpy.types.Collection | None
    source_kind: str
    source_object: bpy.types.Object | None
    source_collection: bpy.types.Collection | None


class SteerGroup(bpy.types.PropertyGroup):
    """One entry of a crowd's list of groups."""

    name: str
    source: str
    share: float
    speed: float
    characters: str


class SteerCrowd(_Targets):
    """All settings of a crowd."""

    is_crowd: bool
    behaviors: bpy.types.bpy_prop_collection_idprop[SteerBehavior]
    active_behavior: int
    groups: bpy.types.bpy_prop_collection_idprop[SteerGroup]
    active_group: int
    agent_count: int
    arrangement: str
    colliders: bpy.types.Collection | None
    ground: bpy.types.Object | None
    areas: bpy.types.Collection | None
    meets_collection: bpy.types.Collection | None
    births_kind: str
    births_object: bpy.types.Object | None
    births_collection: bpy.types.Collection | None
    exits: bpy.types.Collection | None
    seed: int
    frame_start: int
    frame_end: int
    cache_directory: str
    cache_folder: str
    cache_owner: str
    variation: int
    own_seed: int
    own_cache_folder: str
    bake_collection: bpy.types.Collection | None
    bake_source_object: bpy.types.Object | None
    bake_source_collection: bpy.types.Collection | None
    hidden_by_bake: set[str]
    agents: AgentsSettings
    motion: MotionSettings
    solver: SolverSettings
    bodies: BodiesSettings
    clips: ClipsSettings
    meets: MeetsSettings
    births: BirthsSettings
    ways: WaysSettings
    bake: KeyframeBakeSettings
    variations: VariationSettings
