// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/total_merger.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Statistics whose neutral value is not a value of its own: the largest of some numbers, and how many they are.
struct Largest {
    float value, count;

    __device__ friend Largest merge(Largest const& a, Largest const& b) {
        return {a.value > b.value ? a.value : b.value, a.count + b.count};
    }
};
static_assert(std::is_same_v<fk::hip::MergerOf<Largest>, fk::hip::TotalMerger<Largest>>);
static_assert(std::is_same_v<fk::hip::MergerOf<fk::detail::Moments<float>>, fk::detail::MergedMoments<float>>);

/// Merges numbers -`count` to -1 as one sequence, and in two mergers of which one may be empty.
struct Merge : BlockOf<32> {
    struct Params {
        Largest* out;  // (threads, 2)
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        using Merger = fk::hip::TotalMerger<Largest>;
        Merger whole({}), first({}), second({});
        auto const count = static_cast<int>(thread) + 1;
        for (int i = -count; i < 0; ++i) {
            Largest const next{static_cast<float>(i), 1};
            whole.add(next);
            if (i % 7 == 0) first.add(next);
            else second.add(next);
        }
        params.out[2 * thread] = whole.total();
        params.out[2 * thread + 1] = merge(first, second).total();
    }
};

}  // namespace

TEST_CASE("HIP: a merger starts empty, and merging with an empty one changes nothing") {
    fk::hip::Device device = gpu();
    Array<Largest> const out(device, 64, Largest{7, 7});
    run_blocks<Merge>(device, {out.data()});
    for (std::size_t i = 0; i < 64; ++i) {
        CHECK(out.values()[i].value == -1);
        CHECK(out.values()[i].count == static_cast<float>(i / 2 + 1));
    }
}
