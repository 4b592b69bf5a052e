#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py PAGE [--compiler CXX] [--programs FOLDER] [--scratch FOLDER] [--quick], in the repository's root

A comment before every block of code in PAGE states its source, which this program verifies:

    <!-- file PATH -->       it is the whole file
    <!-- from PATH -->       its lines stand in the file, one after another, indented alike
    <!-- refused -->         the compiler refuses it
    <!-- sentence -->        its lines stand in what the compiler said of the refused block before it
    <!-- printed PROGRAM --> its lines are printed by the program, which is in FOLDER, one after another
    <!-- write PATH -->      it is written to a file in the folder that the next block is run in
    <!-- run -->             it is run by the shell in a folder of its own, where `fusekit` is the repository
    <!-- run NEED -->        the same, where this machine has the command NEED
    <!-- run_long -->        the same as run, unless --quick is given
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap


def blocks(page):
    """The fenced blocks of a page: (line, comment, text)."""
    comment, text, begin = None, None, 0
    for number, line in enumerate(page.splitlines(), 1):
        fence = line.startswith("```")
        if text is None and fence:
            text, begin = [], number
        elif text is not None and fence:
            yield begin, comment, "\n".join(text) + "\n"
            comment, text = None, None
        elif text is not None:
            text.append(line)
        elif line.strip():
            match = re.fullmatch(r"<!-- (\w+) ?(.*?) -->", line.strip())
            comment = match.groups() if match else None


def stands_in(block, text):
    """True if the block's lines occur in the text consecutively, with a common indentation."""
    wanted, lines = block.splitlines(), text.splitlines()
    for at in range(len(lines) - len(wanted) + 1):
        some = textwrap.dedent("\n".join(lines[at:at + len(wanted)])).splitlines()
        if some == wanted:
            return True
    return False


class Checker:
    def __init__(self, options):
        self.options = options
        self.said = ""
        self.skipped = []
        self.written = {}

    def file(self, path, block):
        if open(path).read() != block:
            return f"is not {path}"

    def check_from(self, path, block):
        if not stands_in(block, open(path).read()):
            return f"does not stand in {path}"

    def refused(self, _, block):
        with tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=self.options.scratch) as source:
            source.write("#include <fusekit/fusekit.hpp>\nnamespace fk = fusekit;\n" + block)
            source.flush()
            ran = subprocess.run([self.options.compiler, "-std=c++20", "-fsyntax-only", "-Iinclude", source.name],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env={**os.environ, "LC_ALL": "C"})
        self.said = ran.stdout
        if ran.returncode == 0:
            return "compiles, but must not"

    def sentence(self, _, block):
        for line in block.splitlines():
            if line not in self.said:
                return f"the compiler does not say '{line}' but\n{self.said}"

    def printed(self, program, block):
        ran = subprocess.run([os.path.join(self.options.programs, program)], stdout=subprocess.PIPE, text=True)
        if ran.returncode:
            return f"{program} exits with {ran.returncode}"
        if not stands_in(block, ran.stdout):
            return f"{program} does not print it, but\n{ran.stdout}"

    def write(self, path, block):
        self.written[path] = block

    def run(self, need, block):
        written, self.written = self.written, {}
        optimised_less = re.search(r"(?<!\S)-O[012sgz]?(?!\S)", block)
        if optimised_less:  # a depthwise layer takes 2.5 times as long at -O2 as at -O3
            return f"compiles with {optimised_less.group()}, not with -O3"
        if need and not shutil.which(need):
            self.skipped.append(f"no {need} here")
            return None
        with tempfile.TemporaryDirectory(dir=self.options.scratch) as folder:
            os.symlink(os.getcwd(), os.path.join(folder, "fusekit"))
            for path, text in written.items():
                with open(os.path.join(folder, path), "w") as file:
                    file.write(text)
            ran = subprocess.run(["bash", "-euc", block], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)
        if ran.returncode:
            return f"exits with {ran.returncode}:\n{ran.stdout[-2000:]}"

    def run_long(self, need, block):
        if not self.options.quick:
            return self.run(need, block)
        self.written = {}
        self.skipped.append("what takes long")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--programs", default=".")
    parser.add_argument("--scratch", default=None)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    checker, count, faults = Checker(options), 0, 0
    kinds = {"file": checker.file, "from": checker.check_from, "refused": checker.refused,
             "sentence": checker.sentence, "printed": checker.printed, "write": checker.write, "run": checker.run,
             "run_long": checker.run_long}
    for line, comment, text in blocks(open(options.page).read()):
        count += 1
        if comment is None or comment[0] not in kinds:
            fault = "no comment before it says where it comes from"
        else:
            fault = kinds[comment[0]](comment[1], text)
        if fault:
            faults += 1
            print(f"{options.page}:{line}: {fault}")
    print(f"{count} blocks, {faults} of them wrong" + "".join(f"; not run: {what}" for what in checker.skipped))
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
