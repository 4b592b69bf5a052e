// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/grid_group_totals.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Total that merges by addition.
struct Sums {
    float value, square;

    __device__ friend Sums merge(Sums const& a, Sums const& b) { return {a.value + b.value, a.square + b.square}; }

    template <std::size_t Count, class Sum>
    __device__ static void combine(Sums (&all)[Count], Sum const& sum) {
        float values[2 * Count];
        for (std::size_t i = 0; i < Count; ++i) values[2 * i] = all[i].value, values[2 * i + 1] = all[i].square;
        sum(values);
        for (std::size_t i = 0; i < Count; ++i) all[i] = {values[2 * i], values[2 * i + 1]};
    }
};

/// Puts the totals of `group_size` CTAs, merges them, and reads the result.
template <int Width>
struct PutAndMerge : BlockOf<64> {
    struct Params {
        float* room;  ///< for group_size + 1 totals of all columns
        Sums* merged;
        unsigned columns, group_size;
    };
    struct Shared {
        float room[threads * 2 * Width];
    };
    __host__ __device__ static Sums total(unsigned number, unsigned column) {
        return {static_cast<float>(number * 100 + column), static_cast<float>(number * number)};
    }
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        fk::hip::GridGroupTotals<Sums> const totals{params.room, params.columns};
        for (unsigned column = thread * Width; column < params.columns; column += threads * Width)
            for (unsigned number = 1; number <= params.group_size; ++number) {
                Sums own[Width];
                for (unsigned i = 0; i < Width; ++i) own[i] = total(number, column + i);
                totals.put(number, column, own);
            }
        __syncthreads();
        totals.template merge_all<Width>(params.group_size, threads, thread, shared.room);
        __syncthreads();
        for (unsigned column = thread; column < params.columns; column += threads) {
            Sums one[1];
            totals.get(0, column, one);
            params.merged[column] = one[0];
        }
    }
};

template <int Width>
void check_merging(unsigned columns, unsigned group_size) {
    using Body = PutAndMerge<Width>;
    fk::hip::Device device = gpu();
    Array<float> const room(device, std::size_t{group_size + 1} * columns * 2, -1);
    Array<Sums> const merged(device, columns, {-1, -1});
    run_blocks<Body>(device, {room.data(), merged.data(), columns, group_size});
    auto const totals = merged.values();
    int wrong = 0;
    for (unsigned column = 0; column < columns; ++column) {
        Sums expected{0, 0};
        for (unsigned number = 1; number <= group_size; ++number) {
            expected.value += Body::total(number, column).value;
            expected.square += Body::total(number, column).square;
        }
        wrong += totals[column].value != expected.value || totals[column].square != expected.square;
    }
    CAPTURE(Width, columns, group_size);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: a grid group reduces the totals of all of its CTAs") {
    for (unsigned const group_size : {1u, 2u, 7u, 40u}) {
        check_merging<1>(1, group_size);
        check_merging<1>(64, group_size);
        check_merging<2>(8, group_size);
        check_merging<4>(4, group_size);
        check_merging<4>(1024, group_size);  // more packets than threads
    }
}
