// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include "fusekit/backend/hip/copy/amd/tap_operands.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>

#include "backend/hip/native.hpp"
#include "support/convolutions_both_ways.hpp"
#include "support/matrix_products.hpp"

using namespace test;
using fk::hip::NativeGemm;

namespace {

/// Layouts with contiguous quads and taps; in the last four, a stride is negative, or taps are strided.
struct Planes {
    static constexpr char const* all[7][3] = {
        {"nchw", "kcrs", "nchw"},   {"nchw+1", "kcrs", "nchw+1"}, {"cnhw", "ckrs", "nchw"},  {"nchw-n", "kcrs", "nchw"},
        {"nchw-c", "kcrs", "nchw"}, {"nchw", "kcrs-k", "nchw"},   {"nchw", "kcrs+1", "nchw"}};
};
/// Layouts of windows that are not 3 x 3: strides are those of the tensors, which no window changes.
#ifdef FEWER_KERNELS
struct FewPlanes {
    static constexpr char const* all[2][3] = {{"nchw", "kcrs", "nchw"}, {"cnhw", "ckrs", "nchw"}};
};
#else
using FewPlanes = Planes;
#endif

template <class T, auto Geometry, class Head = fk::Conv<Geometry>, class Device>
void check(Device& device, oracle::Shape const& x, std::int64_t k) {
    using Layouts = std::conditional_t<Geometry == fk::filter(3, 3).pad(1), Planes, FewPlanes>;
    check_both_ways<Layouts, T, Geometry, Head>(device, x, k);
}

/// Checks NaN pixels adjacent to finite ones: sums of the finite ones must not be NaN.
template <class T, class Device>
void check_beside_nan(Device& device) {
    oracle::Shape const x{1, 32, 2, 8}, y{1, 16, 2, 8}, filter{16, 32, 1, 1};
    auto const numbers = integers(x.size(), -3, 4, 1), weights = integers(filter.size(), -2, 2, 2);
    auto values = numbers;
    for (std::size_t i = 1; i < values.size(); i += 2) values[i] = NAN;
    Filled<T, Device, 4> in(device, "nchw", x, values), w(device, "kcrs", filter, weights);
    Placed<Device, 4> out(device, fk::DataType::float32, layout_of<4>("nchw", y), 64);
    fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w.view()})(device, in.view(), out.template view<float>());
    auto const expected =
        oracle::conv(oracle::Tensor(x, numbers), weights, 16, GeometryOf<2>::window(fk::filter(1, 1)));
    auto const found = out.fetch();
    for (std::int64_t i = 0; i < y.size(); i += 2) {
        REQUIRE(found.get(i) == expected.at[static_cast<std::size_t>(i)].value);
        REQUIRE(std::isnan(found.get(i + 1)));
    }
}

/// 8-bit floats, if matrix instructions support them, with each kind of window and of phase.
template <class T, class Schedule>
void check_float8(fk::hip::Device& device) {
    if constexpr (has_unit<T>) {
        auto scheduled = device.with<Schedule>();
        check_conv<Planes, T, fk::filter(3, 3).pad(1)>(scheduled, {2, 48, 5, 8}, 40);
        check_conv<Planes, T, fk::filter(3, 3).pad(2).dilation(2).groups(2)>(scheduled, {1, 32, 3, 12}, 24);
        check_conv<Planes, T, fk::filter(1, 1)>(scheduled, {2, 80, 3, 4}, 24);
        check_beside_nan<T>(scheduled);
    }
}

/// Two groups of 12 channels, the second with infinite weights: the first group's results must be finite.
template <class Device>
void check_infinite_group(Device& device) {
    constexpr auto geometry = fk::filter(3, 3).pad(1).groups(2);
    oracle::Shape const x{1, 16, 4, 8}, u{1, 24, 4, 8}, filter{24, 8, 3, 3};
    auto const values = integers(u.size(), -3, 4, 1), finite = integers(filter.size(), -2, 2, 2);
    auto weights = finite;
    for (std::size_t i = weights.size() / 2; i < weights.size(); ++i) weights[i] = HUGE_VAL;
    Filled<fk::half, Device, 4> in(device, "nchw", u, values), w(device, "ckrs", filter, weights);
    Placed<Device, 4> y(device, fk::DataType::float16, layout_of<4>("nchw", x), 64);
    fk::Plan<fk::TransposedConv<geometry>>::bind({.weights = w.view()})(device, in.view(), y.template view<fk::half>());
    auto const expected =
        oracle::transposed_conv(oracle::Tensor(u, values), finite, x, GeometryOf<2>::window(geometry));
    auto const found = y.fetch();
    for (std::int64_t i = 0; i < x.size() / 2; ++i)
        REQUIRE(found.get(i) == expected.at[static_cast<std::size_t>(i)].value);
}

