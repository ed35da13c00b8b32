"""Build a town block, say what is in it, and draw it from above and from a robot's eye.

Run with ``python examples/01_look_at_a_world.py``; the pictures land in ``out/``.
"""

from pathlib import Path

from PIL import Image

from portico.build import RECIPES
from portico.geometry import Pose
from portico.render import Renderer, annotate_map, overview
from portico.robots import embodiment
from portico.world import save


def main(out: Path = Path("out")) -> None:
    world = save(RECIPES["composite"](7), out / "block", overwrite=True)
    print(f"{world.id}: {world.manifest.counts}")

    image, frame = overview(world)
    Image.fromarray(annotate_map(image, frame, world)).save(out / "map.png")

    camera = embodiment("spot").cameras[0]
    shop = world.semantics.places[0]
    robot = Pose(shop.center[0], shop.center[1] - 12.0, 0.0, 1.57)
    view = Renderer(world).render(robot.matrix() @ camera.T_base_camera(), camera, ("rgb", "depth"))
    Image.fromarray(view.rgb).save(out / "view.png")
    print(f"pictures in {out}: map.png, view.png (nearest surface {view.depth.min():.1f} m away)")


if __name__ == "__main__":
    main()
