// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/pixel_rows.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_plans.hpp"

using namespace test;

TEST_CASE("PixelRows: tiles of pixels end within an image, slices of channels are uneven") {
    fk::hip::Device device = gpu();
    auto const check = [&]<class T>(T const*, oracle::Shape const& shape) {
        check_rows_case<fk::LayerNorm, T>(device, {RowKind::layer}, "nchw", "nchw", shape, [](auto scale, auto shift) {
            return fk::LayerNorm::Args{scale, shift, 0.5f};
        });
        check_rows_case<fk::Softmax, T>(device, {RowKind::softmax}, "nchw", "nchw", shape,
                                        [](auto, auto) { return fk::Softmax::Args{}; });
    };
    for (oracle::Shape const& shape : {oracle::Shape{2, 300, 5, 8}, {1, 7, 33, 31}, {3, 9, 32, 24}}) {
        check(static_cast<float*>(nullptr), shape);
        check(static_cast<fk::half*>(nullptr), shape);
    }
}
