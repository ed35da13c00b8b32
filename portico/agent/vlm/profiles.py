"""Provider profiles: where a model is, what it is called, and how it is told not to think."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from portico.errors import UnknownName, UserError


class Profile(BaseModel):
    """One provider.

    Attributes:
        base_url: ``/chat/completions`` comes after it. key_env: environment variable with the key, "" where none is needed.
        max_tokens_name: what the limit of the reply is called. temperature: left out when None. body: merged into every request.
        timeout_s: of one request with all its retries [I2 Table 8]. retries: after the first try, for what may pass.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str = ""
    base_url: str
    model: str
    key_env: str = ""
    max_tokens_name: str = "max_tokens"
    temperature: FiniteFloat | None = 0.0
    body: dict[str, Any] = {}
    timeout_s: Annotated[FiniteFloat, Field(gt=0)] = 60.0
    retries: Annotated[int, Field(ge=0)] = 2


def profile_names() -> list[str]:
    """Profiles that ship."""
    return sorted(_shipped())


def load_profile(name: str = "source", *, base_url: str | None = None, model: str | None = None) -> Profile:
    """A profile that ships, or a YAML file of one; ``base_url`` and ``model`` replace what it says.

    Raises:
        UnknownName: no such profile. UserError: the file cannot be read or breaks the schema, naming the key.
    """
    if name in _shipped():
        raw, where = _shipped()[name], f"profile {name}"
    elif Path(name).suffix in {".yaml", ".yml"}:
        raw, where = _read(Path(name)), name
    else:
        raise UnknownName("provider profile", name, profile_names(), where="policy agent")
    replaced = {key: value for key, value in (("base_url", base_url), ("model", model)) if value}
    try:
        return Profile.model_validate({**raw, **replaced})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "(top level)"
        raise UserError("the provider profile breaks its schema", where=f"{where}: {key}", why=first["msg"], next_step=_KEYS) from error


_KEYS = f"known keys: {', '.join(Profile.model_fields)}"


@cache
def _shipped() -> dict[str, dict[str, Any]]:
    text = (resources.files("portico.agent.vlm") / "profiles.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UserError("the provider profile cannot be read", where=str(path), why=str(error), next_step="give a YAML file with base_url and model") from error
    if not isinstance(raw, dict):
        raise UserError("the provider profile holds no mapping", where=str(path), next_step=_KEYS)
    return raw
