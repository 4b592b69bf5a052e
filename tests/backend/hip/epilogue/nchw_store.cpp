// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/nchw_store.hpp"

#include "backend/hip/epilogue/stored_planes.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// One warpgroup stores a tile of 64 channels x `parts` parts of 128 pixels.
template <auto Filter, int parts>
struct StoreParts : BlockOf<128> {
    static constexpr int products = 2;
    using Architecture = hip::arch::Sm90a;
    using Plan = planes::Plan<Filter>;
    using Atom = hip::Wgmma<fk::half, 64>;
    using Tiles = hip::PlaneTiles<products * 64, fk::half>;
    using Grid = hip::PlaneGrid<Tiles, parts, 64>;
    using Writer = hip::NchwStore<Plan, Atom, fk::half, parts, products>;
    struct Params {
        hip::ConvParams<Plan, fk::half> conv;
    };
    struct DynamicShared {
        typename Writer::Shared of_warps[4];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0]);
        Grid const grid(conv, tiles);
        for (unsigned tile = block; tile < grid.size(); tile += gridDim.x) {
            int const first = grid.first_channel(tile);
            typename Atom::Accumulators acc[parts * products];
            for (int i = 0; i < parts * products; ++i)
                planes::set<Atom>(acc[i], tiles, grid.part(tile, i / products), first, i % products * 64, thread);
            Writer const writer(params.conv, tiles, first, thread);
            writer.store(acc, [&](int i) { return grid.part(tile, i); }, shared.of_warps[thread / 32]);
        }
        hip::ptx::bulk_wait_group_read();
    }
};

template <auto Filter, int parts>
void check(fk::Layout<4> const& y) {
    using Body = StoreParts<Filter, parts>;
    planes::check<Body, typename Body::Plan, fk::half>(y, 2, [](auto&) {});
}

}  // namespace

// Planes of a multiple of 8 elements and others, whole images in a part and rows of an image, gaps between rows,
// several tiles for each CTA, channels past the last. Images begin at multiples of 8 elements.
TEST_CASE("HIP: accumulators are stored to NCHW planes, whatever elements their parts begin at") {
    check<fk::filter(3, 3).pad(1), 1>(fk::nchw(3, 72, 9, 13));
    check<fk::filter(3, 3).pad(1), 1>(fk::nchw(1, 24, 31, 8));
    check<fk::filter(3, 3).pad(1), 2>(fk::nchw(3, 72, 7, 7));  // whole images, joined channels
    check<fk::filter(3, 3).pad(1), 2>(fk::nchw(2, 70, 4, 25));
    check<fk::filter(1, 1), 1>(fk::nchw(2, 72, 13, 11));  // pairs at odd elements
    check<fk::filter(1, 1), 1>(fk::nchw(1, 40, 16, 20));
    check<fk::filter(1, 1), 2>(fk::nchw(5, 64, 7, 7));
}
