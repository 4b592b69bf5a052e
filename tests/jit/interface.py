# SPDX-License-Identifier: MIT
"""Structures of include/fusekit/runtime/c/fusekit.h for ctypes."""
import ctypes

ROLES = 16
OWN_STREAM = ctypes.c_void_p(-1)


class Filter(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32 * 2) for name in ("size", "pad_before", "pad_after", "stride", "dilation")]
    _fields_ += [("groups", ctypes.c_int32)]


class Operator(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("mode", ctypes.c_int32), ("filter", Filter)]


class Types(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("x", "y", "weights")]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("extents", ctypes.c_int64 * 5), ("strides", ctypes.c_int64 * 5)]


class Arguments(ctypes.Structure):
    _fields_ = [("tensors", Tensor * ROLES)]
    _fields_ += [(name, ctypes.c_double)
                 for name in ("alpha", "beta", "gamma", "factor", "epsilon", "momentum", "zero_point")]
