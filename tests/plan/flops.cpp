// SPDX-License-Identifier: MIT
#include "fusekit/plan/flops.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

struct Silent {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    static constexpr V slope(V, Args const&) {
        return V{} + 1.0f;
    }
};

}  // namespace

TEST_CASE("an operator counts its flops_per_element, or one per element") {
    fk::Index<4> const y{{2, 3, 4, 5}};
    CHECK(fk::detail::elements(y) == 120);
    CHECK(fk::detail::flops_of<Silent>(y, {}) == 120);
    CHECK(fk::detail::flops_of<fk::BatchNormTraining<fk::Spatial>>(
              y, {fk::TensorView<float const, 1>{nullptr, fk::channels(3)},
                  fk::TensorView<float const, 1>{nullptr, fk::channels(3)}}) == 8 * 120);
    fk::TensorView<float const> const weights(nullptr, fk::kcrs(3, 7, 3, 3));
    CHECK(fk::detail::flops_of<fk::Conv<fk::filter(3, 3)>>(y, {weights}) == 2.0 * 7 * 9 * 120);
}

TEST_CASE("a gradient's FLOPs are a product per slope and the sums of parameters' gradients") {
    CHECK(fk::detail::gradient_flops<Silent>() == 1);
    CHECK(fk::detail::gradient_flops<fk::Store>() == 0);
    CHECK(fk::detail::gradient_flops<fk::Bias>() == 2);
    CHECK(fk::detail::gradient_flops<fk::Residual>() == 2);
}