using Tiles = LoaderTiles<NativeGemm<128, 128, 2>, NativeGemm<64, 64, 6>>;
using ByteTiles = LoaderTiles<NativeGemm<128, 128, 2>, NativeGemm<64, 64, 6>, NativeGemm<64, 128, 2>>;

/// True if a program runs every window of its tiles. Windows do not depend on the tile: with FEWER_KERNELS the program
/// of the first tile runs those that pack all taps, none, and some.
#if defined(FEWER_KERNELS) && defined(FIRST_LOADER_TILE)
constexpr bool every_window = false;
#else
constexpr bool every_window = true;
#endif

/// One window with packed taps and a tail, with packed taps alone and with a tail alone, for 16-bit values and floats;
/// and matrices.
template <class Device>
void check_few_windows(Device& scheduled) {
    check<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 72, 5, 8}, 40);
    check<fk::half, fk::filter(4, 4).pad(1, 2, 2, 1)>(scheduled, {1, 19, 4, 8}, 5);
    check<fk::half, fk::filter(1, 1)>(scheduled, {2, 40, 3, 4}, 24);
    check_transposed<fk::bfloat16, fk::filter(3).pad(1)>(scheduled, {2, 20, 1, 36}, 16);
    check<float, fk::filter(3, 3).pad(1)>(scheduled, {2, 36, 5, 8}, 20);
    check<float, fk::filter(1, 1)>(scheduled, {2, 20, 3, 4}, 24);
    check_product<fk::half, 3>(scheduled, {2, 20, 24, 72, "bkm", "mk", "bkm", "bmk"});
    check_infinite_group(scheduled);
}

template <class Device>
void check_few_windows_of_bytes(Device& scheduled) {
    check<fk::int8, fk::filter(3, 3).pad(1)>(scheduled, {2, 80, 5, 8}, 40);
    check<fk::int8, fk::filter(4, 4).pad(1, 2, 2, 1)>(scheduled, {1, 19, 4, 8}, 5);
    check<fk::int8, fk::filter(1, 1)>(scheduled, {2, 80, 3, 4}, 24);
    check<fk::int8, fk::filter(1, 1)>(scheduled, {3, 144, 5, 12}, 72);
}

template <class Device>
void check_windows(Device& scheduled) {
    // Eight taps packed and one tail tap; tiles that end between filters and between images; a tail of channels.
    check<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 72, 5, 8}, 40);
    check<fk::bfloat16, fk::filter(3, 3).pad(2).dilation(2)>(scheduled, {1, 136, 3, 12}, 24);
    check<fk::half, fk::filter(3, 3).pad(1, 0, 1, 0)>(scheduled, {3, 8, 6, 12}, 8);
    check<fk::half, fk::filter(3, 3).pad(1, 2, 0, 0).groups(2)>(scheduled, {1, 36, 4, 8}, 48);
    check<fk::half, fk::filter(3, 4).pad(1, 2, 1, 1)>(scheduled, {1, 8, 3, 16}, 16);
    check_transposed<fk::half, fk::filter(2, 3, 3).pad(1, 0, 1)>(scheduled, {1, 16, 3, 5, 8}, 8);
    // Rows of x that end one column after the rows of y.
    check<fk::half, fk::filter(3, 3).pad(1, 1, 1, 0)>(scheduled, {2, 8, 3, 13}, 8);
    check<fk::half, fk::filter(3, 3).pad(1, 1, 1, 2)>(scheduled, {1, 8, 4, 12}, 16);
    // All taps packed, for any number of channels; all taps in the tail.
    check<fk::half, fk::filter(4, 4).pad(1, 2, 2, 1)>(scheduled, {1, 19, 4, 8}, 5);
    check<fk::half, fk::filter(2, 3).pad(0, 1).groups(2)>(scheduled, {1, 48, 6, 8}, 80);
    check<fk::half, fk::filter(1, 1)>(scheduled, {2, 40, 3, 4}, 24);
    check<fk::half, fk::filter(1, 1).pad(1, 1, 2, 2)>(scheduled, {1, 72, 2, 8}, 8);
    check_transposed<fk::bfloat16, fk::filter(3).pad(1)>(scheduled, {2, 20, 1, 36}, 16);
    // Floats: four taps packed and one tail tap, with quads shifted by one to three columns; all taps in the tail.
    check<float, fk::filter(3, 3).pad(1)>(scheduled, {2, 36, 5, 8}, 20);
    constexpr auto same = fk::filter(3, 3).pad(1);
    check<float, same, fk::Conv<same, fk::Products<fk::tf32>>>(scheduled, {1, 40, 4, 8}, 12);
    check<float, fk::filter(3, 3).pad(2).dilation(2)>(scheduled, {1, 68, 3, 12}, 12);
    check<float, fk::filter(3, 5).pad(1, 1, 3, 1)>(scheduled, {3, 8, 6, 12}, 8);
    check<float, fk::filter(3, 5).pad(1, 1, 0, 4).groups(2)>(scheduled, {1, 24, 4, 8}, 48);
    check<float, fk::filter(4, 4).pad(1, 2, 2, 1)>(scheduled, {1, 19, 4, 8}, 5);
    check<float, fk::filter(1, 1)>(scheduled, {2, 20, 3, 4}, 24);
    check<float, fk::filter(1, 1).pad(1, 1, 2, 2)>(scheduled, {1, 36, 2, 8}, 8);
    check<float, fk::filter(3, 3).pad(1)>(scheduled, {2, 10, 5, 8}, 16);
    check_transposed<float, fk::filter(2, 3, 3).pad(1, 0, 1)>(scheduled, {1, 16, 3, 5, 8}, 8);
    check_transposed<float, fk::filter(3).pad(1)>(scheduled, {2, 20, 1, 36}, 16);
    // Matrices whose columns are contiguous in x.
    check_product<fk::half, 3>(scheduled, {2, 20, 24, 72, "bkm", "mk", "bkm", "bmk"});
    check_product<fk::half, 3, Device, fk::BatchedGemm>(scheduled, {3, 36, 8, 40, "bkm+4", "bmk", "bmk", "bkm"});
    // Loads element by element: rows that are no multiple of four, a tail of channels in a packet, strides.
    check<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 24, 5, 7}, 16);
    check<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {1, 24, 5, 8}, 12);
    check<fk::half, fk::filter(3, 3).pad(1).stride(2)>(scheduled, {1, 24, 6, 8}, 16);
    check_infinite_group(scheduled);
    check_after_transposed<fk::filter(3, 3).pad(1), fk::half, fk::half>(scheduled, {2, 72, 6, 8}, 16);
}

