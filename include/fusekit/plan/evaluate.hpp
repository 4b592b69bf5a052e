// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/conv/weight_gradient.hpp"
#include "fusekit/ops/conv/window.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/ops/pool/reduce.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/plan/load_element.hpp"
#include "fusekit/plan/pairwise.hpp"
#include "fusekit/tensor/literal.hpp"

namespace fusekit::detail {

/// Result of Plan::evaluate: y in float, N x K x P x Q, packed, with channels first or last as in the plan's x.
/// `layout` is y's layout with collapsed modes, rows and columns (tensor/collapse.hpp). An Evaluation is valid within
/// one constant expression; compare it with a Literal, the constexpr tensor of expected values.
class Evaluation {
public:
    CollapsedLayout<4> layout;

    FUSEKIT_H constexpr explicit Evaluation(CollapsedLayout<4> const& the_layout)
        : layout(the_layout), values(new float[static_cast<std::size_t>(the_layout.layout().size())]{}) {}
    FUSEKIT_H constexpr Evaluation(Evaluation&& other) noexcept : layout(other.layout), values(other.values) {
        other.values = nullptr;
    }
    Evaluation& operator=(Evaluation&&) = delete;
    FUSEKIT_H constexpr ~Evaluation() { delete[] values; }

    FUSEKIT_H constexpr float& operator[](Index<4> const& at) { return values[layout.layout().offset(at)]; }

    template <auto ItsLayout>
    FUSEKIT_H constexpr bool operator==(Literal<ItsLayout> const& expected) const {
        if (layout != of_same_kind(ItsLayout)) return false;
        for (std::int64_t i = 0; i < layout.layout().size(); ++i)
            if (values[i] != expected.values[i]) return false;
        return true;
    }

private:
    float* values;

    /// Collapses the layout of a Literal to four modes in the same way as y's: as matrices if y is matrices, else as an
    /// image.
    template <int Rank>
    FUSEKIT_H constexpr CollapsedLayout<4> of_same_kind(Layout<Rank> const& given) const {
        if constexpr (Rank <= 4)
            if (layout.shape.from.kind == CollapsedFrom::matrices) return collapse_matrices(given);
        return collapse<4>(given);
    }
};

/// Elements of x in channel c, after the prologue's operators: the values that a Conv or Gemm multiplies. Indexed by n,
/// h, w.
template <class V, class BoundPlan, class At>
struct HeadInput {
    using Prologue = typename BoundPlan::Plan::Prologue;
    BoundPlan const& bound;
    TensorView<V const> const& x;
    typename Prologue::template State<V> state;

    FUSEKIT_H constexpr HeadInput(BoundPlan const& the_bound, TensorView<V const> const& the_x, std::int64_t c)
        : bound(the_bound), x(the_x), state(Prologue::template prepare<V>(c, the_bound.prologue)) {}

    FUSEKIT_H constexpr V operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
        At const at{n, c, h, w};
        return Prologue::apply(V{x(n, c, h, w)}, at, state, bound.prologue);
    }
};

