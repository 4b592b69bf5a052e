#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that links.py reports a missing file, a missing anchor, an unlisted page and a long README, and nothing else."""
import pathlib
import tempfile
import unittest

import links


class Reports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "docs").mkdir()
        self.write("docs/page.md", "# A page\n\n## Two words: `x`\n\n```\n[no link](absent.md)\n```\n")
        self.write("docs/index.md", "[page](page.md)\n")
        self.write("README.md", "[page](docs/page.md#two-words-x)\n" * 20 + "[web](https://example.org/none)\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def faults(self):
        return list(links.faults(self.root))

    def test_a_good_tree_has_none(self):
        self.assertEqual(self.faults(), [])

    def test_a_missing_file(self):
        self.write("docs/index.md", "[page](page.md) [gone](gone.md)\n")
        self.assertEqual([fault.split(": ", 1)[1] for fault in self.faults()], ["gone.md: there is no such file"])

    def test_a_missing_anchor(self):
        self.write("docs/index.md", "[page](page.md#three-words)\n")
        self.assertIn("page.md#three-words: no heading has this anchor", self.faults()[0])

    def test_an_unlisted_page(self):
        self.write("docs/other.md", "# Other\n")
        self.assertEqual(len(self.faults()), 1)
        self.assertIn("does not list other.md", self.faults()[0])

    def test_a_long_readme(self):
        self.write("README.md", "[page](docs/page.md)\n" * (links.LONGEST_README + 1))
        self.assertIn("251 lines", self.faults()[0])

    def test_no_links(self):
        self.write("README.md", "nothing\n")
        self.assertIn("only 1 links", self.faults()[0])


if __name__ == "__main__":
    unittest.main()
