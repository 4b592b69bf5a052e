# SPDX-License-Identifier: MIT
"""Pages of the reference, from the doc comments of include/fusekit/."""
import re

INCLUDE = "include/fusekit"
# Title of a page, its first sentence, and the headers whose public declarations it lists.
PAGES = {
    "operators": ("Reference: operators", "Equations, shapes, arguments, preconditions and sources.",
                  ("ops/conv.hpp", "ops/conv/*.hpp", "ops/gemm.hpp", "ops/gemm/*.hpp", "ops/bias.hpp", "ops/batch_norm/*.hpp",
                   "ops/row_norm.hpp", "ops/softmax.hpp", "ops/residual.hpp", "ops/binary.hpp", "ops/scale.hpp",
                   "ops/requantize.hpp", "ops/activation.hpp", "ops/activation_slope.hpp", "ops/amax.hpp", "ops/store.hpp",
                   "ops/pool.hpp")),
    "activations": ("Reference: activations", "The modes of `fk::Activation`.", ("ops/activation/*.hpp",)),
    "operator": ("Reference: forms of an operator", "The concepts that an operator of your own meets.", ("ops/operator.hpp",)),
    "plans": ("Reference: plans and layers", "Plans, rules, bound plans, prepared runs, gradients, descriptions.",
              ("plan/*.hpp", "layer.hpp")),
    "tensors": ("Reference: tensors", "Element types, layouts, views, filters and options.", ("tensor/*.hpp",)),
    "devices": ("Reference: devices", "Devices, streams, memory and architectures.",
                ("backend/*.hpp", "backend/host/device.hpp", "backend/host/pack.hpp", "backend/hip/runtime/device.hpp",
                 "backend/hip/runtime/stream.hpp", "backend/hip/runtime/memory.hpp", "backend/hip/runtime/gpu.hpp",
                 "backend/hip/arch/tags.hpp")),
    "schedules": ("Reference: schedules", "Types that `device.with<Schedule>()` names, and the cost model.",
                  ("backend/hip/schedule/*.hpp", "backend/hip/tuning/tuned.hpp", "backend/hip/dispatch/predict.hpp")),
    "math": ("Reference: mathematics", "Functions for floats, CPU vectors and doubles.", ("math.hpp", "math_select.hpp")),
    "errors": ("Reference: errors and text", "Exceptions, results without exceptions, text.",
               ("error.hpp", "result.hpp", "text.hpp")),
    "run_time": ("Reference: plans chosen at run time", "Descriptors, arguments, sets of plans.",
                 ("runtime/*.hpp", "runtime.hpp")),
}
DECLARES = re.compile(r"(?:\[\[.*?\]\]\s*)?(?:FUSEKIT_\w+\s+)?(?:template\b|struct\b|class\b|enum\b|concept\b|using\b|inline\b|constexpr\b"
                      r"|consteval\b|FUSEKIT_HD?\b|\w[\w:<>, ]*\s[\w]+\()")
TYPE = re.compile(r"\b(?:struct|class|enum class|enum|concept|using)\s+(?:\[\[.*?\]\]\s*)?(\w+)", re.DOTALL)
FUNCTION = re.compile(r"([\w~]+|operator\S+)\s*\(")


class Entry:
    def __init__(self, name, comment, signature, body):
        self.name, self.comment, self.signature, self.body = name, comment, signature, body


def name_of(signature):
    text = re.sub(r"\[\[.*?\]\]", "", signature, flags=re.DOTALL)
    text = re.sub(r"template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", text)
    text = re.sub(r"requires\b.*?(?=\b(?:struct|class|FUSEKIT_H))", "", text, flags=re.DOTALL)
    if found := TYPE.search(text.split("{")[0].split("(")[0]):
        return found[1]
    if found := FUNCTION.search(text):
        return found[1]
    if found := re.search(r"(\w+)\s*(?:=|;|$)", text):
        return found[1]
    return None


def clean(signature):
    """A declaration without the library's macros, and without initializers of constructors."""
    text = re.sub(r"\b(FUSEKIT_HD?|FUSEKIT_FLAGS)\b\s*", "", signature)
    text = re.sub(r"\[\[gnu::\w+(, gnu::\w+)*\]\]\s*", "", text)
    return text.strip().rstrip("{").strip()


