import pickle

import numpy as np
import pytest

from portico.errors import EpisodeError, UnknownName, UserError
from portico.seeding import derive_seed, generator


def test_a_user_error_says_what_where_why_and_next():
    error = UserError("it broke", where="here", why="rust", next_step="oil it")
    assert str(error).splitlines() == ["it broke", "  where: here", "  why:   rust", "  next:  oil it"]


def test_an_unknown_name_offers_the_closest_and_the_command_that_lists_all():
    error = UnknownName("policy", "fronteer", ["frontier", "random"], list_command="portico list policies")
    assert "did you mean 'frontier'?" in str(error)
    assert "portico list policies" in str(error)


@pytest.mark.parametrize("error", [EpisodeError("bad start", where="e1"), UnknownName("suite", "x", ["y"])])
def test_errors_cross_process_borders_whole(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_seeds_depend_on_every_name_its_type_and_its_place():
    seeds = {derive_seed("a", "bc"), derive_seed("ab", "c"), derive_seed("a", "bc", 1), derive_seed("a", "bc", "1"), derive_seed("bc", "a")}
    assert len(seeds) == 5


def test_a_generator_is_the_same_for_the_same_names():
    assert np.array_equal(generator(7, "x").random(5), generator(7, "x").random(5))
    assert derive_seed(2026, "block", "start") == 32293597082582730607850766757967779001
