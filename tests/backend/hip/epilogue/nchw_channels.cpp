// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/nchw_channels.hpp"

#include "backend/hip/epilogue/stored_planes.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;
using Atom = hip::Wgmma<fk::half, 8>;
using Tiles = hip::PlaneTiles<128, fk::half>;

struct Channels : hip::NchwChannels<Plan, Atom, fk::half, Tiles> {
    using Base = hip::NchwChannels<Plan, Atom, fk::half, Tiles>;
    using Base::Base;

    /// The four lanes of a channel divide its pixels.
    __device__ void store(hip::PlanePart const& part) const {
        for (int own = 0; own < 2; ++own)
            for (int i = static_cast<int>(thread % 4); i < this->length(part); i += 4) {
                int const k = this->channel(own), pixel = part.row * tiles.y_width + i;
                // a channel past the last one has the parameters of the last one
                float const value = this->result(planes::sum_at(part.n, k, pixel), own);
                if (k < count) y[part.n * image_stride + k * plane + pixel] = fk::half(value);
            }
    }
};

/// Two warpgroups store the elements of their threads' channels one by one, in lengths of whole parts.
struct StoreByChannel : BlockOf<256> {
    using Architecture = hip::arch::Sm90a;
    using Grid = hip::PlaneGrid<Tiles, 1, 128>;
    struct Params {
        hip::ConvParams<Plan, fk::half> conv;
    };
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0]);
        Grid const grid(conv, tiles);
        Channels const channels(params.conv, tiles, grid.first_channel(block) + static_cast<int>(thread / 128) * 64,
                                thread % 128);
        channels.store(grid.part(block, 0));
    }
};

}  // namespace

TEST_CASE("HIP: the threads of a warpgroup have two channels each, with the parameters of their operators") {
    planes::check<StoreByChannel, Plan, fk::half>(fk::nchw(2, 130, 17, 11), 2 * 2 * 2, [](auto&) {});
    planes::check<StoreByChannel, Plan, fk::half>(fk::nchw(3, 3, 5, 7), 3, [](auto&) {});
}
