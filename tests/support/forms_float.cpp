// SPDX-License-Identifier: MIT
#include "support/forms.hpp"

template <>
std::vector<test::Form> const& test::forms<float>() {
    static auto const all = detail::make_forms<float>();
    return all;
}
