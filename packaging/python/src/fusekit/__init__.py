# SPDX-License-Identifier: MIT
"""The headers of fusekit, and its compiled library where the wheel has it. The package fusekit_torch beside it has the
operators of PyTorch.

    g++ -std=c++20 -O3 -I$(python3 -m fusekit) app.cpp
"""
import ctypes
import pathlib

_folder = pathlib.Path(__file__).resolve().parent


def get_include():
    """The folder to name in a compiler's -I option."""
    return str(_folder / "include")


def get_library():
    """The path of libfusekit_runtime, with the functions of fusekit/runtime/c/fusekit.h; None in a wheel of headers."""
    found = sorted(_folder.glob("lib/libfusekit_runtime.so.*"))
    return str(found[0]) if found else None


def load_library():
    """The compiled library as a ctypes.CDLL. Raises FileNotFoundError in a wheel of headers."""
    path = get_library()
    if path is None:
        raise FileNotFoundError("fusekit: load_library: expected a wheel with the compiled library, got one of headers: "
                                "build it with FUSEKIT_RUNTIME_LIBRARY (docs/install.md)")
    return ctypes.CDLL(path)
