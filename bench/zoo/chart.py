# SPDX-License-Identifier: MIT
"""The distribution of ratios as SVG: a bar for each layer, sorted within its class, from 1 upwards or downwards."""

import math
from html import escape

FASTER, SLOWER, TEXT, QUIET, GRID = "#0b6e99", "#cf222e", "#24292f", "#57606a", "#e6e8eb"
LEFT, TOP, HEIGHT, GAP, NARROWEST, BAR = 56, 80, 260, 14, 88, 2


def decades(classes):
    """Powers of two that contain all ratios, from 1/2 to 2 at least."""
    ratios = [ratio for _, members in classes for ratio in members]
    return math.floor(math.log2(min([0.5, *ratios]))), math.ceil(math.log2(max([2.0, *ratios])))


def svg(title, subtitle, caption, classes):
    """`classes` has pairs of a name and its ratios, at least one; `caption` has lines below the chart."""
    low, high = decades(classes)

    def y(ratio):
        return TOP + HEIGHT * (high - math.log2(ratio)) / (high - low)

    widths = [max(NARROWEST, BAR * len(members)) for _, members in classes]
    width = max(700, LEFT + sum(widths) + GAP * len(classes) + 10)
    height = TOP + HEIGHT + 74 + 16 * len(caption)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           f'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="{TEXT}" role="img">',
           f"<title>{escape(title)}</title>",
           "<desc>" + escape("; ".join(f"{name}: {mean(members):.2f}, {min(members):.2f} to {max(members):.2f}"
                                       for name, members in classes)) + "</desc>",
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<text x="20" y="28" font-size="17" font-weight="bold">{escape(title)}</text>',
           f'<text x="20" y="48" fill="{QUIET}">{escape(subtitle)}</text>']
    for exponent in range(low, high + 1):
        at = y(2.0**exponent)
        label = str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"
        out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{width - 10}" y2="{at:.1f}" stroke="{GRID}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end" fill="{QUIET}">{label}</text>')
    x = LEFT + GAP // 2
    for (name, members), wide in zip(classes, widths):
        step = wide / len(members)
        for number, ratio in enumerate(sorted(members)):
            top, bottom = sorted((y(ratio), y(1)))
            out.append(f'<rect x="{x + number * step:.1f}" y="{top:.1f}" width="{min(step, 12) * 0.9:.1f}" '
                       f'height="{max(bottom - top, 0.5):.1f}" fill="{FASTER if ratio >= 1 else SLOWER}"/>')
        middle, below = x + wide / 2, TOP + HEIGHT
        for line, (text, colour) in enumerate(((name, TEXT), (f"{len(members)} layers", QUIET),
                                               (f"mean {mean(members):.2f}", TEXT))):
            out.append(f'<text x="{middle:.1f}" y="{below + 18 + 15 * line}" text-anchor="middle" font-size="11" '
                       f'fill="{colour}">{escape(text)}</text>')
        x += wide + GAP
    out.append(f'<line x1="{LEFT}" y1="{y(1):.1f}" x2="{width - 10}" y2="{y(1):.1f}" stroke="{TEXT}"/>')
    for line, text in enumerate(caption):
        out.append(f'<text x="20" y="{TOP + HEIGHT + 74 + 16 * line}" font-size="11" fill="{QUIET}">{escape(text)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def mean(ratios):
    """Geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
