"""A mypy plugin for types of Blender that `fake-bpy-module` lacks, or states too narrowly.

mypy loads the plugin by its path in pyproject.toml; nothing imports it. Its types are in the
tables below: for an error that is caused only by the stubs, add a line to one of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

from mypy.checker import TypeChecker
from mypy.nodes import ARG_POS, Argument, AssignmentStmt, MypyFile, TypeInfo, Var
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
)
from mypy.plugins.common import add_attribute_to_class, add_method_to_class
from mypy.typeops import is_literal_type_like
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    LiteralType,
    NoneType,
    RawExpressionType,
    Type,
    TypeOfAny,
    UnboundType,
    UnionType,
    get_proper_type,
)
from mypy.types_utils import remove_optional

TYPES_MODULE = "steer_addon.blender.crowd.property_types"
ADDED = {
    "bpy.types.Object.steer": f"{TYPES_MODULE}.SteerCrowd",
    "bpy.types.Object.steer_area": "steer_addon.core.crowd.area_settings.AreaSettings",
    "bpy.types.Scene.steer_overlay": "steer_addon.blender.overlay.settings.SteerOverlay",
}
"""Properties that the extension registers at run time, and their types."""

UNTYPED = (
    # Subtypes have these attributes; the base type that the stubs name has none.
    "bpy.types.Attribute.data",
    "bpy.types.NodeSocket.default_value",
    "bpy.types.ActionStrip.channelbag",
    "bpy.types.Strip.elements",
    "bpy.types.NodeTree.is_modifier",
    "bpy.types.Property.enum_items",
    "bpy.types.Space.overlay",
    "bpy.types.Space.show_gizmo_context",
    # From 5.2 on.
    "bpy.types.NodesModifier.properties",
)
"""Attributes of objects that the stubs lack, without a particular type."""

BY_KIND = {"bpy.types.Object.data", "bpy.types.NodeTreeInterface.items_tree"}
"""Attributes whose type depends on the owner's `type`: assign them to a typed variable."""

NEVER_NONE = {
    # Blender calls draw() with a layout.
    "bpy.types.Panel.layout",
    "bpy.types.Menu.layout",
    "bpy.types.Operator.layout",
    # A file has at least one of each, and the context always has one.
    "bpy.types.Context.scene",
    "bpy.types.Context.collection",
    "bpy.types.Context.preferences",
    "bpy.types.Context.view_layer",
    "bpy.types.Context.window_manager",
    "bpy.types.Context.workspace",
    "bpy.types.Window.scene",
    "bpy.types.Window.view_layer",
    # Parts of their owner, made and freed with it.
    "bpy.types.NodeTree.interface",
    "bpy.types.Preferences.filepaths",
    "bpy.types.Preferences.system",
    "bpy.types.Scene.collection",
    "bpy.types.Scene.cursor",
    "bpy.types.Scene.display",
    "bpy.types.Scene.render",
    "bpy.types.Scene.view_settings",
    "bpy.types.SceneDisplay.shading",
    "bpy.types.RenderSettings.ffmpeg",
    "bpy.types.RenderSettings.image_settings",
    "bpy.types.FCurve.driver",
    "bpy.types.DriverTarget.id",
    # From 5.0 on there is always one; before, a material or world that uses nodes has one.
    "bpy.types.Material.node_tree",
    "bpy.types.World.node_tree",
    # Attributes of instances that the depsgraph lists.
    "bpy.types.DepsgraphUpdate.id",
    "bpy.types.DepsgraphObjectInstance.object",
    "bpy.types.DepsgraphObjectInstance.parent",
    "bpy.types.Depsgraph.scene",
    "bpy.types.ViewLayer.depsgraph",
    "bpy.types.ID.original",
    "bpy.types.Scene.cycles",
    "bpy.types.Scene.eevee",
}
"""Attributes that are None in the stubs only, not where an extension reads them."""

POLLED = {
    f"bpy.types.Context.{name}"
    for name in ("area", "object", "region", "region_data", "screen", "space_data", "window")
}
"""The same for operators and gizmos, whose `poll` Blender asks first, and for what views draw."""

WITH_POLL = (
    "steer_addon.blender.operators.",
    "steer_addon.blender.overlay.gizmos",
    "steer_addon.blender.overlay.view",
)
"""Modules of these, by how their names begin."""

PARTS_OF_NODES = (".inputs", ".outputs", ".color_ramp")
"""The same for these attributes of every class."""

