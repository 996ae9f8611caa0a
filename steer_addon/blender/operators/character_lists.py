"""Lists in the dialog of Make Character: the actions of a rig, and its objects."""

import bpy

_USES = (
    ("NONE", "-", "It is not part of the character"),
    ("STAND", "Stand", "It shows standing"),
    ("WALK", "Walk", "It shows one cycle of walking: a step of each foot"),
    ("RUN", "Run", "It shows one cycle of running"),
    ("CLIP", "Clip", "It is kept as a clip of its own"),
)


class STEER_PG_action_use(bpy.types.PropertyGroup):
    """What an action is used for; its name is that of the action"""

    use: bpy.props.EnumProperty(name="Use", description="What the action shows", items=_USES)
    loops: bpy.props.BoolProperty(
        name="Loop", description="Whether the clip begins again at its end"
    )


class STEER_PG_part_use(bpy.types.PropertyGroup):
    """Whether an object is a part of the character; its name is that of the object"""

    use: bpy.props.BoolProperty(name="Use", description="Part of the character", default=True)
    chance: bpy.props.FloatProperty(
        name="Chance",
        description="Share of the agents that have this part; 1 gives it to all",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )


class STEER_UL_actions(bpy.types.UIList):
    """Actions of a rig, and what each is used for"""

    bl_idname = "STEER_UL_actions"

    def draw_item(  # type: ignore[no-untyped-def]
        self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0
    ) -> None:
        """Name, role, and loop or once."""
        row = layout.split(factor=0.5)
        row.label(text=item.name, icon="ACTION")
        row = row.split(factor=0.6)
        row.prop(item, "use", text="")
        if item.use == "CLIP":
            row.prop(item, "loops", text="Loop" if item.loops else "Once", toggle=True)


class STEER_UL_parts(bpy.types.UIList):
    """Objects of a rig, whether each is a part of the character, and of how many agents"""

    bl_idname = "STEER_UL_parts"

    def draw_item(  # type: ignore[no-untyped-def]
        self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0
    ) -> None:
        """Switch, name and chance."""
        row = layout.row()
        row.use_property_split = False
        row.prop(item, "use", text=item.name)
        row.prop(item, "chance", slider=True)


classes = (STEER_PG_action_use, STEER_PG_part_use, STEER_UL_actions, STEER_UL_parts)
