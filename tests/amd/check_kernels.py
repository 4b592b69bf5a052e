#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles HIP sources for one AMD target, without a GPU, and judges each kernel by its code object.

Writes OUTPUT.csv, one line a kernel, and fails if a kernel spills registers, has scratch memory, or exceeds a limit, or
if it multiplies without the matrix or dot instructions that the target has for the type. It prints what share these
have of main loops' time (matrix_share.py), for each element type, tile and mode whose elements neighbour, beside what
they should have.
What the compiler notes in the object is the source for registers, local memory (LDS), scratch and spills; its remarks
say how many waves fit on a SIMD, and the symbols how large the code is.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import matrix_share
from kernel_name import shortened

COLUMNS = ["kernel", "target", "vgpr", "agpr", "sgpr", "lds", "scratch", "vgpr_spills", "sgpr_spills", "occupancy",
           "code", "matrix", "share", "share_of_singles", "share_of_rows", "share_of_left_over", "share_of_all"]
PRODUCT = re.compile(r"ImplicitGemm<\w*Gemm<(\d+, \d+)\b[^>]*>, (float|half|bfloat16|int8|Float8<\d, \w+>), "
                     r"(?:\w+|Float8<\d, \w+>), (channel|pixel)>")
WINDOW = re.compile(r"Plan<(?:Transposed)?Conv<filter\((\d+), (\d+)\)")
GRADIENT = re.compile(r"\bWeightGradient<(float|half|bfloat16), \w+(?:, (Wide|)|>)")
OTHER_LOOPS = [("share_of_rows", "rows"), ("share_of_singles", "pixels one by one")]
# The targets with matrix units that have a tile.
TILES = {"Narrow": ("gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1201"), "Wide": ("gfx908", "gfx90a", "gfx942", "gfx1201")}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def compile_for(arguments, source, code):
    """Returns the compiler's remarks: by kernel, by resource."""
    options = ["-xhip", "-std=c++20", "-O3", "-Wall", "-Wextra", "-Werror", f"--offload-arch={arguments.target}",
               "--cuda-device-only", "--no-gpu-bundle-output", "-Rpass-analysis=kernel-resource-usage",
               "-fno-caret-diagnostics", "-fno-diagnostics-show-option", "-fno-color-diagnostics"]
    errors = run(arguments.clang, *options, *arguments.options, "-c", source, "-o", code).stderr
    remarks = {}
    for what, value in re.findall(r"remark: +([^:]+): (.+)$", errors, re.MULTILINE):
        if what == "Function Name":
            of_kernel = remarks.setdefault(value, {})
        else:
            of_kernel[what] = value
    return remarks


def notes(readobj, code):
    """The metadata of each kernel of a code object, by the kernel's symbol."""
    kernels = {}
    entry = None
    for line in run(readobj, "--notes", code).stdout.partition("amdhsa.kernels:")[2].splitlines():
        if line.startswith("amdhsa."):
            break
        if line.startswith("  - ."):
            entry = {}
        if found := re.match(r"(?:  - |    )\.(\w+): +(\S+)$", line):
            entry[found[1]] = found[2]
            if found[1] == "name":
                kernels[found[2]] = entry
    return kernels


def code_sizes(readobj, code):
    symbols = json.loads(run(readobj, "--symbols", "--elf-output-style=JSON", code).stdout)[0]["Symbols"]
    return {symbol["Symbol"]["Name"]["Name"]: symbol["Symbol"]["Size"] for symbol in symbols}


def rows(arguments, source):
    beside = pathlib.Path(arguments.clang).parent
    with tempfile.TemporaryDirectory() as folder:
        code = pathlib.Path(folder) / "kernels.o"
        remarks = compile_for(arguments, source, code)
        kernels = notes(beside / "llvm-readobj", code)
        sizes = code_sizes(beside / "llvm-readobj", code)
        disassembly = run(beside / "llvm-objdump", "-d", "--symbolize-operands", "--no-show-raw-insn", code).stdout
    functions = matrix_share.functions(disassembly)
    if not kernels:
        sys.exit(f"{source}: {arguments.target}: no kernel was compiled")
    names = run(beside / "llvm-cxxfilt", *kernels).stdout.splitlines()
    for (symbol, note), name in zip(kernels.items(), names):
        remark = remarks[symbol]
        kernel = shortened(name)
        blocks = functions[symbol]
        matrix, *shares = matrix_share.matrix_share(arguments.target, blocks, gradient_of(kernel) is not None)
        part = part_left_over(kernel)
        shares += matrix_share.left_over_share(arguments.target, blocks, part) if matrix and part else (None, None)
        yield dict(zip(COLUMNS, [
            kernel, arguments.target, int(remark["VGPRs"]), int(note.get("agpr_count", 0)),
            int(note["sgpr_count"]), int(note["group_segment_fixed_size"]),
            max(int(note["private_segment_fixed_size"]), int(note.get("uses_dynamic_stack") == "true")),
            int(note["vgpr_spill_count"]), int(note["sgpr_spill_count"]), int(remark["Occupancy [waves/SIMD]"]),
            sizes[symbol], matrix, *("" if share is None else f"{share:.3f}" for share in shares)]))


