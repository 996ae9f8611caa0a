"""Diagnoses as tests ask for them: by their codes, also where only the text is there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steer_addon.core.diagnoses import Diagnosis, catalog

_PLACE = re.compile(r"\{(\w+)[^}]*\}")


def codes(found: Iterable[Diagnosis]) -> list[str]:
    """The codes of diagnoses."""
    return [diagnosis.code for diagnosis in found]


def count_of(text: str, code: str, subject: str = "") -> int:
    """How often a text holds the sentence of a code, about anything or about one subject."""

    def pattern(sentence: str) -> str:
        parts, end = [], 0
        for place in _PLACE.finditer(sentence):
            known = subject if place[1] == "subject" and subject else ""
            known = repr(known) if known and "!r" in place[0] else known
            parts += [re.escape(sentence[end : place.start()]), re.escape(known) or ".+?"]
            end = place.end()
        return "".join([*parts, re.escape(sentence[end:])])

    entry = catalog()[code]
    sentences = [pattern(sentence) for sentence in (entry.sentence, entry.one) if sentence]
    return len(re.findall("|".join(sentences), text))


def says(text: str, code: str, subject: str = "") -> bool:
    """Whether a text holds the sentence of a code, about anything or about one subject."""
    return count_of(text, code, subject) > 0
