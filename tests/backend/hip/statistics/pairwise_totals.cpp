// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/pairwise_totals.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Parts [begin, end). Two ranges merge only if they are consecutive and equally long.
struct Range {
    float begin, end;

    __device__ friend Range merge(Range const& a, Range const& b) {
        bool const pair = a.end == b.begin && a.end - a.begin == b.end - b.begin;
        return pair ? Range{a.begin, b.end} : Range{-1, -1};
    }
};

constexpr int count = 2, parts = 64;
constexpr unsigned width = 4;

struct AddParts : BlockOf<128> {
    struct Params {
        Range* after;  ///< Count totals after each part, for each column
    };
    struct Shared {
        float room[threads * count * sizeof(Range) / sizeof(float)];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        fk::hip::PairwiseTotals<Range, count, threads> const totals{{shared.room}};
        unsigned const column = thread % width;
        for (unsigned part = 0; part < parts; ++part) {
            auto const first = static_cast<float>(part), apart = static_cast<float>(100 + column);
            Range all[count] = {{first, first + 1}, {first + apart, first + apart + 1}};
            totals.add(part, all, column, thread < width);
            if (thread < width)
                for (unsigned i = 0; i < count; ++i) params.after[(part * width + column) * count + i] = all[i];
        }
    }
};

}  // namespace

TEST_CASE("HIP: PairwiseTotals merges partial totals of equal size, like a binary counter") {
    fk::hip::Device device = gpu();
    STATIC_REQUIRE(fk::hip::max_parts(AddParts::threads) >= parts);
    Array<Range> const after(device, parts * width * count, {-2, -2});
    run_blocks<AddParts>(device, {after.data()});
    auto const totals = after.values();
    int wrong = 0;
    for (unsigned part = 0; part < parts; ++part)
        for (unsigned column = 0; column < width; ++column)
            for (unsigned i = 0; i < count; ++i) {
                unsigned const number = part + 1, power = number & -number, apart = i == 0 ? 0 : 100 + column;
                Range const& total = totals[(part * width + column) * count + i];
                wrong += total.begin != static_cast<float>(number - power + apart);
                wrong += total.end != static_cast<float>(number + apart);
            }
    CHECK(wrong == 0);
}

TEST_CASE("HIP: shared memory holds more partial totals for more threads") {
    CHECK(fk::hip::max_parts(64) == 1 << 5);  // 48 elements of a row; a level takes 8
    CHECK(fk::hip::max_parts(256) == 1 << 23);
}
