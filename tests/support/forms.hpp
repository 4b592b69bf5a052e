// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/half_types.hpp"
#include "support/random_case.hpp"
#include "support/run_case.hpp"

namespace test {

/// Every plan that a case can name, for one kind of device and one element type, in parts that translation units which
/// include support/make_forms.hpp instantiate: `template struct test::Forms<Device, T>;` instantiates all.
template <class Device, class T>
struct Forms {
    static std::vector<Form<Device>> convs();
    static std::vector<Form<Device>> more_convs();
    static std::vector<Form<Device>> pointwise();
    static std::vector<Form<Device>> with_prologues();
};

template <class Device, class T>
std::vector<Form<Device>> const& forms() {
    static std::vector<Form<Device>> const all = [] {
        using F = Forms<Device, T>;
        std::vector<Form<Device>> list = F::convs();
        for (auto const part : {F::more_convs, F::pointwise, F::with_prologues})
            for (Form<Device> const& form : part()) list.push_back(form);
        return list;
    }();
    return all;
}

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
