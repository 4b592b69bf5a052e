#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_symbols.py [--library NAME=FILE...] [--since TAG]: the functions of a compiled library only grow.

symbols/NAME lists the functions of each library, with the version in which each appeared. The headers must declare exactly
these. With --library a built library must export exactly these; with --since every line of the list at a git tag must
still be in it. Prints each fault; exits with 1 if there is one.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = {"libfusekit_runtime": ["include/fusekit/runtime/c/fusekit.h"],
           "libMIOpen": ["compat/include/miopen/fusion.h", "compat/include/miopen/miopen.h", "compat/include/miopen/version.h"]}
DECLARED = re.compile(r"\b((?:fusekit|miopen)\w*)\(")


def listed(lines):
    """Name -> version of each function."""
    return dict(line.split() for line in lines.splitlines() if line and not line.startswith("#"))


def declared(name):
    text = "".join((ROOT / path).read_text() for path in HEADERS[name])
    text = re.sub(r"/\*[\s\S]*?\*/|//.*|^#(?:.*\\\n)*.*$", "", text, flags=re.M)  # comments and directives
    return set(DECLARED.findall(text))


def exported(path):
    ran = subprocess.run(["nm", "--dynamic", "--defined-only", path], check=True, capture_output=True, text=True)
    return {line.split()[2].split("@")[0] for line in ran.stdout.splitlines() if line.split()[1] == "T"}


def differences(what, expected, got):
    return ([f"{what}: {name} is in symbols/ and is gone: functions are never removed" for name in sorted(expected - got)] +
            [f"{what}: {name} is not in symbols/: add it, with the version" for name in sorted(got - expected)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--since")
    arguments = parser.parse_args()
    faults, count = [], 0
    for name in HEADERS:
        functions = listed((ROOT / "packaging/symbols" / name).read_text())
        count += len(functions)
        faults += differences(f"headers of {name}", set(functions), declared(name))
        if arguments.since:
            earlier = subprocess.run(["git", "-C", str(ROOT), "show", f"{arguments.since}:packaging/symbols/{name}"],
                                     check=True, capture_output=True, text=True).stdout
            faults += [f"symbols/{name}: expected {function} {version}, as in {arguments.since}, got {functions.get(function)}"
                       for function, version in listed(earlier).items() if functions.get(function) != version]
    for library in arguments.library:
        name, path = library.split("=", 1)
        faults += differences(path, set(listed((ROOT / "packaging/symbols" / name).read_text())), exported(path))
    print("\n".join([*faults, f"{count} functions, {len(faults)} faults"]))
    return bool(faults) or not count


if __name__ == "__main__":
    sys.exit(main())
