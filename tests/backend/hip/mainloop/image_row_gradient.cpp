// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/image_row_gradient.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_gradients.hpp"

using namespace test;

TEST_CASE("ImageRowGradient: groups that packets straddle, images of several CTAs, pixels beyond SMEM") {
    fk::hip::Device device = gpu();
    auto const check = [&]<class T>(std::type_identity<T>, oracle::Shape const& shape, std::int64_t groups) {
        check_row_gradients_case<fk::GroupNorm, T>(
            device, {RowKind::layer, groups}, "nhwc", "nhwc*2", shape,
            [&](auto scale, auto shift) { return fk::GroupNorm::Args{groups, scale, shift, 0.5f}; },
            [](auto scale, auto shift) { return fk::GroupNorm::Affine::Gradients{scale, shift}; });
    };
    check(std::type_identity<fk::half>{}, {1, 40, 9, 15}, 4);
    check(std::type_identity<fk::half>{}, {5, 72, 3, 5}, 1);
    check(std::type_identity<fk::half>{}, {2, 4096, 1, 29}, 64);
}

TEST_CASE("ImageRowGradient: parameter gradients over no images are 0") {
    fk::hip::Device device = gpu();
    check_empty_row_gradients<fk::GroupNorm, fk::half>(
        device, "nhwc", 40, [](auto scale) { return fk::GroupNorm::Args{4, scale, {}, 0.5f}; });
}
