// SPDX-License-Identifier: MIT
// Compiled for each of AMD's targets, as atom/native.cpp is.
#include "fusekit/backend/hip/copy/amd/channel_operands.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/native.hpp"
#include "support/convolutions_both_ways.hpp"

using namespace test;
using fk::hip::NativeGemm;

namespace {

/// Layouts with contiguous packets of channels and of filters; with strided pixels in the second, with strided filters
/// in the third.
struct Packets {
    static constexpr char const* all[3][3] = {
        {"nhwc", "krsc", "nhwc"}, {"nhwc+8", "crsk", "nhwc"}, {"nhwc", "krsc+8", "nhwc"}};
};
template <class T, auto Geometry, class Device>
void check(Device& device, oracle::Shape const& x, std::int64_t k) {
    check_both_ways<Packets, T, Geometry>(device, x, k);
}

using Tiles = LoaderTiles<NativeGemm<128, 128, 2>, NativeGemm<64, 64, 6>, NativeGemm<64, 128, 2>>;

/// True if a tile loads operands of all types: with FEWER_KERNELS that of 64 x 128, which is for bytes, loads bytes.
#ifdef FEWER_KERNELS
template <class Tile>
constexpr bool of_all_types = Tile::tile_m == Tile::tile_n;
#else
template <class Tile>
constexpr bool of_all_types = true;
#endif

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: AMD loads NHWC operands in packets of channels", "", Tiles) {
    fk::hip::Device device = native();
    auto scheduled = device.with<TestType>();
    // Taps of whole k-tiles, taps that end within a k-tile, taps shorter than a k-tile, and taps longer than the table.
    if constexpr (of_all_types<TestType>) {
        check<fk::half, fk::filter(3, 3).pad(1)>(scheduled, {2, 64, 3, 5}, 136);
        check<fk::half, fk::filter(3, 2).pad(1, 0)>(scheduled, {1, 104, 4, 3}, 40);
        check<fk::bfloat16, fk::filter(2, 2).pad(0, 1)>(scheduled, {1, 24, 3, 4}, 8);
        check<fk::half, fk::filter(1, 2)>(scheduled, {1, 600, 1, 3}, 16);
        check<fk::half, fk::filter(3, 3).pad(1).groups(2)>(scheduled, {1, 144, 3, 4}, 192);
        check<float, fk::filter(3, 3).pad(1)>(scheduled, {1, 36, 3, 4}, 68);
    }
    check<fk::int8, fk::filter(1, 2)>(scheduled, {1, 1104, 1, 4}, 80);
    check<fk::int8, fk::filter(3, 3).pad(1)>(scheduled, {1, 80, 3, 4}, 144);
}