def gradient_of(kernel):
    """The type and the tile of a gradient by the weights, or None."""
    found = GRADIENT.search(kernel)
    return found and (found[1], found[2] or "Narrow")


def part_left_over(kernel):
    """Share of a filter's taps beyond full 16-byte groups (tap_order.hpp), for contiguous pixels."""
    product, window = PRODUCT.search(kernel), WINDOW.search(kernel)
    if not product or product[3] != "pixel" or product[2] == "float" or not window:
        return 0
    packet = 8 if product[2] in ("half", "bfloat16") else 16
    taps = int(window[1]) * int(window[2])
    unit = packet // taps if packet % taps == 0 else packet // 8
    return unit * taps % packet / (unit * taps)


def findings(row, arguments):
    for column, what, limit in [("vgpr_spills", "spilled VGPRs", 0), ("sgpr_spills", "spilled SGPRs", 0),
                                ("scratch", "bytes of scratch", 0), ("lds", "bytes of LDS", arguments.lds)]:
        if row[column] > limit:
            yield f"{row['kernel']}, {row['target']}: {row[column]} {what}; the limit is {limit}"
    product, gradient = PRODUCT.search(row["kernel"]), gradient_of(row["kernel"])
    if arguments.target == "gfx1030":  # gradients by the weights do not use dot instructions
        gradient = None
    if gradient and arguments.target not in TILES[gradient[1]]:  # has an empty kernel
        gradient = None
    element = product[2] if product else gradient[0] if gradient else ""
    if element in matrix_share.TYPES.get(arguments.target, ()) and not row["matrix"]:
        yield f"{row['kernel']}, {row['target']}: no matrix instructions"
    if row["occupancy"] < arguments.waves:
        yield (f"{row['kernel']}, {row['target']}: an occupancy of {row['occupancy']} waves per SIMD; "
               f"the floor is {arguments.waves}")


def shares(table):
    """By tile, type and mode: the least and the greatest share of main loops; of all steps, where some are of taps left
    over."""
    all_shares = {}
    for row in table:
        if (found := PRODUCT.search(row["kernel"])) and row["share"]:
            all_shares.setdefault(found.groups(), []).append(row["share_of_all"] or row["share"])
    return {which: (min(each), max(each)) for which, each in all_shares.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clang", required=True, help="a clang++ that knows HIP, with the llvm tools beside it")
    parser.add_argument("--target", required=True, help="such as gfx90a")
    parser.add_argument("--output", required=True, type=pathlib.Path, metavar="OUTPUT.csv")
    parser.add_argument("--waves", type=int, default=2, help="the least waves per SIMD (default %(default)s)")
    parser.add_argument("--lds", type=int, default=65536, help="the most bytes of LDS a block (default %(default)s)")
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    arguments = parser.parse_args(own, argparse.Namespace(options=options))

    arguments.output.unlink(missing_ok=True)
    table = [row for source in arguments.sources for row in rows(arguments, source)]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)

    found = [finding for row in table for finding in findings(row, arguments)]
    print(f"{arguments.target}: {len(table)} kernels, {len(found)} findings: {arguments.output}")
    for (tile, element, mode), (least, most) in sorted(shares(table).items()):
        bar = matrix_share.BARS[arguments.target]
        reached = "all" if float(least) >= bar else "some" if float(most) >= bar else "none"
        print(f"{arguments.target}: tiles of {tile}, {element}, {mode}s are neighbours: matrix instructions are {least} "
              f"to {most} of main loops; {reached} reach {bar}")
    for row in table:
        if row["share_of_all"]:
            tile, element, _ = PRODUCT.search(row["kernel"]).groups()
            print(f"{arguments.target}: {row['kernel'].partition(', ImplicitGemm')[0]}, tiles of {tile}, {element}: matrix "
                  f"instructions are {row['share']} of steps of whole 16 bytes of taps, {row['share_of_left_over']} of those "
                  f"of taps left over, {row['share_of_all']} of all")
        if (gradient := gradient_of(row["kernel"])) and row["share"]:
            others = "".join(f", {row[column]} of {of}" for column, of in OTHER_LOOPS if row[column])
            window = re.search(r"filter\(.*?(?=>)", row["kernel"])[0]
            print(f"{arguments.target}: gradient by the weights, {window}, {gradient[0]}, {gradient[1]} tiles: "
                  f"matrix instructions are {row['share']} of the main loop of packets{others}")
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