template <class Device>
void check_windows_of_bytes(Device& scheduled) {
    // Taps of two channels packed, with tail pairs; of more channels packed, or of one.
    check<fk::int8, fk::filter(3, 3).pad(1)>(scheduled, {2, 80, 5, 8}, 40);
    check<fk::int8, fk::filter(3, 3).pad(2).dilation(2).groups(2)>(scheduled, {1, 64, 3, 12}, 24);
    check<fk::int8, fk::filter(5, 3).pad(2, 1)>(scheduled, {3, 16, 3, 12}, 8);
    check<fk::int8, fk::filter(4, 4).pad(1, 2, 2, 1)>(scheduled, {1, 19, 4, 8}, 5);
    check<fk::int8, fk::filter(2, 2).pad(1, 0, 1, 0).groups(2)>(scheduled, {1, 40, 4, 8}, 36);
    check<fk::int8, fk::filter(1, 1)>(scheduled, {2, 80, 3, 4}, 24);
    check<fk::int8, fk::filter(1, 1)>(scheduled, {3, 144, 5, 12}, 72);
    // Rows of x that end one column after the rows of y.
    check<fk::int8, fk::filter(3, 3).pad(1, 1, 1, 0)>(scheduled, {2, 32, 3, 13}, 8);
    // A tail of channels in a packet, loaded element by element.
    check<fk::int8, fk::filter(3, 3).pad(1)>(scheduled, {1, 24, 5, 8}, 12);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: AMD loads NCHW operands in quads of pixels and packets of taps", "", Tiles) {
    fk::hip::Device device = native();
    auto scheduled = device.with<TestType>();
    if constexpr (every_window) check_windows(scheduled);
    else check_few_windows(scheduled);
}

TEMPLATE_LIST_TEST_CASE("HIP: AMD loads NCHW operands of int8 in quads and packets of taps", "", ByteTiles) {
    fk::hip::Device device = native();
    auto scheduled = device.with<TestType>();
    if constexpr (every_window) check_windows_of_bytes(scheduled);
    else check_few_windows_of_bytes(scheduled);
}

TEST_CASE("HIP: AMD loads NCHW operands of 8-bit floats in quads and packets of taps") {
    fk::hip::Device device = native();
    check_float8<fk::e4m3, NativeGemm<64, 64, 6>>(device);
    check_float8<fk::e5m2, NativeGemm<128, 128, 2>>(device);
    check_float8<fk::e4m3_fnuz, NativeGemm<64, 64, 6>>(device);
    check_float8<fk::e5m2_fnuz, NativeGemm<128, 128, 2>>(device);
}
