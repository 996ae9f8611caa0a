"""What actions show, by their names: in the words of several languages, and not within others."""

from __future__ import annotations

import pytest

from steer_addon.core.characters.action_names import guess_roles, is_deed


def guessed(*names):
    found = guess_roles(names)
    return tuple(found.get(role, "") for role in ("stand", "walk", "run"))


@pytest.mark.parametrize(
    "names",
    [
        ("stehen", "gehen", "laufen"),
        ("Stand", "Laufen", "Rennen"),
        ("debout", "Marche", "course"),
        ("Repos", "marcher", "courir"),
        ("parado", "caminar", "correr"),
        ("Reposo", "andar", "correr"),
        ("Fermo", "camminata", "corsa"),
        ("staan", "lopen", "rennen"),
        ("stoi", "chód", "bieg"),
        ("стоит", "ходьба", "бег"),
        ("стойка", "ходьба", "бег"),
        ("待機", "歩き", "走り"),
        ("待机", "行走", "跑步"),
        ("대기", "걷기", "달리기"),
        ("Idl", "Wlk", "Rn"),
        ("idle_01", "walk_01", "run_01"),
        ("loco_idle", "loco_walk_fwd", "loco_run_fwd"),
        ("HumanArmature|Idle", "HumanArmature|Walk", "HumanArmature|Run"),
        ("Walker|Idle", "Walker|Walk", "Walker|Run"),
        ("Runner|Runner|Idle|BaseLayer", "Runner|Runner|Walk|BaseLayer", "Runner|Runner|Run|Base"),
        ("MaleIdle", "MaleWalk", "MaleRun"),
        ("humanidle", "humanwalk", "humanrun"),
        ("IDLE", "WALKCYCLE", "RUNCYCLE"),
        ("Standing", "Walking_A", "Running_A"),
        ("Breathing Idle", "Walking", "Jogging"),
        ("wait", "strut walk", "sprint"),
    ],
)
def test_standing_walking_and_running_are_found_by_their_names(names):
    assert guessed(*names) == names
    assert guessed(*reversed(names)) == names


@pytest.mark.parametrize(
    "name",
    [
        "drawback", "frunze", "trunk", "Prune", "drunk", "grunt", "rune_cast", "runt", "forest",
        "restart", "wrestle", "arrest", "Walker|Jump", "Runner|Attack", "Walker_Attack", "golf",
        "understand", "standup", "mixamo.com", "Armature|mixamo.com|Layer0", "marshal", "concourse",
    ],
)  # fmt: skip
def test_what_merely_holds_such_letters_is_not_taken(name):
    assert guessed(name) == ("", "", "")


def test_of_several_the_one_that_goes_straight_ahead_is_taken():
    assert guessed("run_b", "run_f", "run_l", "walk_bwd", "walk_fwd")[1:] == ("walk_fwd", "run_f")
    assert guessed("WalkLeft", "Walk_Forward", "crouch_walk")[1] == "Walk_Forward"
    assert guessed("Walking_B", "Walking_A")[1] == "Walking_A"
    # laufen is to walk in one half of the country, and to run in the other
    assert guessed("laufen", "gehen", "rennen")[1:] == ("gehen", "rennen")


@pytest.mark.parametrize(
    ("name", "deed"),
    [
        ("Attack", True), ("SwordAttack", True), ("Hit_A", True), ("Jump_Full_Short", True),
        ("Soldier|Dance", False), ("white_dance", False), ("Jump_Idle", False), ("PickUp", True),
        ("Lie_StandUp", True), ("Use_Item", True), ("Falling_Idle", False), ("Throw", True),
        ("Spellcast_Shoot", True), ("2H_Ranged_Shooting", False), ("Death_A", True), ("Die", True),
        ("get_up", True), ("1H_Melee_Attack_Chop", True), ("stable", False), ("pause_loop", False),
    ],
)  # fmt: skip
def test_deeds_are_done_once(name, deed):
    assert is_deed(name) == deed


def test_getting_up_is_no_standing():
    assert guessed("Lie_StandUp", "stand_up", "StandUp") == ("", "", "")


def test_an_action_that_the_rig_plays_goes_first():
    found = guess_roles(["Walk", "Old Walk"], own=["Old Walk"])
    assert found == {"walk": "Old Walk"}
    assert guessed("Treadmill Running", "Run")[2] == "Run"
