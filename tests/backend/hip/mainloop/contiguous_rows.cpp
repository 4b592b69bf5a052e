// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/contiguous_rows.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_plans.hpp"

using namespace test;

TEST_CASE("ContiguousRows, PixelRows: norms and softmax agree with their definitions, on any layout") {
    fk::hip::Device device = gpu();
    check_rows_of<float, false>(device);
    check_rows_of<fk::half, false>(device);
}

TEST_CASE("ContiguousRows: clusters share a long row, and read it again if it exceeds their registers") {
    fk::hip::Device device = gpu();
    using Rows =
        fk::hip::ContiguousRows<fk::Plan<fk::LayerNorm>, fk::half, fk::half, 8, fk::detail::Axis::channel, false>;
    std::int64_t const held = std::int64_t{Rows::threads} * Rows::resident * 8 * fk::hip::max_cluster_blocks;
    check_rows_case<fk::LayerNorm, fk::half>(
        device, {RowKind::layer}, "nhwc", "nhwc", {1, held + 8, 1, 1},
        [](auto scale, auto shift) { return fk::LayerNorm::Args{scale, shift, 0.5f}; });
    for (char const* layout : {"nchw", "nhwc"})
        check_rows_case<fk::GroupNorm, fk::half>(
            device, {RowKind::layer, 2}, layout, layout, {1, 32, 64, 72},
            [](auto scale, auto shift) { return fk::GroupNorm::Args{2, scale, shift, 0.5f}; });
}

TEST_CASE("ContiguousRows, PixelRows: a prologue is applied to each value once, and stores it") {
    fk::hip::Device device = gpu();
    check_rows_of_sums<fk::half>(device, {2, 16, 3, 8});
    using Rows = fk::hip::ContiguousRows<fk::Plan<fk::LayerNorm>, float, float, 4, fk::detail::Axis::channel, false>;
    std::int64_t const held = std::int64_t{Rows::threads} * Rows::resident * 4 * fk::hip::max_cluster_blocks;
    check_rows_of_sum<fk::LayerNorm, float>(device, {RowKind::layer}, "nhwc", "nhwc", {1, held + 4, 1, 1},
                                            [] { return fk::LayerNorm::Args{{}, {}, 0.5f}; });
}

TEST_CASE("ContiguousRows, PixelRows: Amax has the maximum of a quantized norm") {
    fk::hip::Device device = gpu();
    for (char const* layout : {"nchw", "nhwc"}) check_quantized_rows<fk::int8>(device, layout, {2, 16, 3, 5});
}

TEST_CASE("ContiguousRows: y may be x, and outputs beside y are stored") {
    fk::hip::Device device = gpu();
    oracle::Shape const shape{3, 40, 2, 4};
    for (char const* layout : {"nhwc", "nchw"}) {
        Filled<fk::half, fk::hip::Device, 4> x(device, layout, shape, row_values(shape.size(), 1, 3)),
            own(device, layout, shape, x.values);
        Placed<fk::hip::Device, 4> y(device, fk::DataType::float16, layout_of<4>(layout, shape), 64),
            stored(device, fk::DataType::float16, layout_of<4>(layout, shape), 64);
        using Plan = fk::Plan<fk::Softmax, fk::Store, fk::Scale>;
        auto const softmax = Plan::bind({}, {.values = stored.template view<fk::half>()}, {.factor = 1});
        softmax(device, x.view(), y.template view<fk::half>());
        CHECK(stored.fetch().raw() == y.fetch().raw());
        fk::Plan<fk::Softmax>::bind({})(device, own.view(), own.memory.template view<fk::half>());
        std::size_t different = 0;
        auto const& apart = y.fetch();
        own.memory.fetch().for_each(
            [&](std::int64_t at) { different += own.memory.fetch().bits(at) != apart.bits(at); });
        CHECK(different == 0);
    }
}
