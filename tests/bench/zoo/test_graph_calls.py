# SPDX-License-Identifier: MIT
"""The number of calls that gpu.py captures in a graph."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench/peers"))
from graph_calls import graph_calls  # noqa: E402


class GraphCalls(unittest.TestCase):
    def test_slow_subjects_are_called_few_times(self):
        for microseconds, rotation, calls in ((20, 1, 100), (20, 7, 105), (1, 1, 1000), (0, 3, 1002), (1000, 1, 20),
                                              (5000, 1, 10), (490000, 1, 1), (490000, 8, 8)):
            self.assertEqual(graph_calls(microseconds, rotation), calls, (microseconds, rotation))


if __name__ == "__main__":
    unittest.main()
