# SPDX-License-Identifier: MIT
"""A convolution and a batch norm of a network, without the batch, and the tables layers.csv and norms.csv."""

import csv
import dataclasses
import io
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Conv:
    """Padding is equal on both sides; stride and dilation are equal in both modes."""

    c: int
    h: int
    w: int
    k: int
    r: int = 1
    s: int = 1
    pad_h: int = 0
    pad_w: int = 0
    stride: int = 1
    dilation: int = 1
    groups: int = 1

    @property
    def name(self):
        """bench/layers.hpp's C-H-W-K-RxS-p(pad)-s(stride), and dilation and groups unless they are 1."""
        pad = str(self.pad_h) if self.pad_h == self.pad_w else f"{self.pad_h}x{self.pad_w}"
        return (f"{self.c}-{self.h}-{self.w}-{self.k}-{self.r}x{self.s}-p{pad}-s{self.stride}"
                + (f"-d{self.dilation}" if self.dilation > 1 else "") + (f"-g{self.groups}" if self.groups > 1 else ""))

    @property
    def p(self):
        return (self.h + 2 * self.pad_h - self.dilation * (self.r - 1) - 1) // self.stride + 1

    @property
    def q(self):
        return (self.w + 2 * self.pad_w - self.dilation * (self.s - 1) - 1) // self.stride + 1

    @property
    def depthwise(self):
        return self.groups == self.c > 1

    def weights(self):
        return self.k * (self.c // self.groups) * self.r * self.s

    def elements(self, batch):
        """Elements of x, y and the weights."""
        return batch * (self.c * self.h * self.w + self.k * self.p * self.q) + self.weights()

    def flops(self, batch):
        """Two operations a product."""
        return 2 * batch * self.p * self.q * self.weights()


@dataclasses.dataclass(frozen=True)
class Norm:
    """Batch norm of N x C x H x W."""

    c: int
    h: int
    w: int

    @property
    def name(self):
        return f"{self.c}-{self.h}-{self.w}"

    def elements(self, batch):
        """Elements of x and y."""
        return 2 * batch * self.c * self.h * self.w


def table_text(kind, rows):
    """CSV of rows of (network, layer, count); `kind` is Conv or Norm."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["network", "layer", *(field.name for field in dataclasses.fields(kind)), "count"])
    writer.writerows([network, layer.name, *dataclasses.astuple(layer), count] for network, layer, count in rows)
    return file.getvalue()


def read_table(path, kind):
    """Rows of (network, layer, count)."""
    with open(path, newline="") as file:
        return [(row["network"], kind(*(int(row[field.name]) for field in dataclasses.fields(kind))), int(row["count"]))
                for row in csv.DictReader(file)]


def distinct(rows, networks=None):
    """Each layer of `networks`, or of all, once, in the table's order. Exits with a message for an unknown network."""
    known = dict.fromkeys(network for network, _, _ in rows)
    for name in networks or ():
        if name not in known:
            raise SystemExit(f"--networks: '{name}' is not a network of the table: expected some of {', '.join(known)}")
    return list(dict.fromkeys(layer for network, layer, _ in rows if not networks or network in networks))


def convolutions():
    return read_table(FOLDER / "layers.csv", Conv)


def norms():
    return read_table(FOLDER / "norms.csv", Norm)
