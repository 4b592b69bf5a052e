#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spack_install.py RECIPE PACKAGE WORK [VARIANT...]: runs a package.py where there is no Spack.

The module below stands for spack.package, with the directives that the recipe uses, as Spack's documentation describes
them. It checks their arguments' names, and installs the clone with the recipe's cmake_args(). Nothing is concretized.
"""
import importlib.util
import inspect
import subprocess
import sys
import types

directives = []


def directive(name, signature):
    """A function that records its calls, and refuses arguments that Spack's directive does not have."""
    def called(*arguments, **named):
        inspect.signature(signature).bind(*arguments, **named)
        directives.append((name, arguments, named))
    return called


class CMakePackage:
    def __init__(self, chosen):
        self.chosen = chosen

    @staticmethod
    def define(name, value):
        return f"-D{name}={'ON' if value else 'OFF'}"

    def define_from_variant(self, name, variant):
        if variant not in [arguments[0] for kind, arguments, _ in directives if kind == "variant"]:
            raise SystemExit(f"define_from_variant: expected a variant of the recipe, got {variant}")
        return self.define(name, variant in self.chosen)


stand_in = types.ModuleType("spack.package")
vars(stand_in).update(
    CMakePackage=CMakePackage,
    license=directive("license", lambda name, checked_by=None, when=None: 0),
    version=directive("version", lambda name, tag=None, branch=None, commit=None, sha256=None, preferred=None: 0),
    variant=directive("variant", lambda name, default=None, description="", values=None, multi=None, when=None: 0),
    depends_on=directive("depends_on", lambda spec, when=None, type=None, patches=None: 0),
    conflicts=directive("conflicts", lambda spec, when=None, msg=None: 0))
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = stand_in

path, package, work, *variants = sys.argv[1:]
spec = importlib.util.spec_from_file_location("package", path)
loaded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loaded)
recipe = loaded.Fusekit(variants)
for command in (["-S", recipe.git[len("file://"):], "-B", work, "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_INSTALL_PREFIX={package}", *recipe.cmake_args()],
                ["--build", work, "--target", "install"]):
    subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)
print("fusekit@" + next(arguments[0] for kind, arguments, _ in directives if kind == "version"))
