// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/plan/epilogue.hpp"

namespace fusekit::detail {

template <class Affine>
struct RowStatesOf {
    using Type = Epilogue<Affine>;
};
template <>
struct RowStatesOf<void> {
    using Type = Epilogue<>;
};

/// Steps of a plan whose head is a RowOp, as backends call them. For every row of `count` values, a backend does the
/// following:
///   center = center_of(all values merged by merge_centers(), count), unless Op::center is none: then 0;
///   sum = sum of Op::term(value, center) over all values;
///   row = Op::finish(center, sum, count, args);
///   y = apply(value, row, at, state, args), for every value, with state = States::prepare(channel, state_args(args)).
template <class Op>
struct RowSteps {
    using Args = typename Op::Args;
    using States = typename RowStatesOf<typename Op::Affine>::Type;
    template <class V>
    using Row = typename Op::template Row<V>;

    static constexpr bool over_pixels = Op::over_pixels, has_center = Op::center != RowCenter::none,
                          centers_on_maximum = Op::center == RowCenter::maximum;

    FUSEKIT_HD static constexpr typename States::Args state_args([[maybe_unused]] Args const& args) {
        if constexpr (std::is_void_v<typename Op::Affine>) return {};
        else return {{args}};
    }

    /// Value that merge_centers() leaves unchanged in the other operand.
    template <class V>
    FUSEKIT_HD static constexpr V neutral_center() {
        if constexpr (centers_on_maximum) return V{} + math::detail::lowest<math::Scalar<V>>;
        else return V{};
    }
    template <class V>
    FUSEKIT_HD static constexpr V merge_centers(V a, V b) {
        if constexpr (centers_on_maximum) return math::select((a > b) | (a != a), a, b);
        else return a + b;
    }
    template <class V>
    FUSEKIT_HD static constexpr V center_of(V all_rows, V count) {
        if constexpr (centers_on_maximum) return all_rows;
        else return all_rows / count;
    }

    /// True if y can be computed from term(x), which then needs no second computation.
    static constexpr bool applies_to_terms =
        requires(float term, typename Op::template Row<float> row) { Op::apply_to_term(term, row); };

    /// is_term: `value` is term(x), else x.
    template <bool is_term = false, class V, class At, class State>
    FUSEKIT_HD static constexpr V apply(V value, Row<V> const& row, At const& at, State const& state,
                                        Args const& args) {
        if constexpr (is_term) return States::apply(Op::apply_to_term(value, row), at, state, state_args(args));
        else return States::apply(Op::apply(value, row), at, state, state_args(args));
    }
};

/// Rows of a tensor of these extents under a RowOp: row `index` is group `index % groups` of image index / groups or,
/// if not over_pixels, pixel `index` of all images.
template <class Op>
struct RowsOf {
    std::int64_t groups, channels, pixels;  ///< groups of an image; channels of a group; pixels of a row

    FUSEKIT_H constexpr RowsOf(typename Op::Args const& args, Index<4> const& shape)
        : groups(Op::groups(args, shape[1])),
          channels(groups > 0 ? shape[1] / groups : 0),
          pixels(Op::over_pixels ? shape[2] * shape[3] : 1) {}

    FUSEKIT_H constexpr std::int64_t values() const { return channels * pixels; }
    FUSEKIT_H constexpr std::int64_t count(Index<4> const& shape) const {
        return shape[0] * (Op::over_pixels ? groups : shape[2] * shape[3]);
    }
};

}  // namespace fusekit::detail
