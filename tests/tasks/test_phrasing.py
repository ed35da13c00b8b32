"""The same place in other words."""

from little_town import SPECS, episode

from portico.tasks import StageSpec
from portico.tasks.phrasing import phrased_as

WORDS = {"category": "Go to a bakery.", "route": "Go straight 5 m.", "intention": "I want bread."}


def test_only_the_words_change():
    place = episode("place", stages=[StageSpec(kind="place", category="bakery", instruction=WORDS["category"])]).model_copy(update={"phrasings": WORDS})
    for wording, text in WORDS.items():
        said = phrased_as(place, wording)
        assert (said.stages[0].instruction, said.phrased) == (text, wording)
        assert said.model_copy(update={"stages": place.stages, "phrased": None}) == place


def test_an_episode_without_other_words_stays_as_it_is():
    found = episode("object", stages=[SPECS["object"]])
    assert phrased_as(found, "route") is found
