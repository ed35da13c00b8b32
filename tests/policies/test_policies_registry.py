"""Names, options and plug-ins of policies, and what a user reads when one of them is wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from portico.errors import PolicyRefused, UnknownName, UserError
from portico.interface import Stop
from portico.policies import POLICIES, create, describe, parse_name, policy_names


def test_a_misspelt_name_is_answered_with_the_closest_and_the_command():
    with pytest.raises(UnknownName, match="frontier") as caught:
        create("fronteir")
    assert "portico list policies" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "aliases", "stages"),
    [
        ("omninav", {"omninav_3view"}, {"exit", "entrance", "ovon"}),
        ("omninav_fast", {"omninav-fast"}, {"exit", "entrance", "outdoor"}),
        ("socialnav", {"social-nav"}, {"outdoor"}),
        ("uninavid", {"uni-navid"}, {"exit", "entrance", "ovon"}),
        ("lightnav", {"lightnav0"}, {"exit", "entrance", "ovon"}),
    ],
)
def test_the_sources_entries_are_there_with_their_aliases_and_stages(name: str, aliases: set[str], stages: set[str]):
    for called in {name, *aliases}:
        spec = create(f"{called}?url=ws://127.0.0.1:9").spec
        assert spec.name == name
        assert spec.stages & {"exit", "outdoor", "entrance", "ovon"} == stages
    assert all(alias in describe()[name] for alias in aliases)


def test_every_name_has_a_description():
    lines = describe()
    assert list(lines) == policy_names()
    assert all(lines.values())


def test_options_in_the_name_and_as_keywords():
    assert "semantic" in create("frontier?detector=semantic").spec.needs
    assert "semantic" in create("frontier", detector="semantic").spec.needs
    assert "semantic" not in create("frontier?detector=semantic", detector="none").spec.needs
    assert parse_name("chain?exit=frontier, outdoor=route-follower") == ("chain", {"exit": "frontier", "outdoor": "route-follower"})


@pytest.mark.parametrize("name", ["frontier?detector", "frontier?=x", "frontier?detector=none,detector=none"])
def test_options_that_cannot_be_read(name: str):
    with pytest.raises(UserError, match="option"):
        create(name)


def test_unknown_options_are_answered_with_the_known_ones():
    with pytest.raises(UnknownName, match="detector"):
        create("frontier?detecter=none")
    with pytest.raises(UserError, match="no options"):
        create("stop?loud=yes")


def test_a_detector_that_does_not_exist():
    with pytest.raises(UserError, match="portico list detectors"):
        create("frontier?detector=eagle")


def test_classes_by_path():
    assert isinstance(create("portico.policies.calibration:StopPolicy").act(None), Stop)  # type: ignore[arg-type]
    with pytest.raises(PolicyRefused, match="cannot be imported"):
        create("no_such_package.module:Class")
    with pytest.raises(PolicyRefused, match="cannot be imported"):
        create("portico.policies.calibration:NoSuchPolicy")
    with pytest.raises(PolicyRefused, match="is not a policy"):
        create("collections:OrderedDict")


def test_chain_members_by_option():
    chain = create("chain?exit=stop,entrance=forward,ovon=stop,object=stop,point=stop,image=stop,outdoor=stop,place=stop,vln=stop")
    assert chain.spec.needs == frozenset()
    assert "semantic" in create("chain?detector=semantic").spec.needs
    with pytest.raises(UnknownName):
        create("chain?exit=no-such-policy")


def test_naming_a_policy_does_not_open_the_world():
    code = (
        "import sys, portico.policies as p; p.create('stop'); p.describe(); print([m for m in sys.modules if m.startswith(('portico.world', 'portico.sim'))])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
    assert "stop" in POLICIES
