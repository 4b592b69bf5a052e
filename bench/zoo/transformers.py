# SPDX-License-Identifier: MIT
"""Patch embeddings and linear layers of transformers; a Linear is a 1x1 convolution on a pixel for each token."""

from builder import network


def encoder(net, x, layers):
    """A transformer's blocks without attention's products: the linear layers of all tokens."""
    for _ in range(layers):
        net.linear(x, 3 * x[0])
        net.linear(x, x[0])
        net.linear(net.linear(x, 4 * x[0]), x[0])


@network
def vit_b_16(net):
    net.normalized = False
    x = net.conv((3, 224, 224), 768, 16, 16, pad=0)
    encoder(net, (x[0], x[1] * x[2] + 1, 1), 12)  # patches and the class token
    net.classifier(x)


@network
def swin_t(net):
    net.normalized = False
    x = net.conv((3, 224, 224), 96, 4, 4, pad=0)
    for stage, layers in enumerate((2, 2, 6, 2)):
        if stage > 0:
            x = net.linear((4 * x[0], x[1] // 2, x[2] // 2), 2 * x[0])  # merges four patches
        encoder(net, x, layers)
    net.classifier(x)


@network
def bert_base(net):
    """128 tokens. Three layers in place of one for the queries, keys and values."""
    net.normalized = False
    x = (768, 128, 1)
    for _ in range(12):
        for _ in range(4):
            net.linear(x, 768)
        net.linear(net.linear(x, 3072), 768)
    net.classifier(x, 768)


@network
def llama2_7b(net):
    """Linear layers of one token per sequence: matrix-vector products at batch 1."""
    net.normalized = False
    x = (4096, 1, 1)
    for _ in range(32):
        for k in (4096, 4096, 4096, 4096, 11008, 11008):
            net.linear(x, k)
        net.linear((11008, 1, 1), 4096)
    net.linear(x, 32000)
