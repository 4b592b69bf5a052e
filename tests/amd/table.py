#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins the tables that check_kernels.py wrote into one: FOLDER/kernels.csv, and FOLDER/kernels.txt for people.

usage: table.py FOLDER TABLE.csv...
"""
import csv
import pathlib
import sys


def main():
    folder, *tables = map(pathlib.Path, sys.argv[1:])
    missing = [table.name for table in tables if not table.exists()]
    if len(missing) == len(tables):
        sys.exit("there are no tables")
    rows = []
    for table in tables:
        if table.name in missing:
            continue
        with table.open(newline="") as file:
            header, *lines = csv.reader(file)
            rows += lines
    rows.sort(key=lambda row: row[:2])

    with (folder / "kernels.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])

    # The kernel, which is the longest, stands last.
    lines = [row[1:] + row[:1] for row in [header, *rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header) - 1)]
    with (folder / "kernels.txt").open("w") as file:
        for line in lines:
            cells = [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))]
            file.write("  ".join([*cells, line[-1]]) + "\n")
    if missing:
        sys.exit(f"not there: {', '.join(missing)}")
    print(f"{len(rows)} kernels: {folder / 'kernels.csv'}, {folder / 'kernels.txt'}")


if __name__ == "__main__":
    main()
