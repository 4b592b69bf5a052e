# SPDX-License-Identifier: MIT
"""gpu.py's subjects on the CPU: operators of the same equations stand in for fusekit's, and a fake timer for graphs."""

import importlib.util
import unittest

import gpu
from layers import Conv, Norm, convolutions, distinct

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch
    import torch.nn.functional as functional

    import norm_subjects
    import subjects


class Operators:
    """fusekit's operators in PyTorch's; `defect` is added to an element of each result."""

    def __init__(self, defect=0.0):
        self.defect = defect

    def spoiled(self, y):
        y = y.clone(memory_format=torch.preserve_format)
        y[(-1,) * y.dim()] += self.defect
        return y

    def conv_bias_act(self, x, weight, bias, residual, stride, padding, dilation, groups, activation):
        assert residual is None and activation == "relu"
        return self.spoiled(functional.conv2d(x, weight, bias, stride, padding, dilation, groups).relu())

    def batch_norm_act(self, x, scale, shift, mean, variance, epsilon, activation):
        assert activation == "relu"
        return self.spoiled(functional.batch_norm(x, mean, variance, scale, shift, False, 0.0, epsilon).relu())

    def batch_norm_act_training(self, x, scale, shift, epsilon, activation):
        y = functional.batch_norm(x, None, None, scale, shift, True, 0.0, epsilon).relu()
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
        return self.spoiled(y), mean, (variance + epsilon).rsqrt(), variance

    def batch_norm_act_backward(self, dy, x, scale, shift, mean, spread, training, epsilon, activation):
        normalized = (x - mean[:, None, None]) * spread[:, None, None]
        g = torch.where(scale[:, None, None] * normalized + shift[:, None, None] > 0, dy, torch.zeros_like(dy))
        dscale, dshift = (g * normalized).sum((0, 2, 3)), g.sum((0, 2, 3))
        count = x.numel() / x.shape[1]
        along = dshift[:, None, None] / count + normalized * dscale[:, None, None] / count
        return self.spoiled((scale * spread)[:, None, None] * (g - along)), dscale, dshift


class Gradients:
    """gradients.Gradients in PyTorch's operators."""

    def __init__(self, defect=0.0):
        self.defect = defect

    def of(self, layer, weight, mask):
        return lambda dy, x: self.spoiled(subjects.backward(dy, x, weight, layer, mask)[mask.index(True)])

    def spoiled(self, y):
        return Operators(self.defect).spoiled(y)

    def by_input(self, layer, batch, form, weight):
        return self.of(layer, weight, [True, False, False])

    def by_weights(self, layer, batch, form, weight):
        return self.of(layer, weight, [False, True, False])


@unittest.skipUnless(HAS_TORCH, "no PyTorch")
class OnCpu(unittest.TestCase):
    layers = (Conv(6, 9, 11, 8, 3, 1, 1, 0, 2), Conv(8, 7, 7, 8, 3, 3, 2, 2, 1, 2, 4), Conv(16, 1, 1, 5))

    def form(self, order=None, cache=1000):
        return subjects.Form(torch.float32, order or torch.channels_last, "cpu", cache)

    def use(self, operators):
        for module in (subjects, norm_subjects):
            module.ops = operators

    def all_subjects(self, gradients):
        for layer in self.layers:
            for order in (torch.channels_last, torch.contiguous_format):
                yield subjects.forward(layer, 3, self.form(order))
                for mask, make in (([True, False, False], gradients.by_input), ([False, True, False], gradients.by_weights)):
                    yield subjects.gradient(layer, 3, self.form(order), mask, make)
        yield subjects.linear(self.layers[2], 3, self.form())
        for make in (norm_subjects.inference, norm_subjects.training, norm_subjects.training_backward):
            yield make(Norm(5, 6, 7), 3, self.form())

    def test_right_results_are_within_the_bound(self):
        torch.manual_seed(1)
        self.use(Operators())
        for made in self.all_subjects(Gradients()):
            self.assertLess(made.error(), 1)
            for subject in (made.ours, made.copy, *made.ways.values()):
                subject(0), subject(made.pairs + 1)

    def test_wrong_results_are_not(self):
        torch.manual_seed(1)
        for defect in (1e-3, float("nan")):
            self.use(Operators(defect))
            for made in self.all_subjects(Gradients(defect)):
                self.assertGreater(made.error(), 1)

    def test_buffers_exceed_the_cache(self):
        form = self.form(cache=10000)
        self.assertEqual(form.pairs(100), 26)
        self.assertEqual(form.pairs(1), subjects.MOST_PAIRS)
        self.assertEqual(form.pairs(10000), 1)

    def test_results_of_the_last_calls_live(self):
        memory = []
        subject = subjects.kept(lambda x: memory.append(x + 1) or memory[-1], [torch.zeros(4), torch.ones(4)])
        for call in range(4):
            subject(call)
        self.assertEqual([each[0].item() for each in memory], [1, 2, 1, 2])

    def test_rows_of_the_table(self):
        self.use(Operators())
        timed = []

        def timer(given, pairs):
            timed.append((len(given), pairs))
            return [2.0, 1.0, 4.0, 3.0][:len(given)]

        measure = gpu.Measure(self.form(), timer, Gradients())
        layer = next(layer for layer in distinct(convolutions()) if layer.h == layer.w == 1)
        for kind, name in (("forward", layer.name), ("linear", layer.name), ("input", layer.name), ("weights", layer.name),
                           ("norm_inference", "2048-7-7"), ("norm_backward", "2048-7-7")):
            row = measure({"pass": kind, "batch": 2, "layer": name})
            self.assertEqual((row["ours_us"], row["copy_us"], row["peer_us"]), (2.0, 1.0, 4.0))
            self.assertLess(row["error"], 1)
        self.assertEqual(timed[0][0], 3)


if __name__ == "__main__":
    unittest.main()
