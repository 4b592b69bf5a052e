# SPDX-License-Identifier: MIT
"""Classes, quantiles, the printed report and the chart of the distribution."""

import contextlib
import csv
import io
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as xml

import chart
import report
from layers import Conv, Norm, convolutions, distinct


def row(layer, ours, peer, copy="", error="0.5", note="", **other):
    return {"pass": "forward", "dtype": "half", "layout": "nhwc", "batch": "32", "threads": "", "layer": layer,
            "ours_us": ours, "peer_us": peer, "peer": "conv2d + relu_", "copy_us": copy, "error": error, "note": note,
            "machine": "a GPU", "versions": "PyTorch 2", "date": "2026-01-01", "command": "gpu.py", **other}


class Classes(unittest.TestCase):
    def test_each_class(self):
        for layer, expected in (
                (Conv(3, 1, 1, 3, groups=3), "1x1 images"), (Conv(3, 224, 224, 768, 16, 16, 0, 0, 16), "first layers"),
                (Conv(58, 28, 28, 58, 3, 3, 1, 1, 1, 1, 58), "depthwise"),
                (Conv(32, 28, 28, 64, 3, 3, 1, 1, 1, 1, 32), "depthwise"),
                (Conv(64, 28, 28, 64, 3, 3, 2, 2, 1, 2, 8), "grouped"), (Conv(58, 28, 28, 58, 3, 3, 2, 2, 1, 2), "dilated"),
                (Conv(58, 28, 28, 64, 1, 1, 0, 0, 2), "channels % 8 != 0"), (Conv(64, 28, 28, 58), "channels % 8 != 0"),
                (Conv(64, 28, 28, 64, 1, 1, 0, 0, 2), "strided"), (Conv(64, 28, 28, 64), "1x1 dense"),
                (Conv(96, 28, 28, 64, 3, 3, 1, 1), "few channels"), (Conv(104, 28, 28, 64, 1, 7, 0, 3), "3x3 and others")):
            self.assertEqual(report.class_of(layer), expected, layer.name)
            self.assertIn(expected, report.CLASSES)

    def test_every_class_has_layers(self):
        self.assertEqual({report.class_of(layer) for layer in distinct(convolutions())}, set(report.CLASSES))

    def test_batch_norm(self):
        self.assertEqual(report.norm_class(Norm(58, 28, 28), 1, "half"), "channels % 8 != 0")
        self.assertEqual(report.norm_class(Norm(1000, 100, 100), 1, "half"), "20 MB and more")
        self.assertEqual(report.norm_class(Norm(1000, 100, 99), 1, "half"), "under 20 MB")
        self.assertEqual(report.norm_class(Norm(1000, 100, 50), 1, "float"), "20 MB and more")


