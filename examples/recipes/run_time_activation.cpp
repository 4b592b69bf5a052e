// SPDX-License-Identifier: MIT
//
// An activation selected at run time: one mode that switches, so that a single plan is compiled.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// y = f(x), where `kind` selects f.
struct AnyActivation {
    enum Kind : int { passthru, relu, tanh, silu };
    struct Args {
        Kind kind = passthru;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        switch (args.kind) {
            case relu: return fk::Relu::apply(x, {});
            case tanh: return fk::Tanh::apply(x, {});
            case silu: return fk::Silu::apply(x, {});
            default: return x;
        }
    }
};

using Layer = fk::Plan<fk::Bias, fk::Activation<AnyActivation>>;

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nchw(2, 3, 5, 7), 1);
    auto bias = fk::random<float>(device, fk::channels(3), 2);

    Array const in(x);
    auto const term = values(bias);
    bool good = true;
    for (auto const kind : {AnyActivation::passthru, AnyActivation::relu, AnyActivation::tanh, AnyActivation::silu}) {
        auto y = Layer::bind({.bias = bias}, {.kind = kind})(device, x);
        Array expected = in.like();
        expected.fill([&](Extent n, Extent k, Extent p, Extent q) {
            double const sum = in(n, k, p, q) + term[std::size_t(k)];
            return kind == AnyActivation::relu   ? std::max(sum, 0.0)
                   : kind == AnyActivation::tanh ? std::tanh(sum)
                   : kind == AnyActivation::silu ? sum / (1 + std::exp(-sum))
                                                 : sum;
        });
        good &= agrees("an activation chosen at run time", Array(y), expected);
    }
    return good ? 0 : 1;
}