ANY_TEXT = {
    "bpy.types.ColorRamp.interpolation",
    "bpy.types.ShaderNodeMath.operation",
    "bpy.types.RenderSettings.engine",
    "bpy.types.ColorManagedViewSettings.view_transform",
    "bpy.types.ColorManagedViewSettings.look",
}
"""Choices that come from tables, or of which the stubs know one where add-ons bring others."""

ITERABLE = {
    "mathutils.Vector": "builtins.float",
    "mathutils.Euler": "builtins.float",
    "mathutils.Quaternion": "builtins.float",
    "mathutils.Color": "builtins.float",
    "mathutils.Matrix": "mathutils.Vector",
}
"""Sequences and their item types; the stubs give them only `__getitem__` and `__len__`."""

MADE: dict[str, dict[str, str] | None] = {
    "bpy.types.Nodes.new": None,
    "bpy.types.BlendDataNodeTrees.new": None,
    "bpy.types.ObjectModifiers.new": {
        "NODES": "NodesModifier",
        "MESH_CACHE": "MeshCacheModifier",
        "MESH_SEQUENCE_CACHE": "MeshSequenceCacheModifier",
    },
    "bpy.types.ObjectConstraints.new": {"ARMATURE": "ArmatureConstraint"},
    "bpy.types.BlendDataLights.new": {"SUN": "SunLight", "AREA": "AreaLight"},
    "bpy.types.BlendDataCurves.new": {"FONT": "TextCurve"},
}
"""Methods whose argument `type` decides the result: a type of the same name, or of a table."""

CHOOSING = ("bpy.types.UILayout.", "bpy.types.AttributeGroupMesh.new")
"""Methods that take choices from tables, by prefixes of their names."""

RETURNING = (
    "bpy.props.",
    "bpy.utils.register_classes_factory",
    "bpy.utils.register_cli_command",
    "gpu.state.viewport_get",
    "bpy.types.Object.evaluated_geometry",
    "bpy.types.UI_UL_list.",
)
"""Functions whose return type the stubs lack, by prefixes of their names."""

PLAIN = {
    "BoolProperty": "bool",
    "EnumProperty": "str",
    "FloatProperty": "float",
    "IntProperty": "int",
    "StringProperty": "str",
}
"""Value types of properties that are declared by a call in an annotation."""

ANY = AnyType(TypeOfAny.explicit)


def _annotation(call: ast.Call) -> Type:
    """The type of the values of a property, from the call that declares it."""
    kind = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    options = {word.arg: word.value for word in call.keywords}
    flags = {c.value for c in ast.walk(call) if isinstance(c, ast.Constant)}
    if kind == "PointerProperty":
        held = UnboundType(ast.unparse(options["type"]))
        return UnionType([held, NoneType()])
    if kind == "CollectionProperty":
        # lists of groups have methods of their own, which the stubs do not know
        return ANY
    if kind == "EnumProperty" and "ENUM_FLAG" in flags:
        return UnboundType("set", [UnboundType("str")])
    return UnboundType(PLAIN[kind])


