// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/rows.hpp"

namespace fusekit::hip {

/// Kernel argument of a plan whose head is a RowOp (mainloop/contiguous_rows.hpp, mainloop/pixel_rows.hpp). A packet is
/// a vector of consecutive elements of x and y. A row consists of lines of adjacent elements: the channels of a pixel,
/// or the pixels of a channel.
template <class Plan, Element T, detail::OutputElement U>
struct RowParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    unsigned rows = 0;  ///< rows; in PixelRows, packets of pixels of an image; in ImageRows, images
    /// divisors: rows of an image (in PixelRows, CTAs of an image), columns of y (Q), packets of a line, and inner
    /// lines of an outer one
    FastDivmod of_image = {}, columns = {}, of_line = {}, inner = {};
    unsigned packets = 0;  ///< packets of a row
    unsigned channels = 0;  ///< channels of a row
    float count = 0;  ///< values of a row
    /// elements from one line to the next: between outer and between inner lines
    Index<2> x_line = {}, y_line = {};
    /// elements from one row to the next: between pixels' rows and columns, or between groups of channels
    Index<2> x_row = {}, y_row = {};
    unsigned group = 1;  ///< threads of a CTA that reduce a row, a power of two
    unsigned batches = 1;  ///< number of times that a thread loads all its registers to read a row
    /// CTAs that reduce a row, a power of two; above 1, `group` is all threads of a CTA; in ImageRows, any number of
    /// CTAs that reduce the rows of an image
    unsigned cluster = 1;
    GroupWorkspace workspace = {};  ///< of ImageRows
};

/// True if the head's affine operator loads the parameters of a packet of channels at once.
template <class Op>
concept PreparesPackets = requires { Op::Affine::template has_packets<4>(std::declval<typename Op::Args const&>()); };

template <class Row>
__device__ Row const& row_of(Row const& row, int) {
    return row;
}
template <class Row, int lanes>
__device__ Row const& row_of(Row const (&rows)[lanes], int lane) {
    return rows[lane];
}

/// Loads the tensor that the epilogue's one reading operator reads at these coordinates.
template <bool along_channels, class U, class Epilogue, int width>
__device__ LoadedCoords<width> loaded_coords(OffsetCoords<width> const& coords, std::int64_t columns,
                                             typename Epilogue::Args const& args) {
    LoadedCoords<width> result{coords, {}};
    OutputCoord at[width];
#pragma unroll
    for (int lane = 0; lane < width; ++lane) at[lane] = coords.at[lane];
    AnyView<4> const& view = Epilogue::read_view(args);
    ViewPacket<width, width>(view, at, along_channels, columns)
        .template load<U, false>(view, at[0].n, 0, along_channels, [&](int lane) { return at[lane]; }, result.values);
    return result;
}

/// Applies the prologue to `lanes` adjacent elements of x and rounds them to x's type; its operators store values only
/// if `stores`. Arguments as of store_row_packet().
template <bool along_channels, bool stores, class Plan, int lanes, Element T, detail::OutputElement U>
__device__ __forceinline__ void apply_row_prologue(RowParams<Plan, T, U> const& params, Packet<T, lanes>& packet,
                                                   OutputCoord const (&at)[lanes], std::int64_t distance) {
    using Prologue = typename Plan::Prologue;
    constexpr int width = (min)(lanes, 4);
    auto const& args = params.bound.prologue;
#pragma unroll
    for (int first = 0; first < lanes; first += width) {
        OffsetCoords<width> const plain{at + first, distance + first, params.y.layout.stride};
        auto const coords = [&] {
            if constexpr (!Prologue::reads_one_view || width == 1) return plain;
            else return loaded_coords<along_channels, T, Prologue>(plain, params.columns.value(), args);
        }();
        typename Prologue::PixelState states[width];
        float values[width];
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
            states[lane] = !along_channels && lane > 0 && !Prologue::per_pixel
                               ? states[0]
                               : Prologue::prepare(at[first + lane], args);
            values[lane] = static_cast<float>(packet.values[first + lane]);
        }
        if constexpr (stores && Prologue::stores) {
            Prologue::apply_each(values, coords, states, args);
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane)
                values[lane] =
                    Prologue::template apply_first<Prologue::size>(values[lane], coords[lane], states[lane], args);
        }
