// SPDX-License-Identifier: MIT
//
// A user-defined reduction: the sum of squares of every channel, written beside y by the same kernel.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// y = x, squares[k] = sum of x[n,k,p,q]^2 over n, p, q.
struct SquaresOfChannels {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::TensorView<float, 1> squares;
        fk::OptionalView<float, 1> scratch{};  // after a Conv, for totals of tiles
    };

    /// Total of some values of a channel. The host merges two; a GPU's CTA sums those of its threads.
    template <class V>
    struct Total {
        V squares{};
        FUSEKIT_HD friend constexpr Total merge(Total const& a, Total const& b) { return {a.squares + b.squares}; }

        template <int Count, class Sum>
        FUSEKIT_HD static constexpr void combine(Total (&of)[Count], Sum const& sum) {
            V all[Count];
            for (int i = 0; i < Count; ++i) all[i] = of[i].squares;
            sum(all);
            for (int i = 0; i < Count; ++i) of[i].squares = all[i];
        }
    };
    /// A total in progress: adds each value, except masked lanes.
    template <class V>
    struct Accumulator {
        V squares{};
        FUSEKIT_HD constexpr void start(V) {}
        FUSEKIT_HD constexpr void add(V x, auto counts) { squares += fk::math::select(counts, x * x, V{}); }
        FUSEKIT_HD constexpr void add(V x) { squares += x * x; }
        FUSEKIT_HD constexpr Total<V> total(V) const { return {squares}; }
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, fk::OutputCoord const& at, Args const& args) {
        args.squares(at.k) = static_cast<float>(total.squares);
    }
    static void check(Args const& args, fk::Check const& in) { in.writable("squares", args.squares, {{in.y[1]}}, "K"); }
};

using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Gelu>, SquaresOfChannels>;

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nhwc(4, 9, 7, 24), 1);
    auto bias = fk::random<float>(device, fk::channels(24), 2);
    auto squares = filled(device, 24, -1);
    auto y = Layer::bind({.bias = bias}, {}, {.squares = squares})(device, x);

    std::vector<double> expected(24);
    Array const out(y);
    for (std::size_t i = 0; i < out.at.size(); ++i) expected[i / (9 * 7) % 24] += out.at[i] * out.at[i];
    return agrees("the squares of every channel", values(squares), expected) ? 0 : 1;
}
