"""A scene becomes a World: all inputs of a crowd, as the depsgraph evaluates them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis, diagnose
from ...core.geometry import bvh
from ...core.geometry.meshes import Mesh
from ...core.inputs.spheres import Spheres, make_spheres
from ...core.inputs.world import CollidersBuilder, World
from ...core.views import BvhView
from ...core.ways.areas.declared import Areas
from ..crowd.properties import settings_of
from .scene_areas import AreaReader
from .scene_births import BirthReader
from .scene_inputs import (
    EXIT,
    collider_objects,
    exit_objects,
    ground_object,
    instanced_by,
    is_sphere,
    members,
)
from .scene_meshes import MESH_TYPES, Matrix, MeshReader, matrix_of
from .scene_sources import SourceReader
from .scene_targets import TargetReader
from .scene_view import SceneView

Sphere = tuple[Matrix, float]
"""Center [m], shape (3,), and radius [m]."""


@dataclass
class WorldReader:
    """Reads worlds for one simulation; keeps parts that do not change from frame to frame."""

    meshes: MeshReader = field(default_factory=MeshReader)
    scene_warnings: list[Diagnosis] = field(default_factory=list)
    """Warnings about the last world, without those of inputs that are missing."""
    _view: SceneView = field(default_factory=SceneView)
    _targets: TargetReader = field(default_factory=TargetReader)
    _sources: SourceReader = field(default_factory=SourceReader)
    _births: BirthReader = field(default_factory=BirthReader)
    _areas: AreaReader = field(default_factory=AreaReader)
    _builder: CollidersBuilder = field(default_factory=CollidersBuilder)
    _exits: CollidersBuilder = field(default_factory=CollidersBuilder)
    _ground: tuple[Mesh, BvhView] | None = None

    @property
    def warnings(self) -> list[Diagnosis]:
        """All warnings about the last world, also of inputs that are missing."""
        return [*self._targets.missing, *self._sources.missing, *self.scene_warnings]

    def read(
        self,
        obj: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        fps: float,
        stand_ins: Mapping[int, bpy.types.Object] | None = None,
        settings: CrowdSettings | None = None,
    ) -> World:
        """The world at the frame of a depsgraph.

        Args:
            obj: The original crowd object.
            depsgraph: Depsgraph that evaluated the scene, or a scratch scene.
            fps: Frames per second, for the velocities of targets.
            stand_ins: Objects of a scratch scene, by the session uid of the object each stands for.
            settings: Settings of the crowd at that frame; None reads the object's.
        """
        settings = settings or settings_of(obj)
        with self._view.at(depsgraph, stand_ins or {}) as view:
            targets: dict[str, Any] = self._targets.read(obj, view, fps)
            sources: dict[str, Any] = self._sources.read(obj, view, settings)
            colliders, spheres = self._read_colliders(obj, settings.motion.wall_height)
            ground = self._read_ground(obj)
            areas = self._read_areas(obj, settings)
            emitters, exits = self._births.read(obj, view, settings), self._read_exits(obj)
        self.scene_warnings = [*view.warnings, *self.meshes.end_frame()]
        return World(
            **targets,
            **sources,
            colliders=self._builder.build(colliders) if colliders else None,
            spheres=spheres,
            ground=ground,
            emitters=emitters,
            exits=self._exits.build(exits) if exits else None,
            areas=areas,
        )

    def forget(self, uids: set[int]) -> None:
        """Read the geometry of objects again, by their session uids."""
        self.meshes.forget(uids)
        self._sources.forget(uids)
        self._births.forget(uids)
        self._view.forget_hidden()

    def forget_motion(self) -> None:
        """Forget the last places of targets, so that they stand still at the next frame."""
        self._targets = TargetReader()

    def _read_exits(self, obj: bpy.types.Object) -> list[Mesh]:
        """The volumes in which agents are gone."""
        there = [o for o in exit_objects(obj) if not self._view.is_gone(o, "Exit", chosen=False)]
        # names of their own: an exit may be a collider too
        found = [self._mesh(o, o.name_full + EXIT, top=o.name) for o in there]
        return [mesh for mesh in found if mesh is not None]

    def _read_areas(self, obj: bpy.types.Object, settings: CrowdSettings) -> Areas | None:
        """The areas, and the paint of the ground, where ways go by them."""
        if settings.ways.ways == "NONE":
            return None
        ground = None if self._ground is None else self._ground[0]
        return self._areas.read(obj, self._view, self._named_mesh, ground)

    def _named_mesh(self, part: bpy.types.Object, suffix: str) -> Mesh | None:
        """The mesh of an object, which may be open, under a name that ends with a suffix."""
        return self._mesh(part, part.name_full + suffix, top=part.name, solid=False)

    def _read_colliders(
        self, obj: bpy.types.Object, wall_height: float
    ) -> tuple[list[Mesh], Spheres | None]:
        meshes: list[Mesh] = []
        balls: list[Sphere] = []
        for collider in collider_objects(obj):
            if self._view.is_gone(collider, "Collider", chosen=False):
                continue
            top = collider.name
            for piece in self._pieces(obj, collider, collider.name_full, top, None, wall_height):
                if isinstance(piece, Mesh):
                    meshes.append(piece)
                else:
                    balls.append(piece)
        if not balls:
            return meshes, None
        return meshes, make_spheres([b[0] for b in balls], [b[1] for b in balls])

    def _pieces(
        self,
        obj: bpy.types.Object,
        part: bpy.types.Object,
        name: str,
        top: str,
        parent: Matrix | None,
        wall_height: float,
    ) -> Iterator[Mesh | Sphere]:
        """The mesh or sphere of an object, or those of the collection that it instances.

        `top` is the name of the object in the scene, which users can select.
        """
        inside = instanced_by(part)
        if inside is not None:
            # a copy, as that of a hidden object is kept
            base = self._piece_place(part, parent).copy()
            base[:3, 3] -= base[:3, :3] @ np.array(inside.instance_offset)
            for child in members(inside, obj):
                label = f"{name}/{child.name_full}"
                yield from self._pieces(obj, child, label, top, base, wall_height)
            return
        if is_sphere(part):
            yield from self._spheres(part, name, top, parent)
        if part.type not in MESH_TYPES:
            return
        mesh = self._mesh(part, name, parent, top=top, wall_height=wall_height)
        if mesh is not None:
            yield mesh

    def _mesh(
        self,
        part: bpy.types.Object,
        name: str,
        parent: Matrix | None = None,
        *,
        top: str = "",
        solid: bool = True,
        wall_height: float = 0.0,
    ) -> Mesh | None:
        """The mesh of an object, hidden or not, or of an object in an instanced collection."""
        view = self._view
        evaluated = view.evaluated(part) if parent is None else view.instanced(part)
        options: dict[str, Any] = {"top": top, "solid": solid, "wall_height": wall_height}
        if evaluated is None:

            def read(seen: bpy.types.Object) -> tuple[Mesh | None, list[Diagnosis]]:
                alone = MeshReader()
                mesh = alone.read(name, part, seen, matrix_of(seen), **options)
                return mesh, alone.end_frame()

            mesh, found = view.hidden(part, f"mesh {name} {wall_height}", read)
            view.warn(*found)
            return mesh
        place = self._piece_place(part, parent)
        return self.meshes.read(name, part, evaluated, place, **options)

    def _spheres(
        self, part: bpy.types.Object, name: str, top: str, parent: Matrix | None
    ) -> Iterator[Sphere]:
        """The sphere of an empty, as large as its largest scale makes it, if it is finite."""
        view = self._view
        if parent is None:
            size = view.read_object(part, "size", lambda seen: seen.empty_display_size)
        else:
            size = view.instanced(part).empty_display_size
        place = self._piece_place(part, parent)
        center, radius = place[:3, 3], size * float(np.linalg.norm(place[:3, :3], axis=0).max())
        with np.errstate(over="ignore"):
            if np.isfinite(np.array([*center, radius], np.float32)).all():
                yield center, radius
                return
        self._view.warn(diagnose("SPHERE_NOT_FINITE", name, object=top))

    def _piece_place(self, part: bpy.types.Object, parent: Matrix | None) -> Matrix:
        if parent is None:
            return self._view.place_of(part)
        return parent @ matrix_of(self._view.instanced(part))

    def _read_ground(self, obj: bpy.types.Object) -> BvhView | None:
        """The tree of the ground's triangles, refitted if only its points moved."""
        ground, view = ground_object(obj), self._view
        mesh = None
        if ground is not None and not view.is_gone(ground, "Ground") and ground.type in MESH_TYPES:
            # a name of its own: the ground may be a collider too, and may be open
            mesh = self._mesh(ground, f"{ground.name_full} (ground)", solid=False)
            if mesh is not None and not mesh.triangle_count:
                bare = diagnose("GROUND_WITHOUT_FACES", ground.name)
                view.warn(bare.having(object=ground.name))
        if mesh is None or mesh.triangle_count == 0:
            self._ground = None
        elif self._ground is None or len(self._ground[1].triangles) != mesh.triangle_count:
            self._ground = (mesh, bvh.build(mesh.triangles))
        elif self._ground[0] is not mesh:
            self._ground = (mesh, bvh.refit(self._ground[1], mesh.triangles))
        return None if self._ground is None else self._ground[1]
