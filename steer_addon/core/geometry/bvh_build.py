"""How the tree of `bvh` is grown: binned surface area heuristic, one compiled loop.

Source: Wald 2007, "On fast Construction of SAH-based Bounding Volume Hierarchies".
A node is split where sum of area x triangles of the two halves is least, among 16 bins along each
axis of the triangles' centers. All of it runs on one thread and in a fixed order, so that the same
triangles always give the same tree.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import allocating_kernel, kernel

BINS = 16
LEAF = 2
"""Ranges of this number of triangles or fewer are not split any further."""
LEAF_LIMIT = 8
"""Ranges of more triangles are always split, whatever the heuristic says."""
STACK = 56
"""Deepest tree that queries can walk; with a few more, allocating their stack takes far longer."""
MAX_DEPTH = 44
"""Deepest tree that is grown; the rest is room for joining trees."""
BOX_COST = 2.0
"""Cost of visiting a pair of boxes, where testing a triangle costs 1."""


@allocating_kernel
def grow(low, high, box, link, order):
    """Grow the tree over triangles with the given boxes; returns how many nodes it took.

    Args:
        low: Lower corners of the triangles' boxes [m], shape (t, 3), t > 0.
        high: Upper corners [m], shape (t, 3).
        box: Boxes of the nodes [m], shape (2 t, 6), filled here like all that follow.
        link: First child or first place in `order`, second child, and triangles of a leaf or 0,
            shape (2 t, 3).
        order: Triangle numbers, shape (t,); must hold 0, 1, 2, ….
    """
    nodes = 1
    # deeper down ranges are halved by count, so that no input outgrows the stack of the queries
    deepest = MAX_DEPTH - int(math.ceil(math.log2(order.size + 1.0)))
    tasks = np.empty((STACK, 4), np.int64)  # node, start, stop, depth
    tasks[0, 0], tasks[0, 1], tasks[0, 2], tasks[0, 3] = 0, 0, order.size, 0
    waiting = 1
    bin_count = np.empty(BINS, np.int64)
    bin_box = np.empty((BINS, 6), np.float64)
    right_cost = np.empty(BINS, np.float64)
    center = np.empty((2, 3), np.float64)
    while waiting > 0:
        waiting -= 1
        node, start, stop = tasks[waiting, 0], tasks[waiting, 1], tasks[waiting, 2]
        depth = tasks[waiting, 3]
        _bound(low, high, order, start, stop, box, node, center)
        middle = start
        if stop - start > LEAF:
            by_cost = depth < deepest
            middle = _split(
                low, high, order, start, stop, by_cost, center, bin_count, bin_box, right_cost,
                _half_area(box, node),
            )  # fmt: skip
        if middle == start:
            link[node, 0], link[node, 1], link[node, 2] = start, -1, stop - start
            continue
        # children lie side by side: a query reads both at once
        link[node, 0], link[node, 1], link[node, 2] = nodes, nodes + 1, 0
        for child in range(2):
            tasks[waiting, 0] = nodes + 1 - child
            tasks[waiting, 1] = middle if child == 0 else start
            tasks[waiting, 2] = stop if child == 0 else middle
            tasks[waiting, 3] = depth + 1
            waiting += 1
        nodes += 2
    return nodes


@kernel
def _bound(low, high, order, start, stop, box, node, center):
    """Write the box of a range, and the box of twice its triangles' centers."""
    for axis in range(3):
        lowest, highest = np.inf, -np.inf
        center_low, center_high = np.inf, -np.inf
        for k in range(start, stop):
            a = np.float64(low[order[k], axis])
            b = np.float64(high[order[k], axis])
            lowest, highest = min(lowest, a), max(highest, b)
            center_low, center_high = min(center_low, a + b), max(center_high, a + b)
        box[node, axis], box[node, axis + 3] = lowest, highest
        center[0, axis], center[1, axis] = center_low, center_high


@kernel
def _half_area(box, i):
    """Half the surface of box i [m²]."""
    x = np.float64(box[i, 3]) - np.float64(box[i, 0])
    y = np.float64(box[i, 4]) - np.float64(box[i, 1])
    z = np.float64(box[i, 5]) - np.float64(box[i, 2])
    return x * y + y * z + z * x


