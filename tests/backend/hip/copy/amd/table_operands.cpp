// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/table_operands.hpp"

#include "backend/hip/copy/amd/multiplied_operands.hpp"
#include "fusekit/backend/hip/copy/amd/channel_operands.hpp"

using namespace test;

namespace {

template <class T, auto Filter>
void check(OperandExtents const& of) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    check_operands<Plan, T, fk::hip::ChannelOperands<Plan, ScalarAtom<T>, T, float>>(of, Filter, false);
}

}  // namespace

// The table of 64 packets has 16 k-tiles. Of bytes with padding every k-tile reads it, of other operands every tap.
TEST_CASE("HIP: operands at offsets from an LDS table are those of the convolution, in each of several tables") {
    check<fk::half, fk::filter(3, 3).pad(1)>({2, 72, 5, 7, 70});  // taps end within k-tiles; 21 k-tiles
    check<fk::half, fk::filter(3, 2).pad(1, 0).stride(2, 1).groups(2)>({1, 64, 5, 6, 24});
    check<fk::half, fk::filter(1, 1)>({3, 600, 3, 3, 9});  // a tap longer than the table
    check<fk::int8, fk::filter(3, 3).pad(1).dilation(2)>({1, 80, 7, 9, 65});
    check<float, fk::filter(2, 2)>({2, 20, 4, 5, 5});
}
