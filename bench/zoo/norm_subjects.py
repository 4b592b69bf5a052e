# SPDX-License-Identifier: MIT
"""Calls that gpu.py times on a batch norm and ReLU: inference, and training without running statistics."""

import torch
import torch.nn.functional as functional

from subjects import EPSILON, Subjects, copy_subject, kept, ops

# Tolerances relative to the largest value: float sums, and one rounding to the element type forward, two backward.
FORWARD = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
BACKWARD = {dtype: 2 * bound for dtype, bound in FORWARD.items()}


def share(got, expected, bounds, dtype, mask=None):
    difference = (got.double() - expected).abs()
    if mask is not None:
        difference = difference * mask
    ratio = (difference.max() / expected.abs().max()).item() / bounds[dtype]
    return ratio if ratio == ratio else float("inf")


class Parameters:
    """Scale, shift and running statistics, as floats."""

    def __init__(self, norm, form):
        def uniform(low, high):
            return torch.empty(norm.c, device=form.device).uniform_(low, high)

        self.scale, self.shift, self.mean = uniform(0.5, 1.5), uniform(-1, 1), uniform(-1, 1)
        self.variance = uniform(0.5, 1.5)


def inputs(norm, batch, form):
    x = form.random(batch, norm.c, norm.h, norm.w)
    return form.copies(x, form.pairs(norm.elements(batch)))


def inference(norm, batch, form):
    of, xs = Parameters(norm, form), inputs(norm, batch, form)

    def ours(x):
        return ops.batch_norm_act(x, of.scale, of.shift, of.mean, of.variance, EPSILON, "relu")

    def theirs(x):
        return functional.batch_norm(x, of.mean, of.variance, of.scale, of.shift, False, 0.0, EPSILON).relu_()

    def error():
        expected = functional.batch_norm(xs[0].double(), of.mean.double(), of.variance.double(), of.scale.double(),
                                         of.shift.double(), False, 0.0, EPSILON).relu()
        return share(ours(xs[0]), expected, FORWARD, form.dtype)

    return Subjects(kept(ours, xs), {"batch_norm + relu_": kept(theirs, xs)}, copy_subject(form, norm.elements(batch)),
                    len(xs), error)


def eager(x, scale, shift):
    return functional.batch_norm(x, None, None, scale, shift, True, 0.0, EPSILON).relu_()


def training(norm, batch, form):
    of, xs = Parameters(norm, form), inputs(norm, batch, form)

    def ours(x):
        return ops.batch_norm_act_training(x, of.scale, of.shift, EPSILON, "relu")

    def error():
        expected = eager(xs[0].double(), of.scale.double(), of.shift.double())
        return share(ours(xs[0])[0], expected, FORWARD, form.dtype)

    return Subjects(kept(ours, xs), {"batch_norm + relu_": kept(lambda x: eager(x, of.scale, of.shift), xs)},
                    copy_subject(form, norm.elements(batch)), len(xs), error)


def training_backward(norm, batch, form):
    """Forward and backward: y, and the gradients of x, scale and shift."""
    of, xs = Parameters(norm, form), inputs(norm, batch, form)
    dys = form.copies(form.random(batch, norm.c, norm.h, norm.w), len(xs))

    def ours(x, dy):
        y, mean, inverse, _ = ops.batch_norm_act_training(x, of.scale, of.shift, EPSILON, "relu")
        return y, *ops.batch_norm_act_backward(dy, x, of.scale, of.shift, mean, inverse, True, EPSILON, "relu")

    def theirs(x, dy, scale=of.scale, shift=of.shift):
        with torch.enable_grad():
            given = [each.detach().requires_grad_() for each in (x, scale, shift)]
            y = eager(*given)
            return y, *torch.autograd.grad(y, given, dy)

    def error():
        wide = xs[0].double(), dys[0].double(), of.scale.double(), of.shift.double()
        before = functional.batch_norm(wide[0], None, None, wide[2], wide[3], True, 0.0, EPSILON)
        decided = before.abs() > 1e-4  # excludes values near 0, whose sign, and so ReLU's slope, may differ in float
        expected = theirs(*wide)[1]
        return share(ours(xs[0], dys[0])[1], expected, BACKWARD, form.dtype, decided)

    return Subjects(kept(ours, xs, dys), {"batch_norm + relu_, autograd": kept(theirs, xs, dys)},
                    copy_subject(form, norm.elements(batch)), len(xs), error)
