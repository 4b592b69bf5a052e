// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/shared_totals.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

constexpr int threads = 64, count = 3;

struct Total {
    float sum, squares;
};

__host__ __device__ Total total_of(unsigned thread, int i) {
    return {static_cast<float>(thread * 10 + i), static_cast<float>(5000 + thread * 7 + 100 * i)};
}

/// Each thread puts its totals, and writes those of the thread with the reversed number.
struct Exchange : BlockOf<threads> {
    struct Params {
        Total* out;  ///< `count` per thread
    };
    struct Shared {
        float words[threads * count * 2 + 1];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        fk::hip::SharedTotals<Total, count, threads> const totals{shared.words};
        Total own[count];
        for (int i = 0; i < count; ++i) own[i] = total_of(thread, i);
        if (thread == 0) shared.words[threads * count * 2] = -7;
        totals.put(thread, own);
        __syncthreads();
        for (int i = 0; i < count; ++i) params.out[thread * count + i] = totals.get(threads - 1 - thread, i);
        // the matrix has no word past its last one
        if (shared.words[threads * count * 2] != -7) params.out[thread * count].sum = -1;
    }
};

}  // namespace

TEST_CASE("HIP: SharedTotals keeps the totals of every thread apart") {
    fk::hip::Device device = gpu();
    Array<Total> const out(device, threads * count, Total{-999, -999});
    run_blocks<Exchange>(device, {out.data()});
    auto const got = out.values();
    int wrong = 0;
    for (unsigned thread = 0; thread < threads; ++thread)
        for (int i = 0; i < count; ++i) {
            Total const expected = total_of(threads - 1 - thread, i),
                        found = got[thread * count + static_cast<unsigned>(i)];
            wrong += found.sum != expected.sum || found.squares != expected.squares;
        }
    CHECK(wrong == 0);
}
