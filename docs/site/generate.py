#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py [--check], in the repository's root

Writes the pages of docs/ whose source is elsewhere: grammar.md and errors.md from tests/compile_fail, activations.md from
ops/activation, networks.md and its chart from bench/results. --check writes nothing and ends with 1 if a page differs from
its source, or README.md from the figures of networks.md.
"""
import pathlib
import re
import sys
import textwrap

sys.path += [str(pathlib.Path(__file__).parent), "bench/zoo"]
import networks  # noqa: E402

INCLUDE = pathlib.Path("include/fusekit")
CASES = pathlib.Path("tests/compile_fail")
PAGES = pathlib.Path("docs")


def lines_of(text, corrected):
    """The lines that only the wrong program, or only the corrected one, has; blank lines separate their regions."""
    found, inside, branch = [], 0, None
    for line in text.splitlines():
        directive = re.match(r"#\s*(ifdef|ifndef|if|else|endif)\b\s*(!?\s*(?:defined\(?)?\s*CORRECTED)?", line)
        if directive:
            word, ours = directive[1], directive[2]
            if word in ("ifdef", "ifndef", "if") and ours:
                inside, branch = 1, (word == "ifdef" or (word == "if" and "!" not in ours))
                found.append([])
            elif inside == 1 and word == "else":
                branch = not branch
            elif inside and word == "endif":
                inside -= 1
            elif inside and word.startswith("if"):
                inside += 1
        elif inside == 1 and branch == corrected:
            found[-1].append(line)
    return ["\n".join(region) for region in found if region]


class Case:
    """A program of tests/compile_fail: its sentences, and the excerpts that differ."""

    def __init__(self, path):
        self.path, text = path, path.read_text()
        self.sentences = []
        expected = re.findall(r"^// expect(?: (\S+))?: (.+)$", text, re.MULTILINE)
        for compiler, words in expected:
            if " " not in words or any(words in known for known in self.sentences):
                continue  # a type's name, or what another compiler says too
            self.sentences.append(f"{compiler}: {words}" if compiler else words)
        self.sentences = self.sentences or [words for _, words in expected]
        self.wrong, self.right = lines_of(text, False), lines_of(text, True)

    def blocks(self):
        out, program = [], f"[the program](../{self.path.as_posix()})"
        for title, regions in ((f"Wrong, in {program}:", self.wrong), ("Corrected:", self.right)):
            if regions:
                out += [title, ""]
            for region in regions:
                out += [f"<!-- from {self.path.as_posix()} -->", "```cpp", textwrap.dedent(region).strip("\n"), "```", ""]
        return out


def rules():
    """Pairs of a rule's name and its sentence, in the order in which the compiler tests them."""
    text = re.sub(r'"\s*\n\s*"', "", (INCLUDE / "plan/ordering.hpp").read_text())
    sentence = dict(re.findall(r'struct (\w+) \{\s*static constexpr auto sentence =\s*"([^"]*)"', text))
    order = re.search(r"using InOrder =\s*List<([^>]*)>", text)[1]
    return [(name.strip(), sentence[name.strip()]) for name in order.split(",")]


def grammar():
    cases = [Case(path) for path in sorted((CASES / "rules").glob("*.cpp"))]
    out = ["# Rules", "",
           "Written by `tools/docs --write` from `plan/ordering.hpp` and `tests/compile_fail/rules/`, whose programs are compiled by every",
           "compiler: each wrong program is refused with the sentence, and each corrected one compiles.", "",
           "A plan is one kernel if its operators, in order, keep these rules. Each rule is a concept `fk::NAME<Ops...>`. They are tested in the",
           "order of the table; `fk::Fusable<Ops...>` tests all of them.", "",
           "| rule, in `fk::` | the compiler's sentence |", "|---|---|"]
    out += [f"| `{name}` | {sentence} |" for name, sentence in rules()]
    out += ["", "## What is valid", "",
            "In letters, C convolution, B bias, N batch norm, A activation: C, CB, CA, CN, CBA, CNA, CBN and CBNA are plans, so are all of these",
            "without the C, and so is any of B, N, A, BN, BA, NA and BNA in front of the C. `NAC` is pre-activation ResNet's layer in one kernel. A",
            "`Gemm` may replace the C.", "",
            "Operators with `Stage::pointwise`, your own among them, may stand anywhere after the C. Before a `Conv` or `Gemm` an operator must be a",
            "function of the value and its channel, such as `Scale` and `Requantize`; `Residual`, `Store`, `Amax`, `ChannelStatistics` and operators whose",
            "`apply` takes the coordinate stand after it. The result of the operators before it is rounded to x's element type, as between two",
            "plans, and padding is zero after them.", ""]
    for name, sentence in rules():
        of = [case for case in cases if case.sentences[:1] == [sentence]]
        of.sort(key=lambda case: case.path.stem != re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())
        if not of:
            raise SystemExit(f"no program of {CASES / 'rules'} expects the sentence of {name}")
        out += [f"## {name}", "", f"> {escaped(sentence)}", ""] + of[0].blocks()
    return "\n".join(out).rstrip() + "\n"


