// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/plan/reduction.hpp"

namespace fusekit::hip {

/// How the values that share a total lie in memory. Planes: the values of a channel fill planes without gaps. Columns:
/// neighbours in memory belong to different totals, and each total runs down a column. Any: one element at a time, at
/// any strides.
enum class Pattern { planes, columns, any };

/// What the kernel of a plan that reduces is given. A segment is a channel, or `width` packets of columns.
template <class Plan, Element T, detail::OutputElement U = T>
struct ReductionParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    TensorView<T const> operand;
    GroupWorkspace workspace;
    bool by_columns;   ///< whether a segment is columns
    ImageOrder order;  ///< the order of columns
    unsigned threads = 0;
    unsigned segments = 0;
    unsigned grid_groups = 0, group_size = 1;  ///< groups, each on one segment at a time; blocks of a group
    unsigned width = 1;  ///< packets side by side in a segment, a power of two; 1 for channels
    unsigned columns = 0;  ///< packets side by side in the tensor
    unsigned steps = 0;  ///< packets one after another in a segment of columns, else images; of a slab
    unsigned slabs = 1;  ///< of images, a power of two; 32 bits count the steps of each
    unsigned slab_images = 0, slab_parts = 1;
    std::int64_t count = 0;  ///< elements of a total
    unsigned groups = 0, part = 0;  ///< groups of loads of a thread; and of a part, if there are several
    FastDivmod packets[2] = {};  ///< packets that a plane reaches into, at least and at most
};

/// Where a thread of a grid group finds its values of one segment, or, of Pattern::any, of a slab of it.
template <class Plan, Element T, detail::OutputElement U, int lanes, Pattern pattern, bool may_have_slabs = false>
class ReductionSegment {
    static_assert(!may_have_slabs || pattern == Pattern::any);
    static constexpr bool per_place = detail::ReductionSteps<typename Plan::Head>::per_place;
    using Params = ReductionParams<Plan, T, U>;

public:
    /// Totals that a thread has.
    static constexpr int totals = pattern == Pattern::columns ? lanes : 1;

    /// Where a packet of neighbours lies, in elements.
    struct PacketOffsets {
        std::int64_t x, y, operand;
        int first;  ///< where the packet's first element lies in its plane; outside it, elements are not the plane's
    };

    __device__ ReductionSegment(Params const& the_params, unsigned the_number, unsigned the_column,
                                unsigned the_slab = 0)
        : params(the_params), number(the_number), column(the_number * the_params.width + the_column) {
        Index<4> const& stride = the_params.y.layout.stride;
        if (pattern == Pattern::planes) {
            std::int64_t const begin = the_number * stride[1];
            before = static_cast<int>(begin % lanes);
            base = begin - before;
            packets =
                static_cast<unsigned>(before) + the_params.order.plane.value() > the_params.packets[0].value() * lanes
                    ? the_params.packets[1]
                    : the_params.packets[0];
        } else {
            base = std::int64_t{this->column} * lanes;
        }
        if constexpr (may_have_slabs) slab = the_slab;
    }

    /// The number of packets; 0 for a column past the tensor's last, because the last segment may have fewer columns.
    __device__ unsigned steps() const {
        unsigned of_segment = params.steps;
        if constexpr (may_have_slabs) {
            std::int64_t const left = params.y.layout.shape[0] - first_image();
            if (left < params.slab_images) of_segment = left < 0 ? 0 : static_cast<unsigned>(left) * steps_of_image();
        }
        if (pattern == Pattern::planes) return of_segment * packets.value();
        return !params.by_columns || column < params.columns ? of_segment : 0;
    }

    /// A packet that is not whole reaches over an end of its plane, but never over an end of the tensor.
    __device__ PacketOffsets locate(unsigned step) const {
        if constexpr (pattern == Pattern::any) {
            OutputCoord const at = place(step, 0);
            auto const offset =
                [&](Layout<4> const& layout) {  // spelled out, so that no argument is indexed at run time
                    std::int64_t const* const stride = layout.stride.values;
                    return at.n * stride[0] + at.k * stride[1] + at.p * stride[2] + at.q * stride[3];
                };
            return {offset(params.x.layout), offset(params.y.layout), offset(params.operand.layout), 0};
        } else if constexpr (pattern == Pattern::columns) {
            std::int64_t const at = base + std::int64_t{step} * (params.columns * lanes);
            return {at, at, at, 0};
        } else {
            unsigned const image = packets.divide(step);
            int const i = static_cast<int>(step - image * packets.value()) * lanes;
            std::int64_t const at = base + image * params.y.layout.stride[0] + i;
            return {at, at, at, i - before};
        }
    }
    /// Whether all packets are whole.
    __device__ bool aligned() const {
        return pattern != Pattern::planes || params.packets[0].value() * lanes == params.order.plane.value();
    }
    __device__ bool whole(PacketOffsets const& packet) const {
        if constexpr (pattern != Pattern::planes) return true;
        int const plane = static_cast<int>(params.order.plane.value());  // read early: one branch, not two
        return packet.first >= 0 && packet.first + lanes <= plane;
    }
    __device__ bool has(PacketOffsets const& packet, int lane) const {
        return pattern != Pattern::planes || static_cast<unsigned>(packet.first + lane) < params.order.plane.value();
    }
    /// How many of a packet's elements each total has.
    __device__ unsigned count(PacketOffsets const& packet) const {
        if (pattern != Pattern::planes) return 1;
        int const end = (min)(packet.first + lanes, static_cast<int>(params.order.plane.value()));
        return static_cast<unsigned>(end - (max)(packet.first, 0));
    }
    /// The offset of one value of the total, near a step: the first of the step's image.
    __device__ std::int64_t value_near(unsigned step) const {
        return base + before + packets.divide(step) * params.y.layout.stride[0];
    }

    /// The place that the elements of a total share, or the place of the first.
    __device__ OutputCoord first_place(int total) const {
        if (pattern == Pattern::planes || (pattern == Pattern::any && !params.by_columns)) return {0, number, 0, 0};
        unsigned const index = column * lanes + static_cast<unsigned>(total);
        if constexpr (per_place) return params.order.place(index);
        else return {0, index, 0, 0};
    }

    /// The place of an element.
    __device__ OutputCoord place(unsigned step, int lane) const {
        OutputCoord at = first_place(lane % totals);
        if constexpr (per_place) {
            at.n = first_image() + step;
        } else {
            unsigned image = params.order.plane.divide(step), pixel = step - image * params.order.plane.value();
            if constexpr (pattern == Pattern::planes) {
                image = packets.divide(step);
                pixel = static_cast<unsigned>(locate(step).first + lane);
            }
            at.n = first_image() + image;
            at.p = params.order.columns.divide(pixel);
            at.q = pixel - at.p * params.order.columns.value();
        }
        return at;
    }

private:
    Params const& params;
    unsigned const number, column;
    std::int64_t base;  ///< the offset in the first image, or row
    unsigned slab = 0;
    int before = 0;  ///< elements of the first packet that lie before the plane
    FastDivmod packets = {};

    __device__ std::int64_t first_image() const { return may_have_slabs ? std::int64_t{slab} * params.slab_images : 0; }
    /// Of an image, that params.steps counts.
    __device__ unsigned steps_of_image() const { return per_place ? 1 : params.order.plane.value(); }
};

}  // namespace fusekit::hip
