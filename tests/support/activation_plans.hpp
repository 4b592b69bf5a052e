// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/catalogue.hpp"

namespace test {

namespace fk = fusekit;

/// Runs a tensor with a NaN, both infinities and large values through Plan<Activation<Mode>> and compares with apply on
/// the host. Returns the number of wrong elements.
template <class Mode, class Device>
int wrong_values_of_activation(Device& device, typename Mode::Args const& args = {}) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
    float const special[] = {
        std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, largest, -largest, 0, -0.0f, 100, -100};
    auto x = fk::random<float>(device, fk::nchw(2, 3, 5, 7));
    std::vector<float> in(static_cast<std::size_t>(x.size())), out(in.size());
    x.copy_to(in.data());
    for (std::size_t i = 0; i < 9; ++i) in[i * 11 + 3] = special[i];
    x.copy_from(in.data());
    fk::Plan<fk::Activation<Mode>>::bind(args)(device, x).copy_to(out.data());
    int wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        float const want = Mode::apply(in[i], args), got = out[i];
        float const ulp = std::isfinite(want) ? std::nextafter(std::fabs(want), infinity) - std::fabs(want) : 0;
        // contraction may differ; a GPU's functions may give 0 for results below 2^-126 (fusekit/math.hpp)
        float const smallest = std::is_base_of_v<fk::host::Memory, Device> ? 0 : std::numeric_limits<float>::min();
        bool const close = std::fabs(got - want) <= std::fmax(4 * ulp, smallest);
        wrong += !(std::isnan(want) ? std::isnan(got) : got == want || close);
    }
    return wrong + !std::isnan(out[3]);
}

/// Counts the wrong elements of every mode.
template <class Device>
int wrong_values_of_activations(Device& device) {
    int wrong = 0;
    catalogue::for_each_activation(
        [&]<class Mode>(catalogue::Line<Mode> const&) { wrong += wrong_values_of_activation<Mode>(device); });
    return wrong;
}

/// Elementary functions that no activation uses, as a mode.
struct Elementary {
    struct Args {
        int which = 0;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        switch (args.which) {
            case 0: return fk::math::log(x);
            case 1: return fk::math::sin(100.0f * x);
            case 2: return fk::math::cos(100.0f * x);
            case 3: return fk::math::erf(x);
            case 4: return fk::math::sqrt(x);
            default: return fk::math::select(x > 0.5f, 2, x);
        }
    }
};

/// Counts elements where a function differs from the host's.
template <class Device>
int wrong_values_of_functions(Device& device) {
    int wrong = 0;
    for (int which = 0; which <= 5; ++which) wrong += wrong_values_of_activation<Elementary>(device, {which});
    return wrong;
}

}  // namespace test