class Text(unittest.TestCase):
    def written(self, rows, networks=None, charts=None):
        """Text that the report prints, and its verdict."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "zoo.csv"
            with open(path, "w", newline="") as file:
                writer = csv.DictWriter(file, report.COLUMNS)
                writer.writeheader()
                writer.writerows(rows)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                good = report.write([path], charts, networks)
        return said.getvalue(), good

    def line(self, text, start):
        return next(line for line in text.splitlines() if line.startswith(start)).split()

    def test_quantiles(self):
        self.assertEqual([report.quantile([1, 2, 3, 4, 5], share) for share in (0, 0.1, 0.5, 0.9, 1)], [1, 1.4, 3, 4.6, 5])
        self.assertEqual(report.quantile([7], 0.9), 7)

    def test_class_lines(self):
        text, good = self.written([row("64-56-56-64-3x3-p1-s1", 2, 1, 1), row("64-56-56-64-1x1-p0-s1", 10, 20, 9),
                                   row("64-56-56-256-1x1-p0-s1", 10, 80, 4)])
        self.assertTrue(good)
        self.assertIn("convolution + bias + ReLU: half, NHWC, batch 32\na GPU; PyTorch 2\n", text)
        self.assertEqual(self.line(text, "1x1 dense")[2:], ["2", "2.00", "2.60", "5.00", "7.40", "4.00", "5.00", "0.60",
                                                            "0.40"])
        self.assertEqual(self.line(text, "few channels")[2:8], ["1", "0.50", "0.50", "0.50", "0.50", "0.50"])
        self.assertEqual(self.line(text, "all"), ["all", "3", "0.50", "0.80", "2.00", "6.80", "2.00", "4.59", "0.56", "0.40"])
        self.assertNotIn("networks, sums", text)  # no network is complete
        worst = text[text.index("slowest layers"):].splitlines()[1:]
        self.assertEqual([line.split()[1] for line in worst], ["0.50", "2.00", "8.00"])
        self.assertIn("few channels, conv2d + relu_, resnet50", worst[0])

    def test_worst_are_twenty(self):
        layers = distinct(convolutions())[:30]
        text, _ = self.written([row(layer.name, 1 + number, 30) for number, layer in enumerate(layers)])
        worst = text[text.index("slowest layers"):].splitlines()[1:]
        self.assertEqual([line.split()[0] for line in worst], [layer.name for layer in reversed(layers)][:20])

    def test_networks_weigh_layers_by_their_counts(self):
        rows = [(layer, count) for network, layer, count in convolutions() if network == "resnet50"]
        text, _ = self.written([row(layer.name, 1, 3 if layer.r == 3 else 1) for layer, _ in rows])
        ours = sum(count for _, count in rows)
        theirs = sum(count * (3 if layer.r == 3 else 1) for layer, count in rows)
        self.assertIn(f"networks, sums of times: resnet50 {theirs / ours:.2f}\n", text)

    def test_groups_are_apart_and_the_last_of_equal_rows_counts(self):
        name = "64-56-56-64-3x3-p1-s1"
        text, _ = self.written([row(name, 1, 9), row(name, 1, 5), row(name, 1, 7, batch="1"),
                                row(name, 1, 8, threads="1", dtype="float")])
        self.assertEqual([line.split()[2] for line in text.splitlines() if line.startswith("all")], ["5.00", "7.00", "8.00"])
        self.assertIn("float, NHWC, batch 32, 1 thread\n", text)

    def test_only_some_networks(self):
        text, _ = self.written([row("64-56-56-64-3x3-p1-s1", 1, 9), row("3-224-224-768-16x16-p0-s16", 1, 2)], ["vit_b_16"])
        self.assertEqual(self.line(text, "all")[1:3], ["1", "2.00"])

    def test_wrong_and_failed_layers(self):
        wrong, good = self.written([row("64-56-56-64-3x3-p1-s1", 1, 1, error="1.01")])
        self.assertIn("WRONG: 64-56-56-64-3x3-p1-s1: 1.01 of the bound", wrong)
        self.assertFalse(good)
        failed, good = self.written([row("64-56-56-64-3x3-p1-s1", "", "", error="", note="refused")])
        self.assertIn("not measured: 64-56-56-64-3x3-p1-s1: refused", failed)
        self.assertFalse(good)
        self.assertFalse(self.written([row("64-56-56-64-3x3-p1-s1", 1, 1, error="nan")])[1])

    def test_an_unknown_layer_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "'1-2-3-4' is not a layer of layers.csv or norms.csv"):
            self.written([row("1-2-3-4", 1, 1)])

    def test_batch_norm_and_charts(self):
        with tempfile.TemporaryDirectory() as folder:
            charts = pathlib.Path(folder) / "charts"
            text, good = self.written([row("64-56-56", 2, 3, 1, **{"pass": "norm_forward"})], charts=charts)
            self.assertTrue(good)
            self.assertEqual(self.line(text, "under 20 MB")[3:6], ["1", "1.50", "1.50"])
            self.assertEqual([path.name for path in charts.iterdir()], ["zoo_norm_forward_half_nhwc_32.svg"])


class Chart(unittest.TestCase):
    def test_bars_begin_at_one(self):
        text = chart.svg("A & B", "ratios", ["caption <1>"], [("dense", [4.0, 0.5, 1.0]), ("first", [2.0])])
        root = xml.fromstring(text)
        space = "{http://www.w3.org/2000/svg}"
        bars = [each for each in root.iter(space + "rect") if each.get("fill") in (chart.FASTER, chart.SLOWER)]
        self.assertEqual([each.get("fill") == chart.FASTER for each in bars], [False, True, True, True])
        one = chart.TOP + chart.HEIGHT * 2 / 3  # the axis has 1/2 to 4
        tops = [float(each.get("y")) for each in bars]
        heights = [float(each.get("height")) for each in bars]
        self.assertAlmostEqual(tops[0], one, delta=0.1)
        self.assertAlmostEqual(heights[0], chart.HEIGHT / 3, delta=0.1)
        self.assertAlmostEqual(tops[2] + heights[2], one, delta=0.1)
        self.assertAlmostEqual(heights[2], 2 * chart.HEIGHT / 3, delta=0.1)
        said = [each.text for each in root.iter(space + "text")]
        for expected in ("A & B", "caption <1>", "1/2", "4", "3 layers", "mean 1.26", "first"):
            self.assertIn(expected, said)


if __name__ == "__main__":
    unittest.main()