@kernel
def _split(low, high, order, start, stop, by_cost, center, bin_count, bin_box, right_cost, area):
    """Reorder a range into two halves; returns where the second begins, `start` for a leaf."""
    size = stop - start
    best_cost, best_axis, best_bin = np.inf, -1, 0
    if by_cost:
        for axis in range(3):
            extent = center[1, axis] - center[0, axis]
            if not extent > 0.0:
                continue
            _fill_bins(
                low, high, order, start, stop, axis, center[0, axis], extent, bin_count, bin_box
            )
            cost, cut = _best_cut(bin_count, bin_box, right_cost)
            if cost < best_cost:
                best_cost, best_axis, best_bin = cost, axis, cut
    if size <= LEAF_LIMIT and not best_cost + BOX_COST * area < size * area:
        return start
    if best_axis < 0:
        return start + size // 2
    least = center[0, best_axis]
    extent = center[1, best_axis] - least
    left, right = start, stop - 1
    while left <= right:
        triangle = order[left]
        if _bin_of(low, high, triangle, best_axis, least, extent) <= best_bin:
            left += 1
        else:
            order[left], order[right] = order[right], triangle
            right -= 1
    return left


@kernel
def _bin_of(low, high, triangle, axis, least, extent):
    """The bin that the center of a triangle falls into."""
    place = np.float64(low[triangle, axis]) + np.float64(high[triangle, axis]) - least
    return min(int(place / extent * BINS), BINS - 1)


@kernel
def _fill_bins(low, high, order, start, stop, axis, least, extent, bin_count, bin_box):
    """Count and bound the triangles of every bin along an axis."""
    for b in range(BINS):
        bin_count[b] = 0
        for k in range(3):
            bin_box[b, k], bin_box[b, k + 3] = np.inf, -np.inf
    for k in range(start, stop):
        triangle = order[k]
        b = _bin_of(low, high, triangle, axis, least, extent)
        bin_count[b] += 1
        for c in range(3):
            bin_box[b, c] = min(bin_box[b, c], np.float64(low[triangle, c]))
            bin_box[b, c + 3] = max(bin_box[b, c + 3], np.float64(high[triangle, c]))


@kernel
def _best_cut(bin_count, bin_box, right_cost):
    """The cheapest cut after a bin: (area x triangles of both sides, last bin of the left one)."""
    x0, y0, z0, x1, y1, z1 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
    seen = 0
    for b in range(BINS - 1, 0, -1):
        seen += bin_count[b]
        if bin_count[b] > 0:
            x0, x1 = min(x0, bin_box[b, 0]), max(x1, bin_box[b, 3])
            y0, y1 = min(y0, bin_box[b, 1]), max(y1, bin_box[b, 4])
            z0, z1 = min(z0, bin_box[b, 2]), max(z1, bin_box[b, 5])
        right_cost[b] = np.inf
        if seen > 0:
            x, y, z = x1 - x0, y1 - y0, z1 - z0
            right_cost[b] = (x * y + y * z + z * x) * seen
    x0, y0, z0, x1, y1, z1 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
    seen = 0
    best_cost, best_bin = np.inf, 0
    for b in range(BINS - 1):
        seen += bin_count[b]
        if bin_count[b] > 0:
            x0, x1 = min(x0, bin_box[b, 0]), max(x1, bin_box[b, 3])
            y0, y1 = min(y0, bin_box[b, 1]), max(y1, bin_box[b, 4])
            z0, z1 = min(z0, bin_box[b, 2]), max(z1, bin_box[b, 5])
        if seen > 0:
            x, y, z = x1 - x0, y1 - y0, z1 - z0
            cost = (x * y + y * z + z * x) * seen + right_cost[b + 1]
            if cost < best_cost:
                best_cost, best_bin = cost, b
    return best_cost, best_bin


@kernel
def refit_boxes(bvh):
    """Boxes from the leaves up: children always come after their parent."""
    box, link, order, triangles = bvh
    for node in range(len(link) - 1, -1, -1):
        first, second, count = link[node, 0], link[node, 1], link[node, 2]
        for axis in range(3):
            if count == 0:
                box[node, axis] = min(box[first, axis], box[second, axis])
                box[node, axis + 3] = max(box[first, axis + 3], box[second, axis + 3])
                continue
            lowest, highest = np.float32(np.inf), np.float32(-np.inf)
            for k in range(first, first + count):
                for corner in range(3):
                    lowest = min(lowest, triangles[order[k], corner, axis])
                    highest = max(highest, triangles[order[k], corner, axis])
            box[node, axis], box[node, axis + 3] = lowest, highest


@allocating_kernel
def depth_of(link):
    """Levels of a tree: children always come after their parent."""
    level = np.ones(len(link), np.int64)
    deepest = 0
    for node in range(len(link)):
        deepest = max(deepest, level[node])
        if link[node, 2] == 0:
            level[link[node, 0]] = level[node] + 1
            level[link[node, 1]] = level[node] + 1
    return deepest
