"""What actions show, guessed from the words of their names, in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

ROLES = {
    "stand": r"""
        \w*idle\w*|stand(?:ing)? idl stnd wait waiting rest resting breath breathing
        stehen steht stehend warten leerlauf debout attente attendre repos parad[oa] quiet[oa]
        reposo espera ocios[oa] ferm[oa] attesa riposo staan wachten stoi stanie
        стоит стоять стойка ожидани\w \w*待[機机]\w* \w*立[ちつ]\w* \w*站立\w* \w*대기\w*
    """,
    "walk": r"""
        \w*walk(?!er)\w* wlk gehen geht gang marche marcher camina caminar caminata caminando
        andar andando caminhar caminhada camminata camminare cammina wandelen lopen
        chod chodzenie chodzi ходьба идет идти \w*歩[きくい]\w* \w*行走\w* \w*走路\w* \w*걷\w*
        laufen lauf laufend
    """,
    "run": r"""
        \w*run(?:ning)?|running\w*|run(?![egnt])\w* jog\w* \w*sprint\w* rn
        rennen rennt renn courir course correr corrida corriendo correndo corsa correre
        bieg biegnie бег бежит бежать \w*走[りるっ]\w* \w*跑\w* \w*달리\w*
        laufen lauf laufend
    """,
}
"""Words by what they show, those that say it most surely first."""
_BESIDE = r"""
    \w*back\w* \w*strafe\w* \w*left \w*right \w*crouch\w* \w*sneak\w* \w*jump\w* \w*melee\w*
    \w*ranged aim\w* lie lying sit\w* \w*start end \w*stop turn\w* \w*turn up down pose
    bwd bkwd bck bk b lft rgt rt l r bl br fl fr
    ruckwart\w* links rechts arriere gauche droite atras izquierda derecha
"""
"""Words of actions that show something else beside."""
_DEED = r"""
    \w*attack\w* hit\w* throw\w* pick\w* interact\w* use \w*shoot(?!ing)\w* reload\w* death\w* die
    dies dying fall falls raise\w* getup \w*standup kick\w* punch\w* slice\w* stab stabs chop\w*
    once
"""
"""Words of actions that are done once, although a figure stands after them as before."""
_DEEDS = re.compile(r"\bjump (full|start|land)|\b(get|stand) up\b")
"""The same, of several words."""
_BREAK = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\D)(?=\d)|(?<=\d)(?=\D)|[\W_]+"
)
"""Where a word of a name ends."""


def _plain(text: str) -> str:
    """A text without accents."""
    letters = unicodedata.normalize("NFKD", text)
    kept = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return unicodedata.normalize("NFC", kept)


def _words(name: str) -> list[str]:
    """The words of a name in small letters, without the name of a rig before `|`."""
    parts = _BREAK.split(_plain(name.partition("|")[2] or name))
    return [part.casefold() for part in parts if part]


def _spaced(name: str) -> str:
    return " ".join(_words(name))


def _compiled(words: str) -> re.Pattern[str]:
    """A pattern with a group for each word."""
    return re.compile("|".join(f"({word})" for word in _plain(words).split()))


_ROLES = {role: _compiled(words) for role, words in ROLES.items()}
_ASIDE, _DONE = _compiled(_BESIDE), _compiled(_DEED)


def _rank(words: Iterable[str], pattern: re.Pattern[str]) -> int:
    """Number of the first of its words, from 1 on, that is one of those; 0 without any."""
    found = (pattern.fullmatch(word) for word in words)
    return min((match.lastindex or 0 for match in found if match), default=0)


def guess_roles(names: Iterable[str], own: Iterable[str] = ()) -> dict[str, str]:
    """Names of the actions that show standing, walking and running, where there are any.

    Args:
        names: Names of actions.
        own: Names of those that count more.
    """
    left = {name: _words(name) for name in names if not _DEEDS.search(_spaced(name))}
    own = set(own)
    result: dict[str, str] = {}
    for role, pattern in _ROLES.items():
        ranks = {name: _rank(words, pattern) for name, words in left.items()}
        ranks = {name: rank for name, rank in ranks.items() if rank}
        if ranks:
            result[role] = min(
                ranks,
                key=lambda n: (bool(_rank(left[n], _ASIDE)), n not in own, ranks[n], len(n), n),
            )
            del left[result[role]]
    return result


def is_deed(name: str) -> bool:
    """Whether an action is named after something that is done once."""
    return bool(_rank(_words(name), _DONE) or _DEEDS.search(_spaced(name)))
