// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/pooling.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Adds `count` ones to a total that starts with a large number: 2^24 + 1 rounds to 2^24, 2^24 + 256 does not.
template <class Pool>
struct AddUp : BlockOf<64> {
    struct Params {
        float* out;
        unsigned count;
        float first;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        typename fk::hip::Pooling<fk::Plan<Pool>, float, float, 1>::Total total;
        total.add(params.first);
        for (unsigned i = 1; i < params.count; ++i) total.add(1);
        if (thread == 0) params.out[0] = total.whole();
    }
};

template <class Pool>
float total_of(fk::hip::Device& device, unsigned count, float first) {
    Array<float> const out(device, 1, -1);
    run_blocks<AddUp<Pool>>(device, {out.data(), count, first});
    return out.values()[0];
}

}  // namespace

TEST_CASE("HIP: a pool's total has every value once, small ones beside large") {
    fk::hip::Device device = gpu();
    for (unsigned const count : {1u, 255u, 256u, 257u, 65535u, 65536u, 65537u, 200000u})
        CHECK(total_of<fk::GlobalAverage>(device, count, 1) == static_cast<float>(count));
    CHECK(total_of<fk::GlobalAverage>(device, 256 * 1000, 0x1p24f) == 0x1p24f + 256 * 999);
    CHECK(total_of<fk::Pool<fk::Max, 2, 2>>(device, 70000, 3) == 3);
    CHECK(total_of<fk::Pool<fk::Max, 2, 2>>(device, 70000, -3) == 1);
}
