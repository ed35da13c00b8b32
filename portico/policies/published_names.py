"""Published models by name: clients of servers that run elsewhere, listed without importing what they need."""

from __future__ import annotations

_PLACE = "portico.policies.remote.published."

#: Name -> (import path, one line), in the form of the registry's table.
PUBLISHED: dict[str, tuple[str, str]] = {
    "omninav": (f"{_PLACE}omninav:omninav", "OmniNav, three views (client: omninav?url=http://HOST:PORT; also omninav_3view)."),
    "omninav_fast": (f"{_PLACE}omninav:omninav_fast", "OmniNav's fast model, with a point to go to where there is one (client; also omninav-fast)."),
    "socialnav": (f"{_PLACE}socialnav:SocialNav", "SocialNav, along streets to a point (client; also social-nav)."),
    "uninavid": (f"{_PLACE}uninavid:UniNaVid", "Uni-NaVid, one camera and words (client; also uni-navid)."),
    "lightnav": (f"{_PLACE}lightnav:LightNav", "LightNav-0, one camera and waypoints (client: lightnav?url=ws://HOST:8050; also lightnav0)."),
    "poliformer": (f"{_PLACE}poliformer:PoliFormer", "PoliFormer, searches by one camera (client: poliformer?url=http://HOST:PORT)."),
    "navdp": (f"{_PLACE}navdp:navdp", "NavDP, RGB-D to trajectories (client: navdp?url=http://HOST:8888)."),
    "gnm": (f"{_PLACE}navdp:gnm", "GNM, goals given as pictures (client of a NavDP server)."),
    "vint": (f"{_PLACE}navdp:vint", "ViNT, goals given as pictures (client of a NavDP server)."),
    "nomad": (f"{_PLACE}navdp:nomad", "NoMaD, goals given as pictures (client of a NavDP server)."),
}

#: Other names that people use -> name.
ALIASES: dict[str, str] = {
    "omninav_3view": "omninav",
    "omninav-fast": "omninav_fast",
    "social-nav": "socialnav",
    "uni-navid": "uninavid",
    "lightnav0": "lightnav",
    "PoliFormer": "poliformer",
    "NavDP": "navdp",
    "GNM": "gnm",
    "ViNT": "vint",
    "NoMaD": "nomad",
}
