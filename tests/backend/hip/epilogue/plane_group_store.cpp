// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/plane_group_store.hpp"

#include "backend/hip/epilogue/stored_planes.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Relu>>;

/// A warpgroup stores all groups of 64 pixels of its 64 channels.
struct StoreGroups : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<fk::bfloat16, 64>;
    using Writer = hip::PlaneGroupStore<Plan, Atom, fk::bfloat16>;
    struct Params {
        hip::ConvParams<Plan, fk::bfloat16> conv;
    };
    struct Shared {
        typename Writer::Shared of_warps[4];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        int const first = static_cast<int>(block) * 64, plane = params.conv.tma_planes.plane;
        Writer const writer(params.conv, first, thread);
        auto const own = static_cast<int>(thread);
        for (int n = 0; n < params.conv.y.layout.shape[0]; ++n)
            for (int pixel = 0; pixel < plane; pixel += 64) {
                typename Atom::Accumulators acc;
                for (int e = 0; e < Atom::acc_per_thread; ++e) {
                    int const at = pixel + Atom::column(own, e);
                    acc[e] = at < plane ? planes::sum_at(n, first + Atom::row(own, e), at) : planes::nowhere;
                }
                writer.store(acc, n, pixel, shared.of_warps[thread / 32]);
            }
    }
};

void check(fk::Layout<4> const& y) {
    fk::Index<4> const& of = y.shape;
    planes::check<StoreGroups, Plan, fk::bfloat16>(y, static_cast<unsigned>((of[1] + 63) / 64), [&](auto& params) {
        params.tma_planes = hip::TmaPlaneTiles::of(of[0], of[2] * of[3], 8, of[1], 132);
    });
}

}  // namespace

TEST_CASE("HIP: groups of 64 pixels are stored to NCHW planes of a multiple of 8 pixels") {
    check(fk::nchw(2, 70, 8, 9));  // the second group has 8 pixels
    check(fk::nchw(1, 130, 4, 6));
    check(fk::nchw(3, 64, 14, 16));
    fk::Layout<4> apart = fk::nchw(2, 5, 8, 11);  // gaps between planes
    apart.stride = {{5 * 104, 104, 11, 1}};
    check(apart);
}
