// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/nchw_float_store.hpp"

#include "backend/hip/epilogue/stored_planes.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// One warpgroup stores a tile of 64 channels x 240 pixels, in two products of `columns` pixels each.
template <auto Filter, int columns>
struct StoreFloats : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Plan = planes::Plan<Filter>;
    using Atom = hip::Wgmma<fk::bfloat16, 120>;
    using Tiles = hip::PlaneTiles<240, float>;
    using Grid = hip::PlaneGrid<Tiles, 1, 64>;
    struct Params {
        hip::ConvParams<Plan, float> conv;
    };
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0],
                          params.conv.y.layout.stride[1] == 1);
        Grid const grid(conv, tiles);
        for (unsigned tile = block; tile < grid.size(); tile += gridDim.x) {
            int const first = grid.first_channel(tile);
            hip::NchwFloatStore<Plan, Atom, Tiles> const writer(params.conv, tiles, first, thread);
            for (int i = 0; i < 2; ++i) {
                typename Atom::Accumulators acc;
                planes::set<Atom>(acc, tiles, grid.part(tile, 0), first, i * columns, thread);
                writer.store(acc, grid.part(tile, 0), i * columns, columns);
            }
        }
    }
};

template <auto Filter, int columns = 120>
void check(fk::Layout<4> const& y) {
    using Body = StoreFloats<Filter, columns>;
    planes::check<Body, typename Body::Plan, float>(y, 2, [](auto&) {});
}

}  // namespace

TEST_CASE("HIP: accumulators of floats are stored to NCHW planes and to channels-last pixels") {
    check<fk::filter(3, 3).pad(1)>(fk::nchw(2, 70, 9, 13));
    check<fk::filter(3, 3).pad(1), 112>(fk::nchw(1, 64, 27, 7));
    check<fk::filter(1, 1)>(fk::nchw(3, 21, 23, 19));
    check<fk::filter(3, 3).pad(1)>(fk::nhwc(2, 9, 13, 70));
    fk::Layout<4> padded = fk::nhwc(1, 17, 17, 5);  // gaps between pixels
    padded.stride = {{17 * 17 * 7, 1, 17 * 7, 7}};
    check<fk::filter(3, 3).pad(1)>(padded);
}
