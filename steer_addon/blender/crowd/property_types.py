"""What `Object.steer` holds, for type checkers; the classes themselves are made at run time.

`property_classes` makes them from core's dataclasses when the extension is registered, and a test
holds this file against them. Nothing imports it when the extension runs.
"""

from __future__ import annotations

import bpy


class AgentsBlock(bpy.types.PropertyGroup):
    """The block `agents`."""

    radius: float
    mass: float
    max_speed: float
    max_force: float


class MotionBlock(bpy.types.PropertyGroup):
    """The block `motion`."""

    motion: str
    max_slope: float
    step_height: float
    min_turn_speed: float
    body_turn_rate: float
    wall_height: float
    banking: float
    max_bank: float
    forward_axis: str


class SolverBlock(bpy.types.PropertyGroup):
    """The block `solver`."""

    solver: str
    combine: str
    relaxation_time: float
    acc_weight: float
    substeps: int
    min_speed: float
    max_turn_rate: float
    max_acceleration: float


class BodiesBlock(bpy.types.PropertyGroup):
    """The block `bodies`."""

    collide_agents: bool
    collide_colliders: bool
    iterations: int
    on_arrival: str
    arrival_distance: float


class BakeBlock(bpy.types.PropertyGroup):
    """The block `bake`."""

    step: int
    tolerance: float
    rotation_tolerance: float
    interpolation: str
    actions: str


class _Targets(bpy.types.PropertyGroup):
    """What agents steer by, of a crowd or of one entry."""

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
    use_own_target: bool
    second_target_kind: str
    second_target_object: bpy.types.Object | None
    second_target_collection: bpy.types.Collection | None
    source_kind: str
    source_object: bpy.types.Object | None
    source_collection: bpy.types.Collection | None


class SteerCrowd(_Targets):
    """All settings of a crowd."""

    is_crowd: bool
    behaviors: bpy.types.bpy_prop_collection_idprop[SteerBehavior]
    active_behavior: int
    colliders: bpy.types.Collection | None
    ground: bpy.types.Object | None
    seed: int
    frame_start: int
    frame_end: int
    cache_directory: str
    cache_folder: str
    cache_owner: str
    bake_collection: bpy.types.Collection | None
    bake_source_object: bpy.types.Object | None
    bake_source_collection: bpy.types.Collection | None
    hidden_by_bake: set[str]
    agents: AgentsBlock
    motion: MotionBlock
    solver: SolverBlock
    bodies: BodiesBlock
    bake: BakeBlock
