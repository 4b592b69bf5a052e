// SPDX-License-Identifier: MIT
#include "fusekit/tensor/collapse.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "support/static_geometries.hpp"

using namespace test;

namespace {

/// A signal is one row, a volume the rows of its slices; strides are preserved.
constexpr auto signal = fk::detail::collapse<4>(fk::nwc(2, 7, 3));
static_assert(signal.shape == fk::detail::collapse<4>(fk::Index<3>{{2, 3, 7}}) && signal.shape[2] == 1 &&
              signal.shape[3] == 7);
static_assert(signal.stride == fk::nhwc(2, 1, 7, 3).stride);
constexpr auto volume = fk::detail::collapse<4>(fk::ncdhw(2, 3, 4, 5, 6));
static_assert(volume.shape[2] == 20 && volume.shape[3] == 6 && volume.stride == fk::nchw(2, 3, 20, 6).stride);
static_assert(fk::detail::expand<5>(volume.shape) == fk::Index<5>{{2, 3, 4, 5, 6}});
static_assert(fk::detail::expand<3>(signal.shape) == fk::Index<3>{{2, 3, 7}});
static_assert(fk::detail::collapse<3>(fk::dhwc(4, 5, 6, 3)).stride == fk::hwc(20, 6, 3).stride);
static_assert(fk::detail::image(volume.shape) == fk::detail::collapse<3>(fk::cdhw(3, 4, 5, 6)).shape);

/// Shapes that stand for different modes differ.
static_assert(volume.shape != fk::detail::collapse<4>(fk::ncdhw(2, 3, 5, 4, 6)).shape &&
              volume.shape != fk::detail::collapse<4>(fk::nchw(2, 3, 20, 6)).shape);
static_assert(signal.shape != fk::detail::collapse<4>(fk::nhwc(2, 1, 7, 3)).shape);
static_assert(fk::detail::collapse<4>(fk::ncdhw(2, 3, 1, 5, 6)).shape !=
              fk::detail::collapse<4>(fk::nchw(2, 3, 5, 6)).shape);

/// Gaps between slices are recorded, if there are at least two slices.
constexpr fk::Layout<5> apart(fk::Extent d, fk::Extent h) { return {{{2, 3, d, h, 6}}, {{720, 240, 60, 6, 1}}}; }
constexpr bool has_gaps(fk::Layout<5> const& layout) { return fk::detail::collapse<4>(layout).shape.from.gaps; }
static_assert(!has_gaps(apart(4, 10)) && has_gaps(apart(4, 9)) && !has_gaps(apart(1, 9)) && !has_gaps(apart(4, 1)));
static_assert(fk::detail::collapse<4>(apart(4, 9)).shape.from.count == 4);
static_assert(fk::detail::collapse<4>(apart(1, 9)).stride[2] == 6 &&
              fk::detail::collapse<4>(apart(4, 1)).stride[2] == 60);
static_assert(fk::detail::collapse<4>(apart(fk::Extent{1} << 40, fk::Extent{1} << 40)).shape[2] ==
              -1);  // too many to count

/// A shape without slices keeps its rows per slice, which other extents of the volume have too.
constexpr auto no_slices = fk::detail::collapse<4>(fk::ncdhw(2, 3, 0, 5, 6)).shape;
static_assert(no_slices[2] == 0 && no_slices.from.slices() == 0 && no_slices.from.slice_rows(0) == 5);
static_assert(fk::detail::expand<5>(no_slices) == fk::Index<5>{{2, 3, 0, 5, 6}});
static_assert(!(no_slices == fk::detail::collapse<4>(fk::ncdhw(2, 3, 0, 4, 6)).shape));
static_assert(fk::detail::expand<5>(fk::detail::collapse<4>(fk::ncdhw(2, 3, 4, 0, 6)).shape) ==
              fk::Index<5>{{2, 3, 4, 0, 6}});
static_assert(!has_gaps(fk::ncdhw(2, 3, 4, 0, 6)) && !has_gaps(fk::ncdhw(2, 3, 0, 4, 6)));

static_assert(std::is_convertible_v<fk::TensorView<float, 5>, fk::AnyActivations>);
static_assert(std::is_convertible_v<fk::TensorView<fk::half const, 3>, fk::AnyActivations>);
using Volume = fk::Tensor<float, fk::host::Device, 5>;
static_assert(std::is_convertible_v<Volume&, fk::AnyActivations> && !std::is_convertible_v<Volume, fk::AnyActivations>);
static_assert(std::is_trivially_copyable_v<fk::AnyActivations> && std::is_trivially_copyable_v<fk::PixelParameters>);

}  // namespace

TEST_CASE("parameters of channels are K values or 1 x K x 1 x 1") {
    float memory[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    fk::AnyChannelParameters const k = fk::TensorView<float, 1>(memory, fk::channels(3));
    fk::AnyChannelParameters const two = fk::TensorView<float, 2>(memory, {{{1, 3}}, {{3, 2}}});
    fk::ChannelParameters const four = fk::TensorView<float const>(memory, fk::nhwc(1, 1, 1, 3));
    fk::ChannelParameters const five = fk::TensorView<float const, 5>(memory, fk::ncdhw(1, 3, 1, 1, 1));
    CHECK(k.layout == fk::channels(3));
    CHECK((two.layout.shape == fk::Index<1>{{3}} && two.layout.stride[0] == 2));
    CHECK((four.layout == fk::channels(3) && four(2) == 3));
    CHECK((five.layout == fk::channels(3) && five(1) == 2));
    fk::AnyChannelParameters const wide = fk::TensorView<float const>(memory, fk::nchw(2, 3, 1, 2));
    CHECK((wide.layout.shape[0] == 3 && wide.from.count == 4));
    CHECK(fk::detail::collapse<1>(fk::nchw(-1, 3, -1, 1)).shape.from.count == 0);
    CHECK(fk::detail::collapse<1>(fk::nchw(std::int64_t{1} << 32, 3, 1, std::int64_t{1} << 32)).shape.from.count == 0);
}

TEST_CASE("convolutions of signals and volumes compute what the oracle does") {
    fk::host::Device one(1), two(2);
    auto const device = [&](std::uint64_t seed) -> fk::host::Device& { return seed % 2 ? one : two; };
    check_geometries_of_signals(device);
    check_geometries_of_volumes(device);
}

TEST_CASE("residuals and per-pixel parameters of signals and volumes") {
    fk::host::Device device(2);
    check_coordinates_of_signals_and_volumes(device);
}
