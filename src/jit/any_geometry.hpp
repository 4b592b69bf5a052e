// SPDX-License-Identifier: MIT
#pragma once

#include "words.hpp"

/// Operators of plans of the host whose geometry is a value: that of the thread's plan (Current). In the kernel's plan
/// it is part of the type.
namespace fusekit::jit {

/// Pool<Of, window>, for every Of.
struct AnyPool : fusekit::detail::Pooling {
    static constexpr Filter<2> geometry = filter(1, 1);  // selects the backend's kernels for windows
    static constexpr bool divides = false, fits_tile = false, rounds_up = false, writes_taps = false;
    using Reduce = Max;

    FUSEKIT_H static Text name() { return current.spec->geometry_name; }
    FUSEKIT_HD static constexpr PoolWindow window(Index<4> const&, Extent, Extent) { return {}; }
    FUSEKIT_H static CollapsedShape<4> output(CollapsedShape<4> x) {
        for (int i = 0; i < 2; ++i) x[2 + i] = current.spec->geometry.filter.output(i, x[2 + i]);
        return x;
    }
    FUSEKIT_H static void check(Args const&, Check const& in) {
        CollapsedShape<4> const y = output(in.y);
        if (in.y.from.kind != CollapsedFrom::images || (y[2] < 1 && in.y[2] != 0) || (y[3] < 1 && in.y[3] != 0))
            in.fail("", "images, and an output of at least 1 x 1", to_string(in.y));
        else check_values(in, y);
    }
};

/// UpsampleNearest, UpsampleBilinear (keeps = true), PixelShuffle and PixelUnshuffle.
template <bool keeps>
struct AnyGather {
    static constexpr auto stage = Stage::pointwise;
    static constexpr bool keeps_channels = keeps;
    struct Args {};

    FUSEKIT_H static Text name() { return current.spec->geometry_name; }
    FUSEKIT_H static CollapsedShape<4> output(CollapsedShape<4> x, Args const&) {
        using fusekit::detail::bounded_product;
        runtime::Descriptor const& of = current.spec->geometry;
        int const rows = of.filter.size[0], columns = of.filter.size[1];
        if (of.kind == runtime::Kind::pixel_unshuffle) {
            x[1] = bounded_product(x[1], rows * columns), x[2] /= rows, x[3] /= columns;
            return x;
        }
        if constexpr (!keeps) x[1] /= rows * columns;
        x[2] = bounded_product(x[2], rows), x[3] = bounded_product(x[3], columns);
        return x;
    }
    FUSEKIT_H static void check(Args const&, Check const& in) {
        fusekit::detail::check_images(in);
        runtime::Descriptor const& of = current.spec->geometry;
        int const factor = of.filter.size[0];
        if (of.kind == runtime::Kind::pixel_shuffle && in.x[1] % (factor * factor) != 0)
            in.fail("", "a multiple of " + Text::number(factor * factor) + " channels", Text::number(in.x[1]));
        if (of.kind == runtime::Kind::pixel_unshuffle && (in.x[2] % factor != 0 || in.x[3] % factor != 0))
            in.fail("", "images that blocks of " + Text::number(factor) + " x " + Text::number(factor) + " divide",
                    to_string(in.x));
    }
};

}  // namespace fusekit::jit

template <>
struct fusekit::runtime::OperatorOf<fusekit::jit::AnyPool> {
    static constexpr Descriptor descriptor = {Kind::pool};
    static jit::AnyPool::Args read(Given const&) { return {}; }
};
template <bool keeps>
struct fusekit::runtime::OperatorOf<fusekit::jit::AnyGather<keeps>> {
    static constexpr Descriptor descriptor = {Kind::upsample_nearest};
    static typename jit::AnyGather<keeps>::Args read(Given const&) { return {}; }
};
