"""Corners of a way, rounded: pairs of clothoids, whose curvature grows and falls evenly, as wide as the body fits through.

A corner that turns by an angle is a clothoid of length L and its mirror image: the curvature climbs from 0 to angle / L and back,
so that headings never jump and neither does the rate of turn. Angles in radians, lengths in metres.
"""

from __future__ import annotations

from math import atan2, ceil, hypot, pi, sqrt, tan

import numpy as np
from numba import njit

from portico.space.contacts import FITS
from portico.space.queries import walk

#: Sharper corners are turned on the spot; so are those that no curve of the shortest length fits round.
_SHARPEST_RAD, _SHORTEST_M = 2.4, 0.005
#: Lengths that are tried, as shares of what there is room for along the way.
_SHARES = np.array([1.0, 0.8, 0.6, 0.45, 0.33, 0.22, 0.14, 0.08])
#: Chords of a curve whose sweep is tested.
_CHORD_M = 0.02
#: Neighbouring corners of one turn, closer than this, are drawn together to one.
_TOGETHER_M = 1.0
#: What is no turn, and no distance.
STRAIGHT_RAD, _SAME_M = 1e-6, 1e-6
_TERMS = 10


@njit(cache=True, nogil=True)
def clothoid(s, angle, length):  # type: ignore[no-untyped-def]
    """Where a clothoid that begins at 0 along +x is after s: x, y. Its heading is angle · s² / (2 · length²).

    The Fresnel integrals, by their power series: exact for headings up to a quarter turn.
    """
    tau = 0.5 * angle * (s / length) ** 2
    x, y, term = 0.0, 0.0, 1.0
    for n in range(_TERMS):
        x += term / (4 * n + 1)
        term *= tau / (2 * n + 1)
        y += term / (4 * n + 3)
        term *= -tau / (2 * n + 2)
    return s * x, s * y


@njit(cache=True, nogil=True)
def tangent_per_length(angle):  # type: ignore[no-untyped-def]
    """How far before its corner a curve begins, per metre of L."""
    x, y = clothoid(1.0, angle, 1.0)
    return x + y * tan(0.5 * angle)


@njit(cache=True, nogil=True)
def corner_speed(angle, length, motion):  # type: ignore[no-untyped-def]
    """The highest steady speed through a corner: its turn is at most speed · angle / length, and the turn's change speed² · angle / length²."""
    sharp = angle / length
    return min(motion.speed, sqrt(motion.lateral / sharp), motion.turn / sharp, length * sqrt(motion.turn_acceleration / angle))


@njit(cache=True, nogil=True)
def full_length(angle, motion):  # type: ignore[no-untyped-def]
    """The L from which on a corner slows nobody down."""
    v = motion.speed
    return max(angle * v * v / motion.lateral, angle * v / motion.turn, v * sqrt(angle / motion.turn_acceleration))


@njit(cache=True, nogil=True, forceinline=True)
def wrapped(angle):  # type: ignore[no-untyped-def]
    """The same angle in [-pi, pi)."""
    return (angle + pi) % (2.0 * pi) - pi


@njit(cache=True, nogil=True, forceinline=True)
def moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, n, x, y, to_x, to_y):  # type: ignore[no-untyped-def]
    """The node on which a straight motion of the body in metres from node n ends, -1 where something is in the way.

    It takes what it reads of ``Ground`` one by one, as the kernels of ``space`` do, and ``per``, cells per metre.
    """
    x, y, to_x, to_y = (x - x0) * per, (y - y0) * per, (to_x - x0) * per, (to_y - y0) * per
    if fit[n] == FITS and int(x) == int(to_x) and int(y) == int(to_y):
        return n
    share, m = walk(links, fit, row_start, contacts, radius, everywhere, n, x, y, to_x, to_y)
    return m if share >= 1.0 else -1


@njit(cache=True, nogil=True)
def on_corner(s, angle, length, entry, ahead, leave, onward):  # type: ignore[no-untyped-def]
    """Point of a corner's curve after s (0 to 2 · length): entry and exit points (2,), unit directions before and after (2,), signed angle."""
    size, sign = abs(angle), 1.0 if angle > 0.0 else -1.0
    if s <= length:
        a, b = clothoid(s, size, length)
        b *= sign
        return entry[0] + a * ahead[0] - b * ahead[1], entry[1] + a * ahead[1] + b * ahead[0]
    a, b = clothoid(2.0 * length - s, size, length)
    b *= sign
    return leave[0] - a * onward[0] - b * onward[1], leave[1] - a * onward[1] + b * onward[0]


@njit(cache=True, nogil=True)
def distinct(xy, nodes):  # type: ignore[no-untyped-def]
    """Points (K, 2) and their nodes without repetitions; the last point stays."""
    kept = np.empty(nodes.size, np.int64)
    count = 0
    for k in range(nodes.size):
        if count == 0 or hypot(xy[k, 0] - xy[kept[count - 1], 0], xy[k, 1] - xy[kept[count - 1], 1]) > _SAME_M:
            kept[count] = k
            count += 1
        elif k == nodes.size - 1 and count > 1:
            kept[count - 1] = k
    return xy[kept[:count]].copy(), nodes[kept[:count]].copy()


