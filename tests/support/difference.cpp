// SPDX-License-Identifier: MIT
#include "support/difference.hpp"

#include <cmath>
#include <sstream>

namespace test {

std::string difference(oracle::Tensor const& expected, Memory<4> const& y) {
    Format const format = format_of(y.type);
    std::ostringstream text;
    std::size_t i = 0, wrong = 0;
    oracle::Shape const s = expected.shape;
    y.for_each([&](std::int64_t offset) {
        Bounded const want = expected.at[i];
        double const nearest = format.round(want.value), got = y.get(offset);
        bool const same = want.error == 0 ? got == nearest
                                          : got == nearest || std::fabs(got - want.value) <= want.error + format.spacing(got) / 2;
        if (!same && ++wrong <= 5) {
            auto const at = static_cast<std::int64_t>(i);
            text.precision(9);
            text << "y(" << at / (s.c * s.h * s.w) << ", " << at / (s.h * s.w) % s.c << ", " << at / s.w % s.h << ", " << at % s.w
                 << ") is " << got << ", expected " << nearest << " within " << want.error << '\n';
        }
        ++i;
    });
    if (wrong) text << wrong << " of " << i << " outputs are wrong\n";
    if (!y.untouched()) text << "memory that belongs to no output element was written\n";
    return text.str();
}

}  // namespace test
