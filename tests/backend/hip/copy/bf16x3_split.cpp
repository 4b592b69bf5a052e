// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/bf16x3_split.hpp"

#include <cstring>

#include "backend/hip/copy/plane_stages.hpp"

using namespace test;

namespace {

template <auto Filter, int pixels, int parts>
void check(fk::Layout<4> const& x) {
    check_planes<Filter, float, pixels, parts, 160 * 1024>(x, [](auto& params, auto const& tiles) {
        params.maps.in_use = true;
        return fk::hip::detail::encode_parts(params.maps.x, params.x, tiles);
    });
}

}  // namespace

// Ranges of rows, images whose last rows are fewer, channels past the last; 1x1 filters, whose pixels are of all
// images.
TEST_CASE("HIP: channels-last floats are split to bfloat16 terms whose sum is the float") {
    check<fk::filter(3, 3).pad(1), 64, 1>(fk::nhwc(2, 9, 7, 40));
    check<fk::filter(3, 3).pad(1), 64, 2>(fk::nhwc(3, 5, 5, 72));
    check<fk::filter(1, 1), 64, 1>(fk::nhwc(3, 5, 9, 36));
    check<fk::filter(2, 3).pad(0, 1), 64, 1>(fk::nhwc(1, 11, 13, 8));
}
