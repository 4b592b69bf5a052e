// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/fold_patches.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/one_gradient.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/weight_gradients.hpp"

using namespace test;
namespace hip = fusekit::hip;

namespace {

using Tile = hip::BulkWeights<128, 64, 64, 8>;

/// One schedule, for operands that fold_patches() has folded; empty if it did not.
struct FoldedGradient {
    template <class Params>
    static fk::detail::Maybe<hip::Launch<Params>> prepare(hip::Gpu const& gpu, Params const& params, std::size_t) {
        auto const folded = hip::detail::fold_patches(params);
        if (!folded) return {};
        return hip::launch_bulk_weight_gradient<Tile>(gpu, *folded, {{}, 2, 1});
    }
};

template <auto filter, class... Ops>
constexpr bool may_fold = hip::detail::may_fold_patches<fk::Plan<fk::ConvWeightGradient<filter>, Ops...>, fk::half>;

template <auto filter>
bool folds(fk::Layout<4> const& x, fk::Layout<4> const& dy, fk::Layout<4> const& dw) {
    using Plan = fk::Plan<fk::ConvWeightGradient<filter>>;
    fk::half any;
    hip::WeightGradientParams<Plan, fk::half, fk::half> const params{
        Plan::bind({.dy = fk::TensorView<fk::half const>{&any, dy}}), {&any, x}, {&any, dw}};
    return bool(hip::detail::fold_patches(params));
}

}  // namespace

// Patches of 3 channels, whose rows no tensor map has; of several channels; a single row of patches; columns of x that
// no patch reads; a bias gradient, which the oracle's check always requests.
TEST_CASE("HIP: weight gradients of patches agree with the oracle") {
    fk::hip::Device device = sm90a_device();
    OneGradient<FoldedGradient> folded(device);
    check_weight_gradient<fk::half, fk::filter(16, 16).stride(16), false>(folded,
                                                                          {{2, 3, 32, 48}, 72, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(2, 2).stride(2), false>(folded,
                                                                       {{3, 24, 6, 11}, 40, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::bfloat16, fk::filter(3, 4).stride(3, 4), false>(
        folded, {{1, 6, 6, 20}, 136, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<fk::half, fk::filter(1, 8).stride(1, 8), false>(folded,
                                                                          {{2, 5, 3, 24}, 16, "nhwc", "nhwc", "nhwc"});
}

TEST_CASE("HIP: weight gradients fold patches whose rows and columns are contiguous") {
    auto const x = fk::nhwc(2, 32, 48, 3), dy = fk::nhwc(2, 2, 3, 8), dw = fk::krsc(8, 16, 16, 3);
    constexpr auto patches = fk::filter(16, 16).stride(16);
    CHECK(folds<patches>(x, dy, dw));
    CHECK(may_fold<patches, fk::Scale>);
    CHECK_FALSE(may_fold<patches, fk::Residual>);  // needs the coordinates of dw
    CHECK_FALSE(folds<patches>(fk::nchw(2, 3, 32, 48), dy, dw));
    CHECK_FALSE(folds<patches>(x, dy, fk::kcrs(8, 3, 16, 16)));
    CHECK_FALSE(folds<patches>(fk::nhwc(2, 33, 48, 3), dy, dw));  // a row of x that no patch reads
    CHECK(folds<patches>(fk::nhwc(2, 32, 50, 3), dy, dw));
    auto gap = x;
    gap.stride[0] += 16;
    CHECK_FALSE(folds<patches>(gap, dy, dw));
    CHECK_FALSE(may_fold<fk::filter(16, 16).stride(8)>);
    CHECK_FALSE(may_fold<fk::filter(16, 16).stride(16).pad(1)>);
    CHECK_FALSE(folds<fk::filter(2, 2).stride(2)>(fk::nhwc(1, 4, 4, 64), fk::nhwc(1, 2, 2, 8), fk::krsc(8, 2, 2, 64)));
}

#ifdef HIP_ON_CPU  // nvcc 13.0 gives g++ an undeclared type for this launch
TEST_CASE("HIP: the library folds patches") {
    using Plan = fk::Plan<fk::ConvWeightGradient<fk::filter(16, 16).stride(16)>>;
    fk::hip::Device device = sm90a_device();
    alignas(16) fk::half any;
    fk::TensorView<fk::half const> const x{&any, fk::nhwc(2, 32, 48, 3)}, dy{&any, fk::nhwc(2, 2, 3, 8)};
    fk::TensorView<fk::half> const dw{&any, fk::krsc(8, 16, 16, 3)};
    auto const launch = hip::prepare_weight_gradient(device.gpu(), Plan::bind({.dy = dy}), Plan::collapse(x),
                                                     Plan::collapse(dw), std::size_t{1} << 20);
    CHECK(launch.value().params.maps.folds_patches);
}
#endif
