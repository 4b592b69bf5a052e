#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py CSV... [--charts DIR] [--networks LIST]

Prints the distribution of the peer's time over ours, for each pass, element type, layout, batch and number of threads in
the files of gpu.py and zoo_host: quantiles and geometric means of each class, the ratio of the sums of times, and the
twenty worst layers. Exits with 1 if a result is wrong or a layer failed.
"""

import argparse
import csv
import math
import pathlib
import sys

import chart
import layers
from chart import mean

KEY = ("pass", "dtype", "layout", "batch", "threads", "layer")
COLUMNS = (*KEY, "ours_us", "peer_us", "peer", "copy_us", "error", "note", "machine", "versions", "date", "command")
GROUP = KEY[:-1]
BYTES = {"float": 4, "half": 2, "bfloat16": 2}
PASSES = {"forward": "convolution + bias + ReLU", "linear": "1x1 convolution + bias + ReLU beside cuBLASLt",
          "input": "gradient by x", "weights": "gradient by the weights",
          "norm_inference": "batch norm + ReLU, inference", "norm_forward": "batch norm + ReLU, training, forward",
          "norm_backward": "batch norm + ReLU, training, forward and backward"}
WORST = 20
LARGE = 20e6  # bytes of a batch norm's x


def class_of(layer):
    """Class of a convolution: the first of CLASSES whose condition it meets."""
    if layer.h == layer.w == 1:
        return "1x1 images"
    if layer.c <= 4:
        return "first layers"
    if layer.depthwise:
        return "depthwise"
    if layer.groups > 1:
        return "grouped"
    if layer.dilation > 1:
        return "dilated"
    if layer.c % 8 or layer.k % 8:
        return "channels % 8 != 0"
    if layer.stride > 1:
        return "strided"
    if layer.r == layer.s == 1:
        return "1x1 dense"
    return "few channels" if layer.c <= 96 else "3x3 and others"


CLASSES = ("1x1 images", "1x1 dense", "3x3 and others", "channels % 8 != 0", "depthwise", "dilated", "few channels",
           "first layers", "grouped", "strided")
NORM_CLASSES = ("under 20 MB", "20 MB and more", "channels % 8 != 0")


def norm_class(norm, batch, dtype):
    if norm.c % 8:
        return "channels % 8 != 0"
    return NORM_CLASSES[BYTES[dtype] * norm.elements(batch) / 2 >= LARGE]


class Result:
    """A row of a CSV, with its layer."""

    def __init__(self, row, tables):
        self.row, self.group = row, tuple(row[name] for name in GROUP)
        table = tables["norm" if row["pass"].startswith("norm") else "conv"]
        if row["layer"] not in table:
            raise SystemExit(f"'{row['layer']}' is not a layer of layers.csv or norms.csv")
        self.layer, self.counts = table[row["layer"]]
        self.ours, self.peer, self.copy, self.error = (
            float(row[name]) if row[name] else None for name in ("ours_us", "peer_us", "copy_us", "error"))
        self.right = self.error is not None and self.error <= 1
        batch = int(row["batch"])
        self.of = (norm_class(self.layer, batch, row["dtype"]) if row["pass"].startswith("norm")
                   else class_of(self.layer))

    @property
    def ratio(self):
        return self.peer / self.ours

    @property
    def of_copy(self):
        return self.copy / self.ours


def layer_tables():
    """Maps the name of each convolution and batch norm to (layer, {network: count})."""
    tables = {}
    for kind, rows in (("conv", layers.convolutions()), ("norm", layers.norms())):
        table = tables.setdefault(kind, {})
        for network, layer, count in rows:
            table.setdefault(layer.name, (layer, {}))[1][network] = count
    return tables


def read(paths, networks=None):
    """Groups the results of all files, in the files' order; the last row of a key replaces earlier ones."""
    tables, newest = layer_tables(), {}
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                newest[tuple(row[name] for name in KEY)] = row
    groups = {}
    for row in newest.values():
        result = Result(row, tables)
        if not networks or set(networks) & set(result.counts):
            groups.setdefault(result.group, []).append(result)
    return groups


def quantile(ordered, share):
    """Linear interpolation between the two nearest ranks."""
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def by_class(results):
    """Pairs of a class and its results, without empty classes."""
    order = (*CLASSES, *NORM_CLASSES)
    members = {name: [each for each in results if each.of == name] for name in dict.fromkeys(order)}
    return [(name, each) for name, each in members.items() if each]


def title_of(group):
    kind, dtype, layout, batch, threads = group
    return (f"{PASSES[kind]}: {dtype}, {layout.upper()}, batch {batch}"
            + (f", {threads} thread{'s' if threads != '1' else ''}" if threads else ""))


