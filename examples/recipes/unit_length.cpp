// SPDX-License-Identifier: MIT
//
// A norm of one's own: every pixel's channels, a feature vector, divided by their length.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// y = x / sqrt(sum of x^2 over the channels of the pixel)
struct UnitLength {
    static constexpr auto stage = fk::Stage::pointwise;
    static constexpr auto center = fk::RowCenter::none;
    static constexpr bool over_pixels = false;
    struct Args {};
    using Affine = void;
    template <class V>
    struct Row {
        V inverse;
    };

    FUSEKIT_HD static constexpr std::int64_t groups(Args const&, std::int64_t) { return 1; }
    template <class V>
    FUSEKIT_HD static constexpr V term(V x, V) {
        return x * x;
    }
    template <class V>
    FUSEKIT_HD static constexpr Row<V> finish(V, V sum, V, Args const&) {
        return {fk::math::over_sqrt(V{} + 1, sum)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Row<V> const& row) {
        return x * row.inverse;
    }
};

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nhwc(2, 5, 6, 24), 1);
    auto y = fk::Plan<UnitLength>::bind({})(device, x);

    Array const in(x), out(y);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent k, Extent p, Extent q) {
        double squares = 0;
        for (Extent j = 0; j < in.c; ++j) squares += in(i, j, p, q) * in(i, j, p, q);
        return in(i, k, p, q) / std::sqrt(squares);
    });
    return agrees("features of unit length", out, expected) ? 0 : 1;
}
