"""From an OpenStreetMap extract to scored OutdoorNav episodes.

Run with ``python examples/03_a_real_map.py EXTRACT.osm.pbf``; any .osm, .osm.pbf or .osm.bz2 will do.
"""

import sys
from pathlib import Path

from portico.build.osm import import_osm
from portico.evaluate.prepare import prepare
from portico.evaluate.run import RunRequest, execute
from portico.suites import parse_suite
from portico.world import save


def main(extract: Path, out: Path = Path("out")) -> None:
    imported = import_osm(extract)
    print("\n".join(imported.report.lines()))
    save(imported.world, out / "town", overwrite=True)
    suite = parse_suite({"name": "outdoor", "worlds": [{"path": "town"}], "tasks": {"outdoor": 4}}, "example")
    episodes = prepare(suite, out / "worlds", relative_to=out)
    for policy in ("stop", "route-follower"):
        summary = execute(RunRequest(suite, policy, out / policy, episodes))
        print(f"{policy}: success {summary['measures']['success']['mean']:.0%}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
