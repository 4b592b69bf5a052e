// SPDX-License-Identifier: MIT
#include "support/forms.hpp"

template <>
std::vector<test::Form> const& test::forms<test::fk::half>() {
    static auto const all = detail::make_forms<fk::half>();
    return all;
}
