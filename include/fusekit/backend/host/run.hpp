// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::host {

template <class Bound, Element T>
void Device::run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    using Plan = typename Bound::Plan;
    using Epilogue = typename Plan::Epilogue;
    Turn turn(*this);
    Index<4> const s = y.layout.shape;
    turn.parallel_for(s[0] * s[1], [&](std::int64_t item, int) {
        std::int64_t const n = item / s[1], k = item % s[1];
        auto const state = Epilogue::template prepare<float>(k, 0, 1, bound.epilogue);
        for (std::int64_t p = 0; p < s[2]; ++p)
            for (std::int64_t q = 0; q < s[3]; ++q) {
                float sum = 0;
                if constexpr (Plan::has_conv) {
                    auto const& w = bound.head.weights;
                    auto const f = Plan::Head::geometry(bound.head);
                    std::int64_t const c0 = k / (s[1] / f.group_count) * w.layout.shape[1];
                    for (std::int64_t c = 0; c < w.layout.shape[1]; ++c)
                        for (int r = 0; r < f.size[0]; ++r)
                            for (int t = 0; t < f.size[1]; ++t) {
                                std::int64_t const h = p * f.step[0] - f.before[0] + r * f.spread[0], v = q * f.step[1] - f.before[1] + t * f.spread[1];
                                if (h >= 0 && h < x.layout.shape[2] && v >= 0 && v < x.layout.shape[3])
                                    sum += float(x(n, c0 + c, h, v)) * w.load(w.layout.offset({{k, c, r, t}}));
                            }
                } else sum = x(n, k, p, q);
                y(n, k, p, q) = T(Epilogue::apply(sum, OutputCoord{n, k, p, q}, state, bound.epilogue));
            }
    });
}

}  // namespace fusekit::host
