// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/tap_filters.hpp"

#include "backend/hip/copy/amd/multiplied_operands.hpp"
#include "fusekit/backend/hip/copy/amd/tap_operands.hpp"

using namespace test;

namespace {

template <class T, auto Filter>
void check(OperandExtents const& of) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    using Packed = fk::hip::TapOperands<Plan, ScalarAtom<T>, T, float, true>;
    using Tail = fk::hip::TapOperands<Plan, ScalarAtom<T>, T, float, false>;
    static_assert(fk::hip::AnyTapOrder<Plan, T>::tail_taps > 0);
    check_operands<Plan, T, Packed, Tail>(of, Filter, true);
}

}  // namespace

// The loader reads 8 of 9 or 15 taps as 16 bytes, and the tail taps one by one, of several channels in a k-tile.
TEST_CASE("HIP: weights of whole packets and of tail taps are together those of all taps") {
    check<fk::half, fk::filter(3, 3).pad(1)>({2, 40, 5, 8, 66});
    check<fk::half, fk::filter(3, 5).pad(1, 2)>({1, 16, 3, 12, 8});  // seven tail taps
    check<fk::half, fk::filter(3, 3).pad(2).dilation(2).groups(2)>({1, 48, 5, 8, 40});
    check<fk::int8, fk::filter(3, 3).pad(1)>({2, 32, 4, 8, 33});  // pairs of tail taps of two channels
}
