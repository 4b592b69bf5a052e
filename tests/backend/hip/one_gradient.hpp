// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "fusekit/hip.hpp"

namespace test {

/// Stream on which weight gradients run with the kernels of Kind: of each plan these are compiled, not all that the
/// library chooses from. A plan that they cannot compute is refused.
template <class Kind>
class OneGradient : public fusekit::hip::Directed<OneGradient<Kind>> {
public:
    explicit OneGradient(fusekit::hip::Stream const& stream) : fusekit::hip::Directed<OneGradient>(stream) {}

    template <class BoundPlan, fusekit::Element T, fusekit::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fusekit::detail::ImageView<T const> const& x,
                 fusekit::detail::ImageView<U> const& y) const {
        using Params = fusekit::hip::WeightGradientParams<typename BoundPlan::Plan, T, U>;
        using Prepared = fusekit::Result<fusekit::hip::Launch<Params>>;
        Params params{bound, fusekit::hip::detail::without_idle_strides(x), y};
        if constexpr (BoundPlan::Plan::Head::collapsed_space == 3)
            params.slices = fusekit::problem::slices_of<3>(x.from, bound.head.dy.from);
        auto const launch = Kind::prepare(this->stream->gpu(), params, this->stream->own_workspace_bytes());
        if (launch) return Prepared(*launch);
        return Prepared(fusekit::Error(fusekit::type_name<typename BoundPlan::Plan>(), "ConvWeightGradient", "",
                                       "a problem that the kernel of this test computes", "another"));
    }
};

struct StemGradient {
    static auto prepare(auto const&... arguments) { return fusekit::hip::detail::prepare_stem_gradient(arguments...); }
};

struct GroupedGradient {
    static auto prepare(auto const&... arguments) {
        return fusekit::hip::detail::prepare_grouped_gradient(arguments...);
    }
};

/// The kernels for sm_90a's tensor cores.
struct BulkGradient {
    static auto prepare(auto const&... arguments) { return fusekit::hip::prepare_bulk_weight_gradient(arguments...); }
};

/// WeightGradient, which computes gradients of any geometry and layout.
struct TiledGradient {
    template <class Params>
    static auto prepare(fusekit::hip::Gpu const& gpu, Params const& params, std::size_t workspace_bytes) {
        return fusekit::detail::Maybe<fusekit::hip::Launch<Params>>(
            fusekit::hip::detail::prepare_tiled_gradient(gpu, params, workspace_bytes).value());
    }
};

/// The kernels of depthwise convolutions.
struct DepthwiseGradient {
    template <class Params>
    static auto prepare(fusekit::hip::Gpu const& gpu, Params const& params, std::size_t workspace_bytes) {
        using Launched = fusekit::detail::Maybe<fusekit::hip::Launch<Params>>;
        if (!fusekit::hip::detail::runs_depthwise_gradient(params)) return Launched{};
        return Launched(fusekit::hip::detail::prepare_depthwise_gradient(gpu, params, workspace_bytes).value());
    }
};

}  // namespace test
