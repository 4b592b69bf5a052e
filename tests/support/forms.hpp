// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/half_types.hpp"
#include "support/random_case.hpp"
#include "support/run_case.hpp"

namespace test {

/// Every plan that a case can name, for one kind of device and one element type. Each combination is a translation unit
/// that includes support/make_forms.hpp.
template <class Device, class T>
std::vector<Form<Device>> const& forms();

template <class Device>
std::vector<Form<Device>> const& forms(fk::DataType type) {
    if (type == fk::DataType::float32) return forms<Device, float>();
    if (type == fk::DataType::float16) return forms<Device, fk::half>();
    return forms<Device, LastHalf>();
}

template <class Device>
std::vector<FormName> names() {
    std::vector<FormName> all;
    for (Form<Device> const& form : forms<Device, float>()) all.push_back({form.letters, form.mode});
    return all;
}

/// Runs a case's plan; returns the difference, or empty.
template <class Device>
std::string run_form(Problem const& problem, oracle::Tensor const& expected, Device& device) {
    Case const& about = problem.about;
    for (Form<Device> const& form : forms<Device>(about.type))
        if (form.letters == about.form && form.mode == about.mode) return form.run(problem, expected, device);
    return "no plan of support/make_forms.hpp is " + about.form + " " + about.mode;
}

}  // namespace test
