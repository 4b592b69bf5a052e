#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""links.py [ROOT]

Checks the relative links of every Markdown page of the repository: the file exists, and the anchor is a heading of that
page. Checks that docs/index.md lists every page of docs/, and that README.md has at most 250 lines.
"""
import pathlib
import re
import sys

LONGEST_README = 250
FOLDERS = ("bench", "compat", "docs", "emulator", "examples", "packaging", "src", "tests", "tools")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def prose(text):
    """Lines of a page outside fenced blocks, without inline code: (number, line)."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), line)


def slug(heading):
    """Anchor of a heading, as GitHub makes it."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    found, fenced = [], False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        heading = re.fullmatch(r"#{1,6}\s+(.*)", line)
        if heading and not fenced:
            name = slug(heading[1])
            found.append(f"{name}-{found.count(name)}" if name in found else name)
    return found


def faults(root):
    pages = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.md") if "build" not in path.parts)
    texts = {path.resolve(): path.read_text() for path in [*root.glob("*.md"), *pages]}
    count = 0
    for path, text in texts.items():
        for number, line in prose(text):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                file, _, anchor = target.partition("#")
                to = (path.parent / file).resolve() if file else path
                if not to.exists():
                    yield f"{path}:{number}: {target}: there is no such file"
                elif anchor and anchor not in anchors(texts.get(to) or to.read_text()):
                    yield f"{path}:{number}: {target}: no heading has this anchor"
    index = (root / "docs/index.md").read_text()
    for page in sorted((root / "docs").glob("*.md")):
        if page.name != "index.md" and f"({page.name})" not in index:
            yield f"docs/index.md: does not list {page.name}"
    length = len((root / "README.md").read_text().splitlines())
    if length > LONGEST_README:
        yield f"README.md: {length} lines, more than {LONGEST_README}"
    if count < 20:
        yield f"only {count} links were found"


def main():
    found = list(faults(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "every link has its file and its heading")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
