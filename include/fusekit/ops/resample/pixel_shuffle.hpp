// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/ops/resample/blocks.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k f^2 + (p % f) f + q % f,p / f,q / f], with f = factor: depth to space. x N x (K f^2) x H x W, y N
/// x K x (f H) x (f W).
///
/// Must be the first operator of its plan. x must be images whose channels f^2 divides. No arguments. The gradient is
/// PixelUnshuffle. Source: Shi et al. 2016, eq. (4), in PyTorch's order of channels.
template <int factor>
    requires(factor >= 1)  // the factor of a PixelShuffle is 1 or more
struct PixelShuffle {
    static constexpr auto stage = Stage::pointwise;
    static constexpr bool keeps_channels = false;
    static constexpr int flops_per_element = 0;
    static constexpr auto equation = "y[n,k,p,q] = x[n,k f^2 + (p % f) f + q % f,p / f,q / f]";
    struct Args {};

    FUSEKIT_H static Text name() { return "PixelShuffle<" + Text::number(factor) + ">"; }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x, Args const&) {
        x[1] /= factor * factor, x[2] = detail::bounded_product(x[2], factor),
                                 x[3] = detail::bounded_product(x[3], factor);
        return x;
    }
    template <class Load>
    FUSEKIT_HD static constexpr typename Load::Value gather(OutputCoord const& at, Index<4> const&, Index<4> const&,
                                                            Args const&, Load const& load) {
        Extent const h = detail::quotient(at.p, factor), w = detail::quotient(at.q, factor);
        return load({at.n, (at.k * factor + at.p - h * factor) * factor + at.q - w * factor, h, w});
    }
    FUSEKIT_H static void check(Args const&, Check const& in) {
        detail::check_images(in);
        if (in.x[1] % (factor * factor) != 0)
            in.fail("", "a multiple of " + Text::number(factor * factor) + " channels", Text::number(in.x[1]));
    }
};

/// y[n,k,p,q] = x[n,k / f^2,p f + k / f % f,q f + k % f], with f = factor: space to depth, the inverse of PixelShuffle.
/// x N x C x (f P) x (f Q), y N x (C f^2) x P x Q.
///
/// Must be the first operator of its plan. x must be images whose rows and columns f divides. No arguments. The
/// gradient is PixelShuffle.
template <int factor>
    requires(factor >= 1)  // the factor of a PixelUnshuffle is 1 or more
struct PixelUnshuffle {
    static constexpr auto stage = Stage::pointwise;
    static constexpr bool keeps_channels = false;
    static constexpr int flops_per_element = 0;
    static constexpr auto equation = "y[n,k,p,q] = x[n,k / f^2,p f + k / f % f,q f + k % f]";
    struct Args {};

    FUSEKIT_H static Text name() { return "PixelUnshuffle<" + Text::number(factor) + ">"; }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x, Args const&) {
        x[1] = detail::bounded_product(x[1], factor * factor), x[2] /= factor, x[3] /= factor;
        return x;
    }
    template <class Load>
    FUSEKIT_HD static constexpr typename Load::Value gather(OutputCoord const& at, Index<4> const&, Index<4> const&,
                                                            Args const&, Load const& load) {
        Extent const of_row = detail::quotient(at.k, factor), c = detail::quotient(of_row, factor);
        return load({at.n, c, at.p * factor + of_row - c * factor, at.q * factor + at.k - of_row * factor});
    }
    FUSEKIT_H static void check(Args const&, Check const& in) {
        detail::check_images(in);
        if (in.x[2] % factor != 0 || in.x[3] % factor != 0)
            in.fail("", "images that blocks of " + Text::number(factor) + " x " + Text::number(factor) + " divide",
                    to_string(in.x));
    }
};

}  // namespace fusekit
