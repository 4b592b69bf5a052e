# SPDX-License-Identifier: MIT
"""Block tables of convolutional networks. Layers follow torchvision where publications differ from it."""

import collections
import math

from builder import concatenated, divisible, network, pool


def residual_network(net, groups=1, width=64, dilated=False):
    """ResNet-50's stages, of bottleneck blocks. `dilated`: the last two stages have dilations in place of strides."""
    x = pool(net.conv((3, 224, 224), 64, 7, 2), pad=1)
    dilation = 1
    for planes, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        stride = 1 if planes == 64 else 2
        first = dilation
        if dilated and planes > 128:
            dilation, stride = dilation * stride, 1
        for block in range(blocks):
            step, inner = (stride, planes * width // 64 * groups) if block == 0 else (1, planes * width // 64 * groups)
            y = net.conv(x, inner)
            y = net.conv(y, inner, 3, step, dilation=first if block == 0 else dilation, groups=groups)
            if block == 0:
                net.conv(x, 4 * planes, 1, step)
            x = net.conv(y, 4 * planes)
    return x


@network
def resnet50(net):
    net.classifier(residual_network(net))


@network
def resnext50_32x4d(net):
    net.classifier(residual_network(net, 32, 4))


def inverted_residual(net, x, k, expanded, size, stride, squeezed=0):
    y = net.conv(x, expanded) if expanded != x[0] else x
    y = net.depthwise(y, size, stride)
    return net.conv(net.squeeze_excite(y, squeezed) if squeezed else y, k)


@network
def mobilenet_v2(net):
    x = net.conv((3, 224, 224), 32, 3, 2)
    for t, k, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                 (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            x = inverted_residual(net, x, k, t * x[0], 3, stride if block == 0 else 1)
    net.classifier(net.conv(x, 1280))


@network
def mobilenet_v3_large(net):
    x = net.conv((3, 224, 224), 16, 3, 2)
    for size, expanded, k, squeezes, stride in (
            (3, 16, 16, 0, 1), (3, 64, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 1, 2), (5, 120, 40, 1, 1),
            (5, 120, 40, 1, 1), (3, 240, 80, 0, 2), (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 184, 80, 0, 1),
            (3, 480, 112, 1, 1), (3, 672, 112, 1, 1), (5, 672, 160, 1, 2), (5, 960, 160, 1, 1), (5, 960, 160, 1, 1)):
        x = inverted_residual(net, x, k, expanded, size, stride, divisible(expanded // 4) if squeezes else 0)
    net.classifier(net.conv(x, 960), 1280, 1000)


@network
def efficientnet_b0(net):
    x = net.conv((3, 224, 224), 32, 3, 2)
    for t, size, stride, k, blocks in ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
                                       (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)):
        for block in range(blocks):
            x = inverted_residual(net, x, k, t * x[0], size, stride if block == 0 else 1, x[0] // 4)
    net.classifier(net.conv(x, 1280))


@network
def efficientnet_v2_s(net):
    x = net.conv((3, 384, 384), 24, 3, 2)
    for fused, t, stride, k, blocks in ((1, 1, 1, 24, 2), (1, 4, 2, 48, 4), (1, 4, 2, 64, 4), (0, 4, 2, 128, 6),
                                        (0, 6, 1, 160, 9), (0, 6, 2, 256, 15)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            if not fused:
                x = inverted_residual(net, x, k, t * x[0], 3, step, x[0] // 4)
            elif t == 1:
                x = net.conv(x, k, 3, step)
            else:
                x = net.conv(net.conv(x, t * x[0], 3, step), k)
    net.classifier(net.conv(x, 1280))


@network
def mnasnet1_0(net):
    x = net.conv(net.depthwise(net.conv((3, 224, 224), 32, 3, 2), 3), 16)
    for t, size, stride, k, blocks in ((3, 3, 2, 24, 3), (3, 5, 2, 40, 3), (6, 5, 2, 80, 3), (6, 3, 1, 96, 2),
                                       (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)):
        for block in range(blocks):
            x = inverted_residual(net, x, k, t * x[0], size, stride if block == 0 else 1)
    net.classifier(net.conv(x, 1280))


@network
def convnext_tiny(net):
    net.normalized = False
    x = net.conv((3, 224, 224), 96, 4, 4, pad=0)
    for k, blocks in ((96, 3), (192, 3), (384, 9), (768, 3)):
        if k != 96:
            x = net.conv(x, k, 2, 2, pad=0)
        for _ in range(blocks):
            x = net.linear(net.linear(net.depthwise(x, 7), 4 * k), k)
    net.classifier(x)


@network
def densenet121(net):
    """Batch norm precedes each convolution but the first; its shapes are those of x."""
    x = pool(net.conv((3, 224, 224), 64, 7, 2), pad=1)
    for layers in (6, 12, 24, 16):
        for _ in range(layers):
            y = net.norm(net.conv(net.norm(x), 128, norm=False))
            x = concatenated(x, net.conv(y, 32, 3, norm=False))
        if layers != 16:
            x = pool(net.conv(net.norm(x), x[0] // 2, norm=False), 2)
    net.classifier(net.norm(x))


@network
def inception_v3(net):
    def chain(x, *layers):
        for layer in layers:
            x = net.conv(x, *layer)
        return x

    x = chain((3, 299, 299), (32, 3, 2, 0), (32, 3, 1, 0), (64, 3))
    x = pool(chain(pool(x), (80,), (192, 3, 1, 0)))
    for k in (32, 64, 64):
        x = concatenated(chain(x, (64,)), chain(x, (48,), (64, 5)), chain(x, (64,), (96, 3), (96, 3)), chain(x, (k,)))
    x = concatenated(chain(x, (384, 3, 2, 0)), chain(x, (64,), (96, 3), (96, 3, 2, 0)), pool(x))
    for k in (128, 160, 160, 192):
        row, column = (1, 7), (7, 1)
        x = concatenated(chain(x, (192,)), chain(x, (k,), (k, row), (192, column)),
                         chain(x, (k,), (k, column), (k, row), (k, column), (192, row)), chain(x, (192,)))
    x = concatenated(chain(x, (192,), (320, 3, 2, 0)),
                     chain(x, (192,), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0)), pool(x))
    for _ in range(2):
        wide, deep = chain(x, (384,)), chain(x, (448,), (384, 3))
        x = concatenated(chain(x, (320,)), *(chain(y, (384, size)) for y in (wide, deep) for size in ((1, 3), (3, 1))),
                         chain(x, (192,)))
    net.classifier(x)


@network
def googlenet(net):
    x = pool(net.conv((3, 224, 224), 64, 7, 2), ceil=True)
    x = pool(net.conv(net.conv(x, 64), 192, 3), ceil=True)
    blocks = {"3": ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
              "4": ((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
                    (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128)),
              "5": ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128))}
    for stage, table in blocks.items():
        for k, reduced, k3, reduced_twice, k5, pooled in table:
            x = concatenated(net.conv(x, k), net.conv(net.conv(x, reduced), k3, 3),
                             net.conv(net.conv(x, reduced_twice), k5, 3), net.conv(x, pooled))
        x = {"3": lambda y: pool(y, ceil=True), "4": lambda y: pool(y, 2, ceil=True), "5": lambda y: y}[stage](x)
    net.classifier(x)


@network
def shufflenet_v2_x1_0(net):
    x = pool(net.conv((3, 224, 224), 24, 3, 2), pad=1)
    for k, blocks in ((116, 4), (232, 8), (464, 4)):
        for block in range(blocks):
            if block == 0:
                net.conv(net.depthwise(x, 3, 2), k // 2)
            half, stride = (x, 2) if block == 0 else ((k // 2, *x[1:]), 1)
            x = (k, *net.conv(net.depthwise(net.conv(half, k // 2), 3, stride), k // 2)[1:])
    net.classifier(net.conv(x, 1024))


@network
def regnet_y_800mf(net):
    """Widths are those of the design space: w_0 = 56, w_a = 38.84, w_m = 2.4, depth 14, groups of 16 channels."""
    exponents = [round(math.log((56 + 38.84 * block) / 56, 2.4)) for block in range(14)]
    widths = collections.Counter(divisible(round(56 * 2.4**exponent / 8) * 8, 16) for exponent in exponents)
    x = net.conv((3, 224, 224), 32, 3, 2)
    for k, blocks in widths.items():
        for block in range(blocks):
            stride = 2 if block == 0 else 1
            if block == 0:
                net.conv(x, k, 1, stride)
            y = net.conv(net.conv(x, k), k, 3, stride, groups=k // 16)
            x = net.conv(net.squeeze_excite(y, round(x[0] / 4)), k)
    net.classifier(x)


@network
def vgg16_bn(net):
    x = (3, 224, 224)
    for k, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x = net.conv(x, k, 3)
        x = pool(x, 2)
    net.classifier((x[0] * x[1] * x[2], 1, 1), 4096, 4096, 1000)


@network
def squeezenet1_1(net):
    net.normalized = False
    x = pool(net.conv((3, 224, 224), 64, 3, 2, pad=0), ceil=True)
    for number, (squeezed, k) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256),
                                            (64, 256))):
        y = net.conv(pool(x, ceil=True) if number in (2, 4) else x, squeezed)
        x = concatenated(net.conv(y, k), net.conv(y, k, 3))
    net.conv(x, 1000)


@network
def deeplab_v3_resnet50(net):
    """Backbone with an output stride of 8, and the head of parallel dilated convolutions."""
    x = residual_network(net, dilated=True)
    net.conv((x[0], 1, 1), 256)
    branches = [net.conv(x, 256), *(net.conv(x, 256, 3, dilation=dilation) for dilation in (12, 24, 36))]
    x = net.conv(concatenated(*branches, branches[0]), 256)
    net.conv(net.conv(x, 256, 3), 21, norm=False)


@network
def unet(net):
    """Padding is 0: the decoder's first convolution reads the upsampled tensor and a crop of the encoder's."""
    net.normalized = False
    x = (1, 572, 572)
    for k in (64, 128, 256, 512, 1024):
        x = net.conv(net.conv(x if k == 64 else pool(x, 2), k, 3, pad=0), k, 3, pad=0)
    for k in (512, 256, 128, 64):
        x = net.conv(net.conv((2 * k, 2 * x[1], 2 * x[2]), k, 3, pad=0), k, 3, pad=0)
    net.conv(x, 2)


@network
def unet_other_tiles(net):
    """Layers of U-Nets on images of other extents, or with padding in the decoder, which earlier measurements have."""
    net.normalized = False
    net.conv((64, 572, 572), 64, 3, pad=0)
    net.conv((128, 280, 280), 128, 3, pad=0)
    net.conv((1024, 52, 52), 512, 3)
