# SPDX-License-Identifier: MIT
"""The C library (include/fusekit/runtime/c/fusekit.h) through ctypes: structures, rules, plans and prepared runs.

`library_for(device)` is the library that runs plans on a device: fusekit_jit on GPUs, fusekit_runtime on the CPU. The
variables FUSEKIT_JIT_LIBRARY and FUSEKIT_RUNTIME_LIBRARY name their files; otherwise they are beside this file, in the
wheel fusekit, or found by the system's loader.
"""

import ctypes
import functools
import os
import pathlib
import weakref
from ctypes import byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p

HOST, JIT = 0, 2
VERSION = 1  # 100 * major + minor: of the structures below
SUCCESS, NO_PLAN, REFUSED = 0, 3, 4
ROLES = 16


class Filter(ctypes.Structure):
    _fields_ = [(name, c_int32 * 2) for name in ("size", "pad_before", "pad_after", "stride", "dilation")]
    _fields_ += [("groups", c_int32)]


class Operator(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("mode", c_int32), ("filter", Filter)]


class Types(ctypes.Structure):
    _fields_ = [("x", c_int32), ("y", c_int32), ("weights", c_int32)]


def types_of(data_type):
    """The Types of a plan, from one type or a pair: of x and weights, and of y."""
    x, y = data_type if isinstance(data_type, tuple) else (data_type, data_type)
    return Types(x, y, x)


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int32), ("rank", c_int32), ("extents", c_int64 * 5),
                ("strides", c_int64 * 5)]


class Arguments(ctypes.Structure):
    _fields_ = [("tensors", Tensor * ROLES)]
    _fields_ += [(name, c_double) for name in ("alpha", "beta", "gamma", "factor", "epsilon", "momentum", "zero_point")]


class Explanation(ctypes.Structure):
    _fields_ = [("reason", c_int32), ("position", c_int32), ("rule", c_char_p), ("sentence", c_char_p)]