/// Value of the plan's head (here a Conv) at coordinate `at` of its output, computed by the definition: one sum over c,
/// r, s in index order.
template <class V, MainloopOp Conv, class BoundPlan, class At>
FUSEKIT_H constexpr V head_value(Conv const*, BoundPlan const& bound, ImageView<V const> const& x,
                                 CollapsedShape<4> const& y, At const& at) {
    auto f = Conv::geometry(bound.head);
    auto const& weights = Conv::filters(bound.head);
    Index<4> const w = weights.layout.shape, in = x.layout.shape;
    SliceHeights<f.rank> const heights(x.shape(), y);
    std::int64_t const group_k = y[1] / f.group_count, group = at.k / group_k, c0 = group * w[1];
    std::int64_t const first =
        is_transposed<decltype(f)> ? c0 * weights.layout.stride[1] : group * group_k * weights.layout.stride[0];
    V sum = 0;
    for (std::int64_t c = 0; c < w[1]; ++c) {
        HeadInput<V, BoundPlan, At> const input(bound, x, c0 + c);
        for (int r = 0; r < w[2]; ++r)
            for (int s = 0; s < w[3]; ++s) {
                std::int64_t const h = row_under(f, heights, at.p, r);
                std::int64_t const column = column_under(f, at.q, s);
                bool const inside = h >= 0 && h < in[2] && column >= 0 && column < in[3];
                V const value = inside ? input(at.n, c0 + c, h, column) : V{};
                sum += value * weights.template load<V>(first + weights.layout.offset({{at.k % group_k, c, r, s}}));
            }
    }
    return sum;
}
template <class V, MatrixOp Gemm, class BoundPlan, class At>
FUSEKIT_H constexpr V head_value(Gemm const*, BoundPlan const& bound, ImageView<V const> const& x,
                                 CollapsedShape<4> const&, At const& at) {
    auto const& weights = bound.head.weights;
    V sum = 0;
    for (std::int64_t k = 0; k < x.layout.shape[1]; ++k)
        sum += HeadInput<V, BoundPlan, At>(bound, x, k)(at.n, k, at.p, at.q) *
               weights.template load<V>(Gemm::weight_offset(bound.head, at, k));
    return sum;
}
/// Sum over all pixels (n, p, q) of dy[n,k,p,q] * factor(pixel), for channel k.
template <class V, class At, class BoundPlan, class Factor>
FUSEKIT_H constexpr V sum_over_pixels(BoundPlan const& bound, std::int64_t k, Factor const& factor) {
    Index<4> const out = bound.head.dy.layout.shape;
    auto const add = [&](std::int64_t begin, std::int64_t end) {
        V sum = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            At const pixel{i / out[3] / out[2], k, i / out[3] % out[2], i % out[3]};
            sum += factor(pixel) * pixel.load(bound.head.dy);
        }
        return sum;
    };
    return pairwise(0, out[0] * out[2] * out[3], addends, add, [](V a, V b) { return a + b; });
}
/// Writes the bias gradient of channel k, the sum of dy over n, p, q, if the plan's arguments include its view.
template <class V, class At, class BoundPlan>
FUSEKIT_H constexpr void save_bias_gradient(BoundPlan const& bound, std::int64_t k) {
    auto const& gradient = bound.head.bias_gradient;
    if (gradient.given())
        gradient.data[k * gradient.layout.stride[0]] =
            static_cast<float>(sum_over_pixels<V, At>(bound, k, [](At const&) { return V{1}; }));
}
/// Value of a weight gradient at one coordinate: dw[k,c,r,s], with k, c, r, s in at.n, at.k, at.p, at.q. The call for c
/// = r = s = 0 also writes the bias gradient of channel k.
template <class V, WeightGradientOp Gradient, class BoundPlan, class At>
FUSEKIT_H constexpr V head_value(Gradient const*, BoundPlan const& bound, ImageView<V const> const& x,
                                 CollapsedShape<4> const&, At const& at) {
    auto const f = Gradient::geometry(bound.head);
    Index<4> const out = bound.head.dy.layout.shape, in = x.layout.shape;
    SliceHeights<f.rank> const heights(x.shape(), CollapsedShape<4>(out, bound.head.dy.from));
    std::int64_t const c = at.n / (out[1] / f.group_count) * (in[1] / f.group_count) + at.k;
    if (at.k == 0 && at.p == 0 && at.q == 0) save_bias_gradient<V, At>(bound, at.n);
    return sum_over_pixels<V, At>(bound, at.n, [&](At const& pixel) {
        std::int64_t const h = row_under(f, heights, pixel.p, static_cast<int>(at.p));
        std::int64_t const w = column_under(f, pixel.q, static_cast<int>(at.q));
        return h >= 0 && h < in[2] && w >= 0 && w < in[3] ? x(pixel.n, c, h, w) : V{};
    });
}
template <class V, GatherOp Op, class BoundPlan, class At>
FUSEKIT_H constexpr V head_value(Op const*, BoundPlan const& bound, ImageView<V const> const& x,
                                 CollapsedShape<4> const& y, At const& at) {
    return Op::gather(at, x.layout.shape, y, bound.head, LoadElement<V>{x});
}
template <class V, class Head, class BoundPlan, class At>
FUSEKIT_H constexpr V head_value(Head const*, BoundPlan const&, ImageView<V const> const& x, CollapsedShape<4> const&,
                                 At const& at) {
    return x(at.n, at.k, at.p, at.q);
}

