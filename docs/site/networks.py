# SPDX-License-Identifier: MIT
"""docs/networks.md and its chart: the layers of networks beside cuDNN and PyTorch, from the CSVs of bench/zoo/gpu.py."""
import pathlib

import report  # bench/zoo

RESULTS = pathlib.Path("bench/results/h200")
NEWEST = tuple(RESULTS / f"zoo_{name}.csv" for name in ("sample", "quarter", "forward"))  # older first: a later row of a layer replaces it
GROUPS = {"forward": ("forward", "half", "nhwc", "32", ""), "by x": ("input", "half", "nhwc", "32", ""),
          "by the weights": ("weights", "half", "nhwc", "32", ""), "forward, batch 1": ("forward", "half", "nhwc", "1", ""),
          "forward, NCHW": ("forward", "half", "nchw", "32", "")}
CHART = RESULTS / "zoo_forward_half_nhwc_32.svg"
SLOWEST = 12


def figures(results):
    """Geometric mean of ratios, the least, and the ratio of the sums of times."""
    ratios = [each.ratio for each in results]
    sums = sum(each.peer for each in results) / sum(each.ours for each in results)
    return f"{report.mean(ratios):.2f}", f"{min(ratios):.2f}", f"{sums:.2f}"


def measured():
    groups = report.read(NEWEST)
    return {name: [each for each in groups[key] if each.ours and each.peer] for name, key in GROUPS.items()}


def class_table(groups):
    names = list(groups)
    out = ["| class | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    classes = {name: dict(report.by_class(results)) for name, results in groups.items()}
    for of in report.CLASSES:
        cells = []
        for name in names:
            members = classes[name].get(of, [])
            cells.append("{}: {} ({})".format(len(members), *figures(members)[:2]) if members else "")
        out.append(f"| {of} | " + " | ".join(cells) + " |")
    out.append("| **all** | " + " | ".join("{}: {} ({})".format(len(each), *figures(each)[:2]) for each in groups.values()) + " |")
    out.append("| sum of times | " + " | ".join(figures(each)[2] for each in groups.values()) + " |")
    return out


def slower(results):
    out = ["| layer | class | ratio | ours, µs | peer, µs | networks |", "|---|---|---|---|---|---|"]
    for each in sorted(results, key=lambda each: each.ratio)[:SLOWEST]:
        out.append(f"| {each.layer.name} | {each.of} | {each.ratio:.2f} | {each.ours:.1f} | {each.peer:.1f} | {', '.join(each.counts)} |")
    return out


def sentence(groups):
    """The figures that README.md repeats."""
    forward = groups["forward"]
    mean, least, sums = figures(forward)
    below = sum(each.ratio < 0.95 for each in forward)
    return f"{len(forward)} layers: geometric mean {mean}, least {least}, sum of times {sums}; {below} layers below 0.95"


def page(groups):
    rows = [each.row for results in groups.values() for each in results]
    dates, commands = sorted({row["date"] for row in rows}), sorted({(row["date"], row["command"]) for row in rows})
    out = ["# Layers of 22 networks", "",
           "Written by `tools/docs --write` from `zoo_sample.csv`, `zoo_quarter.csv` and `zoo_forward.csv` in `bench/results/h200`; the newest row of a",
           f"layer counts. NVIDIA H200s, {rows[0]['versions']}, {' and '.join(dates)}. `bench/zoo` has 492 distinct",
           "convolutions and linear layers of 22 networks, from ResNet-50 to Llama 2: all of them forward, and samples of them by x and by the weights,",
           "which were taken by position in the list, not by result.", "",
           "The ratio is the peer's time over fusekit's, with filters known at run time. The peer is the faster of cuDNN's fused kernel and PyTorch's two",
           "kernels, for gradients cuDNN. Half, NHWC, batch 32 unless the column says otherwise. A layer's name is C-H-W-K-RxS-p(pad)-s(stride), then",
           "its dilation and groups; their rows are in [zoo_forward.csv](../bench/results/h200/zoo_forward.csv),",
           "[zoo_quarter.csv](../bench/results/h200/zoo_quarter.csv) and [zoo_sample.csv](../bench/results/h200/zoo_sample.csv).", "",
           f"Forward, {sentence(groups)}.", "",
           "![Every measured layer, sorted within its class](../bench/results/h200/zoo_forward_half_nhwc_32.svg)", "",
           "## Classes", "", "Layers: geometric mean (least).", ""] + class_table(groups)
    for name, results in groups.items():
        out += ["", f"## Slowest: {name}", ""] + slower(results)
    out += ["", "## Commands", ""] + [f"- `{command}`, {date}" for date, command in commands]
    return "\n".join(out) + "\n"


def files():
    groups = measured()
    return {pathlib.Path("docs/networks.md"): page(groups), CHART: report.chart_of(GROUPS["forward"], groups["forward"])}


def readme_faults(readme):
    expected = sentence(measured())
    return [] if expected in " ".join(readme.split()) else [f'README.md: does not say "{expected}"']
