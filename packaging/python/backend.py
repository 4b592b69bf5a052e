#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PEP 517 build backend of the wheel fusekit, from Python's standard library alone: it needs no network.

pip install packaging/python, or backend.py FOLDER, which writes the wheel to FOLDER. The wheel has the package fusekit,
with the headers, and fusekit_torch, PyTorch's operators, as Python and C++ sources. With FUSEKIT_RUNTIME_LIBRARY or
FUSEKIT_JIT_LIBRARY set to the path of a libfusekit_runtime.so or libfusekit_jit.so, it has that compiled library and is
tagged for this platform; otherwise it is for every platform. A wheel's bytes depend only on the contents of its files.
"""
import base64
import hashlib
import io
import os
import pathlib
import re
import sys
import sysconfig
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# A source distribution has the headers beside this file.
ROOT = HERE if (HERE / "include").is_dir() else HERE.parent.parent
MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest that zip can store


def version():
    """The library's version, from its header."""
    text = (ROOT / "include/fusekit/config.hpp").read_text()
    return ".".join(re.search(rf"version_{part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))


def metadata():
    return (f"Metadata-Version: 2.1\nName: fusekit\nVersion: {version()}\n"
            "Summary: Fused GPU operators as C++20 types\nLicense: MIT\nRequires-Python: >=3.8\n")


def headers():
    """Path in the package -> file, for each header."""
    folder = ROOT / "include"
    return {path.relative_to(ROOT).as_posix(): path for path in sorted(folder.rglob("*")) if path.suffix in (".hpp", ".h")}


def torch_sources():
    """Path in the wheel -> file, of PyTorch's operators; a source distribution has the same paths."""
    folder = (ROOT if ROOT == HERE else ROOT / "examples/pytorch") / "fusekit_torch"
    return {path.relative_to(folder.parent).as_posix(): path for path in sorted(folder.rglob("*"))
            if path.suffix in (".py", ".hpp", ".cpp", ".cu")}


def libraries():
    """Name -> file, of the compiled libraries that the environment names."""
    named = {name: os.environ.get(f"{name.upper()}_LIBRARY") for name in ("fusekit_runtime", "fusekit_jit")}
    return {name: pathlib.Path(file) for name, file in named.items() if file}


def tag():
    return "py3-none-" + (re.sub(r"[.-]", "_", sysconfig.get_platform()) if libraries() else "any")


def contents():
    """Name in the wheel -> bytes, without RECORD."""
    files = {f"fusekit/{path.name}": path.read_bytes() for path in sorted((HERE / "src/fusekit").glob("*.py"))}
    files.update((f"fusekit/{name}", path.read_bytes()) for name, path in headers().items())
    files.update((name, path.read_bytes()) for name, path in torch_sources().items())
    for name, path in libraries().items():
        # The name of the SONAME, by which programs that link the library find it.
        files[f"fusekit/lib/lib{name}.so.{version().split('.')[0]}"] = path.read_bytes()
    info = f"fusekit-{version()}.dist-info"
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: fusekit\nRoot-Is-Purelib: {'false' if libraries() else 'true'}\n"
                              f"Tag: {tag()}\n").encode()
    return files


def record(files):
    """Text of RECORD: name, digest and size of each file."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join(lines) + f"\nfusekit-{version()}.dist-info/RECORD,,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = contents()
    files[f"fusekit-{version()}.dist-info/RECORD"] = record(files).encode()
    name = f"fusekit-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, MOMENT)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"fusekit-{version()}"
    files = {name: path.read_bytes() for name, path in {**headers(), **torch_sources()}.items()}
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files["PKG-INFO"] = metadata().encode()
    for path in [HERE / "pyproject.toml", HERE / "backend.py", *sorted((HERE / "src/fusekit").glob("*.py"))]:
        files[path.relative_to(HERE).as_posix()] = path.read_bytes()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(build_wheel(sys.argv[1]))
