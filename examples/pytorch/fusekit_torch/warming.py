# SPDX-License-Identifier: MIT
"""Compiles the kernels of a graph's plans in parallel, before the graph runs."""

import concurrent.futures
import contextlib
import os

import torch

from . import convolutions, norms
from .aten import value_of
from .bound import Bound, bound
from .concatenation import slices
from .library import Refused
from .run import TYPES, new_output, plan_of


def is_static(value):
    return value is not None and all(type(each) is int for each in (*value.shape, *value.stride()))


REQUESTS = {convolutions.INPUT: convolutions.input_request, convolutions.WEIGHT: convolutions.weight_request,
            torch.ops.fusekit_jit.norm_training.default: norms.training_request,
            torch.ops.fusekit_jit.norm_training_.default: norms.moving_request,
            torch.ops.fusekit_jit.norm_backward.default: norms.backward_request}


def values_of(arguments):
    return [value_of(each) if isinstance(each, torch.fx.Node) else each for each in arguments]


def plans_of(node):
    """Pairs of a plan's text and its tensors x, y or None and parameters, of a node that runs plans."""
    if node.target is torch.ops.fusekit_jit.run.default:
        return [(node.args[2], value_of(node.args[0]), None, list(map(value_of, node.args[1])))]
    inputs, tensors, texts = node.args
    values = list(map(value_of, inputs)), list(map(value_of, tensors))
    if not all(map(is_static, (*values[0], *values[1]))):
        return []
    with getattr(values[0][0], "fake_mode", contextlib.nullcontext()):
        return [(text, x, y, own) for x, own, text, y in slices(*values, texts)[1] if text is not None]


def prepared(steps, x, y, tensors):
    """A function that compiles a plan whose tensors are bound in each call, or None."""
    plan = bound(tuple(steps), "cuda", TYPES[x.dtype])
    return (lambda: plan.prepare(x, y, tensors)) if isinstance(plan, Bound) else None


def requests_of(node):
    """Functions that compile the node's plans."""
    if node.target in REQUESTS:
        values = values_of(node.args)
        given = [each for each in values if isinstance(each, torch.Tensor)]
        if not all(map(is_static, given)) or not given[0].is_cuda:
            return []
        with getattr(given[0], "fake_mode", contextlib.nullcontext()):
            return [prepared(*REQUESTS[node.target](*values))]
    found = []
    for text, x, y, tensors in plans_of(node):
        if not (is_static(x) and x.is_cuda and x.numel() and all(map(is_static, tensors))):
            continue
        plan = plan_of(text, "cuda")
        with getattr(x, "fake_mode", contextlib.nullcontext()), contextlib.suppress(Refused):
            if plan.sequence.fresh:
                y = new_output(plan.sequence, x, tensors) if y is None else y
                image, written = (x[:, :, None, None], y[:, :, None, None]) if plan.sequence.rows else (x, y)
                steps, own = plan.bindings(x, tensors, y)
                found.append(prepared(steps, image, written, own))
            else:
                found.append(lambda given=plan.request_for(x, tensors, y): plan.library.prepare(*given))
    return found


def compile_plans(graph):
    """Compiles plans whose tensors are on a GPU and have constant shapes; others compile when they first run. A refusal
    comes again in the run."""
    requests = []
    for node in graph.nodes:
        if node.op == "call_function" and "fusekit_jit" in str(node.target):
            requests += filter(None, requests_of(node))

    def prepare(request):
        with contextlib.suppress(Refused):
            request()

    if requests:
        with concurrent.futures.ThreadPoolExecutor(min(len(requests), len(os.sched_getaffinity(0)))) as pool:
            list(pool.map(prepare, requests))