def entries(lines, indent=""):
    """Declarations at one indentation, outside namespaces named detail, with their comments."""
    hidden, depth, comment, at = [], 0, [], 0
    while at < len(lines):
        line = lines[at]
        if found := re.match(r"(?:inline )?namespace ([\w:]+) \{", line):
            hidden.append("detail" in found[1] or found[1] == "rules")
            comment = []
        elif re.match(r"\}  // (?:inline )?namespace", line):
            hidden and hidden.pop()
        elif line.startswith(indent + "///") and not line.startswith(indent + "///<"):
            comment.append(line[len(indent) + 3:].removeprefix(" "))
        elif line.startswith(indent) and DECLARES.match(line[len(indent):]) and not any(hidden):
            begin = at
            while at < len(lines) - 1 and not re.search(r"[;{}]\s*(//.*)?$", lines[at]):
                at += 1
            signature = "\n".join(each[len(indent):] for each in lines[begin:at + 1])
            body, opened = [], signature.count("{") - signature.count("}")
            while opened > 0 and at < len(lines) - 1:
                at += 1
                opened += lines[at].count("{") - lines[at].count("}")
                body.append(lines[at])
            name = name_of(signature)
            is_type = re.search(r"\b(struct|class|enum)\b", signature) and body
            if name and (comment or is_type) and "operator" not in name:
                yield Entry(name, comment, signature, body)
            comment = []
        elif line.strip() == "" or not line.startswith(indent + "//"):
            comment = []
        at += 1


def escaped(text):
    return re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)


def prose(comment):
    """Markdown of a doc comment: paragraphs, and lists where lines are indented."""
    out, listed = [], False
    for line in comment:
        if re.match(r" {2}\S", line):
            out += ([""] if not listed else []) + ["- " + escaped(line.strip())]
            listed = True
        elif line.startswith("    "):
            out.append("  " + escaped(line.strip()))
        else:
            begins = listed or re.match(r"(Shapes|Arguments|Requires|Sources?|Must be|Throws)\b", line)
            out += ([""] if begins else []) + [escaped(line)]
            listed = False
    return out


def members(entry):
    """The Args of an operator as they stand, and documented public members."""
    public, kept = not re.search(r"\bclass\b", entry.signature), []
    for line in entry.body:
        if re.match(r"(public|private|protected):", line):
            public = line.startswith("public")
        elif public:
            kept.append(line)
    text = "\n".join(kept)
    shown = []
    if found := re.search(r"^    struct Args \{(?:\};|.*?^    \};)", text, re.MULTILINE | re.DOTALL):
        shown = ["```cpp", re.sub(r"^    ", "", found[0], flags=re.MULTILINE), "```", ""]
    for member in entries(kept, "    "):
        if member.comment and member.name != "Args":
            words = " ".join(prose(member.comment)).strip()
            shown.append(f"- `{' '.join(clean(member.signature).split())}`: {words}")
    return shown


def header(root, path):
    lines = path.read_text().splitlines()
    found, seen = [], set()
    for entry in entries(lines):
        if entry.name.isupper() or entry.name.startswith("FUSEKIT"):
            continue
        title = entry.name if entry.name not in seen else None
        seen.add(entry.name)
        found += ["", f"### {title}", ""] if title else [""]
        if equation := re.search(r'equation\s*=\s*"([^"]*)"', "\n".join(entry.body)):
            if not entry.comment:
                found += [escaped(equation[1]), ""]
        found += prose(entry.comment) + ["", "```cpp", clean(entry.signature), "```", ""] + members(entry)
    if not found:
        return []
    name = path.relative_to(root / "include").as_posix()
    return ["", f"## {name}", "", f"[Source](../{path.relative_to(root).as_posix()})", *found]


def pages(root):
    """Yields (name, title, Markdown) for each page."""
    for name, (title, sentence, patterns) in PAGES.items():
        out = [f"# {title}", "", sentence + " Generated from the doc comments of the headers."]
        for pattern in patterns:
            for path in sorted((root / INCLUDE).glob(pattern)):
                out += header(root, path)
        yield name, title, "\n".join(out) + "\n"
    lines = (root / INCLUDE / "runtime/c/fusekit.h").read_text()
    yield "c", "Reference: the C interface", ("# Reference: the C interface\n\n`fusekit/runtime/c/fusekit.h`, whole.\n\n```c\n" + lines + "```\n")