@cache
def _declared(path: str) -> dict[int, ast.Call]:
    """The calls that stand in place of annotations in a file, by line."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        node.lineno: node.annotation
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Call)
    }


def _read_properties(ctx: ClassDefContext) -> None:
    """Give properties that are declared by a call the type of their values."""
    path = ctx.api.modules[ctx.cls.info.module_name].path
    for statement in ctx.cls.defs.body:
        if isinstance(statement, AssignmentStmt) and isinstance(statement.type, RawExpressionType):
            found = _annotation(_declared(path)[statement.line])
            statement.type = statement.unanalyzed_type = found


def _complete_class(ctx: ClassDefContext) -> None:
    """Add to a class of Blender the attributes that the stubs leave out."""
    fullname = ctx.cls.fullname
    for name in (*ADDED, *UNTYPED):
        owner, _, attribute = name.rpartition(".")
        if owner == fullname:
            # `get_attribute_hook` says of which type it is, once all modules are read
            add_attribute_to_class(ctx.api, ctx.cls, attribute, ANY)
    if fullname == "bpy.types.bpy_struct":
        key = Argument(Var("key"), ANY, None, ARG_POS)
        found = ctx.api.named_type("builtins.bool")
        add_method_to_class(ctx.api, ctx.cls, "__contains__", [key], found)
    if fullname in ITERABLE:
        part = ctx.api.named_type_or_none(ITERABLE[fullname])
        iterator = ctx.api.named_type_or_none("typing.Iterator", [part or ANY])
        add_method_to_class(ctx.api, ctx.cls, "__iter__", [], iterator or ANY)


def _named(ctx: AttributeContext, fullname: str) -> Type:
    """A class by its full name."""
    module, _, name = fullname.rpartition(".")
    # mypy offers plugins no access to the contents of modules
    assert isinstance(ctx.api, TypeChecker)
    info = ctx.api.modules[module].names[name].node
    assert isinstance(info, TypeInfo)
    return Instance(info, [])


def _polled(ctx: AttributeContext) -> Type:
    assert isinstance(ctx.api, TypeChecker)
    asked = ctx.api.tree.fullname.startswith(WITH_POLL)
    return remove_optional(ctx.default_attr_type) if asked else ctx.default_attr_type


def _id_data(ctx: AttributeContext) -> Type:
    """The owner of a property: an object where it is a part of `Object.steer`."""
    if isinstance(ctx.type, Instance) and ctx.type.type.module_name == TYPES_MODULE:
        return _named(ctx, "bpy.types.Object")
    return remove_optional(ctx.default_attr_type)


def _made(ctx: MethodContext, names: dict[str, str] | None) -> Type:
    """Result of a method whose argument `type` is a literal text in the call."""
    given = ctx.arg_types[ctx.callee_arg_names.index("type")]
    value = get_proper_type(given[0]) if given else None
    if isinstance(value, Instance):
        value = value.last_known_value
    if isinstance(value, LiteralType) and isinstance(value.value, str):
        name = value.value if names is None else names.get(value.value)
        assert isinstance(ctx.api, TypeChecker)
        found = ctx.api.modules["bpy.types"].names.get(name or "")
        if found is not None and isinstance(found.node, TypeInfo):
            return Instance(found.node, [])
    return ctx.default_return_type


def _is_choice(kind: Type) -> bool:
    """Whether a type is a text from a few choices, or a set of them."""
    kind = get_proper_type(kind)
    return any(is_literal_type_like(k) for k in (kind, *getattr(kind, "args", ())))


def _widened(ctx: MethodSigContext | FunctionSigContext) -> CallableType:
    """A signature that takes any text for a choice, since texts from tables have no such type."""
    signature = ctx.default_signature
    kinds = [ANY if _is_choice(kind) else kind for kind in signature.arg_types]
    return signature.copy_modified(arg_types=kinds)


def _returning(ctx: MethodSigContext | FunctionSigContext) -> FunctionLike:
    """A signature that returns something."""
    return _widened(ctx).copy_modified(ret_type=ANY)


class BlenderPlugin(Plugin):
    """The plugin; see the top of the file."""

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        """Make mypy read the modules of the added types wherever Blender is used."""
        if file.fullname.startswith("steer_addon.blender."):
            return [(10, name.rpartition(".")[0], -1) for name in ADDED.values()]
        return []

    def get_customize_class_mro_hook(
        self, fullname: str
    ) -> Callable[[ClassDefContext], None] | None:
        """Hook before a class's body is read."""
        if fullname.startswith("steer_addon.blender."):
            return _read_properties
        return _complete_class if fullname.startswith(("bpy.types.", "mathutils.")) else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """Hook for reading and setting an attribute."""
        if fullname in ADDED:
            return lambda ctx: _named(ctx, ADDED[fullname])
        if fullname == "bpy.types.bpy_struct.id_data":
            return _id_data
        if fullname in POLLED:
            return _polled
        if fullname in BY_KIND:
            return lambda ctx: ANY
        if fullname in NEVER_NONE or fullname.endswith(PARTS_OF_NODES):
            return lambda ctx: remove_optional(ctx.default_attr_type)
        if fullname in ANY_TEXT:
            return lambda ctx: ctx.api.named_generic_type("builtins.str", [])
        return None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Hook for the return type of a method."""
        return (lambda ctx: _made(ctx, MADE[fullname])) if fullname in MADE else None

    def get_method_signature_hook(
        self, fullname: str
    ) -> Callable[[MethodSigContext], FunctionLike] | None:
        """Hook for the signature of a method."""
        if fullname.startswith(RETURNING):
            return _returning
        return _widened if fullname.startswith(CHOOSING) else None

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """Hook for the signature of a function."""
        return _returning if fullname.startswith(RETURNING) else None


def plugin(version: str) -> type[Plugin]:
    """Entry point that mypy calls."""
    return BlenderPlugin
