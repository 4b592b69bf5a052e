#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""global_names.py CLANG ROOT OUT: writes a header that declares a global of every name in the headers of ROOT.

A user may have globals of any name: a local or a parameter of the library's must not warn that it shadows one. Left out
are keywords, namespaces, what the C library and HIP declare, and validate_new, which layer.hpp finds by its argument.
"""
import pathlib
import re
import subprocess
import sys

SYSTEM = ("bit", "cmath", "concepts", "cstdio", "cstdlib", "cstring", "limits", "memory", "numeric", "optional", "string",
          "tuple", "utility", "vector", "pthread.h", "unistd.h")


def declarations(names, headers):
    return "".join(f"#include <{header}>\n" for header in headers) + "".join(f"extern int {name};\n" for name in names)


clang, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
text = "\n".join(path.read_text() for path in sorted((root / "include").rglob("*.hpp")))
code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|^ *#[^\n]*', " ", text, flags=re.MULTILINE)
names = sorted(set(re.findall(r"(?<![\w.])(?!hip)[a-z]\w*", code)) - {"fusekit", "std", "dim3", "validate_new"})

headers = (*SYSTEM, "hip/hip_runtime.h")
tried = subprocess.run([clang, "-std=gnu++20", "-xc++", "-fsyntax-only", "-ferror-limit=0", "-isystem",
                        root / "emulator/include", "-"], input=declarations(names, headers), capture_output=True, text=True)
refused = {int(line) - len(headers) - 1 for line in re.findall(r"<stdin>:(\d+):\d+: (?:error|warning)", tried.stderr)}
names = [name for i, name in enumerate(names) if i not in refused]
if not {"row", "column", "count", "first", "tile", "stream"} <= set(names):
    sys.exit(f"names are missing:\n{tried.stderr}")
out.write_text("// Written by tests/strict/global_names.py.\n" + declarations(names, SYSTEM))
