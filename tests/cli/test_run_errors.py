"""What a person at the terminal reads of episodes that end in an error."""

from portico.cli.run import _Watcher
from portico.evaluate.run import Progress


def failed(episode, message):
    return {"key": {"episode": episode}, "status": "error", "completed": 0, "stages": 1, "error": {"message": message}}


def told(capsys, *messages, resumed=0):
    progress = Progress(planned=len(messages))
    with _Watcher("far") as watch:
        for number, message in enumerate(messages):
            progress.count(failed(f"exit-{number}", message))
            if progress.done <= resumed:
                progress.resumed = progress.done
            watch(progress)
    return capsys.readouterr().err


def test_every_kind_of_error_is_told_once_with_its_episode_and_its_remedy(capsys):
    away = "no policy server answers\n  next:  start it"
    said = told(capsys, away, away, "the model's words cannot be read [parse] \ud83d")
    assert said.count("error in exit-0: no policy server answers\n  next:  start it") == 1
    assert "exit-1" not in said
    assert "error in exit-2: the model's words cannot be read [parse] ?" in said


def test_a_flood_of_different_errors_is_cut_short(capsys):
    assert told(capsys, *(f"error number {n}" for n in range(40))).count("error in ") == 5


def test_errors_of_an_earlier_start_are_not_told_again(capsys):
    assert "error in" not in told(capsys, "no policy server answers", resumed=1)
