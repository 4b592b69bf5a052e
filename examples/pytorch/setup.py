# SPDX-License-Identifier: MIT
"""python3 setup.py build_ext --inplace, or pip install --no-build-isolation .

With FUSEKIT_JIT_LIBRARY, the file of libfusekit_jit, no extension is compiled: the package has a copy of the library.
"""

import os
import pathlib
import shutil
import sys

from setuptools import setup
from torch.utils import cpp_extension

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ["FUSEKIT_TORCH_BUILDING"] = "1"  # there is nothing to load yet
from fusekit_torch import build  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
if "FUSEKIT_JIT_LIBRARY" in os.environ:
    shutil.copyfile(os.environ["FUSEKIT_JIT_LIBRARY"], FOLDER / "fusekit_torch" / "libfusekit_jit.so")
    how = {"package_data": {"fusekit_torch": ["libfusekit_jit.so"]}}
else:
    given = build.options()
    Extension = cpp_extension.CUDAExtension if given["cuda"] else cpp_extension.CppExtension
    sources = [os.path.relpath(each) for each in given["sources"]]
    flags = {"cxx": given["cxx"], "nvcc": given["nvcc"]} if given["cuda"] else {"cxx": given["cxx"]}
    how = {"ext_modules": [Extension("fusekit_torch._operators", sources, include_dirs=given["include_dirs"],
                                     extra_compile_args=flags)],
           "cmdclass": {"build_ext": cpp_extension.BuildExtension}}
setup(name="fusekit_torch", version="0.1", packages=["fusekit_torch"], **how)
