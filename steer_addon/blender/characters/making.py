"""A character made of a rig and its actions, or of anything that moves over frames."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.characters.legs import why_no_steps
from ...core.characters.memory import check_memory
from ...core.characters.pose_space import PoseSpace
from ...core.characters.recipe import Recipe
from ...core.characters.rows import Rows
from ...core.errors import CharacterError, short
from . import copies, joining, levels, library, optional_parts, origins, rigs, sources
from .bodies import Body, Moving, Posed
from .sampling import Sampler

_JUMP, _LEAST_JUMP = 2.0, 0.05
"""Ratio of the largest step from pose to pose to the second largest from which on it is a jump, and
share of the height that it is at least."""
_LOOKED_AT = 500
"""Number of vertices that are looked at for it."""


@dataclass(frozen=True)
class Made:
    """A character that was made.

    Attributes:
        character: The library object.
        space: Its poses.
        memory: What they take, as a text.
        feet: Names of the bones or objects whose vertices stand on the ground.
        left_out: Sentences that name what is not in the poses, jumps, or does not walk.
    """

    character: bpy.types.Object
    space: PoseSpace
    memory: str
    feet: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def name_of(rig: bpy.types.Object) -> str:
    """Name of the character of a rig, where none is given."""
    return f"{rig.name} Character"


def _check_name(name: str) -> None:
    if "," in name:
        raise CharacterError(
            f"Character {short(name)} has a comma in its name, which parts names of characters: "
            "give another name"
        )


def faults(space: PoseSpace, recipe: Recipe, feet: Sequence[NDArray[np.intp]]) -> Iterator[str]:
    """Sentences that name the walk or run that is no cycle of steps, as of an attack.

    Args:
        space: The poses.
        recipe: What they were made of.
        feet: Vertices that stand at some time, of the two feet; none where there are no two.
    """
    actions = {"walk": recipe.walk, "run": recipe.run}
    for row in space.gaits:
        if row.name not in actions or row.count < 3:
            continue
        action, poses = actions[row.name], space.positions[row.first : row.first + row.count]
        if way := _jump(poses):
            yield (
                f"Action {action!r} jumps by {way:.2f} m where it begins again: let it be a whole "
                "cycle, a step of each foot, that ends as it begins"
            )
        elif feet and (why := why_no_steps(poses, feet, row.stride)):
            yield (
                f"Action {action!r} seems to be no {row.name}, as {why}: choose one in which each "
                "foot steps once, unless it is meant to glide"
            )


def _followed(rig: bpy.types.Object) -> Iterator[str]:
    """The sentence that names what bones follow and heroes cannot play, since no action has it."""
    aims = [repr(obj.name) for obj in copies.aims_of(rig) if copies.moves_by_itself(obj, rig)]
    moves = "moves by itself" if len(aims) == 1 else "move by themselves"
    if aims:
        yield (
            f"Bones of {rig.name!r} follow {joining.listed(aims)}, which {moves}: heroes do not "
            "show this motion at the right time; bake each action with Visual Keying (Pose > "
            "Animation > Bake Action), then mute the constraints"
        )


def _jump(poses: NDArray[np.float32]) -> float:
    """How far a cycle jumps where it begins again, as half of one does; 0 where it goes on [m]."""
    poses = poses[:, :: 1 + poses.shape[1] // _LOOKED_AT]
    steps = np.linalg.norm(np.diff(poses, axis=0, append=poses[:1]), axis=2).max(axis=1)
    second, most = np.sort(steps)[-2:].tolist()
    least = max(_JUMP * second, _LEAST_JUMP * float(np.ptp(poses[..., 2])))
    return float(most) if most > least else 0.0


def make_character(
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    recipe: Recipe,
    report: Callable[[float], object] = lambda share: None,
    name: str = "",
) -> Made:
    """Make the library object of a character in one go, see `making`; `report` takes the shares."""
    steps = making(scene, rig, recipe, name=name)
    while True:
        try:
            report(next(steps))
        except StopIteration as end:
            made: Made = end.value
            return made


def making(
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    recipe: Recipe,
    character: bpy.types.Object | None = None,
    name: str = "",
) -> Generator[float, None, Made]:
    """Make the library object of a character; the rig stays as it is.

    Nothing is left of what is closed before its end, but for what Blender makes at the very end.

    Args:
        scene: The scene of the rig, whose frame rate its actions are timed by.
        rig: An armature, or the object above all others that move.
        recipe: Actions or frames, and how the poses are cut.
        character: A library object that gets the new poses; None makes one.
        name: Name of a new one; empty for that of its rig.

    Yields:
        The share of the work that is done, 0 to 1, after each sample.

    Returns:
        The character.

    Raises:
        CharacterError: The rig or an action is not fit for it.
    """
    if character is None:
        recipe.check_names()
        _check_name(name)
    rigs.check_mode(rig)
    parts = rigs.parts_of(rig, recipe.without, recipe.parts)
    copies.check_thin(parts, recipe.faces)
    optional_parts.check([part.name for part in parts], recipe.optional)
    with Sampler(scene, rig, parts, recipe.faces) as sampler:
        body = Posed(sampler, rig, recipe) if sampler.is_posed else Moving(sampler, recipe, rig)
        points = body.first()
        posed = sampler.rig.evaluated_get(sampler.depsgraph)
        rigs.check_scale(rig.name, posed)
        if sampler.is_posed:
            rigs.check_upright(rig.name, posed, recipe.feet or rigs.guess_feet(rig))
        rows = Rows(recipe.plan, body.owners.mask_of(recipe.feet))
        faces = _count_faces(sampler, rig)
        # strides are known only once sampled: a first guess tells what is far too much
        expected = body.expected(points)
        check_memory(expected, len(points), faces, recipe)
        total = expected + body.gait_count() * recipe.plan.steps
        for done, _ in enumerate(body.add_all(rows), 1):
            yield 0.99 * done / (total + max(0, done - 0.9 * total))
        body.first()
        found = body.owners.names_of(body.planted)
        left_out = (*joining.left_out(sampler, rig), *_followed(rig))
        mesh, order = joining.join_parts(sampler, rig.name)
        feet = [np.flatnonzero(np.isin(order, foot)) for foot in body.feet_of_sides()]
        optional_parts.mark(mesh, sampler.names, sampler.sizes, order, recipe.optional)
        coarser = _coarser(mesh, body, order, recipe)
    try:
        space = rows.space()
        space = PoseSpace(np.take(space.positions, order, axis=1), space.gaits, space.clips)
        memory = check_memory(space.pose_count, len(points), faces, recipe)
        further = list(levels.posed(mesh, coarser, space))
        if character is None:
            character = library.make(name.strip() or name_of(rig), mesh, space, scene)
        else:
            library.refill(character, mesh, space)
        levels.put(character, further)
    except BaseException:
        for unused in (mesh, *coarser):
            if unused.users == 0:
                bpy.data.meshes.remove(unused)
        raise
    library.keep_reach(character, space)
    sources.keep(character, rig, replace(recipe, parts=tuple(part.name for part in parts)))
    if isinstance(body, Posed):
        origins.keep(character, rig, parts, rows, body)
    look = (*joining.sliding(character.data), *joining.missing(character.data))
    told = (*left_out, *look, *faults(space, recipe, feet))
    return Made(character, space, memory, found, told)


def _count_faces(sampler: Sampler, rig: bpy.types.Object) -> int:
    """Number of the faces of a body."""
    count = sum(len(t.evaluated_get(sampler.depsgraph).data.polygons) for t in sampler.twins)
    if not count:
        raise CharacterError(
            f"{rig.name!r} shows no faces, so nobody would see the character: give its meshes "
            "faces, or a modifier that makes some"
        )
    return count


def _coarser(
    mesh: bpy.types.Mesh, body: Body, order: NDArray[np.intp], recipe: Recipe
) -> list[bpy.types.Mesh]:
    """Meshes of the levels of detail that a recipe asks for, of a body that has no poses yet."""
    if not recipe.levels:
        return []
    sampler, sizes = body.sampler, body.sampler.sizes
    numbers = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[order]
    return levels.decimated(mesh, body.apart()[order], numbers, recipe.levels, sampler.scene)
