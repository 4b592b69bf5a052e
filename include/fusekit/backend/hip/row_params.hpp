// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/rows.hpp"

namespace fusekit::hip {

/// Kernel argument of a plan whose head is a RowOp (mainloop/contiguous_rows.hpp, mainloop/pixel_rows.hpp). A packet is
/// a vector of consecutive elements of x and y.
template <class Plan, Element T, detail::OutputElement U>
struct RowParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    unsigned rows = 0;  ///< rows; in PixelRows, packets of pixels of an image
    /// divisors: rows per image, columns of y (Q); packets per line, and lines whose addresses are inner_stride apart.
    /// A row consists of lines of adjacent elements: the channels of a pixel, or the pixels of a channel.
    FastDivmod of_image = {}, columns = {}, of_line = {}, inner = {};
    unsigned packets = 0;  ///< packets per row
    unsigned channels = 0;  ///< channels per row
    float count = 0;  ///< values per row
    Index<2> x_line = {}, y_line = {};  ///< elements from one line to the next: outer and inner lines
    Index<2> x_row = {},
             y_row = {};  ///< elements from one row to the next: from pixel row to pixel row, or from group to group
    unsigned group = 1;  ///< threads per row, a power of two
    unsigned batches = 1;  ///< number of times that a thread loads all its registers to read a row
    bool shares_states = false;  ///< true if the CTA prepares the operators' parameters of all channels in SMEM
};

/// Parameters of the head's affine operator and of the epilogue, prepared for one channel, or for one channel and
/// pixel.
template <class Plan>
struct RowState {
    using Steps = detail::RowSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;

    typename Steps::States::PixelState head;
    typename Epilogue::PixelState epilogue;

    __device__ static RowState at(OutputCoord const& at, BoundPlan<Plan> const& bound) {
        return {Steps::States::prepare(at, Steps::state_args(bound.head)), Epilogue::prepare(at, bound.epilogue)};
    }
    /// True if a plan has no such parameters.
    static constexpr bool is_empty =
        std::is_empty_v<typename Steps::States::PixelState> && !Epilogue::channelwise && !Epilogue::per_pixel;
};

template <class Row>
__device__ Row const& row_of(Row const& row, int) {
    return row;
}
template <class Row, int lanes>
__device__ Row const& row_of(Row const (&rows)[lanes], int lane) {
    return rows[lane];
}

/// Applies the plan's operators to `lanes` adjacent normalized elements of y and stores them. at: their coordinates.
/// distance: offset in y of the first one, from its image. row: parameters of their row, or of the row of each of them.
/// state(lane) returns a RowState.
template <class Plan, int lanes, Element T, detail::OutputElement U, class Row, class State>
__device__ __forceinline__ void store_row_packet(RowParams<Plan, T, U> const& params, Packet<T, lanes> const& values,
                                                 Row const& row, OutputCoord const (&at)[lanes], std::int64_t distance,
                                                 std::int64_t offset, State const& state) {
    using Steps = detail::RowSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;
    constexpr int width = (min)(lanes, 4);
    Packet<U, lanes> results;
#pragma unroll
    for (int first = 0; first < lanes; first += width) {
        auto const coords = coords_of<U, Epilogue>(
            OffsetCoords<width>{at + first, distance + first, params.y.layout.stride}, params.bound.epilogue);
        float normalized[width];
        typename Epilogue::PixelState states[width];
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
            RowState<Plan> const own = state(first + lane);
            normalized[lane] = Steps::apply(static_cast<float>(values.values[first + lane]), row_of(row, first + lane),
                                            coords[lane], own.head, params.bound.head);
            states[lane] = own.epilogue;
        }
        if constexpr (Epilogue::stores) {
            Epilogue::apply_each(normalized, coords, states, params.bound.epilogue);
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane)
                normalized[lane] = Epilogue::apply(normalized[lane], coords[lane], states[lane], params.bound.epilogue);
        }
#pragma unroll
        for (int lane = 0; lane < width; ++lane) results.values[first + lane] = U(normalized[lane]);
    }
    if constexpr (Element<U>) store_once(reinterpret_cast<Packet<U, lanes>*>(params.y.data + offset), results);
}

}  // namespace fusekit::hip
