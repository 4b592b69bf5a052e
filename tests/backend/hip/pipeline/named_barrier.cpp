// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/pipeline/named_barrier.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;

namespace {

constexpr unsigned group = 64, rounds = 3;

/// Two groups of threads, each on a barrier of its own, pass numbers around; group 1 runs more rounds than group 0.
/// Each round a thread reads its right neighbour's number and, after a barrier, replaces its own by it.
struct PassAround : BlockOf<2 * group> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        unsigned *numbers, *found;
    };
    struct Shared {
        unsigned numbers[2 * group];
    };
    template <unsigned number>
    __device__ static void pass(Params const& params, Shared& shared, unsigned thread) {
        fk::hip::NamedBarrier<number + 1, group> const barrier;
        unsigned* const numbers = shared.numbers + number * group;
        unsigned const own = thread % group;
        numbers[own] = thread;
        for (unsigned round = 0; round < rounds + number; ++round) {
            barrier();
            unsigned const next = numbers[(own + 1) % group];
            barrier();
            numbers[own] = next;
        }
        params.numbers[thread] = numbers[own];
        // the predicate is true in one thread of group 1, in the second call
        params.found[2 * thread] = barrier.any(false);
        params.found[2 * thread + 1] = barrier.any(thread == group + 37);
    }
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        if (thread < group) pass<0>(params, shared, thread);
        else pass<1>(params, shared, thread);
    }
};

}  // namespace

TEST_CASE("HIP: named barriers synchronize their threads alone, and combine their predicates") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const numbers(device, 2 * group, 999), found(device, 4 * group, 999);
    run_blocks<PassAround>(device, {numbers.data(), found.data()});
    std::vector<unsigned> expected_numbers, expected_found;
    for (unsigned thread = 0; thread < 2 * group; ++thread) {
        unsigned const number = thread / group;
        expected_numbers.push_back(number * group + (thread % group + rounds + number) % group);
        expected_found.push_back(0), expected_found.push_back(number);
    }
    CHECK(numbers.values() == expected_numbers);
    CHECK(found.values() == expected_found);
}
