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
    """A function that compiles a plan whose tensors are bound in each call, and returns the bytes of its workspace, or
    None."""
    plan = bound(tuple(steps), "cuda", (TYPES[x.dtype], TYPES[y.dtype]))
    return (lambda: plan.prepare(x, y, tensors)) if isinstance(plan, Bound) else None


def requests_of(node):
    """Functions that compile the plans of a node, or of a Gradient."""
    if node.target in REQUESTS:
        values = values_of(getattr(node, "args", None) or node.arguments)
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


def compile_all(requests):
    """Calls functions that compile plans, in parallel, and returns their results; None for those that are refused."""
    def call(request):
        with contextlib.suppress(Refused):
            return request()
    if not requests:
        return []
    with concurrent.futures.ThreadPoolExecutor(min(len(requests), len(os.sched_getaffinity(0)))) as pool:
        return list(pool.map(call, requests))


def compile_plans(graph):
    """Compiles plans whose tensors are on a GPU and have constant shapes; others compile when they first run. A refusal
    comes again in the run. Nodes whose tensors are bound in each call have the bytes of their workspace in
    meta["fusekit_workspace"]."""
    requests = []
    for node in graph.nodes:
        if node.op == "call_function" and "fusekit_jit" in str(node.target):
            requests += [(node, each) for each in requests_of(node) if each is not None]

    for (node, _), size in zip(requests, compile_all([request for _, request in requests])):
        if isinstance(size, int):
            node.meta["fusekit_workspace"] = size


def share_workspace(graph):
    """Gives the nodes of bound plans one workspace, which one kernel sets to 0: each run leaves it ready for the next, and
    the runs of a graph are in order on a stream."""
    nodes = [node for node in graph.nodes if node.meta.get("fusekit_workspace") and any(
        each.name == "workspace" for each in node.target._schema.arguments)]
    for device in {device_of(node) for node in nodes}:
        own = [node for node in nodes if device_of(node) == device]
        size = max(node.meta["fusekit_workspace"] for node in own)
        with graph.inserting_before(own[0]):
            zeros = graph.call_function(torch.ops.aten.full.default, ([size], 0), {
                "dtype": torch.uint8, "device": device, "pin_memory": False})
        value = next(each for each in own[0].all_input_nodes if value_of(each) is not None).meta["val"]
        with getattr(value, "fake_mode", contextlib.nullcontext()):
            zeros.meta["val"] = torch.empty(size, dtype=torch.uint8, device=device)
        for node in own:
            node.kwargs = {**node.kwargs, "workspace": zeros}


def device_of(node):
    return next(value_of(each) for each in node.all_input_nodes if value_of(each) is not None).device
