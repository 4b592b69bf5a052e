// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::detail {

/// Function object that loads single elements of x, converted to V, for a GatherOp. where(): the element or, if its tap
/// is another, 0.
template <class V, class T = V>
struct LoadElement {
    using Value = V;
    TensorView<T const> const& x;

    FUSEKIT_HD constexpr V operator()(OutputCoord const& from) const {
        return static_cast<V>(x(from.n, from.k, from.p, from.q));
    }
    FUSEKIT_HD constexpr V where(TensorView<int8 const, 4> const& taps, OutputCoord const& from, int tap) const {
        return taps(from.n, from.k, from.p, from.q).value == tap ? (*this)(from) : V{};
    }
};

}  // namespace fusekit::detail
