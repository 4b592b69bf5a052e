#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""conan_create.py RECIPE PACKAGE WORK [OPTION...]: runs a conanfile.py where there is no Conan.

The modules below stand for Conan 2's, with the members that the recipe uses, as Conan's documentation describes them. An
OPTION is the name of a boolean option to set. Nothing is resolved: no settings, profiles, dependencies or cache.
"""
import fnmatch
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import types


class ConanFile:
    def __init__(self, recipe, package, work, options):
        self.recipe_folder = str(pathlib.Path(recipe).resolve().parent)
        self.export_sources_folder = self.source_folder = os.path.join(work, "source")
        self.build_folder, self.package_folder = os.path.join(work, "build"), package
        unknown = set(options) - set(self.options)
        if unknown:
            raise SystemExit(f"options: expected some of {sorted(self.options)}, got {sorted(unknown)}")
        self.options = types.SimpleNamespace(**{**self.default_options, **dict.fromkeys(options, True)})
        self.properties = {}
        self.cpp_info = types.SimpleNamespace(set_property=self.properties.__setitem__)


class CMakeToolchain:
    def __init__(self, conanfile):
        self.conanfile, self.cache_variables = conanfile, {}

    def generate(self):
        self.conanfile.variables = self.cache_variables


class CMake:
    def __init__(self, conanfile):
        self.conanfile = conanfile

    def run(self, *command):
        subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)

    def configure(self):
        recipe = self.conanfile
        flags = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in recipe.variables.items()]
        self.run("-S", recipe.source_folder, "-B", recipe.build_folder, "-DCMAKE_BUILD_TYPE=Release", *flags)

    def build(self):
        self.run("--build", self.conanfile.build_folder)

    def install(self):
        self.run("--install", self.conanfile.build_folder, "--prefix", self.conanfile.package_folder)


def copy(_, pattern, src, dst):
    """Copies the files below src that match, with their folders."""
    for path in sorted(pathlib.Path(src).rglob("*") if "*" in pattern else [pathlib.Path(src, pattern)]):
        name = path.relative_to(src)
        if path.is_file() and fnmatch.fnmatch(str(name), pattern):
            os.makedirs(os.path.join(dst, name.parent), exist_ok=True)
            shutil.copy2(path, os.path.join(dst, name))


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


module("conan", ConanFile=ConanFile)
module("conan.tools")
module("conan.tools.cmake", CMake=CMake, CMakeToolchain=CMakeToolchain, cmake_layout=lambda conanfile: None)
module("conan.tools.files", copy=copy, load=lambda conanfile, path: pathlib.Path(path).read_text())

path, package, work, *options = sys.argv[1:]
spec = importlib.util.spec_from_file_location("conanfile", path)
loaded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loaded)
recipe = next(value for value in vars(loaded).values() if isinstance(value, type) and issubclass(value, ConanFile)
              and value is not ConanFile)(path, package, work, options)
for step in ("set_version", "export_sources", "layout", "generate", "build", "package", "package_info"):
    getattr(recipe, step)()
for folder in recipe.cpp_info.builddirs[:1 + recipe.options.runtime]:
    if not os.path.isdir(os.path.join(package, folder)):
        raise SystemExit(f"builddirs: expected a folder of the package, got {folder}")
print(f"{recipe.name}/{recipe.version}")
