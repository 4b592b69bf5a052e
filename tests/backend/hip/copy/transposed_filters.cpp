// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/transposed_filters.hpp"

#include "backend/hip/copy/multiplied_stages.hpp"

using namespace test;

namespace {

template <auto Filter>
void check(StageExtents const& of) {
    check_whole_tiles<fk::Plan<fk::TransposedConv<Filter>>, 64>(of, Filter);
}

}  // namespace

// Channels of y that fill boxes of 64 and others, whose boxes read past a tap; x's last channels, whose boxes end with
// the filters.
TEST_CASE("HIP: TMA loads transposed filters tap by tap, and reads nothing past the last tap") {
    check<fk::filter(3, 3).pad(1)>({2, 72, 5, 7, 64});
    check<fk::filter(3, 3).pad(1)>({1, 136, 5, 6, 72});
    check<fk::filter(2, 3).pad(0, 1)>({2, 8, 4, 5, 24});
    check<fk::filter(1, 1)>({3, 40, 3, 3, 96});
}