def class_line(name, results):
    ordered = sorted(each.ratio for each in results)
    line = f"{name:<20}{len(results):>7}" + "".join(f"{quantile(ordered, share):>8.2f}" for share in (0, 0.1, 0.5, 0.9))
    line += f"{mean(ordered):>8.2f}{sum(each.peer for each in results) / sum(each.ours for each in results):>8.2f}"
    copied = [each.of_copy for each in results if each.copy]
    return line + (f"{mean(copied):>10.2f}{min(copied):>8.2f}" if copied else "")


def network_ratios(results, every):
    """Peer's time over ours for each fully measured network; a layer counts as often as the network has it."""
    ratios = {}
    for network in dict.fromkeys(name for each in results for name in each.counts):
        members = [each for each in results if network in each.counts]
        if len(members) == every[network]:
            ratios[network] = (sum(each.counts[network] * each.peer for each in members)
                               / sum(each.counts[network] * each.ours for each in members))
    return ratios


def layers_of_networks(kind):
    """Number of distinct layers of each network."""
    numbers = {}
    for network, _, _ in layers.norms() if kind.startswith("norm") else layers.convolutions():
        numbers[network] = numbers.get(network, 0) + 1
    return numbers


def group_text(group, results):
    """Lines of one group. Layers without a time of ours or of the peer are listed, and excluded from all figures."""
    measured = [each for each in results if each.ours and each.peer]
    out = ["", title_of(group), ", ".join(dict.fromkeys(f"{each.row['machine']}; {each.row['versions']}"
                                                        for each in results)),
           f"{'peer over ours':<20}{'layers':>7}{'least':>8}{'10 %':>8}{'median':>8}{'90 %':>8}{'mean':>8}{'sums':>8}"
           f"{'of copy':>10}{'least':>8}"]
    out += [class_line(name, members) for name, members in by_class(measured)]
    if measured:
        out.append(class_line("all", measured))
        networks = network_ratios(measured, layers_of_networks(group[0]))
        if networks:
            out.append("networks, sums of times: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in networks.items()))
        out.append(f"{'slowest layers':<44}{'ratio':>7}{'ours us':>10}{'peer us':>10}{'copy us':>10}"
                   "  class, peer's implementation, networks")
        for each in sorted(measured, key=lambda each: each.ratio)[:WORST]:
            copy = f"{each.copy:>10.2f}" if each.copy else f"{'':>10}"
            out.append(f"{each.layer.name:<44}{each.ratio:>7.2f}{each.ours:>10.2f}{each.peer:>10.2f}{copy}  "
                       f"{each.of}, {each.row['peer']}, {' '.join(each.counts)}")
    out += [f"WRONG: {each.layer.name}: {each.error:.3g} of the bound" for each in measured if not each.right]
    out += [f"not measured: {each.layer.name}: {each.row['note']}" for each in results if each not in measured]
    return out


def chart_of(group, results):
    measured = [each for each in results if each.ours and each.peer]
    ratios = [each.ratio for each in measured]
    row, dates = measured[-1].row, sorted({each.row["date"] for each in measured})
    return chart.svg(
        title_of(group),
        "the peer's time over ours, on a logarithmic axis: a bar for each layer; blue is faster, red is slower",
        [f"all {len(ratios)} layers: geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}, sums of times "
         f"{sum(each.peer for each in measured) / sum(each.ours for each in measured):.2f}",
         f"{row['machine']}; {row['versions']}; {' and '.join(dates)}"],
        [(name, [each.ratio for each in members]) for name, members in by_class(measured)])


def write(paths, charts=None, networks=None):
    """Prints the report and writes the charts. True if all layers were measured and are within their bounds."""
    good = True
    for group, results in read(paths, networks).items():
        print("\n".join(group_text(group, results)))
        good = good and all(each.ours and each.peer and each.right for each in results)
        if charts and any(each.ours and each.peer for each in results):
            charts.mkdir(parents=True, exist_ok=True)
            name = "_".join(filter(None, ("zoo", *group[:4], group[4] and f"t{group[4]}")))
            (charts / f"{name}.svg").write_text(chart_of(group, results))
            print(f"wrote {charts / name}.svg")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--charts", type=pathlib.Path, help="folder for an SVG of each group")
    parser.add_argument("--networks", type=lambda text: text.split(","), help="report only layers of these networks")
    options = parser.parse_args()
    return 0 if write(options.files, options.charts, options.networks) else 1


if __name__ == "__main__":
    sys.exit(main())
