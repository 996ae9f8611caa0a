"""Faults and facts worth knowing, as data: a code, its subject, and the values found.

Code that acts on a diagnosis asks for its code, its remedy and its values. People read its
sentence, which stands in `diagnoses.toml` with the severity, the remedy and a line for the docs.
That is a data file since the text of this module is part of what kernels are compiled from: words
may change without that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .doors import tomllib

CATALOG = Path(__file__).with_name("diagnoses.toml")


class Entry(NamedTuple):
    """Entry of the catalog for a code.

    Attributes:
        section: The part of the docs that explains it.
        severity: ERROR, WARNING, UNSURE, INFO or DONE.
        sentence: Text for people, with places for the subject and the values.
        help: Explanation in the docs, in one line.
        one: The sentence where the value `count` is 1; empty for the same.
        remedy: Code of the way out; empty for none.
    """

    section: str
    severity: str
    sentence: str
    help: str
    one: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """Something that a user may want to know or to change.

    Attributes:
        code: A code of the catalog.
        subject: Name of what it is about: an object, a crowd, a behavior.
        values: Other findings, by name: numbers, names, other diagnoses and tuples of these.
    """

    code: str
    subject: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        """Equal diagnoses have equal hashes; values may be of any kind."""
        return hash((self.code, self.subject))

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    @property
    def severity(self) -> str:
        """How bad it is: ERROR, WARNING, UNSURE, INFO or DONE."""
        return catalog()[self.code].severity

    @property
    def remedy(self) -> str:
        """Code of the way out; empty for none."""
        return catalog()[self.code].remedy

    @property
    def sentence(self) -> str:
        """Sentence for people."""
        entry = catalog()[self.code]
        text = entry.one if entry.one and self.values.get("count") == 1 else entry.sentence
        shown = {name: _shown(value) for name, value in self.values.items()}
        return text.format(subject=self.subject, **shown)

    def having(self, **values: Any) -> Diagnosis:
        """The same with more values."""
        return Diagnosis(self.code, self.subject, {**self.values, **values})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "code": self.code,
            "subject": self.subject,
            "values": {name: _plain(value) for name, value in self.values.items()},
            "severity": self.severity,
            "remedy": self.remedy,
            "sentence": self.sentence,
        }


def diagnose(code: str, subject: str = "", /, **values: Any) -> Diagnosis:
    """A diagnosis, with its values as keywords."""
    return Diagnosis(code, subject, values)


def add_new(known: list[Diagnosis], found: Iterable[Diagnosis]) -> None:
    """Add those diagnoses to a list that it does not have yet."""
    known += [diagnosis for diagnosis in dict.fromkeys(found) if diagnosis not in known]


@cache
def catalog() -> dict[str, Entry]:
    """Everything that can be diagnosed, by its code, in the order of the docs."""
    sections = tomllib.loads(CATALOG.read_text(encoding="utf-8"))
    return {
        code: Entry(section, **entry)
        for section, entries in sections.items()
        for code, entry in entries.items()
    }


def _shown(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Diagnosis):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, (str, int, float, bool)) else str(value)
