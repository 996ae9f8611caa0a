"""Import of files, each with Blender's importer for its format, and of characters."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np
from mathutils import Matrix

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import CharacterError, SceneError
from ...core.files.plain import why_no_file
from ...core.files.whole import is_blend
from ..characters import library, sources
from ..checks import opened_files
from ..suspension import suspended
from ..writing.files import reason_of

IMPORTERS = {
    ".obj": "wm.obj_import",
    ".ply": "wm.ply_import",
    ".stl": "wm.stl_import",
    ".usd": "wm.usd_import",
    ".usda": "wm.usd_import",
    ".usdc": "wm.usd_import",
    ".usdz": "wm.usd_import",
    ".gltf": "import_scene.gltf",
    ".glb": "import_scene.gltf",
    ".fbx": "wm.fbx_import",
    ".abc": "wm.alembic_import",
}
"""Operators by suffix. Each converts the axes of its format: in .obj files y is up."""
_OPTIONS: dict[str, dict[str, Any]] = {
    "wm.usd_import": {"import_cameras": False, "import_lights": False, "set_frame_range": False},
    "wm.fbx_import": {"use_anim": False},
    "wm.alembic_import": {"set_frame_range": False, "as_background_job": False},
}
_KEPT = "steer_action"
"""How the names of custom properties begin that keep linked actions in a file."""
_Names = tuple[list[str], list[str]]
"""Names of objects, and of actions."""


def import_meshes(path: Path, collection: bpy.types.Collection) -> list[bpy.types.Object]:
    """Import the meshes of a file, without its cameras, lights and empties.

    Args:
        path: Mesh file.
        collection: Collection of the new objects.

    Returns:
        Mesh objects with faces, without parents, placed in the world as in the file.

    Raises:
        SceneError: There is no such file, Blender cannot read it, or it holds no faces.
    """
    before, collections_before = set(bpy.data.objects), set(bpy.data.collections)
    _import(path, IMPORTERS, _OPTIONS)
    bpy.context.view_layer.update()
    made = [obj for obj in bpy.data.objects if obj not in before]
    meshes = [obj for obj in made if obj.type == "MESH" and len(obj.data.polygons)]
    # children move when a parent is removed, so all places are read before
    places = {obj: obj.matrix_world.copy() for obj in meshes}
    for obj in made:
        if obj not in places:
            bpy.data.objects.remove(obj)
    if not meshes:
        raise SceneError(f"{path.name} has no faces: give a mesh file with faces")
    for obj, place in places.items():
        obj.parent = None
        obj.matrix_world = place
        for other in list(obj.users_collection):
            other.objects.unlink(obj)
        collection.objects.link(obj)
    for other in set(bpy.data.collections).difference(collections_before):
        bpy.data.collections.remove(other)
    return meshes


def import_animated(path: Path) -> None:
    """Import a file with its rigs and actions into the scene.

    Args:
        path: A .glb, .gltf, .fbx, .usd or .abc file.

    Raises:
        SceneError: There is no such file, or Blender cannot read it.
    """
    animated = {s: op for s, op in IMPORTERS.items() if s not in (".obj", ".ply", ".stl")}
    # those who call this open .blend files by themselves
    _import(path, animated, {}, (".blend",))


def _import(
    path: Path,
    importers: dict[str, str],
    options: dict[str, dict[str, Any]],
    beside: tuple[str, ...] = (),
) -> None:
    """Run Blender's importer for a file.

    Raises:
        SceneError: There is none, or no such file, or Blender cannot read it.
    """
    operator, known = importers.get(path.suffix.lower()), ", ".join((*beside, *importers))
    if path.is_dir():
        raise SceneError(f"{path.resolve()} is a folder: give a file of {known}")
    if not path.is_file():
        raise SceneError(f"There is no file {path}: check the path")
    if operator is None:
        suffix = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise SceneError(f"{path.name} has {suffix}: give a file of {known}")
    try:
        if operator == "import_scene.gltf":
            addon_utils.enable("io_scene_gltf2", default_set=False)
        importer = attrgetter(operator)(bpy.ops)
        # importers that are add-ons print a traceback beside the error that they raise
        with redirect_stderr(io.StringIO()):
            importer(filepath=str(path.resolve()), **options.get(operator, {}))
    except (RuntimeError, AttributeError) as error:
        raise SceneError(
            f"{path.name} cannot be imported: {reason_of(error)}; export it again, or choose "
            "another file"
        ) from None


def join_meshes(objects: list[bpy.types.Object], name: str) -> bpy.types.Object:
    """Join several mesh objects to one; materials are kept.

    Args:
        objects: Mesh objects of one collection; the first one is kept.
        name: Name of the joined object.

    Raises:
        SceneError: A vertex is not at a finite place, or the mesh is far too large.
    """
    first = objects[0]
    for obj in objects:
        if obj.data.users > 1:
            obj.data = obj.data.copy()
        obj.data.transform(obj.matrix_world)
        if obj.matrix_world.determinant() < 0.0:
            obj.data.flip_normals()
        obj.matrix_world = Matrix()
    if len(objects) > 1:
        with bpy.context.temp_override(
            active_object=first, object=first, selected_editable_objects=objects
        ):
            bpy.ops.object.join()
    first.name = first.data.name = name
    points = np.empty(len(first.data.vertices) * 3, np.float32)
    first.data.attributes["position"].data.foreach_get("vector", points)
    if not np.isfinite(points).all() or float(np.abs(points).max()) > 1.0e6:
        raise SceneError(
            f"{name} has vertices that are not finite or lie more than 1000 km from the origin: "
            "repair or scale the file"
        )
    return first


def append_characters(
    path: Path, scene: bpy.types.Scene, warnings: list[Diagnosis]
) -> list[bpy.types.Object]:
    """Append all characters of a file, with their rigs and actions; they need that file no longer.

    What that file links from others is linked from there.

    Args:
        path: A .blend file.
        scene: The scene in whose collections of characters, and of their rigs, they are put.
        warnings: Filled with which came without their rigs.

    Returns:
        The characters, by name.

    Raises:
        CharacterError: There is no such file, Blender cannot read it, it has no character, or a
            damaged one.
    """
    way_out = "give a file that `steer character make` has saved"
    if what := why_no_file(path):
        raise CharacterError(f"{path} {what}: {way_out}")
    try:
        if path.suffix.lower() != ".blend" or not is_blend(path):
            raise CharacterError(f"{path} is no .blend file: {way_out}")
        opened_files.check_opened(path)
        with suspended():
            needs, files = _needs(path)
            wanted = _Found()
            for file in filter(Path.is_file, files):
                wanted.add(file, files[file], link=file != path.resolve())
    except (OSError, RuntimeError) as error:
        raise CharacterError(f"{path} cannot be read: {reason_of(error)}; {way_out}") from None
    found = {name: wanted.objects[name] for name in needs if name in wanted.objects}
    if not found:
        raise CharacterError(
            f"{path} has no character: make one of its rig with `steer character make`"
        )
    kept = library.ensure_collection(scene)
    for obj in found.values():
        try:
            library.positions_of(obj)
        except CharacterError as error:
            raise CharacterError(f"{path}: {error}") from None
        kept.objects.link(obj)
    rigs = [obj for name, obj in wanted.objects.items() if name not in needs]
    if rigs:
        _keep_rigs(rigs, wanted.actions, library.ensure_collection(scene, library.RIGS_NAME))
    for name, obj in found.items():
        missing = wanted.missing(needs[name])
        if all(needs[name]) and not missing:
            sources.moved(obj, wanted.objects, wanted.actions)
        elif sources.KEY in obj:
            # its rig stays in the other file
            del obj[sources.KEY]
        for item in missing[:1]:
            file = next(file for file, names in files.items() if any(item in n for n in names))
            warnings.append(diagnose("RIG_LEFT_BEHIND", obj.name, missing=item, file=str(file)))
    return sorted(found.values(), key=lambda obj: obj.name)


def _keep_rigs(
    rigs: list[bpy.types.Object],
    actions: dict[str, bpy.types.Action],
    collection: bpy.types.Collection,
) -> None:
    """Put rigs into their collection, and keep their actions, which nothing else does."""
    for obj in set(rigs) - set(collection.objects):
        collection.objects.link(obj)
    for action in actions.values():
        if action.library is None:
            action.use_fake_user = True
        elif action not in (kept := list(collection.values())):
            # a fake user keeps nothing that is linked
            collection[f"{_KEPT}_{len(kept)}"] = action


@dataclass(frozen=True)
class _Found:
    """What came from other files, by the names that it had there."""

    objects: dict[str, bpy.types.Object] = field(default_factory=dict)
    actions: dict[str, bpy.types.Action] = field(default_factory=dict)

    def missing(self, names: _Names) -> list[str]:
        """Which of these names of objects and actions are not there."""
        missing = [name for name in names[0] if name not in self.objects]
        return missing + [name for name in names[1] if name not in self.actions]

    def add(self, path: Path, names: _Names, *, link: bool) -> None:
        """Append or link what a file has of these names."""
        libraries: Any = bpy.data.libraries
        with libraries.load(str(path), link=link) as (there, wanted):
            objects = [name for name in names[0] if name in there.objects]
            actions = [name for name in names[1] if name in there.actions]
            wanted.objects, wanted.actions = list(objects), list(actions)
        self.objects.update(_there(objects, wanted.objects))
        self.actions.update(_there(actions, wanted.actions))


def _there(names: list[str], items: list[Any]) -> dict[str, Any]:
    return {name: item for name, item in zip(names, items, strict=True) if item is not None}


def _needs(path: Path) -> tuple[dict[str, _Names], dict[Path, _Names]]:
    """What the characters of a file were made of, and in which files that is.

    The scenes of the file are linked with all that they hold, and go again.

    Returns:
        Names of the objects and of the actions of each character; and of all of these, characters
        included, by their files.
    """
    libraries: Any = bpy.data.libraries
    before = set(libraries)
    with libraries.load(str(path.resolve()), link=True) as (there, wanted):
        wanted.objects, wanted.scenes = list(there.objects), list(there.scenes)
        own = list(there.objects), list(there.actions)
    found = filter(library.is_character, wanted.objects)
    needs = {obj.name: sources.names_of(obj) for obj in found}
    # what moves without actions cannot become heroes
    needs = {name: names if all(names) else ([], []) for name, names in needs.items()}
    files: dict[Path, _Names] = {path.resolve(): ([], [])}
    wished = (
        [*needs, *(n for objects, _ in needs.values() for n in objects)],
        [n for _, actions in needs.values() for n in actions],
    )
    kinds: Any = (bpy.data.objects, bpy.data.actions)
    for kind, items in enumerate(kinds):
        linked = {item.name: item for item in items if item.library}
        for name in dict.fromkeys(wished[kind]):
            file = path.resolve()
            if name not in own[kind] and name in linked:
                file = Path(bpy.path.abspath(linked[name].library.filepath)).resolve()
            files.setdefault(file, ([], []))[kind].append(name)
    for made in set(libraries) - before:
        libraries.remove(made)
    return needs, files
