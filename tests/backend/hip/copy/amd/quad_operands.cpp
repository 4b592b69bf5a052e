// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/quad_operands.hpp"

#include "backend/hip/copy/amd/multiplied_operands.hpp"

using namespace test;

namespace {

template <class T>
void check(OperandExtents const& of, fk::Filter<2> const& filter) {
    using Plan = fk::Plan<fk::Conv<fk::dynamic>>;
    check_operands<Plan, T, fk::hip::QuadOperands<Plan, ScalarAtom<T>, T, float>>(of, filter, true, filter);
}

}  // namespace

// Rows of y of a multiple of four pixels; GemmK is a multiple of the elements in 16 bytes.
TEST_CASE("HIP: quads of pixels and packets of taps are the operands of any filter with column stride 1") {
    for (fk::Filter<2> const& filter : {fk::filter(3, 3).pad(1), fk::filter(2, 5).pad(0, 2), fk::filter(1, 1),
                                        fk::filter(3, 3).pad(2, 2).dilation(1, 2), fk::filter(3, 9).pad(1, 4)})
        check<fk::half>({2, 16, 3, 8, 66}, filter);
    check<fk::half>({1, 32, 5, 12, 40}, fk::filter(3, 3).pad(1).stride(2, 1).groups(2));
    check<fk::int8>({2, 32, 4, 8, 24}, fk::filter(3, 3).pad(1));
    check<fk::int8>({1, 16, 4, 12, 8}, fk::filter(1, 5).pad(0, 2));
}
