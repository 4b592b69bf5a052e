// SPDX-License-Identifier: MIT
//
// A reduction of one's own: the largest absolute value of every channel, as quantization needs it, written beside y by
// the kernel that makes y.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// y = x, largest[k] = the largest |x[n,k,p,q]| over n, p, q.
struct LargestOfChannels {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::TensorView<float, 1> largest;
        fk::OptionalView<float, 1> scratch{};  // for totals of tiles, after a Conv
    };

    /// Of some values. Totals of parts of a channel are merged, two at a time.
    template <class V>
    struct Total {
        V largest{};
        FUSEKIT_HD friend constexpr Total merge(Total const& a, Total const& b) {
            return {fk::math::select(a.largest > b.largest, a.largest, b.largest)};
        }
    };
    /// A total on its way: each value is added.
    template <class V>
    struct Running {
        V largest{};
        FUSEKIT_HD constexpr void start(V) {}
        FUSEKIT_HD constexpr void add(V x, bool counts = true) {
            V const size = fk::math::abs(x);
            if (counts) largest = fk::math::select(size > largest, size, largest);
        }
        FUSEKIT_HD constexpr Total<V> total(V) const { return {largest}; }
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) { return x; }

    FUSEKIT_HD static constexpr void save(Total<float> const& total, fk::OutputCoord const& at, Args const& args) {
        args.largest(at.k) = total.largest;
    }
    static void check(Args const& args, fk::Check const& in) { in.writable("largest", args.largest, {{in.y[1]}}, "K"); }
};

using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Gelu>, LargestOfChannels>;

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nhwc(4, 9, 7, 24), 1);
    auto bias = fk::random<float>(device, fk::channels(24), 2);
    auto largest = filled(device, 24, -1);
    auto y = Layer::bind({.bias = bias}, {}, {.largest = largest})(device, x);

    std::vector<double> expected(24);
    Array const out(y);
    for (std::size_t i = 0; i < out.at.size(); ++i) {
        double& channel = expected[i / (9 * 7) % 24];
        channel = std::max(channel, std::abs(out.at[i]));
    }
    return agrees("the largest of every channel", values(largest), expected, 0) ? 0 : 1;
}
