// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/plan/reduction.hpp"

namespace fusekit::hip {

/// Memory layout of the elements that are summed into one total, the sum of a channel or of a pixel. planes: a
/// channel's elements fill dense planes. columns: adjacent elements belong to different totals, and each total is of a
/// column of a matrix. any: any strides, one element at a time.
enum class Pattern { planes, columns, any };

/// Kernel argument of a plan that reduces. Work is divided into segments: a segment is one channel, or `width` packets
/// of adjacent matrix columns. A packet is a vector of adjacent elements that a thread loads at once.
template <class Plan, Element T, detail::OutputElement U = T>
struct ReductionParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    TensorView<T const> operand;
    GroupWorkspace workspace;
    bool by_columns;  ///< true if a segment is a range of columns, false if it is a channel
    ImageOrder order;  ///< order in which the columns, and the elements of an image, are numbered
    unsigned threads = 0;
    unsigned segments = 0;
    /// groups of CTAs (GridGroup) that run concurrently, each group on one segment at a time; and CTAs per group
    unsigned grid_groups = 0, group_size = 1;
    bool in_clusters = false;  ///< the CTAs of a group form a cluster, which exchanges totals through DSMEM
    unsigned width = 1;  ///< for columns: packets per row of a segment, a power of two; for channels 1
    unsigned columns = 0;  ///< for columns: packets per row of the whole tensor
    /// segments of columns: packets per column; segments of one channel: images, or with Pattern::any elements. If
    /// there are several slabs, the number in one slab
    unsigned steps = 0;
    /// number of slabs, ranges of images into which the batch is divided so that 32 bits count the steps of each range;
    /// a power of two
    unsigned slabs = 1;
    unsigned slab_images = 0, slab_parts = 1;
    std::int64_t count = 0;  ///< number of elements that each total sums
    /// groups: iterations of a thread's loop; an iteration loads `unroll` packets. part: iterations per part, if the
    /// sum is divided into several parts (PairwiseTotals)
    unsigned groups = 0, part = 0;
    /// packets[0]: number of packets that contain a plane which begins at the start of a packet; packets[1]: the
    /// largest number that contain any plane
    FastDivmod packets[2] = {};
};

/// Locates the elements of a segment that a thread sums; with Pattern::any, those in one slab (range of images).
template <class Plan, Element T, detail::OutputElement U, int lanes, Pattern pattern, bool may_have_slabs = false>
class ReductionSegment {
    static_assert(!may_have_slabs || pattern == Pattern::any);
    static constexpr bool per_pixel = detail::ReductionSteps<typename Plan::Head>::per_pixel;
    using Params = ReductionParams<Plan, T, U>;

public:
    /// number of totals that a thread accumulates: one per lane of a packet if each element is in another column
    static constexpr int totals = pattern == Pattern::columns ? lanes : 1;

    /// Offsets, in elements, of a packet in x, in y and in the operator's second tensor.
    struct PacketOffsets {
        std::int64_t x, y, operand;
        /// index of the packet's first element in its plane; elements of the packet before 0 or past the plane are
        /// skipped
        int first;
    };

    __device__ ReductionSegment(Params const& the_params, unsigned the_number, unsigned the_column,
                                unsigned the_slab = 0)
        : params(the_params), number(the_number), column(the_number * the_params.width + the_column) {
        Index<4> const& stride = the_params.y.layout.stride;
        if (pattern == Pattern::planes) {
            std::int64_t const begin = the_number * stride[1];
            lead = static_cast<int>(begin % lanes);
            base = begin - lead;
            packets =
                static_cast<unsigned>(lead) + the_params.order.plane.value() > the_params.packets[0].value() * lanes
                    ? the_params.packets[1]
                    : the_params.packets[0];
        } else {
            base = std::int64_t{this->column} * lanes;
        }
        if constexpr (may_have_slabs) slab = the_slab;
    }

    /// Number of packets of a segment of one channel, or per column of a segment of columns; 0 past the tensor's last
    /// column, because the last segment may be narrower.
    __device__ unsigned steps() const {
        unsigned of_segment = params.steps;
        if constexpr (may_have_slabs) {
            std::int64_t const remaining = params.y.layout.shape[0] - first_image();
            if (remaining < params.slab_images)
                of_segment = remaining < 0 ? 0 : static_cast<unsigned>(remaining) * steps_of_image();
        }
        if (pattern == Pattern::planes) return of_segment * packets.value();
        return !params.by_columns || column < params.columns ? of_segment : 0;
    }

    /// Locates packet number `step` of the segment. A packet may extend past either end of its plane, but never past
    /// the tensor.
    __device__ PacketOffsets locate(unsigned step) const {
        if constexpr (pattern == Pattern::any) {
            OutputCoord const at = coord(step, 0);
            auto const offset =
                // written out: a loop would index the argument at run time and copy it to local memory
                [&](Layout<4> const& layout) {
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
            return {at, at, at, i - lead};
        }
    }
    /// True if the elements of a plane are a whole number of packets.
    __device__ bool aligned() const {
        return pattern != Pattern::planes || params.packets[0].value() * lanes == params.order.plane.value();
    }
    __device__ bool whole(PacketOffsets const& packet) const {
        if constexpr (pattern != Pattern::planes) return true;
        // loaded before the test, so that it compiles to one branch
        int const plane = static_cast<int>(params.order.plane.value());
        return packet.first >= 0 && packet.first + lanes <= plane;
    }
    __device__ bool has(PacketOffsets const& packet, int lane) const {
        return pattern != Pattern::planes || static_cast<unsigned>(packet.first + lane) < params.order.plane.value();
    }
    /// Number of the packet's elements that are added to each total: those inside the plane.
    __device__ unsigned count(PacketOffsets const& packet) const {
        if (pattern != Pattern::planes) return 1;
        int const end = (min)(packet.first + lanes, static_cast<int>(params.order.plane.value()));
        return static_cast<unsigned>(end - (max)(packet.first, 0));
    }
    /// Offset in x of an element of the same total that is close to packet `step` in memory: the first element of the
    /// channel in the packet's image.
    __device__ std::int64_t value_of_image(unsigned step) const {
        return base + lead + packets.divide(step) * params.y.layout.stride[0];
    }

    /// Coordinate that the elements of the thread's total number `total` share; for a channel, the coordinate of its
    /// first element.
    __device__ OutputCoord first_coord(int total) const {
        if (pattern == Pattern::planes || (pattern == Pattern::any && !params.by_columns)) return {0, number, 0, 0};
        unsigned const index = column * lanes + static_cast<unsigned>(total);
        if constexpr (per_pixel) return params.order.coord(index);
        else return {0, index, 0, 0};
    }

    /// Coordinate of element `lane` of packet `step`.
    __device__ OutputCoord coord(unsigned step, int lane) const {
        OutputCoord at = first_coord(lane % totals);
        if constexpr (per_pixel) {
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
    std::int64_t base;  ///< offset of the segment's first element in the first image or row
    unsigned slab = 0;
    int lead = 0;  ///< elements of the channel's first packet that precede the plane
    FastDivmod packets = {};

    __device__ std::int64_t first_image() const { return may_have_slabs ? std::int64_t{slab} * params.slab_images : 0; }
    /// Steps (as params.steps counts them) in one image.
    __device__ unsigned steps_of_image() const { return per_pixel ? 1 : params.order.plane.value(); }
};

}  // namespace fusekit::hip
