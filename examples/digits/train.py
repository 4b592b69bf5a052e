#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the network of network.hpp on two thirds of digits.txt and writes weights.bin.

    train.py                    trains on every image but the held-out third and writes the weights (10 s)
    train.py --cross-validate   trains on three quarters of those images and tests on the fourth, four times over:
                                with every fourth image, then with consecutive ones, mostly of other writers

The held-out third, every image whose index leaves 2 when divided by 3, is dropped on reading: the choices below were
made by cross-validation on the rest. Seed, order and thread count are fixed, so that the same torch on the same kind
of CPU writes the same bytes; another one differs in the last bits.

weights.bin is little-endian float32 and nothing else, layer by layer: the convolution's weights, K x R x S x C; then
scale, shift, mean and variance, K each; the last layer has a bias of K in their place.
"""

import argparse
import math
import pathlib

import torch
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).parent


def load():
    """Training images, N x 1 x 8 x 8 in [0, 1], and their labels."""
    lines = (HERE / "digits.txt").read_text().splitlines()
    lines = [line for index, line in enumerate(lines) if index % 3 != 2]
    images = torch.tensor([[int(pixel, 17) / 16 for pixel in line[2:]] for line in lines])
    return images.view(-1, 1, 8, 8), torch.tensor([int(line[0]) for line in lines])


class Network(nn.Module):
    """Each line of forward() is one fused plan of network.hpp."""

    def __init__(self):
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.down, self.down_norm = nn.Conv2d(16, 32, 3, padding=1, stride=2, bias=False), nn.BatchNorm2d(32)
        self.block, self.block_norm = nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.classifier = nn.Conv2d(32, 10, 4)

    def forward(self, x):
        x = functional.relu(self.stem_norm(self.stem(x)))
        x = functional.relu(self.down_norm(self.down(x)))
        x = functional.relu(self.block_norm(self.block(x)) + x)
        return self.classifier(x).flatten(1)

    def parts(self):
        """Every parameter, in the order of weights.bin."""
        for conv, norm in (self.stem, self.stem_norm), (self.down, self.down_norm), (self.block, self.block_norm):
            yield conv.weight.permute(0, 2, 3, 1)
            yield from (norm.weight, norm.bias, norm.running_mean, norm.running_var)
        yield self.classifier.weight.permute(0, 2, 3, 1)
        yield self.classifier.bias


def distort(images):
    """Each image turned by up to 10 degrees, sheared and scaled by a tenth, shifted by 0.6 pixels, at random."""
    def uniform(width):
        return (torch.rand(len(images)) * 2 - 1) * width

    angle, shear, wide, tall = uniform(math.radians(10)), uniform(0.1), 1 + uniform(0.1), 1 + uniform(0.1)
    across, down = uniform(0.15), uniform(0.15)  # the image is 2 units wide
    rows = [[wide * angle.cos(), shear - angle.sin(), across], [angle.sin(), tall * angle.cos(), down]]
    maps = torch.stack([torch.stack(row, 1) for row in rows], 1)
    grid = functional.affine_grid(maps, images.shape, align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train(images, labels, epochs=60, batch=64, rate=0.01, decay=0.1, smoothing=0.05):
    torch.manual_seed(1)
    model = Network()
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * (len(images) // batch))
    for _ in range(epochs):
        for at in torch.randperm(len(images)).split(batch):
            if len(at) < batch:
                break
            loss = functional.cross_entropy(model(distort(images[at])), labels[at], label_smoothing=smoothing)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def mistakes(model, images, labels):
    with torch.no_grad():
        return int((model(images).argmax(1) != labels).sum())


def cross_validate(images, labels, folds=4):
    index = torch.arange(len(images))
    for what, fold_of in ("every fourth image", index % folds), ("consecutive images", index * folds // len(images)):
        wrong = 0
        for fold in range(folds):
            test = fold_of == fold
            wrong += mistakes(train(images[~test], labels[~test]), images[test], labels[test])
        print(f"{what}: {wrong} of {len(images)} wrong, {1 - wrong / len(images):.2%} right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cross-validate", action="store_true")
    torch.set_num_threads(1)
    images, labels = load()
    if parser.parse_args().cross_validate:
        return cross_validate(images, labels)
    model = train(images, labels)
    print(f"training images: {mistakes(model, images, labels)} of {len(images)} wrong")
    values = torch.cat([part.detach().flatten() for part in model.parts()])
    (HERE / "weights.bin").write_bytes(values.numpy().astype("<f4").tobytes())


if __name__ == "__main__":
    main()
