# SPDX-License-Identifier: MIT
"""Tensors that are computed once from parameters: folded weights and biases, weights of channels last.

An entry holds weak references to its sources, and is computed again after a source was replaced, moved or written in
place (`_version`). PyTorch does not count writes through `.data`: run.forget() is for these.
"""

import weakref

import torch

ENTRIES, MOST = {}, 4096


def state(tensor):
    return tensor.data_ptr(), tensor._version, tensor.shape, tensor.stride(), tensor.dtype


def is_capturing():
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def derived(key, sources, compute):
    """compute(), stored under `key` while the sources are the same objects, unchanged."""
    if any(each.is_inference() for each in sources):
        return compute()  # these count no writes
    key = (key, *(id(each) for each in sources))
    entry = ENTRIES.get(key)
    states = tuple(map(state, sources))
    if entry is not None and entry[1] == states and all(
            reference() is each for reference, each in zip(entry[0], sources)):
        return entry[2]
    with torch.no_grad():
        value = compute()
    if not is_capturing():  # a captured tensor has its value during a replay only
        if len(ENTRIES) >= MOST:
            ENTRIES.clear()
        ENTRIES[key] = ([weakref.ref(each, lambda _: ENTRIES.pop(key, None)) for each in sources], states, value)
    return value


def fold(weight, bias, parameters, epsilon):
    """Weights and bias, in double, of a convolution and the batch norm after it. `parameters`: scale, shift, mean and
    variance; None for those that are not given."""
    scale, shift, mean, variance = (None if each is None else each.detach().double() for each in parameters)
    factor = 1 / torch.sqrt(variance + epsilon)
    factor = factor if scale is None else factor * scale
    offset = -mean * factor if shift is None else shift - mean * factor
    if bias is not None:
        offset = offset + bias.detach().double() * factor
    return weight.detach().double() * factor.view(-1, 1, 1, 1), offset


def is_exact(weight, dtype):
    """Every folded weight is finite in dtype, and its rounding error is at most eps of its channel's largest weight."""
    flat = weight.flatten(1)
    error = (flat.to(dtype).double() - flat).abs().amax(1)
    return bool((error <= torch.finfo(dtype).eps * flat.abs().amax(1)).all())
