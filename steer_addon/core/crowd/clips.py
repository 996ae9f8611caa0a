"""Settings of what characters do besides walking."""

from __future__ import annotations

from ..parameters import Settings, param


class ClipsSettings(Settings):
    """What agents that are shown as characters do besides walking."""

    idle: str = param(
        "",
        doc="Names of clips, with commas between, that agents play while they stand; * for all",
        label="Idle Clips",
    )
    idle_share: float = param(
        0.25,
        minimum=0.0,
        maximum=1.0,
        doc="Share of the time that standing agents play clips; more are seen playing at a time",
        per_agent=False,
    )
    idle_time: float = param(
        5.0,
        unit="s",
        minimum=0.0,
        soft_maximum=60.0,
        doc="Mean time for which clips that go round and round go on; more plays each for longer",
        per_agent=False,
    )
    arrival: str = param(
        "",
        doc="Names of clips, with commas between, of which agents play one when they have arrived",
        label="Arrival Clips",
    )
    tempo_spread: float = param(
        0.1,
        minimum=0.0,
        maximum=0.9,
        soft_maximum=0.5,
        doc="Spread of the tempo of standing, clips and wings: more differ more, 0.1 up to 10 %",
        per_agent=False,
    )

    @property
    def names(self) -> bool:
        """Whether any clips are to be played."""
        return bool(self.idle.strip() or self.arrival.strip())

    @staticmethod
    def split(names: str) -> set[str]:
        """Names of a text with commas between, in lower case; * stands for all.

        Args:
            names: The text.
        """
        return {name.strip().casefold() for name in names.split(",")} - {""}

    def plays(self, names: str, clip: str) -> bool:
        """Whether a clip is among those named.

        Args:
            names: Names with commas between, or * for all.
            clip: Name of the clip; upper and lower case are alike.
        """
        found = self.split(names)
        return "*" in found or clip.casefold() in found
