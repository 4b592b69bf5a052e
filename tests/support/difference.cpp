// SPDX-License-Identifier: MIT
#include "support/difference.hpp"

#include <cmath>
#include <sstream>

namespace test {

template <int Rank>
std::string difference(oracle::Tensor const& expected, Memory<Rank> const& y) {
    Format const format = format_of(y.type);
    // Bounded assumes float arithmetic. In double, the library and the oracle each have 2^-29 times its error.
    double const error_share = y.type == fk::DataType::float64 ? 2 * 0x1p-29 : 1;
    std::ostringstream text;
    std::size_t i = 0, wrong = 0;
    oracle::Shape const s = expected.shape;
    y.for_each([&](std::int64_t offset) {
        Bounded const want = expected.at[i];
        double const nearest = format.round(want.value), got = y.get(offset);
        double const error = want.error * error_share;
        bool const same = want.error == 0 ? got == nearest
                                          : got == nearest || std::fabs(got - format.saturated(want.value)) <=
                                                                  error + format.spacing(got) / 2;
        if (!same && ++wrong <= 5) {
            auto const at = static_cast<std::int64_t>(i);
            text.precision(17);
            text << "y(" << at / (s.c * s.d * s.h * s.w) << ", " << at / (s.d * s.h * s.w) % s.c << ", "
                 << at / (s.h * s.w) % s.d << ", " << at / s.w % s.h << ", " << at % s.w << ") is " << got
                 << ", expected " << nearest << " within " << error << '\n';
        }
        ++i;
    });
    if (wrong) text << wrong << " of " << i << " outputs are wrong\n";
    if (!y.untouched()) text << "memory that belongs to no output element was written\n";
    return text.str();
}
template std::string difference(oracle::Tensor const&, Memory<1> const&);
template std::string difference(oracle::Tensor const&, Memory<2> const&);
template std::string difference(oracle::Tensor const&, Memory<3> const&);
template std::string difference(oracle::Tensor const&, Memory<4> const&);
template std::string difference(oracle::Tensor const&, Memory<5> const&);

}  // namespace test
