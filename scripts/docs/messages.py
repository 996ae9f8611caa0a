"""Tables of the messages in panels, from the catalog of diagnoses.

The page of each panel has the messages that it shows, each with its remedy. Values that are
inserted into a sentence are "…" there.
"""

from __future__ import annotations

import re

from steer_addon.core.diagnoses import Entry, catalog

_PLACE = re.compile(r"\{[^}]*\}")


def template(entry: Entry) -> str:
    """The sentence of a diagnosis, with "…" for its values."""
    return _PLACE.sub("…", entry.sentence).replace("|", "/")


def table(section: str) -> str:
    """The diagnoses of a section, in the order of the catalog."""
    rows = ["| it says | what to do |", "|---|---|"]
    for entry in catalog().values():
        if entry.section == section:
            rows.append(f"| `{template(entry)}` | {entry.help} |")
    return "\n".join(rows) + "\n"
