"""The section of a suite that says how questions on satellite maps are made and measured."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from portico.world.geodesy import GeodesyName

InstructionStyle = Literal["natural", "formal", "telegraphic"]


class SatNav(BaseModel):
    """How questions on satellite maps are made and measured [SN].

    Attributes:
        height_m: of the flyer above ground, all the way. geodesy: ``sphere``, or ``satnav`` with its two radii and float32.
        styles: every route is asked in each of them; the counts of tasks are of episodes.
        shortest_m, longest_m: of the reference paths. keep_off_m: how far beside an outline its reference runs [P].
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    height_m: Annotated[FiniteFloat, Field(gt=0)] = 50.0
    geodesy: GeodesyName = "sphere"
    styles: Annotated[list[InstructionStyle], Field(min_length=1)] = ["natural", "formal", "telegraphic"]
    shortest_m: Annotated[FiniteFloat, Field(gt=0)] = 80.0
    longest_m: Annotated[FiniteFloat, Field(gt=0)] = 900.0
    keep_off_m: Annotated[FiniteFloat, Field(gt=0)] = 6.0

    @model_validator(mode="after")
    def _a_window(self) -> SatNav:
        if self.shortest_m > self.longest_m:
            raise ValueError("shortest_m is more than longest_m")
        return self