class Refused(RuntimeError):
    """The library's message, and its status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Run:
    """A prepared run. It contains the addresses of all arguments but x and y."""

    def __init__(self, library, handle, device):
        self.call, self.handle, self.device = library.dll.fusekit_run_execute, handle, device
        self.check = library.check
        size = c_size_t()
        library.check(library.dll.fusekit_run_workspace_bytes(handle, byref(size)))
        self.workspace_bytes = size.value
        weakref.finalize(self, library.dll.fusekit_run_destroy, handle).atexit = False

    def __call__(self, stream, x, y, workspace):
        self.check(self.call(self.handle, self.device, stream, x, y, workspace, self.workspace_bytes))


class Library:
    """A loaded library and one of its backends."""

    def __init__(self, path, backend):
        self.dll, self.backend, self.devices, self.accepted = ctypes.CDLL(str(path)), backend, {}, {}
        version = self.dll.fusekit_version()
        if version != VERSION:
            raise OSError(f"{path}: expected version {VERSION // 100}.{VERSION % 100} of fusekit's C interface, got "
                          f"{version // 100}.{version % 100}")
        self.dll.fusekit_last_message.restype = c_char_p
        if not self.dll.fusekit_has_backend(backend):
            raise OSError(f"{path} was built without the backend {backend}")
        self.dll.fusekit_run_execute.argtypes = [c_void_p] * 6 + [c_size_t]
        self.dll.fusekit_execute.argtypes = [*[c_void_p] * 4, c_int32, *[c_void_p] * 3, c_size_t]
        self.dll.fusekit_run_destroy.argtypes = [c_void_p]
        self.dll.fusekit_run_workspace_bytes.argtypes = [c_void_p, ctypes.POINTER(c_size_t)]

    def message(self):
        return self.dll.fusekit_last_message().decode(errors="replace")

    def check(self, status):
        if status != SUCCESS:
            raise Refused(self.message(), status)

    def refusal(self, operators, data_type=None):
        """None if a plan begins with the operators or, with an element type, if they are a plan; otherwise the
        reason: the broken rule's sentence, or the library's message."""
        key = (b"".join(map(bytes, operators)), data_type)
        if key not in self.accepted:
            explanation, types = Explanation(), None if data_type is None else byref(types_of(data_type))
            given = (Operator * len(operators))(*operators)
            status = self.dll.fusekit_explain(self.backend, given, len(operators), types, byref(explanation))
            sentence = (explanation.sentence or b"").decode() if status == NO_PLAN else ""
            self.accepted[key] = None if status == SUCCESS else sentence or self.message()
        return self.accepted[key]

    @functools.lru_cache(None)
    def own_mode(self, name, source):
        """Mode of an operator that is given as source."""
        mode = c_int32()
        self.check(self.dll.fusekit_jit_add_operator(name.encode(), source.encode(), byref(mode)))
        return mode.value

    @functools.lru_cache(None)
    def device(self, index):
        handle = c_void_p()
        if self.backend == JIT:
            self.check(self.dll.fusekit_device_create_jit(index, byref(handle)))
        else:
            self.check(self.dll.fusekit_device_create_host(0, byref(handle)))
        return handle

    def plan(self, operators, data_type):
        """A plan of x, y and weights of a type, or of a pair: the type of x and weights, and that of y."""
        handle = c_void_p()
        self.check(self.dll.fusekit_find(self.backend, (Operator * len(operators))(*operators), len(operators),
                                         byref(types_of(data_type)), byref(handle)))
        return handle

    def plan_name(self, operators, data_type):
        text, handle = ctypes.create_string_buffer(1024), self.plan(operators, data_type)
        self.check(self.dll.fusekit_plan_name(handle, text, c_size_t(1024), None))
        self.check(self.dll.fusekit_plan_destroy(handle))
        return text.value.decode()

    def arguments(self, count):
        all_arguments = (Arguments * count)()
        for each in all_arguments:
            self.check(self.dll.fusekit_arguments_init(byref(each)))
        return all_arguments

    def prepare(self, plan, index, arguments, x, y, alignment):
        handle, device = c_void_p(), self.device(index)
        self.check(self.dll.fusekit_prepare(plan, device, arguments, len(arguments), byref(x), byref(y), alignment,
                                            byref(handle)))
        return Run(self, handle, device)

    def workspace_bytes(self, plan, index, arguments, x, y):
        size = c_size_t()
        self.check(self.dll.fusekit_workspace_bytes(plan, self.device(index), arguments, len(arguments), byref(x), byref(y),
                                                    byref(size)))
        return size.value

    def execute(self, plan, index, stream, arguments, x, y, workspace, size):
        """Binds the arguments and runs. It prepares nothing that a later call could use."""
        self.check(self.dll.fusekit_execute(plan, self.device(index), stream, arguments, len(arguments), byref(x), byref(y),
                                            workspace, size))


@functools.lru_cache(None)
def load(name, backend):
    """The library, or None where it is not installed."""
    folder = pathlib.Path(__file__).resolve().parent
    given = os.environ.get(f"{name.upper()}_LIBRARY")
    of_wheel = folder.parent / f"fusekit/lib/lib{name}.so.0"
    for path in [given] if given else [folder / f"lib{name}.so", of_wheel, f"lib{name}.so.0", f"lib{name}.so"]:
        try:
            return Library(path, backend)
        except OSError:
            if given:
                raise
    return None


@functools.lru_cache(None)
def why_none(kind, index=0):
    """Why no plan runs on a device of this kind ("cuda", "cpu"); None if plans do."""
    library = library_of(kind)
    if library is None:
        return f"no {'fusekit_jit' if kind == 'cuda' else 'fusekit_runtime'} library is installed"
    try:
        library.device(index)
    except Refused as error:
        return str(error)
    return None


def library_of(kind):
    """The library for devices of this kind; None if there is none."""
    if kind == "cuda":
        return load("fusekit_jit", JIT)
    return load("fusekit_runtime", HOST) if kind == "cpu" else None
