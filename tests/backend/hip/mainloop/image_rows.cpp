// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/image_rows.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/row_plans.hpp"

using namespace test;

namespace {

/// y = |GroupNorm(x)| on a stream against the definition.
template <class T, class Stream>
void check_group_norm(fk::hip::Device& device, Stream&& stream, std::string const& layout, oracle::Shape const& shape,
                      std::int64_t groups) {
    INFO(shape.n << 'x' << shape.c << 'x' << shape.h << 'x' << shape.w << " groups " << groups << ' '
                 << fk::name(fk::data_type<T>));
    Filled<T, fk::hip::Device, 4> x(device, layout, shape, row_values(shape.size(), 8, 3));
    auto const scale = integers(shape.c, -3, 3, 5), shift = integers(shape.c, -3, 3, 6);
    Placed<fk::hip::Device, 1> given_scale(device, fk::DataType::float32, fk::channels(shape.c), scale),
        given_shift(device, fk::DataType::float32, fk::channels(shape.c), shift);
    Placed<fk::hip::Device, 4> y(device, fk::data_type<T>, layout_of<4>("nhwc", shape), 64);
    fk::Plan<fk::GroupNorm, fk::Activation<fk::Abs>>::bind(
        {groups, given_scale.template view<float const>(), given_shift.template view<float const>(), 0.5f}, {})(
        stream, x.view(), y.template view<T>());
    oracle::Tensor const expected =
        expected_rows({RowKind::layer, groups}, oracle::Tensor(shape, x.values), scale, shift, 0.5)
            .each([](Bounded v, std::size_t) { return Bounded{std::fabs(v.value), v.error}; });
    CHECK(difference(expected, y.fetch()) == "");
}

}  // namespace

TEST_CASE("ImageRows: groups of channels that packets straddle, images of several CTAs, pixels beyond SMEM") {
    fk::hip::Device device = gpu();
    check_group_norm<fk::half>(device, device, "nhwc", {1, 40, 9, 15}, 4);
    check_group_norm<fk::half>(device, device, "nhwc*2", {5, 72, 3, 5}, 6);
    check_group_norm<float>(device, device, "nhwc", {2, 12, 7, 11}, 12);
    check_group_norm<float>(device, device, "nhwc", {4, 2048, 1, 67}, 1024);
}

TEST_CASE("ImageRows: a borrowed stream without workspace computes the same norm") {
    fk::hip::Device device = gpu();
    check_group_norm<fk::half>(device, fk::hip::Stream(device, device.stream()), "nhwc", {1, 40, 9, 15}, 4);
}