/// Result of the plan at coordinate `at` of y, computed by the definition in V, float or double. `values`: extents of
/// the head's output, before a pool. `state`: prepared parameters of the epilogue's operators for the channel.
/// `collect`: as in Epilogue::apply.
template <class V, class BoundPlan, class At, class State, class Collect = Nothing>
FUSEKIT_H constexpr V evaluate_at(BoundPlan const& bound, ImageView<V const> const& x, CollapsedShape<4> const& values,
                                  At const& at, State const& state, Collect const& collect = {}) {
    using Plan = typename BoundPlan::Plan;
    auto const value = [&](At const& coord) {
        V const sum = head_value<V>(static_cast<typename Plan::Head*>(nullptr), bound, x, values, coord);
        return Plan::Epilogue::apply(sum, coord, state, bound.epilogue, collect);
    };
    if constexpr (!Plan::pools) {
        return value(at);
    } else {
        using Reduce = typename Plan::Pool::Reduce;
        PoolWindow const window = Plan::Pool::window(values, at.p, at.q);
        if constexpr (writes_taps<typename Plan::Pool>) {
            TappedMaximum<V> maximum;
            for (Extent i = 0; i < window.size(); ++i) {
                At coord = at;
                coord.p = window.row + i / window.columns, coord.q = window.column + i % window.columns;
                maximum.add(value(coord), Plan::Pool::tap(at.p, at.q, coord.p, coord.q));
            }
            Plan::Pool::store_tap(get<Plan::Epilogue::size - 1>(bound.epilogue), {{at.n, at.k, at.p, at.q}},
                                  maximum.tap);
            return maximum.value;
        }
        auto const add = [&](std::int64_t begin, std::int64_t end) {
            V total = Reduce::template neutral<V>();
            for (; begin < end; ++begin) {
                At coord = at;
                coord.p = window.row + begin / window.columns, coord.q = window.column + begin % window.columns;
                total = Reduce::combine(total, value(coord));
            }
            return total;
        };
        auto const total = pairwise(0, window.size(), addends, add, Reduce::template combine<V>);
        return Reduce::finish(total, window.count());
    }
}

template <class BoundPlan>
FUSEKIT_H constexpr Evaluation evaluate(BoundPlan const& bound, ImageView<float const> const& x) {
    using Plan = typename BoundPlan::Plan;
    using Epilogue = typename Plan::Epilogue;
    CollapsedShape<4> const shape = bound.collapsed_output_shape(x.shape()), values = bound.epilogue_shape(x.shape());
    Evaluation y({packed_like(shape, x.layout), shape.from});
    OutputCoord at{};
    for (at.n = 0; at.n < shape[0]; ++at.n)
        for (at.k = 0; at.k < shape[1]; ++at.k)
            for (at.p = 0; at.p < shape[2]; ++at.p)
                for (at.q = 0; at.q < shape[3]; ++at.q) {
                    auto const state = Epilogue::prepare(at.k, bound.epilogue);
                    y[{{at.n, at.k, at.p, at.q}}] = evaluate_at<float>(bound, x, values, at, state);
                }
    return y;
}

}  // namespace fusekit::detail