@njit(cache=True, nogil=True)
def drawn_together(g, xy, nodes):  # type: ignore[no-untyped-def]
    """The way with its clusters of small turns replaced by single corners farther out, where the body passes there too.

    A shortest way round a corner of a wall is a polygon along an arc; one corner outside of it leaves room for one wide curve.
    """
    links, fit, row_start, contacts, everywhere = g.links, g.fit, g.row_start, g.contacts, np.empty(0, np.bool_)
    radius, x0, y0, per = g.radius, g.x0, g.y0, 1.0 / g.cell
    changed = True
    while changed:
        changed = False
        k = 1
        while k + 2 < nodes.size:
            if hypot(xy[k + 1, 0] - xy[k, 0], xy[k + 1, 1] - xy[k, 1]) < _TOGETHER_M:
                x, y, meets = _crossing(xy[k - 1], xy[k], xy[k + 1], xy[k + 2])
                node = moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, nodes[k - 1], xy[k - 1, 0], xy[k - 1, 1], x, y) if meets else -1
                if (
                    node >= 0
                    and moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, node, x, y, xy[k + 2, 0], xy[k + 2, 1]) == nodes[k + 2]
                ):
                    xy[k, 0], xy[k, 1], nodes[k] = x, y, node
                    xy[k + 1 : -1], nodes[k + 1 : -1] = xy[k + 2 :].copy(), nodes[k + 2 :].copy()
                    xy, nodes = xy[:-1], nodes[:-1]
                    changed = True
                    continue
            k += 1
    return xy, nodes


@njit(cache=True, nogil=True)
def _crossing(a, b, c, d):  # type: ignore[no-untyped-def]
    """Where the lines a b, beyond b, and d c, beyond c, meet: x, y and whether they do, turning one way by less than the sharpest corner."""
    ux, uy, vx, vy, wx, wy = b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1], d[0] - c[0], d[1] - c[1]
    first = atan2(ux * vy - uy * vx, ux * vx + uy * vy)
    second = atan2(vx * wy - vy * wx, vx * wx + vy * wy)
    if first * second <= 0.0 or abs(first + second) >= _SHARPEST_RAD:
        return 0.0, 0.0, False
    cross = ux * wy - uy * wx
    share = (vx * wy - vy * wx) / cross
    return b[0] + share * ux, b[1] + share * uy, share >= 0.0


@njit(cache=True, nogil=True)
def angles_and_lengths(xy):  # type: ignore[no-untyped-def]
    """Of a way (K, 2): unit directions (K - 1, 2), lengths (K - 1,) of its segments, and signed angles (K,) of its corners, 0 at both ends."""
    count = xy.shape[0]
    ahead, lengths, angles = np.empty((count - 1, 2)), np.empty(count - 1), np.zeros(count)
    for k in range(count - 1):
        dx, dy = xy[k + 1, 0] - xy[k, 0], xy[k + 1, 1] - xy[k, 1]
        lengths[k] = hypot(dx, dy)
        ahead[k] = (dx / lengths[k], dy / lengths[k])
        if k > 0:
            angles[k] = atan2(ahead[k - 1, 0] * ahead[k, 1] - ahead[k - 1, 1] * ahead[k, 0], ahead[k - 1, 0] * ahead[k, 0] + ahead[k - 1, 1] * ahead[k, 1])
    return ahead, lengths, angles


@njit(cache=True, nogil=True)
def curve_lengths(g, xy, nodes, ahead, lengths, angles, motion):  # type: ignore[no-untyped-def]
    """L of every corner (K,): the longest tried whose curve the body passes, 0 where it stops and turns; and the tangents (K,) they use up."""
    count = angles.size
    wanted, curves, tangents = np.zeros(count), np.zeros(count), np.zeros(count)
    for k in range(1, count - 1):
        size = abs(angles[k])
        if STRAIGHT_RAD < size < _SHARPEST_RAD:
            wanted[k] = max(_SHORTEST_M, full_length(size, motion)) * tangent_per_length(size)
    for k in range(1, count - 1):
        if wanted[k] == 0.0:
            continue
        per = tangent_per_length(abs(angles[k]))
        room = min(_share(wanted, lengths, k, k - 1), _share(wanted, lengths, k, k + 1))
        for share in _SHARES:
            length = share * min(room, wanted[k]) / per
            if length >= _SHORTEST_M and _passes(g, xy[k], nodes[k], ahead[k - 1], ahead[k], angles[k], length, length * per):
                curves[k], tangents[k] = length, length * per
                break
    return curves, tangents


@njit(cache=True, nogil=True)
def _share(wanted, lengths, k, beside):  # type: ignore[no-untyped-def]
    """What of the segment between two neighbouring corners the first may use. At both ends of the way half is left to speed up on."""
    length = lengths[min(k, beside)]
    if beside == 0 or beside == wanted.size - 1:
        return 0.5 * length
    return length * wanted[k] / (wanted[k] + wanted[beside])


@njit(cache=True, nogil=True)
def _passes(g, corner, node, ahead, onward, angle, length, tangent):  # type: ignore[no-untyped-def]
    """Whether the body, swept along a curve, touches nothing and comes out on the way's own surface."""
    links, fit, row_start, contacts, everywhere = g.links, g.fit, g.row_start, g.contacts, np.empty(0, np.bool_)
    radius, x0, y0, per = g.radius, g.x0, g.y0, 1.0 / g.cell
    entry, leave = corner - tangent * ahead, corner + tangent * onward
    n = moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, node, corner[0], corner[1], entry[0], entry[1])
    out = moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, node, corner[0], corner[1], leave[0], leave[1])
    if n < 0 or out < 0:
        return False
    x, y = entry[0], entry[1]
    parts = ceil(2.0 * length / _CHORD_M)
    for i in range(1, parts + 1):
        to_x, to_y = on_corner(2.0 * length * i / parts, angle, length, entry, ahead, leave, onward)
        n = moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, n, x, y, to_x, to_y)
        if n < 0:
            return False
        x, y = to_x, to_y
    return n == out
