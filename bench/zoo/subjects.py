# SPDX-License-Identifier: MIT
"""Calls that gpu.py times on a layer: ours, PyTorch's ways, an elementwise kernel of the same bytes, and a check of ours.

A call writes memory of its own while the results of the last `pairs` calls live; inputs rotate through `pairs` tensors.
Weights and parameters are the same in every call.
"""

import collections
import dataclasses

import torch
import torch.nn.functional as functional

EPSILON = 1e-5
MOST_PAIRS = 64
ops = torch.ops.fusekit


@dataclasses.dataclass
class Form:
    """Element type, memory format and device of the tensors, and the cache size in bytes that rotated copies exceed."""

    dtype: torch.dtype
    order: torch.memory_format
    device: str
    cache: int

    def random(self, *shape, scale=1.0):
        values = torch.empty(shape, device=self.device).uniform_(-scale, scale).to(self.dtype)
        return values.contiguous(memory_format=self.order) if len(shape) == 4 else values

    def empty(self, *shape):
        return torch.empty(shape, dtype=self.dtype, device=self.device, memory_format=self.order)

    def pairs(self, elements):
        """Number of tensors to rotate if a call moves `elements`."""
        return min(MOST_PAIRS, 1 + self.cache // (torch.finfo(self.dtype).bits // 8 * elements))

    def copies(self, tensor, count):
        return [tensor.clone(memory_format=torch.preserve_format) for _ in range(count)]


@dataclasses.dataclass
class Subjects:
    """Subjects are functions of a call's number; buffers repeat after `pairs` calls."""

    ours: object
    ways: dict  # PyTorch's, by name
    copy: object
    pairs: int
    error: object  # a function without arguments: the largest error of ours over its bound


def kept(function, *inputs):
    """Subject that calls `function` on rotated inputs. Keeps the last results, so that their memory is not reused."""
    results = collections.deque(maxlen=len(inputs[0]))
    return lambda call: results.append(function(*(each[call % len(each)] for each in inputs)))


def copy_subject(form, elements):
    """Subject of an elementwise kernel that reads and writes `elements` elements in total."""
    source = form.random(max(1, elements // 2))
    pairs = form.pairs(elements)
    return kept(torch.neg, form.copies(source, pairs))


def conv_bound(expected, squares, terms, dtype):
    """8 standard deviations of a float sum's error, and a rounding to the element type: support/sample_check.hpp."""
    return 8 * 2.0**-24 * (terms * squares).sqrt() + torch.finfo(dtype).eps / 2 * expected.abs() + 2.0**-25


def largest_share(got, expected, bound):
    """Largest error as a share of its bound; infinite if an error is NaN."""
    share = ((got.double() - expected).abs() / bound).max().item()
    return share if share == share else float("inf")


def checked_images(batch):
    return sorted({0, batch // 2, batch - 1})


def geometry(layer):
    return ([layer.stride] * 2, [layer.pad_h, layer.pad_w], [layer.dilation] * 2, layer.groups)


def backward(dy, x, weight, layer, mask):
    stride, padding, dilation, groups = geometry(layer)
    return torch.ops.aten.convolution_backward(dy, x, weight, None, stride, padding, dilation, False, [0, 0], groups, mask)


def weights_of(layer, form):
    """Random weights, scaled so that the sums have about x's magnitude."""
    terms = layer.c // layer.groups * layer.r * layer.s
    return form.random(layer.k, layer.c // layer.groups, layer.r, layer.s, scale=terms**-0.5)


def forward(layer, batch, form):
    stride, padding, dilation, groups = geometry(layer)
    weight, bias = weights_of(layer, form), form.random(layer.k)
    pairs = form.pairs(layer.elements(batch))
    xs = form.copies(form.random(batch, layer.c, layer.h, layer.w), pairs)

    def ours(x):
        return ops.conv_bias_act(x, weight, bias, None, stride, padding, dilation, groups, "relu")

    def error():
        some = checked_images(batch)
        x, w, b = xs[0][some].double(), weight.double(), bias.double()[:, None, None]
        exact = functional.conv2d(x, w, None, *geometry(layer))
        squares = functional.conv2d(x * x, w * w, None, *geometry(layer)) + b * b
        terms = weight[0].numel() + 1
        bound = conv_bound(exact.abs() + b.abs(), squares, terms, form.dtype)
        return largest_share(ours(xs[0])[some], (exact + b).clamp(min=0), bound)

    ways = {"conv2d + relu_": lambda x: functional.conv2d(x, weight, bias, *geometry(layer)).relu_()}
    if form.device != "cpu":
        ways["cudnn_convolution_relu"] = lambda x: torch.cudnn_convolution_relu(
            x, weight, bias, stride, padding, dilation, groups)
    return Subjects(kept(ours, xs), {name: kept(way, xs) for name, way in ways.items()},
                    copy_subject(form, layer.elements(batch)), pairs, error)


def linear(layer, batch, form):
    """forward(), beside cuBLASLt's product with bias and ReLU as its epilogue."""
    subjects = forward(layer, batch, form)
    rows = form.copies(form.random(batch * layer.h * layer.w, layer.c), subjects.pairs)
    weight, bias = weights_of(layer, form).reshape(layer.k, layer.c), form.random(layer.k)
    subjects.ways = {"addmm with epilogue": kept(lambda x: torch._addmm_activation(bias, x, weight.t()), rows)}
    return subjects


def gradient(layer, batch, form, mask, make):
    """Gradient by x or by the weights. make(layer, batch, form, weight) returns our function of (dy, x)."""
    weight = weights_of(layer, form)
    pairs = form.pairs(layer.elements(batch))
    dys = form.copies(form.random(batch, layer.k, layer.p, layer.q), pairs)
    xs = form.copies(form.random(batch, layer.c, layer.h, layer.w), pairs)
    ours = make(layer, batch, form, weight)
    of = mask.index(True)

    def error():
        def exact(images):
            """Gradient of the given images in double, and the sums of the squares of its terms."""
            dy, x, w = dys[0][images].double(), xs[0][images].double(), weight.double()
            return torch.stack([backward(dy, x, w, layer, mask)[of], backward(dy * dy, x * x, w * w, layer, mask)[of]])

        got = ours(dys[0], xs[0])
        if of == 0:
            some = checked_images(batch)
            got, sums, terms = got[some], exact(some), layer.k // layer.groups * layer.r * layer.s
        else:
            sums, terms = sum(exact([image]) for image in range(batch)), batch * layer.p * layer.q
        return largest_share(got, sums[0], conv_bound(*sums, terms, form.dtype))

    theirs = kept(lambda dy, x: backward(dy, x, weight, layer, mask)[of], dys, xs)
    return Subjects(kept(ours, dys, xs), {"convolution_backward": theirs}, copy_subject(form, layer.elements(batch)),
                    pairs, error)
