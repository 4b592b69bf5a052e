# SPDX-License-Identifier: MIT
"""Conan 2: `conan create packaging/conan` builds the clone that this file is in."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Fusekit(ConanFile):
    name = "fusekit"
    license = "MIT"
    description = "Fused GPU operators as C++20 types"
    settings = "os", "arch", "compiler", "build_type"
    options = {"runtime": [True, False]}
    default_options = {"runtime": False}

    @property
    def _clone(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def set_version(self):
        text = load(self, os.path.join(self._clone, "include", "fusekit", "config.hpp"))
        self.version = ".".join(re.search(rf"version_{part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "cmake/*", "src/*", "compat/*", "packaging/debian/*"):
            copy(self, pattern, src=self._clone, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"FUSEKIT_BUILD_{part}"] = False
        toolchain.cache_variables["FUSEKIT_NATIVE"] = False
        toolchain.cache_variables["FUSEKIT_BUILD_RUNTIME"] = bool(self.options.runtime)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        if not self.info.options.runtime:
            self.info.clear()  # headers alone are the same for every machine

    def package_info(self):
        # The CMake packages that the library installs itself.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/fusekit", "lib/cmake/fusekit_runtime"]
        self.cpp_info.libs = ["fusekit_runtime"] if self.options.runtime else []
        self.cpp_info.bindirs = []
