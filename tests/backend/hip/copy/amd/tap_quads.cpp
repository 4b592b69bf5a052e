// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/tap_quads.hpp"

#include "backend/hip/copy/amd/multiplied_operands.hpp"
#include "fusekit/backend/hip/copy/amd/tap_operands.hpp"

using namespace test;

namespace {

template <class T, auto Filter>
void check(OperandExtents const& of) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    using Packed = fk::hip::TapOperands<Plan, ScalarAtom<T>, T, float, true>;
    static_assert(fk::hip::AnyTapOrder<Plan, T>::tail_taps == 0);
    check_operands<Plan, T, Packed>(of, Filter, true);
}

}  // namespace

// Filters whose taps, of one or of several channels, fill 16 bytes: all k-tiles of a phase have the same taps.
TEST_CASE("HIP: quads of pixels at the taps of whole packets are the operands of a convolution") {
    check<fk::half, fk::filter(1, 1)>({2, 72, 3, 4, 66});
    check<fk::half, fk::filter(2, 4).pad(1, 2)>({1, 24, 5, 11, 9});
    check<fk::half, fk::filter(4, 4).pad(0, 3)>({1, 9, 4, 5, 16});  // two phases; 9 channels end within a k-tile
    check<fk::half, fk::filter(2, 2).pad(0, 0, 1, 0).groups(3)>({2, 24, 4, 5, 33});
    check<fk::int8, fk::filter(2, 4).pad(1, 2)>({2, 16, 5, 7, 17});
    check<fk::int8, fk::filter(1, 1)>({3, 80, 2, 4, 8});
}
