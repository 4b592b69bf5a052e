// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/plane_pipeline.hpp"

#include <cstring>

#include "backend/hip/copy/plane_stages.hpp"

using namespace test;

namespace {

/// SMEM for two tiles of x and `stages` stages of planes.
template <auto Filter, class T, int pixels, int parts, int stages>
void check(fk::Layout<4> const& x) {
    constexpr fk::hip::PlaneTiles<pixels, T> tiles(9, 11, 9, 11, Filter);
    constexpr int bytes = 2 * tiles.tile_bytes(parts) + stages * tiles.plane_bytes(parts);
    static_assert(tiles.plane_stages(parts, bytes, 4) == stages);
    check_planes<Filter, T, pixels, parts, bytes>(x, [](auto&, auto const&) { return true; });
}

}  // namespace

// Many channel blocks of many tiles, with one to four stages of planes ahead of the two tiles of x.
TEST_CASE("HIP: transposed tiles are made while earlier ones are read, for any number of stages of planes") {
    constexpr auto filter = fk::filter(3, 3).pad(1);
    fk::Layout<4> const x = fk::nchw(3, 200, 9, 11);
    check<filter, fk::half, 128, 1, 1>(x);
    check<filter, fk::half, 128, 1, 2>(x);
    check<filter, fk::half, 128, 1, 4>(x);
    check<filter, float, 128, 1, 3>(fk::nchw(2, 104, 9, 11));
}