#pragma unroll
        for (int lane = 0; lane < width; ++lane) packet.values[first + lane] = T(values[lane]);
    }
}

/// Applies the plan's operators to `lanes` adjacent normalized elements of y and stores them. at: their coordinates;
/// `along_channels`: of adjacent channels, else of one channel. distance: offset in y of the first one, from its image.
/// row: parameters of their row, or of the row of each of them.
template <bool along_channels, class Plan, int lanes, bool are_terms = false, Element T, detail::OutputElement U,
          class V, class Row>
__device__ __forceinline__ void store_row_packet(RowParams<Plan, T, U> const& params, Packet<V, lanes> const& values,
                                                 Row const& row, OutputCoord const (&at)[lanes], std::int64_t distance,
                                                 std::int64_t offset) {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename Plan::Epilogue;
    constexpr int width = (min)(lanes, 4);
    constexpr bool by_packet = along_channels && width > 1 && PreparesPackets<Op>,
                   reads_packets = Epilogue::reads_one_view && width > 1;
    auto const& bound = params.bound;
    Packet<U, lanes> results;
#pragma unroll
    for (int first = 0; first < lanes; first += width) {
        OffsetCoords<width> const plain{at + first, distance + first, params.y.layout.stride};
        auto const coords = [&] {
            if constexpr (!reads_packets) return plain;
            else return loaded_coords<along_channels, U, Epilogue>(plain, params.columns.value(), bound.epilogue);
        }();
        typename Steps::States::PixelState heads[width];
        typename Epilogue::PixelState states[width];
        if constexpr (by_packet) {
            typename Op::Affine::template Prepared<float> prepared[width];
            Op::Affine::template prepare_packet<width>(at[first].k, bound.head, prepared);
#pragma unroll
            for (int lane = 0; lane < width; ++lane) heads[lane] = {{prepared[lane]}};
        }
#pragma unroll
        for (int lane = 0; lane < width; ++lane) {
            bool const repeats =
                !along_channels && lane > 0;  // elements of one channel have the parameters of the first
            if constexpr (!by_packet)
                heads[lane] =
                    repeats ? heads[0] : Steps::States::prepare(at[first + lane], Steps::state_args(bound.head));
            states[lane] =
                repeats && !Epilogue::per_pixel ? states[0] : Epilogue::prepare(at[first + lane], bound.epilogue);
        }
        float normalized[width];
#pragma unroll
        for (int lane = 0; lane < width; ++lane)
            normalized[lane] =
                Steps::template apply<are_terms>(static_cast<float>(values.values[first + lane]),
                                                 row_of(row, first + lane), coords[lane], heads[lane], bound.head);
        if constexpr (Epilogue::stores) {
            Epilogue::apply_each(normalized, coords, states, bound.epilogue);
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane)
                normalized[lane] = Epilogue::apply(normalized[lane], coords[lane], states[lane], bound.epilogue);
        }
        if constexpr (sizeof(U) == 2 && width % 2 == 0) {
#pragma unroll
            for (int lane = 0; lane < width; lane += 2) {
                auto const pair = config::bit_cast<Packet<U, 2>>(packed<U>(normalized[lane], normalized[lane + 1]));
                results.values[first + lane] = pair.values[0], results.values[first + lane + 1] = pair.values[1];
            }
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane) results.values[first + lane] = U(normalized[lane]);
        }
    }
    if constexpr (Element<U>) store_once(reinterpret_cast<Packet<U, lanes>*>(params.y.data + offset), results);
}

}  // namespace fusekit::hip
