# SPDX-License-Identifier: MIT
"""Network, which counts the layers that a block table describes, and functions of shapes."""

import collections

from layers import Conv, Norm

NETWORKS = {}


class Network:
    """Counts layers. A shape is (C, H, W); each function maps the shape of x to that of y."""

    def __init__(self, normalized=True):
        self.convolutions, self.norms = collections.Counter(), collections.Counter()
        self.normalized = normalized

    def conv(self, x, k, size=1, stride=1, pad=None, dilation=1, groups=1, norm=True):
        """Convolution, and batch norm of its output in a normalized network. Padding preserves extents by default."""
        r, s = size if isinstance(size, tuple) else (size, size)
        pads = [dilation * (each - 1) // 2 if pad is None else pad for each in (r, s)]
        layer = Conv(*x, k, r, s, *pads, stride, dilation, groups)
        self.convolutions[layer] += 1
        y = (k, layer.p, layer.q)
        return self.norm(y) if norm and self.normalized else y

    def linear(self, x, k):
        return self.conv(x, k, norm=False)

    def classifier(self, x, *widths):
        """Linear layers on the mean of all pixels."""
        x = (x[0], 1, 1)
        for width in widths or (1000,):
            x = self.linear(x, width)

    def depthwise(self, x, size, stride=1, norm=True):
        return self.conv(x, x[0], size, stride, groups=x[0], norm=norm)

    def squeeze_excite(self, x, squeezed):
        self.linear(self.linear((x[0], 1, 1), squeezed), x[0])
        return x

    def norm(self, x):
        self.norms[Norm(*x)] += 1
        return x


def network(function):
    NETWORKS[function.__name__] = function
    return function


def pool(x, size=3, stride=2, pad=0, ceil=False):
    extents = [(extent + 2 * pad - size + (stride - 1 if ceil else 0)) // stride + 1 for extent in x[1:]]
    return (x[0], *extents)


def concatenated(*shapes):
    return (sum(shape[0] for shape in shapes), *shapes[0][1:])


def divisible(value, by=8):
    """Nearest multiple of `by`, at least 0.9 of `value`."""
    rounded = max(by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded
