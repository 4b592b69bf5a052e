#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""assemble.py OUTPUT, in the repository's root

Writes the sources of the site: README.md as its front page, the pages of docs/ and those that they link, the reference
from doc comments, a page for each linked file of the repository, the data of the table of layers, and llms.txt.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import sys

sys.path += [str(pathlib.Path(__file__).parent), "bench/zoo"]
import layers  # noqa: E402
import reference  # noqa: E402
import report  # noqa: E402

ROOT = pathlib.Path(".").resolve()
SITE = pathlib.Path("docs/site")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
LEXERS = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".cmake": "cmake", ".svg": None, ".txt": "text"}


class Site:
    def __init__(self, output, listed):
        self.output, self.listed, self.done = output, listed, set()

    def write(self, path, text):
        target = self.output / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link(self, page, match):
        """A link of a page, to a page of the site; files of the repository get pages of their own."""
        words, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        file, _, anchor = target.partition("#")
        path = pathlib.Path(os.path.normpath((ROOT / page).parent / file)).relative_to(ROOT)
        to = self.page_of(path)
        if to is None:
            return words.strip("[]")
        relative = os.path.relpath(to, pathlib.Path(page).parent if page != "README.md" else ".")
        return f"{words}({relative}{'#' + anchor if anchor else ''})"

    def page_of(self, path):
        if path.as_posix() == "README.md":
            return "index.md"
        if path.suffix == ".md":
            self.page(path.as_posix())
            return path.as_posix()
        if path.suffix == ".svg":
            self.copy(path)
            return path.as_posix()
        target = pathlib.Path("source") / (path.as_posix().replace("/", "-") + ".md")
        if path in self.done:
            return target
        self.done.add(path)
        if (ROOT / path).is_dir():
            files = sorted(each for each in (ROOT / path).iterdir() if each.suffix in LEXERS and each.suffix != ".svg")
            listed = "\n".join(f"- [{each.name}]({os.path.basename(self.page_of(path / each.name))})" for each in files)
            self.write(target, f"---\norphan: true\n---\n# {path.as_posix()}/\n\n{listed}\n")
            return target
        lexer = LEXERS.get(path.suffix, "text") if path.name != "CMakeLists.txt" else "cmake"
        text = (ROOT / path).read_text()
        self.write(target, f"---\norphan: true\n---\n# {path.as_posix()}\n\n``````{lexer}\n{text.rstrip()}\n``````\n")
        return target

    def copy(self, path):
        (self.output / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, self.output / path)

    def page(self, name):
        if name in self.done:
            return
        self.done.add(name)
        self.render(name, (ROOT / name).read_text())

    def render(self, name, text, after=""):
        out, fenced = [], None
        for line in text.splitlines():
            if line.startswith("```"):
                if fenced is None and line == "```mermaid":
                    relative = os.path.relpath("docs/drawings/fusion.svg", pathlib.Path(name).parent)
                    self.copy(pathlib.Path("docs/drawings/fusion.svg"))
                    out.append(f"![One kernel for three operators, and a kernel for each]({relative})")
                    fenced = "mermaid"
                    continue
                if fenced == "mermaid":
                    fenced = None
                    continue
                fenced = None if fenced else "code"
                out.append("```text" if fenced and line == "```" else line)
            elif fenced == "mermaid" or (not fenced and re.fullmatch(r"<!-- .* -->", line.strip())):
                continue
            else:
                out.append(line if fenced else self.outside(name, line))
        text = "\n".join(out)
        text = re.sub(r"^> \[!NOTE\]\n((?:> .*\n?)+)",
                      lambda note: "```{note}\n" + re.sub(r"^> ?", "", note[1], flags=re.MULTILINE) + "```\n", text, flags=re.MULTILINE)
        orphan = "" if name in self.listed else "---\norphan: true\n---\n"
        self.write("index.md" if name == "README.md" else name, orphan + text + "\n" + after)

    def outside(self, name, line):
        parts = re.split(r"(`[^`]*`)", line)
        text = "".join(part if part.startswith("`") and len(part) > 1 else part for part in parts)
        return LINK.sub(lambda match: self.link(name, match), text)


def sections(index):
    """Captions of docs/index.md with their entries: (title, path, description)."""
    found = []
    for line in index.splitlines():
        if line.startswith("## "):
            found.append((line[3:], []))
        elif entry := re.match(r"- \[([^\]]*)\]\(([^)]*)\): (.*)", line):
            path = os.path.normpath("docs/" + entry[2])
            found[-1][1].append((entry[1], path, entry[3]))
    return found


def toctree(caption, paths):
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *(path.removesuffix(".md") for path in paths), "```", ""])


