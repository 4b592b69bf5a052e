# SPDX-License-Identifier: MIT
"""A kernel's name as a person would write it: Plan<Conv<filter(3, 3)>, Bias>, ImplicitGemm<Gemm<64, 64, 8>, float>."""
import re


def split(text):
    """The parts of `text` between commas that stand in no bracket, up to a bracket that is not opened in it."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"<": 1, "(": 1, "{": 1, ">": -1, ")": -1, "}": -1}.get(letter, 0)
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def written_filter(space, members):
    """filter(...) from the members of a Filter<space>, in their order; zeros at the end of a list are left out there."""
    lists = re.findall(r"PerMode<\d>\{([-\d, ]*)\}", members)
    if len(lists) != 5:
        return f"Filter{{{members}}}"
    lists = [(*map(int, re.findall(r"-?\d+", each)), 0, 0, 0)[:space] for each in lists]
    size, pad_before, pad_after, strides, dilations = lists

    def setter(name, values, neutral):
        if set(values) == {neutral}:
            return ""
        return f".{name}({values[0] if len(set(values)) == 1 else ', '.join(map(str, values))})"

    groups = int(members.rpartition(",")[2])
    return (f"filter({', '.join(map(str, size))})" +
            setter("pad", pad_before if pad_before == pad_after else pad_before + pad_after, 0) +
            setter("stride", strides, 1) + setter("dilation", dilations, 1) + setter("groups", (groups,), 1))


def shortened(name):
    """A demangled name without namespaces, casts and parameters; of the library's kernel, its plan and mainloop."""
    name = re.sub(r"\(fusekit::detail::Axis\)0\b", "channel", name)
    name = re.sub(r"\(fusekit::detail::Axis\)1\b", "pixel", name)
    name = re.sub(r"\((?:\w+::)+\w+(?:<\d+>)?\)(?=[-\w{])", "", name)
    name = re.sub(r"\b(?:[a-z]\w*::)+", "", name)
    name = re.sub(r"Filter<(\d)>\{((?:[^{}]|\{[^{}]*\})*)\}", lambda found: written_filter(int(found[1]), found[2]), name)
    name = name.replace(", void>", ">")  # a Conv without options
    name = name.replace("Dynamic{}", "dynamic").replace("FusedPlan<", "Plan<")
    called, _, arguments = re.sub(r"^void ", "", name).partition("<")
    if not arguments or "(" in called:
        return called.partition("(")[0]
    arguments = split(arguments)
    if called == "fused" and len(arguments) == 2:
        plan, mainloop = arguments
        return f"{plan}, {mainloop.replace(f'<{plan}, ', '<')}"
    return f"{called}<{', '.join(arguments)}>"
