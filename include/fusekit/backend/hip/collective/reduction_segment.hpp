// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/plan/reduction.hpp"

namespace fusekit::hip {

/// Memory layout of the elements that are reduced to one sum, that of a channel or of a pixel. planes: the elements
/// fill a dense H x W plane per image. columns: the tensor is a dense matrix, each sum is that of a column, and
/// adjacent elements belong to different columns. any: any strides; elements are loaded one at a time.
enum class Pattern { planes, columns, any };

/// Kernel argument of a plan that reduces. The work is divided into segments, which CTAs process one at a time: a
/// segment is one channel, or `width` packets of adjacent matrix columns. A packet is the vector of adjacent elements
/// that a thread loads at once.
template <class Plan, Element T, detail::OutputElement U = T>
struct ReductionParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    TensorView<T const> operand;
    GroupWorkspace workspace;
    /// true if a segment (the work of a CTA at a time) is a range of matrix columns, false if it is a channel
    bool by_columns;
    ImageOrder order;  ///< numbering of the matrix columns, and of the pixels of an image
    unsigned threads = 0;
    unsigned segments = 0;
    /// number of groups of CTAs (GridGroup) that run concurrently, each on one segment at a time; and number of CTAs
    /// per group
    unsigned grid_groups = 0, group_size = 1;
    bool in_clusters = false;  ///< true if the CTAs of a group form a cluster and exchange totals through DSMEM
    /// number of packets (vectors of adjacent elements) per row of a segment of matrix columns, a power of two; 1 for a
    /// segment that is a channel
    unsigned width = 1;
    unsigned width_log = 0, group_size_log = 0;  ///< with ClusterReducing: log2 of width and of group_size
    /// number of packets (vectors of adjacent elements) per row of the whole matrix; 0 for channels
    unsigned columns = 0;
    /// number of loop steps per segment (the work of a CTA at a time). For matrix columns: matrix rows. For a channel:
    /// images or, with Pattern::any, elements. With several slabs: the steps of one slab
    unsigned steps = 0;
    /// number of slabs, a power of two: ranges of images into which the batch is divided so that 32 bits can count the
    /// loop steps of each
    unsigned slabs = 1;
    unsigned slab_images = 0, slab_parts = 1;
    std::int64_t count = 0;  ///< number of elements of each sum
    /// groups: iterations of a thread's loop; an iteration loads `unroll` packets (vectors of adjacent elements).
    /// part: iterations per part, if the sum is divided into parts that are merged pairwise (PairwiseTotals)
    unsigned groups = 0, part = 0;
    /// number of packets (vectors of adjacent elements) that cover a plane: packets[0] if the plane begins at the start
    /// of a packet, packets[1] the largest number for any beginning
    FastDivmod packets[2] = {};
};

/// Maps a thread's loop steps to offsets and coordinates of the elements of one segment: a channel, or `width` packets
/// (vectors) of matrix columns. With slabs (Pattern::any only): the segment's elements in one slab, a range of images.
template <class Plan, Element T, detail::OutputElement U, int lanes, Pattern pattern, bool may_have_slabs = false>
class ReductionSegment {
    static_assert(!may_have_slabs || pattern == Pattern::any);
    static constexpr bool per_pixel = detail::ReductionSteps<typename Plan::Head>::per_pixel;
    using Params = ReductionParams<Plan, T, U>;

public:
    /// number of sums that a thread accumulates: for matrix columns one per element of the vectors that it loads,
    /// otherwise one
    static constexpr int totals = pattern == Pattern::columns ? lanes : 1;

    /// Offsets, in elements, of a packet (a vector that a thread loads at once) in x, in y and in the operators' second
    /// tensor.
    struct PacketOffsets {
        std::int64_t x, y, operand;
        /// index of the packet's first element in its H x W plane; negative if the packet begins before the plane.
        /// Elements outside the plane are skipped
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

    /// Returns the number of loop steps in this segment: for a channel its packets (vectors that a thread loads at
    /// once), for matrix columns the matrix rows, or 0 for columns past the matrix, because the last segment may be
    /// narrower.
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

    /// Returns the offsets of the packet (the vector that a thread loads at once) of loop step `step`. It may extend
    /// past either end of its H x W plane, but never past the tensor.
    __device__ PacketOffsets locate(unsigned step) const {
        if constexpr (pattern == Pattern::any) {
            OutputCoord const at = coord(step, 0);
            auto const offset =
                // written out: a loop would index the kernel argument at run time and copy it to local memory
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
    /// True if an H x W plane is a whole number of packets (vectors of `lanes` elements), so that all elements of a
    /// packet are in the plane.
    __device__ bool aligned() const {
        return pattern != Pattern::planes || params.packets[0].value() * lanes == params.order.plane.value();
    }
    __device__ bool whole(PacketOffsets const& packet) const {
        if constexpr (pattern != Pattern::planes) return true;
        // loaded before the test, so that the test compiles to one branch
        int const plane = static_cast<int>(params.order.plane.value());
        return packet.first >= 0 && packet.first + lanes <= plane;
    }
    __device__ bool has(PacketOffsets const& packet, int lane) const {
        return pattern != Pattern::planes || static_cast<unsigned>(packet.first + lane) < params.order.plane.value();
    }
    /// Returns the number of elements of a packet (the vector that a thread loads at once) that are added to each sum:
    /// for Pattern::planes those inside the plane, otherwise 1.
    __device__ unsigned count(PacketOffsets const& packet) const {
        if (pattern != Pattern::planes) return 1;
        int const end = (min)(packet.first + lanes, static_cast<int>(params.order.plane.value()));
        return static_cast<unsigned>(end - (max)(packet.first, 0));
    }
    /// For Pattern::planes: returns the offset in x, in elements, of the channel's first element in the image of loop
    /// step `step`: an element of the same sum that is close in memory.
    __device__ std::int64_t value_of_image(unsigned step) const {
        return base + lead + packets.divide(step) * params.y.layout.stride[0];
    }

    /// Returns the coordinate that all elements of the thread's sum number `total` share: the channel (with n, p, q
    /// zero) or the pixel.
    __device__ OutputCoord first_coord(int total) const {
        if (pattern == Pattern::planes || (pattern == Pattern::any && !params.by_columns)) return {0, number, 0, 0};
        unsigned const index = column * lanes + static_cast<unsigned>(total);
        if constexpr (per_pixel) return params.order.coord(index);
        else return {0, index, 0, 0};
    }

    /// Returns the coordinate in y of element `lane` of the packet (the vector that a thread loads at once) of loop
    /// step `step`.
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
    /// offset, in elements, of the first packet of the channel or of the columns, in the first image or matrix row
    std::int64_t base;
    unsigned slab = 0;
    /// number of elements before the plane in the channel's first packet (the vector that a thread loads at once)
    int lead = 0;
    FastDivmod packets = {};

    __device__ std::int64_t first_image() const { return may_have_slabs ? std::int64_t{slab} * params.slab_images : 0; }
    /// Number of loop steps per image (ReductionParams::steps).
    __device__ unsigned steps_of_image() const { return per_pixel ? 1 : params.order.plane.value(); }
};

}  // namespace fusekit::hip
