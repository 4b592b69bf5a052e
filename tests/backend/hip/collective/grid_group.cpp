// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/grid_group.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
using fk::hip::GridGroup;

namespace {

/// Each CTA writes its number and 1; the last CTA, which is_last_block() names, sums the numbers.
struct LastAdds : BlockOf<64> {
    struct Params {
        unsigned *arrived, *numbers, *sums;
        unsigned count;
    };
    struct Shared {
        bool is_last;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        if (thread == threads - 1) params.numbers[block] = block + 1;
        if (!fk::hip::is_last_block(params.arrived, params.count, thread, shared.is_last)) return;
        unsigned sum = 0;
        for (unsigned i = 0; i < params.count; ++i) sum += static_cast<unsigned volatile&>(params.numbers[i]);
        atomicAdd(&params.sums[thread], sum);
    }
};

/// Sums over the CTAs of a grid group in rounds, each of which depends on the previous one.
struct SumInRounds : BlockOf<64> {
    static constexpr int rounds = 5;
    struct Params {
        GridGroup::State* states;  ///< per grid group
        unsigned *numbers, *sums;  ///< per CTA, and per grid group
        unsigned group_size;
    };
    struct Shared {
        bool is_last;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        unsigned const number = block / params.group_size, first = number * params.group_size;
        GridGroup const group(params.states + number, params.group_size, thread, shared.is_last);
        unsigned volatile* const numbers = params.numbers;
        unsigned volatile* const sums = params.sums;
        for (int round = 0; round < rounds; ++round) {
            if (thread == threads - 1) numbers[block] = sums[number] + block - first + 1;
            group.arrive_and_wait([&] {
                if (thread != 0) return;
                unsigned sum = 0;
                for (unsigned i = 0; i < params.group_size; ++i) sum += numbers[first + i];
                sums[number] = sum;
            });
        }
    }
};

}  // namespace

TEST_CASE("HIP: exactly one CTA is last, and reads the values that other CTAs stored") {
    fk::hip::Device device = gpu();
    for (unsigned const count : {1u, 2u, 37u}) {
        Array<unsigned> const arrived(device, 1, 0), numbers(device, count, 0), sums(device, LastAdds::threads, 0);
        run_blocks<LastAdds>(device, {arrived.data(), numbers.data(), sums.data(), count}, count);
        CHECK(sums.values() == std::vector<unsigned>(LastAdds::threads, count * (count + 1) / 2));
        CHECK(arrived.values()[0] == count);
    }
}

TEST_CASE("HIP: a grid group's barrier synchronizes its CTAs, repeatedly and across launches") {
    fk::hip::Device device = gpu();
    unsigned const groups = 3;
    for (unsigned const size : {1u, 2u, 5u}) {
        Array<GridGroup::State> const states(device, groups, {0, 0});
        Array<unsigned> const numbers(device, groups * size, 0), sums(device, groups, 0);
        unsigned expected = 0;
        for (int launch = 0; launch < 2; ++launch) {
            run_blocks<SumInRounds>(device, {states.data(), numbers.data(), sums.data(), size}, groups * size,
                                    fk::hip::LaunchMode::cooperative);
            for (int round = 0; round < SumInRounds::rounds; ++round)
                expected = size * expected + size * (size + 1) / 2;
        }
        CAPTURE(size);
        CHECK(sums.values() == std::vector<unsigned>(groups, expected));
        for (GridGroup::State const& state : states.values()) CHECK(state.arrived == 0);
    }
}
