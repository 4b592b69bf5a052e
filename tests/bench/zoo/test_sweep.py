# SPDX-License-Identifier: MIT
"""A measurement in parts, and gpu.py with a measurement that needs no GPU."""

import contextlib
import csv
import io
import pathlib
import tempfile
import unittest

import gpu
import report
import sweep
from layers import convolutions, distinct

FACTS = {"machine": "a GPU", "versions": "1", "date": "2026-01-01", "command": "gpu.py"}


def key(layer, **other):
    return {"pass": "forward", "dtype": "half", "layout": "nhwc", "batch": 32, "threads": "", "layer": layer, **other}


class Clock:
    """Each measurement takes a second."""

    def __init__(self):
        self.now = 0.0
        self.measured = []

    def __call__(self):
        return self.now

    def measure(self, of):
        self.now += 1
        self.measured.append(of["layer"])
        return {"ours_us": 2.0, "peer_us": 3.0, "peer": "conv2d + relu_", "copy_us": 1.0, "error": 0.25}


class Quiet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "part" / "zoo.csv"
        self.said = io.StringIO()
        redirection = contextlib.redirect_stdout(self.said)
        redirection.__enter__()
        self.addCleanup(redirection.__exit__, None, None, None)

    def rows(self):
        with open(self.path, newline="") as file:
            return list(csv.DictReader(file))


class Sweep(Quiet):
    def run_part(self, names, seconds):
        clock = Clock()
        remaining = sweep.run([key(name) for name in names], clock.measure, sweep.Rows(self.path, FACTS), seconds, clock)
        return remaining, clock.measured

    def test_parts_resume(self):
        self.assertEqual(self.run_part("abcde", 2), (3, ["a", "b"]))
        self.assertEqual(self.run_part("abcde", 2), (1, ["c", "d"]))
        self.assertEqual(self.run_part("abcde", 2), (0, ["e"]))
        self.assertEqual(self.run_part("abcde", 2), (0, []))
        self.assertEqual([row["layer"] for row in self.rows()], list("abcde"))
        self.assertEqual(self.rows()[0], {**{name: str(value) for name, value in key("a").items()}, "ours_us": "2.0",
                                          "peer_us": "3.0", "peer": "conv2d + relu_", "copy_us": "1.0", "error": "0.25",
                                          "note": "", **FACTS})

    def test_keys_of_other_measurements_are_not_skipped(self):
        self.run_part("ab", 9)
        clock = Clock()
        sweep.run([key("a", batch=1), key("b", layout="nchw"), key("a")], clock.measure, sweep.Rows(self.path, FACTS), 9,
                  clock)
        self.assertEqual(clock.measured, ["a", "b"])

    def test_a_refusal_becomes_a_note(self):
        def refuse(of):
            raise RuntimeError("no\nkernel, really")
        self.assertEqual(sweep.run([key("a")], refuse, sweep.Rows(self.path, FACTS), 9), 0)
        self.assertEqual((self.rows()[0]["note"], self.rows()[0]["ours_us"]), ("no kernel, really", ""))
        self.assertEqual(self.run_part("a", 9), (0, []))

    def test_another_file_is_refused_and_unchanged(self):
        self.path.parent.mkdir()
        self.path.write_text("a,b\n1,2\n")
        with self.assertRaisesRegex(SystemExit, "expected the columns pass,.*, got a,b"):
            sweep.Rows(self.path, FACTS)
        self.assertEqual(self.path.read_text(), "a,b\n1,2\n")

    def test_a_wrong_result_is_said(self):
        line = sweep.line_of(key("a"), {"ours_us": 2.0, "peer_us": 1.0, "error": 1.5})
        self.assertIn("2.00 us   0.50  WRONG", line)


class Program(Quiet):
    def run_program(self, *arguments, measure=None):
        clock = Clock()
        status = gpu.main(["--output", str(self.path), *arguments], lambda options: (measure or clock.measure, FACTS))
        return status, clock.measured

    def test_measures_reports_and_draws(self):
        status, measured = self.run_program("--networks", "resnet50", "--batch", "1,32")
        layers = distinct(convolutions(), ["resnet50"])
        self.assertEqual((status, measured), (0, 2 * [layer.name for layer in layers]))
        self.assertIn("networks, sums of times: resnet50 1.50", self.said.getvalue())
        self.assertEqual(sorted(path.name for path in self.path.parent.glob("*.svg")),
                         ["zoo_forward_half_nhwc_1.svg", "zoo_forward_half_nhwc_32.svg"])

    def test_stops_and_resumes(self):
        self.assertEqual(self.run_program("--networks", "vgg16_bn", "--batch", "1", "--seconds", "0"), (0, []))
        self.assertIn("12 of 12 rows remain: run the same command again", self.said.getvalue())

    def test_passes(self):
        def kinds(*arguments):
            options = gpu.parse(["--networks", "vgg16_bn", "--batch", "1", *arguments])
            return {kind: [of["layer"] for of in gpu.keys(options) if of["pass"] == kind] for kind in report.PASSES}

        all_passes = kinds("--pass", "forward,linear,input,weights,batch_norm")
        self.assertEqual(len(all_passes["forward"]), 12)
        self.assertEqual(all_passes["input"], all_passes["forward"])
        self.assertEqual(all_passes["weights"], all_passes["forward"])
        self.assertEqual(all_passes["linear"], ["25088-1-1-4096-1x1-p0-s1", "4096-1-1-4096-1x1-p0-s1",
                                                "4096-1-1-1000-1x1-p0-s1"])
        self.assertEqual(all_passes["norm_forward"][0], "64-224-224")
        self.assertFalse(kinds("--pass", "linear", "--layout", "nchw")["linear"])

    def test_training_needs_two_values_a_channel(self):
        def norms(batch):
            options = gpu.parse(["--networks", "deeplab_v3_resnet50", "--batch", batch, "--pass", "batch_norm"])
            return [of["pass"] for of in gpu.keys(options) if of["layer"] == "256-1-1"]
        self.assertEqual(norms("1"), ["norm_inference"])
        self.assertEqual(norms("2"), ["norm_inference", "norm_forward", "norm_backward"])

    def test_a_wrong_result_fails(self):
        wrong = {"ours_us": 2.0, "peer_us": 3.0, "peer": "", "copy_us": 1.0, "error": 2.0}
        self.assertEqual(self.run_program("--networks", "unet", "--batch", "1", measure=lambda of: wrong)[0], 1)

    def test_an_unknown_pass_is_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            gpu.parse(["--pass", "forward,back"])
        self.assertIn("expected some of forward,linear,input,weights,batch_norm, got 'back'", said.getvalue())


if __name__ == "__main__":
    unittest.main()
