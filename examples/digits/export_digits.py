#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes digits.txt from the data set that scikit-learn carries.

One line an image, in the data set's order: the digit, a space, and 64 pixels row by row, each one character of
0-9a-g for the values 0 to 16.
"""

import pathlib

from sklearn.datasets import load_digits

digits = load_digits()
levels = "0123456789abcdefg"
with open(pathlib.Path(__file__).with_name("digits.txt"), "w") as file:
    for label, image in zip(digits.target, digits.images):
        file.write(f"{label} {''.join(levels[int(pixel)] for pixel in image.flat)}\n")
