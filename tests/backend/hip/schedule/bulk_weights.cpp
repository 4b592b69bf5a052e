// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace fusekit::hip;

namespace {

// Accumulators of a tile, two of them with promotion, in registers of the warpgroups: 232 a thread if a producer
// warpgroup gives some away.
template <class Schedule>
constexpr int accumulators =
    (Schedule::promotes ? 2 : 1) * Schedule::rows * Schedule::columns / (128 * Schedule::warpgroups);

using Square = BulkWeights<128, 128, 64, 4>;
using Wide = BulkWeights<64, 256, 64, 4>;
using Tall = BulkWeights<192, 128, 64, 4>;
using Doubled = BulkWeights<128, 64, 64, 4, 2>;

static_assert(Square::warpgroups == 2 && Square::promotes && !Square::moves_registers && !Square::sequences);
static_assert(Wide::warpgroups == 1 && !Wide::promotes && Wide::sequences == (64 * 256 > 128 * 128));
static_assert(Tall::warpgroups == 3 && Tall::promotes && Tall::moves_registers && Tall::sequences);
static_assert(Doubled::warpgroups == 1 && Doubled::promotes);
static_assert(accumulators<Square> == 128 && accumulators<Wide> == 128 && accumulators<Tall> == 128);

}  // namespace

TEST_CASE("HIP: a tile of a weight gradient has whole groups of channels of y, or a part of one group") {
    for (int const rows : {64, 128, 192, 256})
        for (int channels = 1; channels <= 768; ++channels) {
            CAPTURE(rows, channels);
            int const own = grouped_rows(rows, channels);
            CHECK((own == rows || own == weight_block));
            CHECK((own == weight_block || channels % own == 0));
        }
}
