// SPDX-License-Identifier: MIT
#include "support/forms.hpp"

template <>
std::vector<test::Form> const& test::forms<test::fk::bfloat16>() {
    static auto const all = detail::make_forms<fk::bfloat16>();
    return all;
}