def measurements():
    """Rows of the table of layers: the zoo's CSVs and peer_cudnn's."""
    tables, rows = report.layer_tables(), []
    for name in ("zoo_forward", "zoo_quarter", "zoo_sample", "zoo"):
        path = f"bench/results/h200/{name}.csv"
        for row in csv.DictReader(open(path, newline="")):
            if not row["ours_us"] or not row["peer_us"]:
                continue
            of = report.Result(row, tables).of
            rows.append((row["machine"], row["date"], path, row["pass"], row["dtype"], row["layout"], int(row["batch"]), row["layer"], of,
                         float(row["ours_us"]), float(row["peer_us"]), row["peer"], row["command"]))
    known = {layer.name: layer for layer in layers.distinct(layers.convolutions())}
    for path in sorted(pathlib.Path("bench/results").glob("h*/cudnn*.csv")):
        for row in csv.DictReader(path.open(newline="")):
            of = report.class_of(known[row["layer"]]) if row["layer"] in known else "MIOpen's chart"
            rows.append((row["machine"].split(",")[0], row["date"], path.as_posix(), row.get("pass", "forward"), row["dtype"], row["layout"],
                         int(row["batch"]), row["layer"], of, float(row["fusekit_us"]), float(row["cudnn_any_us"]),
                         "cuDNN, " + row["cudnn_any_way"], row["command"]))
    return rows


def packed(rows):
    """JavaScript with the rows; texts are numbers of a list."""
    texts = {}
    data = [[texts.setdefault(value, len(texts)) if isinstance(value, str) else value for value in row] for row in rows]
    return f"window.measured = {{texts: {json.dumps(list(texts))}, rows: {json.dumps(data, separators=(',', ':'))}}};\n"


EXPLORE = """# Every measurement

Convolutions and batch norms beside cuDNN and PyTorch, from the files of `bench/results/`. Click a column to sort; choose values to filter. A ratio
above 1 means that fusekit is faster. The figures above the table are of the rows that the filters leave. Rows of older states are here too:
`zoo.csv` is older than `zoo_sample.csv`, that older than `zoo_quarter.csv`, and that older than `zoo_forward.csv`.

<div id="explore"><noscript>This table needs JavaScript.</noscript></div>
<script src="../_static/measured.js"></script>
<script src="../_static/explore.js"></script>
"""


def llms(site, found):
    out = ["# fusekit", "", "> Fused GPU operators as C++20 types: a Plan of convolution, bias, norm, residual and activation is one kernel, or the "
           "compiler says in one sentence why it cannot be one. Header-only; AMD, NVIDIA and CPU.", "",
           "Pages are Markdown below `_sources/`; `llms-full.txt` has all guides in one file.", ""]
    for caption, entries in found:
        out += [f"## {caption}", ""] + [f"- [{title}](_sources/{path}.txt): {words}" for title, path, words in entries] + [""]
    out += ["## Reference", ""] + [f"- [{title}](_sources/reference/{name}.md.txt)" for name, title, _ in reference.pages(ROOT)]
    guides = ["README.md"] + [path for _, entries in found for _, path, _ in entries if path.startswith("docs/")]
    whole = "\n\n".join((ROOT / path).read_text() for path in guides)
    (site / "extra").mkdir(parents=True, exist_ok=True)
    (site / "extra/llms.txt").write_text("\n".join(out) + "\n")
    (site / "extra/llms-full.txt").write_text(whole)


def main():
    output = pathlib.Path(sys.argv[1])
    shutil.rmtree(output, ignore_errors=True)
    found = sections((ROOT / "docs/index.md").read_text())
    names = [name for name, _, _ in reference.pages(ROOT)]
    site = Site(output, {"README.md", *(path for _, entries in found for _, path, _ in entries), *(f"reference/{name}.md" for name in names)})
    trees = "".join(toctree(caption, [path for _, path, _ in entries] + (["docs/explore.md"] if caption == "Measured" else []))
                    for caption, entries in found)
    trees += toctree("Reference", [f"reference/{name}.md" for name in names])
    site.render("README.md", (ROOT / "README.md").read_text(), trees)
    for _, entries in found:
        for _, path, _ in entries:
            site.page(path)
    site.render("docs/index.md", (ROOT / "docs/index.md").read_text())
    for name, _, text in reference.pages(ROOT):
        site.render(f"reference/{name}.md", text)
    site.write("docs/explore.md", EXPLORE)
    for path in SITE.glob("static/*"):
        (output / "static").mkdir(exist_ok=True)
        shutil.copyfile(path, output / "static" / path.name)
    (output / "static/measured.js").write_text(packed(measurements()))
    for name in ("conf.py", "site_style.py"):
        shutil.copyfile(SITE / name, output / name)
    llms(output, found)


if __name__ == "__main__":
    main()
