// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/tma_im2col.hpp"

#include "backend/hip/copy/multiplied_stages.hpp"

using namespace test;

namespace {

template <auto Filter, bool in_ranges = false>
void check(StageExtents const& of) {
    check_whole_tiles<fk::Plan<fk::Conv<Filter>>, 64, in_ranges>(of, Filter);
}

}  // namespace

// Windows in the padding and between images, strides, dilations, a last tap and a last column of tiles that are partly
// filled, fewer pixels than a tile.
TEST_CASE("HIP: TMA's im2col loads have the windows and the filters of a convolution") {
    check<fk::filter(3, 3).pad(1)>({2, 72, 5, 9, 72});
    check<fk::filter(1, 3).pad(0, 2).stride(1, 2)>({3, 8, 5, 6, 40});
    check<fk::filter(3, 2).pad(2, 0).stride(2, 1).dilation(1, 2)>({1, 136, 6, 5, 24});
    check<fk::filter(1, 1)>({2, 40, 3, 5, 64});  // rows of pixels, not windows
    check<fk::filter(3, 3).pad(1), true>({2, 72, 5, 9, 72});  // k-tiles in two ranges
}
