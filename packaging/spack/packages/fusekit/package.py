# SPDX-License-Identifier: MIT
"""Spack: `spack repo add packaging/spack` in a clone, then `spack install fusekit`."""
import os
import re

from spack.package import *

_clone = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))


def _version():
    with open(os.path.join(_clone, "include", "fusekit", "config.hpp")) as header:
        text = header.read()
    return ".".join(re.search(rf"version_{part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))


class Fusekit(CMakePackage):
    """Fused GPU operators as C++20 types."""

    git = "file://" + _clone

    license("MIT")
    version(_version(), tag="v" + _version())
    version("main", branch="main")

    variant("runtime", default=False, description="Build the library of plans that a program selects at run time")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    conflicts("%gcc@:11", msg="fusekit needs C++20: g++ 12 or clang 14")
    conflicts("%clang@:13", msg="fusekit needs C++20: g++ 12 or clang 14")

    def cmake_args(self):
        parts = ("TESTS", "EXAMPLES", "BENCH")
        return [
            *(self.define(f"FUSEKIT_BUILD_{part}", False) for part in parts),
            # Spack's compiler wrapper adds the target's options.
            self.define("FUSEKIT_NATIVE", False),
            self.define_from_variant("FUSEKIT_BUILD_RUNTIME", "runtime"),
        ]
