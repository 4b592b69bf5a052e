// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/fragment_totals.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

constexpr int threads = 64, lines = 2, columns = 3;

/// Accumulators of four floats each, or of one.
struct Four {
    float values[4];
    __device__ float& operator[](int i) { return values[i]; }
    __device__ float operator[](int i) const { return values[i]; }
};
template <class Acc>
struct FragmentOf {
    Acc acc[lines][columns];
};

__host__ __device__ float number(unsigned thread, int i) { return static_cast<float>(thread * 31 + 5 * i); }

/// Promotes a fragment `adds` times, or sets the sums to it before; writes the sums, and then the fragment's floats.
template <class Acc, bool in_registers>
struct Promote : BlockOf<threads> {
    static constexpr int floats = sizeof(FragmentOf<Acc>) / sizeof(float);
    using Totals = fk::hip::FragmentTotals<FragmentOf<Acc>, threads, in_registers>;
    struct Params {
        float* out;  ///< 2 `floats` per thread
        int adds;
        bool sets;
    };
    struct Shared {
        typename Totals::Shared totals;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        Totals totals(shared.totals, thread);
        FragmentOf<Acc> fragment;
        auto* const own = reinterpret_cast<float*>(&fragment);
        auto const fill = [&](int scale) {
            for (int i = 0; i < floats; ++i) own[i] = static_cast<float>(scale) * number(thread, i);
        };
        fill(100);
        if (params.sets) totals.set(fragment);
        for (int add = 0; add < params.adds; ++add) {
            fill(add + 1);
            totals.add(fragment);
        }
        FragmentOf<Acc> const sums = totals.get();
        for (int i = 0; i < floats; ++i) {
            params.out[2 * floats * thread + i] = reinterpret_cast<float const*>(&sums)[i];
            params.out[2 * floats * thread + floats + i] = own[i];
        }
    }
};

template <class Acc, bool in_registers>
void check_promotion(int adds, bool sets) {
    using Body = Promote<Acc, in_registers>;
    fk::hip::Device device = gpu();
    Array<float> const out(device, 2 * Body::floats * threads, -999);
    run_blocks<Body>(device, {out.data(), adds, sets});
    std::vector<float> expected;
    for (unsigned thread = 0; thread < threads; ++thread) {
        float const scale = static_cast<float>(adds * (adds + 1) / 2 + (sets ? 100 : 0));
        for (int i = 0; i < Body::floats; ++i) expected.push_back(scale * number(thread, i));
        for (int i = 0; i < Body::floats; ++i) expected.push_back(adds > 0 ? 0 : 100 * number(thread, i));
    }
    CAPTURE(adds, sets, in_registers, sizeof(Acc));
    CHECK(out.values() == expected);
}

}  // namespace

TEST_CASE("HIP: FragmentTotals adds fragments to sums that start at zero or at a fragment, and zeroes what it added") {
    for (bool const sets : {false, true})
        for (int const adds : {0, 1, 3}) {
            check_promotion<float, true>(adds, sets);
            check_promotion<float, false>(adds, sets);
            check_promotion<Four, true>(adds, sets);
            check_promotion<Four, false>(adds, sets);
        }
}
