// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/warp_sums.hpp"

#include <algorithm>

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

struct Sums {
    float a, b;
};
using Moments = fk::detail::MomentsAccumulator<float>;
static_assert(fk::hip::equal_floats<Sums> == 0 && fk::hip::equal_floats<Moments> == 1);

/// Float `word` of a lane's accumulator of a column.
__host__ __device__ float number(unsigned lane, unsigned column, unsigned word) {
    return static_cast<float>(lane * (3 + column) + 100 * column + 7 * word);
}

/// Adds Count columns over the lanes whose numbers differ in the bits from `distance` on. Each lane writes the number
/// of its column, the column's floats, and the sum of a value.
template <class Accumulator, int Count>
struct AddColumns : BlockOf<64> {
    static constexpr int floats = sizeof(Accumulator) / sizeof(float), outputs = floats + 2;
    struct Params {
        float* out;  ///< `outputs` per thread
        unsigned distance;
    };
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        using Adder = fk::hip::WarpSums<Accumulator, Count>;
        Accumulator of[Count];
        for (unsigned column = 0; column < Count; ++column)
            for (unsigned word = 0; word < floats; ++word)
                reinterpret_cast<float*>(&of[column])[word] =
                    static_cast<int>(word) < fk::hip::equal_floats<Accumulator> ? -5.0f : number(thread, column, word);
        float* const out = params.out + thread * outputs;
        out[0] = static_cast<float>(Adder::add(of, params.distance, thread % 32));
        for (unsigned word = 0; word < floats; ++word) out[1 + word] = reinterpret_cast<float const*>(&of[0])[word];
        out[1 + floats] = Adder::add(static_cast<float>(thread), params.distance);
    }
};

template <class Accumulator, int Count>
void check_columns() {
    using Body = AddColumns<Accumulator, Count>;
    fk::hip::Device device = gpu();
    for (unsigned distance = 1; distance * Count <= 32; distance *= 2) {
        Array<float> const out(device, 64 * Body::outputs, -999);
        run_blocks<Body>(device, {out.data(), distance});
        std::vector<float> const got = out.values();
        CAPTURE(Count, distance);
        int wrong = 0;
        std::vector<bool> has(32 * Count);  // in the first warp: by lane below the distance, and column
        for (unsigned thread = 0; thread < 64; ++thread) {
            float const* const own = &got[thread * Body::outputs];
            auto const column = static_cast<unsigned>(own[0]);
            REQUIRE(column < Count);
            if (thread < distance * Count) has[thread % distance * Count + column] = true;
            for (unsigned word = 0; word <= Body::floats; ++word) {
                float sum = 0;
                for (unsigned other = thread / 32 * 32 + thread % distance; other < thread / 32 * 32 + 32;
                     other += distance)
                    sum += word < Body::floats ? number(other, column, word) : static_cast<float>(other);
                if (static_cast<int>(word) < fk::hip::equal_floats<Accumulator>) sum = -5;
                wrong += own[1 + word] != sum;
            }
        }
        CHECK(wrong == 0);
        CHECK(std::count(has.begin(), has.end(), true) == static_cast<long>(distance * Count));
    }
}

}  // namespace

TEST_CASE("HIP: WarpSums adds each column over the lanes of its warp, and leaves shifts") {
    check_columns<Sums, 1>();
    check_columns<Sums, 2>();
    check_columns<Sums, 8>();
    check_columns<Moments, 1>();
    check_columns<Moments, 4>();
}
