"""What is kept is made once, however many ask, and again where Python itself lost count."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from portico.web.worlds import Recent


def test_many_who_ask_at_once_get_one_thing():
    made = count()
    recent: Recent[int] = Recent(2)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: recent.get("a", lambda: next(made)), range(50)))
    assert found == {0}


def test_the_last_few_are_kept():
    recent: Recent[str] = Recent(2)
    for key in "abac":
        recent.get(key, lambda key=key: key)
    assert recent.get("a", lambda: "again") == "a"
    assert recent.get("b", lambda: "again") == "again"


@pytest.mark.parametrize("failures", [1, 3])
def test_a_thing_that_python_could_not_make_for_the_threads_beside_it_is_made_again(failures):
    tries = count()

    def make() -> str:
        if next(tries) < failures:
            raise SystemError("AST constructor recursion depth mismatch (before=78, after=48)")
        return "made"

    assert Recent(1).get("a", make) == "made"


def test_what_always_fails_says_so():
    def make() -> str:
        raise SystemError("broken")

    with pytest.raises(SystemError, match="broken"):
        Recent(1).get("a", make)
