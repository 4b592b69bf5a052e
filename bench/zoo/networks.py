#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""networks.py [--check]

Writes layers.csv and norms.csv: every convolution, linear layer and batch norm of published networks at inference, with
its count, derived from their block tables. Transposed convolutions and attention's products are left out. --check writes
nothing and exits with 1 if the files differ.
"""

import sys

import convolutional  # noqa: F401: registers its networks
import transformers  # noqa: F401
from builder import NETWORKS, Network
from layers import FOLDER, Conv, Norm, table_text


def count(function):
    """Counts of a network's convolutions and batch norms."""
    net = Network()
    function(net)
    return net.convolutions, net.norms


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    tables = {"layers.csv": (Conv, []), "norms.csv": (Norm, [])}
    for name, function in NETWORKS.items():
        for (_, rows), counted in zip(tables.values(), count(function)):
            rows.extend((name, layer, number) for layer, number in counted.items())
    stale = 0
    for file, (kind, rows) in tables.items():
        text = table_text(kind, rows)
        path = FOLDER / file
        if arguments and (not path.exists() or path.read_text() != text):
            print(f"{path}: differs from networks.py's table: run bench/zoo/networks.py")
            stale = 1
        elif not arguments:
            path.write_text(text)
            print(f"{path}: {len(rows)} rows, {len({layer for _, layer, _ in rows})} distinct layers")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
