#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_recipes.py: versions and schemas of the packages' recipes, without the packagers' tools.

The version is that of include/fusekit/config.hpp. Every file that repeats it must agree, and every recipe must parse and
have the fields that its packager requires, under names that the packager knows. Prints each fault; exits with 1 if there is
one. YAML is checked where Python has PyYAML.
"""
import ast
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
faults, skipped, checked = [], [], 0


def text(path):
    return (ROOT / path).read_text()


def expect(condition, path, what, expected, got):
    """Counts a check; a fault names the file, the field, and both values."""
    global checked
    checked += 1
    if not condition:
        faults.append(f"{path}: {what}: expected {expected}, got {got}")


def equal(path, what, expected, got):
    expect(expected == got, path, what, expected, got)


def find(path, pattern):
    found = re.search(pattern, text(path), re.M)
    return found[1] if found else None


def check_versions():
    header = "include/fusekit/config.hpp"
    major, minor, patch = (find(header, rf"version_{part} = (\d+);") for part in ("major", "minor", "patch"))
    version = f"{major}.{minor}.{patch}"
    c = "include/fusekit/runtime/c/fusekit.h"
    equal(c, "FUSEKIT_VERSION_MAJOR", major, find(c, r"^#define FUSEKIT_VERSION_MAJOR (\d+)$"))
    equal(c, "FUSEKIT_VERSION_MINOR", minor, find(c, r"^#define FUSEKIT_VERSION_MINOR (\d+)$"))
    # A version of symbols is never changed: a later one is added.
    exports = "src/runtime/fusekit_runtime.map"
    versions = [tuple(map(int, found)) for found in re.findall(r"^FUSEKIT_(\d+)\.(\d+) \{", text(exports), re.M)]
    expect(versions and max(versions) <= (int(major), int(minor)), exports, "versions of symbols",
           f"none after {major}.{minor}", versions)
    equal("packaging/vcpkg/fusekit/vcpkg.json", "version", version,
          json.loads(text("packaging/vcpkg/fusekit/vcpkg.json")).get("version"))
    equal("packaging/conda/meta.yaml", "version", version, find("packaging/conda/meta.yaml", r'^  version: "(.*)"$'))
    cmake = "CMakeLists.txt"
    expect(re.search(r"^project\(fusekit VERSION \$\{version\}", text(cmake), re.M), cmake, "project's version",
           f"the one read from {header}", find(cmake, r"^(project\(.*)$"))
    changes = "CHANGELOG.md"
    expect(find(changes, rf"^## (Unreleased|{re.escape(version)} - \d{{4}}-\d\d-\d\d)$"), changes, "first section",
           f"Unreleased or {version} - DATE", find(changes, r"^(## .*)$"))
    return version


def check_vcpkg():
    """Source of the rules: vcpkg.json Reference, learn.microsoft.com/vcpkg/reference/vcpkg-json."""
    path = "packaging/vcpkg/fusekit/vcpkg.json"
    port = json.loads(text(path))
    known = {"name", "version", "port-version", "description", "homepage", "documentation", "license", "maintainers",
             "supports", "dependencies", "features", "default-features"}
    expect(set(port) <= known, path, "fields", sorted(known), sorted(set(port) - known))
    equal(path, "name", "fusekit", port.get("name"))
    expect(re.fullmatch(r"\d+\.\d+\.\d+", port.get("version", "")), path, "version", "three numbers", port.get("version"))
    for dependency in port.get("dependencies", []):
        named = dependency if isinstance(dependency, dict) else {"name": dependency}
        expect(set(named) <= {"name", "host", "features", "default-features", "platform", "version>="}
               and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", named.get("name", "")), path, "dependency",
               "a name in lower case", dependency)
    for name, feature in port.get("features", {}).items():
        expect(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and "description" in feature, path, f"feature {name}",
               "a description", feature)
    portfile = "packaging/vcpkg/fusekit/portfile.cmake"
    for function in ("vcpkg_cmake_configure", "vcpkg_cmake_install", "vcpkg_cmake_config_fixup", "vcpkg_install_copyright"):
        expect(f"{function}(" in text(portfile), portfile, "functions", f"a call of {function}", "none")


def recipe_class(path, base):
    classes = [node for node in ast.parse(text(path)).body if isinstance(node, ast.ClassDef)
               and base in [ast.unparse(each) for each in node.bases]]
    equal(path, f"classes derived from {base}", 1, len(classes))
    return classes[0]


def check_conan():
    """Source of the names: Conan 2's reference of conanfile.py, docs.conan.io/2/reference/conanfile.html."""
    path = "packaging/conan/conanfile.py"
    recipe = recipe_class(path, "ConanFile")
    attributes = {target.id: node.value for node in recipe.body if isinstance(node, ast.Assign) for target in node.targets}
    methods = {node.name for node in recipe.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    known = {"set_name", "set_version", "export", "export_sources", "config_options", "configure", "requirements",
             "build_requirements", "layout", "source", "generate", "build", "package", "package_id", "package_info", "test",
             "validate", "validate_build", "compatibility"}
    expect(methods <= known, path, "methods", "those that Conan calls", sorted(methods - known))
    for name in ("name", "license", "settings", "options", "default_options"):
        expect(name in attributes, path, "attributes", name, sorted(attributes))
    equal(path, "default_options", set(ast.literal_eval(attributes["options"])),
          set(ast.literal_eval(attributes["default_options"])))


def check_spack():
    """Source of the names: Spack's Packaging Guide, spack.readthedocs.io."""
    path = "packaging/spack/packages/fusekit/package.py"
    recipe = recipe_class(path, "CMakePackage")
    calls = [node.value.func.id for node in recipe.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    known = {"license", "version", "variant", "depends_on", "conflicts", "provides", "patch", "maintainers"}
    expect(set(calls) <= known and "version" in calls, path, "directives", sorted(known), calls)
    expect(ast.get_docstring(recipe), path, "docstring", "a description", None)


def check_yaml():
    """Source of the fields: conda-build's and Spack's documentation of meta.yaml and repo.yaml."""
    try:
        import yaml
    except ImportError:
        skipped.append("no PyYAML here: meta.yaml and repo.yaml are not parsed")
        return
    path = "packaging/conda/meta.yaml"
    recipe = yaml.safe_load(text(path))
    known = {"package", "source", "build", "requirements", "test", "outputs", "about", "extra", "app"}
    expect(set(recipe) <= known, path, "sections", sorted(known), sorted(set(recipe) - known))
    equal(path, "package: name", "fusekit", recipe["package"]["name"])
    expect(isinstance(recipe["package"]["version"], str), path, "package: version", "a string", recipe["package"])
    expect(set(recipe["requirements"]) <= {"build", "host", "run", "run_constrained"}, path, "requirements",
           "build, host, run or run_constrained", sorted(recipe["requirements"]))
    expect(set(recipe["test"]) <= {"requires", "files", "source_files", "commands", "imports"}, path, "test",
           "requires, files, source_files, commands or imports", sorted(recipe["test"]))
    for name in recipe["test"].get("source_files", []):
        expect((ROOT / name).exists(), path, "test: source_files", "a file of the repository", name)
    expect({"summary", "license", "license_file"} <= set(recipe.get("about", {})), path, "about",
           "summary, license and license_file", sorted(recipe.get("about", {})))
    path = "packaging/spack/repo.yaml"
    equal(path, "namespace", "fusekit", yaml.safe_load(text(path)).get("repo", {}).get("namespace"))


def check_python():
    """Source: PEP 517 and 518."""
    path = "packaging/python/pyproject.toml"
    equal(path, "requires", "[]", find(path, r"^requires = (.*)$"))
    hooks = {node.name for node in ast.parse(text("packaging/python/backend.py")).body if isinstance(node, ast.FunctionDef)}
    expect({"build_wheel", "build_sdist"} <= hooks, "packaging/python/backend.py", "hooks", "build_wheel and build_sdist",
           sorted(hooks))


version = check_versions()
for check in (check_vcpkg, check_conan, check_spack, check_yaml, check_python):
    check()
for fault in faults:
    print(fault)
print(f"version {version}: {checked} checks, {len(faults)} faults" + "".join(f"; {what}" for what in skipped))
sys.exit(bool(faults))
