# SPDX-License-Identifier: MIT
"""Gradients of a convolution as functions of tensors, by libzoo_gradients.so (preset `cuda`, -D FUSEKIT_ZOO_GRADIENTS=ON)."""

import ctypes

import torch

TYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
FILTER = ("r", "s", "pad_h", "pad_w", "stride", "dilation", "groups")


class Problem(ctypes.Structure):
    """Mirrors the struct of gradients.hpp."""

    _fields_ = [(name, ctypes.c_int64) for name in ("n", "c", "h", "w", "k", "p", "q")] + [
        (name, ctypes.c_int) for name in (*FILTER, "type", "channels_last", "device")] + [("stream", ctypes.c_void_p)]


class Gradients:
    """The shared library; `stream` is the stream on which kernels run."""

    def __init__(self, path, stream):
        self.library, self.stream = ctypes.CDLL(str(path.resolve())), stream
        self.library.zoo_message.restype = ctypes.c_char_p
        self.library.zoo_plans.restype = ctypes.c_void_p
        self.library.zoo_plans.argtypes = [ctypes.POINTER(Problem)]
        for name in ("zoo_by_input", "zoo_by_weights"):
            getattr(self.library, name).argtypes = [ctypes.c_void_p] * 4
        self.library.zoo_delete.argtypes = [ctypes.c_void_p]
        self.library.zoo_delete.restype = None

    def check(self, succeeded):
        if not succeeded:
            raise RuntimeError(self.library.zoo_message().decode())
        return succeeded

    def plans(self, layer, batch, form):
        device = self.stream.device.index
        return Plans(self, self.check(self.library.zoo_plans(Problem(
            n=batch, p=layer.p, q=layer.q, type=TYPES[form.dtype], channels_last=form.order == torch.channels_last,
            device=device, stream=self.stream.cuda_stream,
            **{name: getattr(layer, name) for name in ("c", "h", "w", "k", *FILTER)}))))

    def by_input(self, layer, batch, form, weight):
        plans = self.plans(layer, batch, form)
        return lambda dy, x: plans.run("zoo_by_input", dy, weight, form.empty(batch, layer.c, layer.h, layer.w))

    def by_weights(self, layer, batch, form, weight):
        plans = self.plans(layer, batch, form)
        return lambda dy, x: plans.run("zoo_by_weights", dy, x, form.empty(*weight.shape))


class Plans:
    def __init__(self, gradients, handle):
        self.gradients, self.handle = gradients, handle

    def run(self, name, dy, other, result):
        function = getattr(self.gradients.library, name)
        self.gradients.check(function(self.handle, dy.data_ptr(), other.data_ptr(), result.data_ptr()))
        return result

    def __del__(self):
        self.gradients.library.zoo_delete(self.handle)
