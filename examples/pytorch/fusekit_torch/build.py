# SPDX-License-Identifier: MIT
"""Sources and options of the extension, for setup.py and for the first import."""

import os
import pathlib

import torch
from torch.utils import cpp_extension

FOLDER = pathlib.Path(__file__).resolve().parent
TYPES = ("float", "half", "bfloat16")


def include_folder():
    """The library's headers: the clone's, or those of the installed package fusekit."""
    clone = FOLDER.parents[2] / "include"
    if (clone / "fusekit/fusekit.hpp").is_file():
        return str(clone)
    import fusekit
    return fusekit.get_include()


def with_cuda():
    """True if plans for GPUs are built: PyTorch has CUDA, nvcc is installed, and FUSEKIT_TORCH_CPU is not set."""
    return (torch.version.cuda is not None and cpp_extension.CUDA_HOME is not None
            and "FUSEKIT_TORCH_CPU" not in os.environ)


def options():
    """Arguments of cpp_extension.load; with setup.py, of an extension. FUSEKIT_TORCH_FLAGS replaces how the CPU's code is
    optimized."""
    sources = ["operators.cpp", "host_statistics.cpp", *(f"host_{each}.cpp" for each in TYPES)]
    compiler = ["-std=c++20", *os.environ.get("FUSEKIT_TORCH_FLAGS", "-O3 -march=native").split()]
    result = {"include_dirs": [include_folder()], "cxx": compiler, "cuda": with_cuda()}
    if with_cuda():
        # Only code for sm_90a may use the matrix units of an H100 or H200.
        if "TORCH_CUDA_ARCH_LIST" not in os.environ and torch.cuda.is_available():
            major, minor = torch.cuda.get_device_capability()
            os.environ["TORCH_CUDA_ARCH_LIST"] = f"{major}.{minor}" + ("a" if major == 9 else "")
        forms = ("", "_any", "_statistics")
        sources += [f"gpu_{each}{form}.cu" for each in TYPES for form in forms] + ["gpu_pool.cu"]
        compiler.append("-DFUSEKIT_TORCH_CUDA")
        result["nvcc"] = ["-std=c++20", "-O3", "--expt-relaxed-constexpr"]
    result["sources"] = [str(FOLDER / "csrc" / each) for each in sources]
    return result


def load(verbose=False):
    """Compiles what has changed and loads it: PyTorch keeps it in its extensions' folder."""
    given = options()
    cpp_extension.load(name="fusekit_torch_operators", sources=given["sources"], extra_cflags=given["cxx"],
                       extra_cuda_cflags=given.get("nvcc"), extra_include_paths=given["include_dirs"],
                       with_cuda=given["cuda"], is_python_module=False, verbose=verbose)
