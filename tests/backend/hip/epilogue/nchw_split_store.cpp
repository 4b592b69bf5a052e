// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/nchw_split_store.hpp"

#include "backend/hip/epilogue/stored_planes.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// The CTAs of a cluster each have a part of the sums of a tile: rank r all elements plus r, but the last one minus
/// the rest.
template <auto Filter, int parts>
struct StoreSums : BlockOf<256> {
    static constexpr int products = 2, consumers = 2;
    using Architecture = hip::arch::Sm90a;
    using Plan = planes::Plan<Filter>;
    using Atom = hip::Wgmma<fk::half, 32>;
    using Tiles = hip::PlaneTiles<products * 32, fk::half>;
    using Grid = hip::PlaneGrid<Tiles, parts, consumers * 64>;
    using Writer = hip::NchwSplitStore<Plan, Grid, Atom, fk::half, parts, products, consumers>;
    struct Params {
        hip::ConvParams<Plan, fk::half> conv;
    };
    struct DynamicShared {
        typename Writer::Shared merged;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0]);
        Grid const grid(conv, tiles);
        unsigned const count = params.conv.split_k.count, tile = block / count, rank = block % count,
                       group = thread / 128;
        typename Atom::Accumulators acc[parts * products];
        for (int i = 0; i < parts * products; ++i) {
            planes::set<Atom>(acc[i], tiles, grid.part(tile, i / products),
                              grid.first_channel(tile) + static_cast<int>(group) * 64, i % products * 32, thread % 128);
            float const rest = static_cast<float>(count * (count - 1) / 2);
            for (float& each : acc[i]) each = rank == 0 ? each - rest : static_cast<float>(rank);
        }
        Writer::put(shared.merged, acc, group, thread % 128);
        Writer::store(params.conv, tiles, grid, shared.merged, tile, rank, thread, [] { __syncthreads(); });
    }
};

template <auto Filter, int parts>
void check(fk::Layout<4> const& y, unsigned tiles, unsigned count) {
    using Body = StoreSums<Filter, parts>;
    planes::check<Body, typename Body::Plan, fk::half>(
        y, tiles * count, [&](auto& params) { params.split_k.count = count; }, count);
}

}  // namespace

TEST_CASE("HIP: the CTAs of a cluster sum a tile of NCHW planes and store each element once") {
    check<fk::filter(3, 3).pad(1), 1>(fk::nchw(2, 130, 5, 9), 2 * 2, 2);  // an image fits a part
    check<fk::filter(3, 3).pad(1), 1>(fk::nchw(1, 64, 11, 7), 2, 4);  // two parts of rows
    check<fk::filter(1, 1), 2>(fk::nchw(3, 100, 7, 7), 2, 2);
}
