#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: program.py LIBRARY
#
# Python's ctypes drives the shared library: a convolution with bias and ReLU, and why a chain is no plan.
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p


class Filter(ctypes.Structure):
    _fields_ = [(name, c_int32 * 2) for name in ("size", "pad_before", "pad_after", "stride", "dilation")]
    _fields_ += [("groups", c_int32)]


class Operator(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("mode", c_int32), ("filter", Filter)]


class Types(ctypes.Structure):
    _fields_ = [("x", c_int32), ("y", c_int32), ("weights", c_int32)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int32), ("rank", c_int32), ("extents", c_int64 * 5),
                ("strides", c_int64 * 5)]


class Arguments(ctypes.Structure):
    _fields_ = [("tensors", Tensor * 16)]
    _fields_ += [(name, c_double) for name in ("alpha", "beta", "gamma", "factor", "epsilon", "momentum", "zero_point")]


class Explanation(ctypes.Structure):
    _fields_ = [("reason", c_int32), ("position", c_int32), ("rule", c_char_p), ("sentence", c_char_p)]


CONV, BIAS, ACTIVATION, RELU = 0, 2, 5, 3
NO_PLAN = 3


def operator(kind, mode=0, size=0, pad=0):
    pair = lambda value: (c_int32 * 2)(value, value)
    return Operator(kind, mode, Filter(pair(size), pair(pad), pair(pad), pair(1), pair(1), 1))


def tensor(values, *extents):
    data = (ctypes.c_float * len(values))(*values)
    strides, step = [], 1
    for extent in reversed(extents):
        strides.insert(0, step)
        step *= extent
    view = Tensor(ctypes.cast(data, c_void_p), 0, len(extents))
    view.extents[:len(extents)], view.strides[:len(extents)] = extents, strides
    return data, view


def main():
    fusekit = ctypes.CDLL(sys.argv[1])
    fusekit.fusekit_last_message.restype = c_char_p

    def call(name, *arguments):
        status = getattr(fusekit, name)(*arguments)
        assert status == 0, f"{name}: {fusekit.fusekit_last_message().decode()}"

    sequence = (Operator * 3)(operator(CONV, size=3, pad=1), operator(BIAS), operator(ACTIVATION, RELU))
    types = Types(0, 0, 0)
    device, plan = c_void_p(), c_void_p()
    call("fusekit_device_create_host", 1, byref(device))
    call("fusekit_find", 0, sequence, 3, byref(types), byref(plan))

    # A window of ones sums the 3 x 3 neighbourhood of a single one: 1 everywhere, less 1/2, and no more than that.
    x_data, x = tensor([0, 0, 0, 0, 1, 0, 0, 0, 0], 1, 1, 3, 3)
    w_data, w = tensor([1] * 9 + [-1] * 9, 2, 1, 3, 3)
    b_data, b = tensor([-0.5, 0.75], 2)
    y_data, y = tensor([float("nan")] * 18, 1, 2, 3, 3)
    arguments = (Arguments * 3)()
    for each in arguments:
        call("fusekit_arguments_init", byref(each))
    arguments[0].tensors[0], arguments[1].tensors[1] = w, b
    call("fusekit_execute", plan, device, c_void_p(-1), arguments, 3, byref(x), byref(y), None, c_size_t(0))
    assert list(y_data) == [0.5] * 9 + [0] * 9, list(y_data)

    wrong = (Operator * 3)(sequence[0], sequence[2], sequence[1])
    why = Explanation()
    assert fusekit.fusekit_explain(0, wrong, 3, byref(types), byref(why)) == NO_PLAN
    assert why.position == 2 and why.rule == b"BiasComesEarly", (why.position, why.rule)
    assert why.sentence == b"Bias shifts the accumulator, so it stands before BatchNorm and Activation"
    assert fusekit.fusekit_plan_destroy(plan) == 0 and fusekit.fusekit_plan_destroy(plan) != 0
    call("fusekit_device_destroy", device)
    print("ok")


main()
