// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/gpu.hpp"

namespace test {

/// Stream with lowered limits of pixels, outputs and steps, so that small batches are split into slabs.
class LoweredLimits : public fk::hip::Directed<LoweredLimits> {
public:
    LoweredLimits(fk::hip::Stream const& the_stream, fk::hip::IndexLimits const& the_limits)
        : Directed(the_stream), limits(the_limits) {}

    /// Most slabs of a run so far.
    std::int64_t slabs() const { return most; }

    template <class BoundPlan, fk::Element T, fk::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fk::detail::ImageView<T const> const& x,
                 fk::detail::ImageView<U> const& y) const {
        using namespace fk::hip;
        using fk::detail::HeadKind;
        using Plan = typename BoundPlan::Plan;
        constexpr auto kind = Plan::head_kind;
        std::int64_t const images = y.layout.shape[0];
        if constexpr (kind == HeadKind::conv || kind == HeadKind::gemm)
            return counted(images,
                           prepare_conv(stream->gpu(), bound, x, y, stream->own_workspace_bytes(), nullptr, limits));
        else if constexpr (kind == HeadKind::weight_gradient)
            return counted(images,
                           prepare_weight_gradient(stream->gpu(), bound, x, y, stream->own_workspace_bytes(), limits));
        else if constexpr (kind == HeadKind::reduction)
            return counted(images, prepare_reduction(stream->gpu(), bound, x, y, limits));
        else if constexpr (Plan::pools) return counted(images, prepare_pooling(stream->gpu(), bound, x, y, limits));
        else return stream->prepare(bound, x, y);
    }

private:
    fk::hip::IndexLimits limits;
    mutable std::int64_t most = 1;

    template <class Launch>
    fk::Result<Launch> counted(std::int64_t images, fk::Result<Launch> launch) const {
        if (!launch) return launch;
        auto const& params = launch->params;
        std::int64_t count = 1;
        if constexpr (requires { params.slabs.images; })
            count = (images + params.slabs.images - 1) / params.slabs.images;
        else if constexpr (requires { params.slabs; }) count = params.slabs;
        else count = params.in_slabs ? 2 : 1;
        if (count > most) most = count;
        return launch;
    }
};

}  // namespace test