SECTIONS = (
    ("Operators and their types", "rules", "Beyond the [order of operators](grammar.md): what is an operator, and what has a gradient."),
    ("Arguments and shapes of types", "arguments", "Filters, options, element types and ranks."),
    ("Binding", "bind", "Fields of `bind`."),
    ("Calls", "calls", "Devices, tensors and views in a call."),
    ("GPUs: arguments", "hip/arguments", ""), ("GPUs: calls", "hip/calls", ""), ("GPUs: devices", "hip/devices", ""),
    ("GPUs: functions without FUSEKIT_HD", "hip/device_code", ""), ("GPUs: plans of the host", "hip/nvcc", ""),
    ("GPUs: named schedules", "hip/schedules", ""),
)


def errors():
    out = [(PAGES / "site/errors.md.in").read_text().rstrip(), ""]
    of_rules = {sentence for _, sentence in rules()}
    for title, folder, words in SECTIONS:
        out += [f"## {title}", ""] + ([words, ""] if words else [])
        for case in (Case(path) for path in sorted((CASES / folder).glob("*.cpp"))):
            if case.sentences and case.sentences[0] in of_rules:
                continue
            out += [f"### {case.path.stem.replace('_', ' ')}", ""]
            for sentence in case.sentences:
                out += [f"> {escaped(sentence)}", ""]
            out += case.blocks()
    return "\n".join(out).rstrip() + "\n"


def escaped(text):
    """Text with the characters that Markdown reads as markup."""
    return re.sub(r"([<>*_|\[\]])", r"\\\1", text)


def activations():
    """Table of the modes of Activation: equation, arguments with defaults, slope at kinks, source."""
    listed = re.findall(r"X\((\d+), (\w+), (\w+), (\w+)\)", (INCLUDE / "ops/activation.hpp").read_text())
    rows = []
    for number, name, lower, in_c in sorted(listed, key=lambda each: int(each[0])):
        text = (INCLUDE / f"ops/activation/{lower}.hpp").read_text()
        at = text.index(f"struct {name} {{")
        equation = re.search(r'equation = "([^"]*)"', text[at:])[1]
        fields = re.search(r"struct Args \{(.*?)\}", text[at:], re.DOTALL)[1]
        given = ", ".join(f"`{field}` ({value.rstrip('f').replace('.0f', '').removesuffix('.0').replace('0f /', '0 /')})"
                          for field, value in re.findall(r"(\w+) = ([^,;]+)", fields))
        comment = " ".join(line.strip()[3:].strip() for line in text[:at].rstrip().splitlines()[-6:]
                           if line.startswith("///"))
        first, _, rest = comment.partition(". ")
        notes = rest if first.startswith("y =") else comment
        rows.append(f"| `fk::{name}` | {cell(equation)} | {given} | {cell(notes)} | {number} `FUSEKIT_{in_c}` |")
    out = ["# Activations", "",
           "Written by `tools/docs --write` from `include/fusekit/ops/activation/`. `fk::Activation<Mode>` applies one of these functions to every",
           "element. Every argument may be left out; its default is in parentheses: `{}` binds all defaults, `{.alpha = 0.2f}` sets one. NaN maps to NaN,",
           "and an infinity to the function's limit there, except for `LeakyRelu` with `alpha` 0. The numbers of the last column have MIOpen's meaning",
           "from 0 to 10.", "",
           "| mode | computes | arguments (default) | slope, source | number and name in C |", "|---|---|---|---|---|"]
    out += rows + ["", "A mode of yours is a struct with `Args` and `apply`, and for gradients `slope`, and no stage:",
                   "[an activation chosen at run time](recipes.md#an-activation-chosen-at-run-time) is one. The derivative as an operator is",
                   "`fk::ActivationSlope<Mode>` ([training](training.md)).", ""]
    return "\n".join(out)


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*")


def main():
    files = {PAGES / "grammar.md": grammar(), PAGES / "errors.md": errors(), PAGES / "activations.md": activations(),
             **networks.files()}
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        faults = [f"{path}: is not what its source says: run tools/docs --write" for path in stale]
        faults += networks.readme_faults(pathlib.Path("README.md").read_text())
        print("\n".join(faults) or f"{len(files)} files are what their sources say")
        return 1 if faults else 0
    for path in stale:
        path.write_text(files[path])
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
