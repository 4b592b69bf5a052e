#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that invalid programs do not compile, and that the compiler prints the reason.

usage: check.py --family FAMILY --output FOLDER FILE... -- COMPILER OPTION...

The files are compiled together, each in a namespace of its own, so that what they include is compiled once: with
-DCORRECTED the compiler takes them all, and without it refuses each. It may say nothing of a file, where it has refused
another for the same reason or instantiates nothing after an error, so those are compiled again, without the rest. Runs
where `include` is, so that messages have the paths that a user's would have.

Each file begins with lines of these kinds:

    // expect: words      its messages hold these ("// expect g++:", "// expect clang:", "// expect nvcc:": one family's)
    // mistakes: 3        it makes so many, not one
    // with: options      it is refused alone, with these options

A mistake takes the compiler at most 12 lines and 2 KB, except in the folder arguments and in files named each_.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

lines_of_mistake, bytes_of_mistake = 12, 2048

message = re.compile(r"(\S+(:|\(\d+\):) )?(fatal )?(error|warning)( #\S+)?:")
error = re.compile(r"^(\S+(:|\(\d+\):) )?(fatal )?error( #\S+)?:", re.MULTILINE)
# Lines of the include or instantiation stack, before the message itself.
before = re.compile(r"In file included from |\s+from |\S+: (In|At) |\S+:\d+:\d+:\s+(recursively )?(required|in) ")
includes_a_case = re.compile(r"In file included from (?!include/)\S+\.cpp:\d+:$")
count_of_errors = re.compile(r"\d+ errors? (detected|generated)|\d+ warnings? and|Remark: |compilation terminated")


class Case:
    def __init__(self, source, family):
        self.source, self.name = source, source.stem
        self.words, self.mistakes, self.options, self.messages = [], 1, [], []
        self.limited = source.parent.name != "arguments" and not self.name.startswith("each_")
        for line in source.read_text().splitlines():
            if found := re.fullmatch(r"// expect(?: (\S+))?: (.+)", line):
                self.words += [found[2]] if found[1] in (None, family) else []
            elif found := re.fullmatch(r"// mistakes: (\d+)", line):
                self.mistakes = int(found[1])
            elif found := re.fullmatch(r"// with: (.+)", line):
                self.options = found[1].split()

    def place_in(self, text):
        """Position at which the text names this file or a declaration in it; the text's length if it does not."""
        return min((at for name in (str(self.source), f"{self.name}::") if (at := text.find(name)) >= 0),
                   default=len(text))

    def said(self):
        """Messages that a user of this file alone would read."""
        lines = "\n".join(self.messages).replace(f"{self.name}::", "").splitlines()
        return "\n".join(line for line in lines if not includes_a_case.match(line))

    def refused(self):
        return any(error.search(text) for text in self.messages)

    def fault(self):
        said = self.said()
        if not self.words:
            return "expects no words"
        if not self.refused():
            return "must not compile, but does"
        for words in self.words:
            if words not in said:
                return f'the compiler does not say "{words}"'
        if self.limited and (len(said.splitlines()) > lines_of_mistake * self.mistakes
                             or len(said.encode()) > bytes_of_mistake * self.mistakes):
            return f"more than {lines_of_mistake} lines or {bytes_of_mistake} bytes a mistake"
        return None


def messages_of(output):
    """A text for each error or warning: the lines that say where it is, itself and its notes."""
    messages, pending = [], []
    for line in output.splitlines():
        if count_of_errors.match(line) or not line.strip():
            continue
        pending.append(line)
        if message.match(line) or not (messages or before.match(line)):
            messages.append(pending)
            pending = []
        elif messages and not before.match(line):
            messages[-1] += pending
            pending = []
    return ["\n".join(lines) for lines in messages]


def write_together(cases, output):
    includes = dict.fromkeys(line for case in cases for line in case.source.read_text().splitlines()
                             if line.startswith("#include"))
    namespaces = (f'namespace {case.name} {{\n#include "{case.source}"\n}}' for case in cases)
    output.write_text("\n".join([*includes, *namespaces, ""]))


def main():
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--family", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args(sys.argv[1:split])
    together = arguments.output / f"{arguments.output.name}.cpp"
    cases = [Case(file, arguments.family) for file in arguments.files]
    failures = []

    def compile(source, *options):
        command = [*sys.argv[split + 1:], "-std=c++20", "-Iinclude", "-I.", *options, source]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "LC_ALL": "C"})

    arguments.output.mkdir(parents=True, exist_ok=True)
    write_together(cases, together)
    if (done := compile(together, "-DCORRECTED")).returncode:
        failures.append(f"the corrected twins must compile, but do not:\n{done.stdout}")

    for case in cases:
        if case.options:
            case.messages = messages_of(compile(case.source, *case.options).stdout)
    told = -1
    while untold := [case for case in cases if not case.refused() and not case.options]:
        if len(untold) == told:
            break
        told = len(untold)
        write_together(untold, together)
        for case in untold:
            case.messages = []
        for text in messages_of(compile(together).stdout):
            case = min(untold, key=lambda each: each.place_in(text))
            if case.place_in(text) < len(text):
                case.messages.append(text)
            else:
                failures.append(f"a message names none of the files:\n{text}")

    for case in cases:
        print(f"{case.name}: {len(case.said().splitlines())} lines, {len(case.said().encode())} bytes")
        if fault := case.fault():
            failures.append(f"{case.name}: {fault}:\n{case.said()}")
    print("\n".join(failures))
    return bool(failures)


sys.exit(main())
