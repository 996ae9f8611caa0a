"""Make characters: bodies that crowds show, of rigs and their actions."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import bpy

from ...core.characters.memory import check_memory, expected_poses
from ...core.characters.pose_space import split_clips
from ...core.characters.recipe import Recipe, optional_part, way_per_pose
from ...core.characters.rows import Plan
from ...core.errors import CharacterError, short
from ..characters import bodies, levels, library, making, rigs, sources
from ..checks import character_checks
from ..display import display
from ..scene_units import units_per_meter
from .character_lists import STEER_PG_action_use, STEER_PG_part_use
from .common import active_object, counted, why_not_object_mode
from .stepping import SteppedOperator

if TYPE_CHECKING:
    from .common import Returned
    from .stepping import Work

_ROLES = ("stand", "walk", "run")


def why_no_rig(context: bpy.types.Context) -> str:
    """Why no character can be made of the active object; empty when one can."""
    obj = active_object(context)
    if obj is None:
        return "Select an armature, or the object above all others that move"
    if obj.type not in ("ARMATURE", "MESH", "EMPTY"):
        return f"{obj.name!r} is no armature, mesh or empty: select the rig of the character"
    return ""


class OBJECT_OT_steer_make_character(SteppedOperator, bpy.types.Operator):
    """Sample the active rig's actions to a character that crowds can show by the thousands"""

    bl_idname = "object.steer_make_character"
    bl_label = "Make Character"
    needs = (why_not_object_mode, why_no_rig)
    doing = "Making a character"

    name: bpy.props.StringProperty(
        name="Name",
        options={"SKIP_SAVE"},
        description="Name of the character; empty for that of the rig",
    )
    stand_action: bpy.props.StringProperty(
        name="Stand",
        options={"SKIP_SAVE"},
        description="Action that shows standing; without one a pose of the walk is held",
    )
    walk_action: bpy.props.StringProperty(
        name="Walk",
        options={"SKIP_SAVE"},
        description="Action that shows one cycle of walking: a step of each foot",
    )
    run_action: bpy.props.StringProperty(
        name="Run",
        options={"SKIP_SAVE"},
        description="Action that shows one cycle of running; without one, the character walks only",
    )
    clips: bpy.props.StringProperty(
        name="Clips",
        options={"SKIP_SAVE"},
        description="Names of further actions, separated by commas; NAME=ACTION plays an action "
        "under another name",
    )
    once: bpy.props.StringProperty(
        name="Once",
        options={"SKIP_SAVE"},
        description="Names, separated by commas, of clips that play once although they end as they "
        "begin",
    )
    loops: bpy.props.StringProperty(
        name="Loop",
        options={"SKIP_SAVE"},
        description="Names, separated by commas, of clips that repeat although they end elsewhere",
    )
    feet: bpy.props.StringProperty(
        name="Feet",
        options={"SKIP_SAVE"},
        description="Bones or objects that stand on the ground, separated by commas; empty finds "
        "them by their motion",
    )
    without: bpy.props.StringProperty(
        name="Without",
        options={"SKIP_SAVE"},
        description="Objects of the rig that are left out, separated by commas",
    )
    optional: bpy.props.StringProperty(
        name="Optional",
        options={"SKIP_SAVE"},
        description="Objects that some agents have, separated by commas, each with the share of "
        "those who do, such as hat=0.3",
    )
    actions: bpy.props.CollectionProperty(type=STEER_PG_action_use, options={"SKIP_SAVE"})
    parts: bpy.props.CollectionProperty(type=STEER_PG_part_use, options={"SKIP_SAVE"})
    active_action: bpy.props.IntProperty(options={"HIDDEN", "SKIP_SAVE"})
    active_part: bpy.props.IntProperty(options={"HIDDEN", "SKIP_SAVE"})
    stride: bpy.props.FloatProperty(
        name="Stride",
        description="Way of one cycle of walking; 0 measures it from the planted feet",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        unit="LENGTH",
        options={"SKIP_SAVE"},
    )
    way_per_pose: bpy.props.FloatProperty(
        name="Way per Pose",
        description="Ground distance between two poses; planted feet slip less with a smaller one, "
        "and poses take more memory",
        default=0.005,
        min=0.0,
        soft_max=0.05,
        precision=4,
        unit="LENGTH",
        options={"SKIP_SAVE"},
    )
    faces: bpy.props.FloatProperty(
        name="Faces",
        description="Share of the faces that is kept; less takes less memory",
        default=1.0,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
    )
    levels: bpy.props.IntProperty(
        name="Levels of Detail",
        description="Further meshes for agents that are small in the camera's picture, each with a "
        "third of the faces",
        default=0,
        min=0,
        max=levels.MOST,
    )
    frame_start: bpy.props.IntProperty(
        name="Frame Start", description="First frame of one cycle", default=1
    )
    frame_end: bpy.props.IntProperty(
        name="End", description="Last frame of one cycle, which shows the first pose", default=24
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "Returned":
        """Guess what the actions show, and let the user correct it."""
        rig = context.object
        try:
            rigs.parts_of(rig)
        except CharacterError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.name = self.name or making.name_of(rig)
        self._guess(context)
        self._fill_lists(rig)
        self._uses = [item.use for item in self.actions]
        self._counts = rigs.counts(rig, context.evaluated_depsgraph_get())
        result: Returned = context.window_manager.invoke_props_dialog(self, width=460)
        return result

    def _guess(self, context: bpy.types.Context) -> None:
        rig = context.object
        if not self.properties.is_property_set("way_per_pose"):
            unit = units_per_meter(context.scene)
            self.way_per_pose = way_per_pose(rigs.height(rig) / unit) * unit
        if rig.type != "ARMATURE":
            return
        names = [f"{role}_action" for role in _ROLES]
        if not any(map(self.properties.is_property_set, names)):
            for role, name in rigs.guess_roles(rig).items():
                setattr(self, f"{role}_action", name)

    def _fill_lists(self, rig: bpy.types.Object) -> None:
        if rig.type == "ARMATURE":
            roles = {getattr(self, f"{role}_action"): role.upper() for role in _ROLES}
            clips = {action for _, action in self._clips()}
            used = clips | roles.keys()
            # what is guessed stands at the top of a long list
            for action in sorted(rigs.actions_of(rig), key=lambda one: one.name not in used):
                item = self.actions.add()
                item.name = action.name
                item.use = roles.get(action.name, "CLIP" if action.name in clips else "NONE")
                item.loops = rigs.loops(rig, action)
            if not self.feet:
                self.feet = ", ".join(rigs.guess_feet(rig))
        left_out, chances = _words(self.without), dict(self._optional())
        for part in rigs.candidates(rig):
            item = self.parts.add()
            item.name, item.use = part.name, part.name not in left_out
            item.chance = chances.get(part.name, 1.0)

    def check(self, context: bpy.types.Context) -> bool:
        """Give each role to the action that was chosen last."""
        uses = [item.use for item in self.actions]
        for number, (use, before) in enumerate(zip(uses, self._uses, strict=True)):
            if use != before and use not in ("NONE", "CLIP"):
                for other, item in enumerate(self.actions):
                    if other != number and item.use == use:
                        item.use = "NONE"
        self._uses = [item.use for item in self.actions]
        return True

    def draw(self, context: bpy.types.Context) -> None:
        """Actions for armatures, frames for everything else; and what the poses may take."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "name")
        if context.object.type == "ARMATURE":
            if not self.actions:
                told = "No action moves this rig: import, link or make a walk"
                layout.label(text=told, icon="ERROR")
            layout.template_list(
                "STEER_UL_actions", "", self, "actions", self, "active_action", rows=6, maxrows=10
            )
            layout.prop(self, "feet", placeholder="Found by their motion")
        else:
            if rig := bodies.armature_of(context.object):
                layout.label(text=f"Select armature {rig.name!r} to use its actions", icon="INFO")
            column = layout.column(align=True)
            column.prop(self, "frame_start")
            column.prop(self, "frame_end")
        if len(self.parts) > 1:
            layout.template_list(
                "STEER_UL_parts", "", self, "parts", self, "active_part", rows=3, maxrows=6
            )
        layout.prop(self, "stride")
        if self.stride == 0.0:
            layout.label(text="0: Measured from the Planted Feet", icon="BLANK1")
        for name in ("way_per_pose", "faces", "levels"):
            layout.prop(self, name)
        layout.label(text=self._memory(context), icon="INFO")

    def _memory(self, context: bpy.types.Context) -> str:
        parts = [self._counts[item.name] for item in self.parts if item.use]
        vertices, faces = (int(self.faces * sum(part[k] for part in parts)) for k in (0, 1))
        height = rigs.height(context.object) / units_per_meter(context.scene)
        fps = context.scene.render.fps / context.scene.render.fps_base
        try:
            recipe = self._recipe(context)
            recipe.check_names()
            poses = expected_poses(recipe, height, rigs.seconds(context.object, recipe, fps))
            return f"About {check_memory(poses, vertices, faces, recipe)}"
        except CharacterError as error:
            return str(error)

    def execute(self, context: bpy.types.Context) -> "Returned":
        """Guess what the actions show where a script gives none of them, then run."""
        if not self.actions:
            self._guess(context)
        return super().execute(context)

    def _clips(self) -> list[tuple[str, str]]:
        return [_clip(word) for word in _words(self.clips)]

    def _optional(self) -> list[tuple[str, float]]:
        if self.parts:
            return [(p.name, p.chance) for p in self.parts if p.use and p.chance < 1.0]
        return [optional_part(word) for word in _words(self.optional)]

    def _recipe(self, context: bpy.types.Context) -> Recipe:
        unit, posed = units_per_meter(context.scene), context.object.type == "ARMATURE"
        roles: dict[str, Any] = {
            role: getattr(self, f"{role}_action") if posed else "" for role in _ROLES
        }
        clips, once, loops = self._clips(), _words(self.once), _words(self.loops)
        if self.actions:
            # the dialog was shown: what is chosen there counts
            for role in _ROLES:
                found = (item.name for item in self.actions if item.use == role.upper())
                roles[role] = next(found, "")
            names = {action: name for name, action in clips}
            chosen = [item for item in self.actions if item.use == "CLIP"]
            clips = [(names.get(item.name, item.name), item.name) for item in chosen]
            ends = [names.get(item.name, item.name) for item in chosen if not item.loops]
            loops, once = [name for name, _ in clips if name not in ends], ends
        left_out = [item.name for item in self.parts if not item.use]
        return Recipe(
            **roles,
            clips=tuple(clips),
            once=tuple(once),
            loops=tuple(loops),
            feet=tuple(_words(self.feet)),
            without=tuple(left_out if self.parts else _words(self.without)),
            optional=tuple(self._optional()),
            plan=Plan(
                tolerance=self.way_per_pose / unit,
                stride=self.stride / unit if self.stride > 0.0 else None,
            ),
            faces=self.faces,
            levels=self.levels,
            frames=(self.frame_start, self.frame_end),
        )

    def work(self, context: bpy.types.Context) -> "Work":
        """Make the character; the rig stays selected."""
        rig = context.object
        made = yield from making.making(context.scene, rig, self._recipe(context), name=self.name)
        for sentence in made.left_out:
            self.report({"WARNING"}, sentence)
        return _told("Made", made)


def sourced_characters(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The characters that are made again: the active one, those of its crowd, or of its rig."""
    obj = active_object(context)
    if obj is None or library.is_character(obj):
        return [] if obj is None else [obj]
    if display.find_modifier(obj) is not None:
        found = character_checks.shown_characters(obj)
    else:
        found = [other for other in bpy.data.objects if sources.is_made_of(other, obj)]
    return [character for character in found if sources.KEY in character]


def why_no_source(context: bpy.types.Context) -> str:
    """Why no character can be made again; empty when one can."""
    obj = active_object(context)
    if obj is None or not sourced_characters(context):
        return "Select a character, the rig that it was made of, or a crowd that shows it"
    if library.is_character(obj) and sources.KEY not in obj:
        return f"{obj.name!r} was not made of a rig: select a character that was"
    return ""


class OBJECT_OT_steer_make_anew(SteppedOperator, bpy.types.Operator):
    """Make a character again from its rig, with the settings that it was made with"""

    bl_idname = "object.steer_make_anew"
    bl_label = "Make Character Again"
    needs = (why_not_object_mode, why_no_source)
    doing = "Making the character again"

    name: bpy.props.StringProperty(
        name="Name",
        options={"SKIP_SAVE"},
        description="Name of the character; empty for the active one, or those of the active crowd "
        "or rig",
    )

    def work(self, context: bpy.types.Context) -> "Work":
        """Make it; crowds that show it show the new poses."""
        wanted = sourced_characters(context)
        if self.name:
            obj = bpy.data.objects.get(self.name)
            if obj is None or not library.is_character(obj):
                raise CharacterError(
                    f"There is no character {short(self.name)}: select one of the collection "
                    f"{library.COLLECTION_NAME!r}"
                )
            wanted = [obj]
        told = []
        for character in wanted:
            made = yield from _made_anew(context, character)
            told.append(_told("Made again:", made))
        return "; ".join(told)


def _made_anew(
    context: bpy.types.Context, obj: bpy.types.Object
) -> Generator[float, None, making.Made]:
    rig, recipe = sources.require_source(obj)
    scene = rig.users_scene[0] if rig.users_scene else context.scene
    try:
        made = yield from making.making(scene, rig, recipe, obj)
    except CharacterError as error:
        raise CharacterError(
            f"{error}; to choose another one, select {rig.name!r} and use Object > Crowd > "
            "Make Character"
        ) from None
    character_checks.check(obj)
    return made


def _told(what: str, made: making.Made) -> str:
    feet = f", feet: {', '.join(made.feet[:6])}" if made.feet else ""
    clips, rounds, _lasts = split_clips(made.space.clips)
    turns = " and turns on the spot" if rounds else ""
    return (
        f"{what} {made.character.name!r} with {counted(len(made.space.gaits), 'gait')}, "
        f"{counted(len(clips), 'clip')}{turns}: {made.memory}{feet}"
    )


def _words(text: str) -> list[str]:
    return [word for word in map(str.strip, text.split(",")) if word]


def _clip(text: str) -> tuple[str, str]:
    """The name of a clip and its action."""
    name, equals, action = text.partition("=")
    return name.strip(), action.strip() if equals else name.strip()


classes = (OBJECT_OT_steer_make_character, OBJECT_OT_steer_make_anew)
