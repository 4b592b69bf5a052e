// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/nchw_transpose.hpp"

#include <cstring>

#include "backend/hip/copy/plane_stages.hpp"

using namespace test;

namespace {

template <auto Filter, class T, int pixels, int parts>
void check(fk::Layout<4> const& x) {
    check_planes<Filter, T, pixels, parts, 128 * 1024>(x, [](auto&, auto const&) { return true; });
}

}  // namespace

// Whole images and ranges of rows in a part, gaps between rows, planes at odd elements, channels past the last.
TEST_CASE("HIP: planes of x are transposed to swizzled rows of channels, with zeros in the padding") {
    check<fk::filter(3, 3).pad(1), fk::half, 128, 1>(fk::nchw(2, 72, 9, 13));
    check<fk::filter(3, 3).pad(1), fk::half, 128, 1>(fk::nchw(1, 24, 31, 8));
    check<fk::filter(2, 5).pad(1, 2, 0, 2), fk::half, 128, 1>(fk::nchw(1, 8, 13, 19));
    check<fk::filter(3, 3).pad(1), fk::half, 64, 2>(fk::nchw(3, 72, 7, 7));
    check<fk::filter(1, 1), fk::half, 128, 1>(fk::nchw(2, 72, 13, 11));
    check<fk::filter(1, 1), fk::half, 64, 2>(fk::nchw(3, 40, 7, 7));
    check<fk::filter(3, 3).pad(1), float, 64, 1>(fk::nchw(2, 40, 5, 7));
}
