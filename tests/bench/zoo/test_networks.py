# SPDX-License-Identifier: MIT
"""The tables against figures that the networks' publishers state."""

import sys
import unittest

import networks
from layers import Conv, Norm, convolutions, distinct, norms

# Multiply-adds of an image in 1e9, as torchvision's pages of these models state them.
PUBLISHED = {"resnet50": 4.089, "resnext50_32x4d": 4.23, "mobilenet_v2": 0.301, "mobilenet_v3_large": 0.217,
             "efficientnet_b0": 0.386, "efficientnet_v2_s": 8.366, "mnasnet1_0": 0.314, "convnext_tiny": 4.456,
             "densenet121": 2.834, "inception_v3": 5.713, "googlenet": 1.498, "shufflenet_v2_x1_0": 0.145,
             "regnet_y_800mf": 0.834, "vgg16_bn": 15.47, "squeezenet1_1": 0.349}


class Tables(unittest.TestCase):
    def test_files_are_those_of_the_block_tables(self):
        self.assertEqual(networks.main(["--check"]), 0)

    def test_multiply_adds_are_the_published_ones(self):
        for name, published in PUBLISHED.items():
            given = sum(count * layer.flops(1) / 2e9 for network, layer, count in convolutions() if network == name)
            self.assertAlmostEqual(given, published, delta=6e-4 * max(1, published), msg=name)

    def test_batch_norms_are_as_many_as_published(self):
        counted = {}
        for network, _, count in norms():
            counted[network] = counted.get(network, 0) + count
        for network, number in (("resnet50", 53), ("mobilenet_v2", 52), ("densenet121", 121), ("inception_v3", 94),
                                ("shufflenet_v2_x1_0", 56), ("vgg16_bn", 13)):
            self.assertEqual(counted[network], number, network)
        self.assertFalse({"vit_b_16", "convnext_tiny", "unet", "llama2_7b"} & set(counted))

    def test_names_of_layers_differ(self):
        for rows in (convolutions(), norms()):
            layers = distinct(rows)
            self.assertEqual(len({layer.name for layer in layers}), len(layers))

    def test_every_layer_has_an_output(self):
        for network, layer, _ in convolutions():
            self.assertTrue(layer.p > 0 and layer.q > 0 and layer.c % layer.groups == 0 == layer.k % layer.groups, network)


class Layers(unittest.TestCase):
    def test_name(self):
        self.assertEqual(Conv(64, 56, 56, 128, 3, 3, 1, 1, 2).name, "64-56-56-128-3x3-p1-s2")
        self.assertEqual(Conv(128, 17, 15, 128, 1, 7, 0, 3).name, "128-17-15-128-1x7-p0x3-s1")
        self.assertEqual(Conv(64, 28, 28, 64, 3, 3, 2, 2, 1, 2, 8).name, "64-28-28-64-3x3-p2-s1-d2-g8")
        self.assertEqual(Norm(64, 5, 7).name, "64-5-7")

    def test_extents_and_sizes(self):
        layer = Conv(8, 9, 11, 16, 3, 1, 2, 0, 2, 2, 4)
        self.assertEqual((layer.p, layer.q), (5, 6))
        self.assertEqual(layer.weights(), 16 * 2 * 3)
        self.assertEqual(layer.elements(3), 3 * (8 * 9 * 11 + 16 * 5 * 6) + 96)
        self.assertEqual(layer.flops(3), 2 * 3 * 16 * 5 * 6 * 2 * 3)

    def test_an_unknown_network_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "'resnet51' is not a network of the table: expected some of resnet50, "):
            distinct(convolutions(), ["resnet51"])

    def test_layers_of_some_networks(self):
        two = distinct(convolutions(), ["vit_b_16", "bert_base"])
        self.assertEqual(len(two), len(set(two)))
        self.assertIn(Conv(3, 224, 224, 768, 16, 16, 0, 0, 16), two)
        self.assertNotIn(Conv(64, 56, 56, 64, 3, 3, 1, 1), two)


if __name__ == "__main__":
    sys.exit(unittest.main())
