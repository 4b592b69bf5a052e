# SPDX-License-Identifier: MIT
"""Measures in several runs: each appends the rows that it measures to a CSV and skips rows of earlier runs."""

import csv
import time

from report import COLUMNS, KEY


class Rows:
    """The CSV of a measurement. A file whose columns differ is refused and stays unchanged."""

    def __init__(self, path, facts):
        self.path, self.facts, self.known = path, facts, set()
        if path.exists() and path.stat().st_size:
            with open(path, newline="") as file:
                reader = csv.DictReader(file)
                if tuple(reader.fieldnames) != COLUMNS:
                    raise SystemExit(f"{path}: expected the columns {','.join(COLUMNS)}, got {','.join(reader.fieldnames)}")
                self.known = {key_of(row) for row in reader}
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(COLUMNS)

    def add(self, row):
        with open(self.path, "a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
            writer.writerow({**self.facts, **row})
        self.known.add(key_of(row))


def key_of(row):
    return tuple(str(row[name]) for name in KEY)


def run(keys, measure, rows, seconds, clock=time.monotonic):
    """Measures keys that `rows` lacks until `seconds` have passed; returns the number of keys that remain.

    `keys` are dictionaries with the columns of KEY. measure(key) returns other columns; its RuntimeError becomes the
    row's note, so that a layer that is refused once is not tried again."""
    begin = clock()
    missing = [key for key in keys if key_of(key) not in rows.known]
    for done, key in enumerate(missing):
        if clock() - begin >= seconds:
            return len(missing) - done
        try:
            row = measure(key)
        except RuntimeError as error:
            row = {"note": " ".join(str(error).split())[:300]}
        rows.add({**key, **row})
        print(line_of(key, row), flush=True)
    return 0


def line_of(key, row):
    text = f"{key['pass']:<15}{key['dtype']} {key['layout']} {key['batch']:>4}  {key['layer']:<44}"
    if not row.get("ours_us"):
        return text + row.get("note", "")
    ratio = f"{row['peer_us'] / row['ours_us']:>7.2f}" if row.get("peer_us") else ""
    return text + f"{row['ours_us']:>10.2f} us{ratio}" + ("" if row["error"] <= 1 else "  WRONG")
