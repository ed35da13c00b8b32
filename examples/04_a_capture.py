"""From a 3D Gaussian capture to scored point-goal and image-goal episodes.

Run with ``python examples/04_a_capture.py SCENE.ply``; .splat, .spz, .glb, .sog and .ksplat do as well. Without a file a generated
home serves as the capture. Object goals need labels first: ``portico world label``.
"""

import sys
from pathlib import Path

from portico.build import build_capture
from portico.build.captures import import_splat
from portico.evaluate.prepare import prepare
from portico.evaluate.run import RunRequest, execute
from portico.suites import parse_suite
from portico.world import save


def main(scene: Path | None, out: Path = Path("out")) -> None:
    if scene is None:
        world = build_capture(seed=1, program="cafe")
    else:
        imported = import_splat(scene)
        print("\n".join(imported.lines))
        world = imported.world
    save(world, out / "place", overwrite=True)
    suite = parse_suite({"name": "place", "rules": "navarena", "worlds": [{"path": "place"}], "tasks": {"point": 6, "image": 6}}, "example")
    episodes = prepare(suite, out / "worlds", relative_to=out)
    for policy in ("stop", "random"):
        summary = execute(RunRequest(suite, policy, out / policy, episodes))
        print(f"{policy}: success {summary['measures']['success']['mean']:.0%}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
