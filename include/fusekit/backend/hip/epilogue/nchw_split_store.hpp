// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/plane_grid.hpp"

namespace fusekit::hip {

/// Offsets in y of four consecutive columns (pixels) of an AccumulatorTile.
template <class Int>
struct PixelQuadOffsets {
    Int elements[4];  ///< in a channel of an image, in elements; -1 for a pixel out of bounds

    /// Stores the results of the four pixels to `plane`, a channel of an image of y: two at once if they are adjacent
    /// and aligned to 4 bytes. `pairs` has two 16-bit results per word.
    __device__ void store(std::uint32_t const (&pairs)[2], std::uint16_t* plane) const {
        for (int i = 0; i < 2; ++i) {
            Int const one = elements[2 * i], two = elements[2 * i + 1];
            if (one >= 0 && two == one + 1 && reinterpret_cast<std::uintptr_t>(plane + one) % 4 == 0) {
                *reinterpret_cast<std::uint32_t*>(plane + one) = pairs[i];
            } else {
                if (one >= 0) plane[one] = static_cast<std::uint16_t>(pairs[i]);
                if (two >= 0) plane[two] = static_cast<std::uint16_t>(pairs[i] >> 16);
            }
        }
    }
};

/// Epilogue and store to planes of y (NCHW) with split-K over a cluster. Each CTA stores its accumulators to an
/// AccumulatorTile in SMEM, with channels as rows and the output tile's pixels (plane_tiles.hpp) as columns. Each CTA
/// of the cluster then sums some of the channels over all CTAs and stores them to y. `consumers` warpgroups with 64
/// channels each call put() and store(); the CTA's other threads call attend_merge().
template <class Plan, class Grid, class Atom, class U, int parts, int products, int consumers>
class NchwSplitStore {
    static_assert(sizeof(U) == 2);
    using Tiles = typename Grid::Tiles;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Accumulators = typename Atom::Accumulators[parts * products];
    /// number of pixels per part of the tile (PlanePart: rows of an image)
    static constexpr int pixels = products * Atom::n;
    static constexpr int channels = consumers * Atom::m, threads = consumers * Atom::threads;

public:
    struct Shared {
        AccumulatorTile<channels, parts * pixels> tile;
        State states[Epilogue::channelwise ? channels : 1];
    };

    /// Stores a thread's accumulators to the CTA's AccumulatorTile. `group`: index of the thread's warpgroup among the
    /// consumers. `thread_of_group`: index of the thread in the warpgroup.
    __device__ static void put(Shared& shared, Accumulators const& acc, unsigned group, unsigned thread_of_group) {
        auto const thread = static_cast<int>(thread_of_group);
#pragma unroll
        for (int e = 0; e < Atom::acc_per_thread; e += 2) {
            auto* const row =
                reinterpret_cast<float*>(shared.tile.rows[static_cast<int>(group) * Atom::m + Atom::row(thread, e)]);
#pragma unroll
            for (int i = 0; i < parts * products; ++i)
                *reinterpret_cast<Packet<float, 2>*>(row + (i * Atom::n + Atom::column(thread, e))) = {acc[i][e],
                                                                                                       acc[i][e + 1]};
        }
    }

    /// Sums output tile `number` over the cluster, applies the epilogue to the rows (channels) that this CTA, of rank
    /// `rank`, sums, and stores them to y. All consumer threads, which `barrier` synchronizes, call it after put().
    template <class Params, class Barrier>
    __device__ static void store(Params const& params, Tiles const& tiles, Grid const& grid, Shared& shared,
                                 unsigned number, unsigned rank, unsigned thread, Barrier const& barrier) {
        store_quads(params, Quad(tiles, grid, number, first_column(thread)), grid.first_channel(number), shared, number,
                    rank, thread, barrier);
    }

    /// First of the four columns of the AccumulatorTile that a thread stores.
    __device__ static int first_column(unsigned thread) {
        return 4 * static_cast<int>(thread % AccumulatorTile<channels, parts * pixels>::row_packets);
    }
    /// store() of a tile whose first channel is `first`. `quad` has the offsets in y of the thread's four columns.
    template <class Params, class Columns, class Barrier>
    __device__ static void store_quads(Params const& params, Columns const& quad, int first, Shared& shared,
                                       unsigned number, unsigned rank, unsigned thread, Barrier const& barrier) {
        Index<4> const &shape = params.y.layout.shape, &stride = params.y.layout.stride;
        auto const& arguments = params.bound.epilogue;
        int const count = static_cast<int>(shape[1]) - first;
        if constexpr (Epilogue::channelwise) {
            for (int i = static_cast<int>(thread); i < channels; i += threads)
                shared.states[i] = Epilogue::prepare(std::int64_t{first} + (min)(i, count - 1), arguments);
        }
        U* const to = params.y.data + quad.image * stride[0] + std::int64_t{first} * stride[1];
        barrier();
        SplitKGroups const sharers{{}, params.split_k.count, 1};
        reduce_split_k_to<threads>(
            shared.tile, sharers, number, 0, rank, thread, barrier, [&](unsigned row, Packet<float, 4> const& acc) {
                auto const channel = static_cast<int>(row);
                if (channel >= count) return;
                State const state = Epilogue::channelwise ? shared.states[channel] : State{};
                std::uint32_t pairs[2];
                for (int i = 0; i < 2; ++i) {
                    float results[2];
                    for (int j = 0; j < 2; ++j)
                        results[j] = Epilogue::apply(acc.values[2 * i + j], OutputCoord{0, first + channel, 0, 0},
                                                     state, arguments);
                    pairs[i] = packed<U>(results[0], results[1]);
                }
                quad.store(pairs, reinterpret_cast<std::uint16_t*>(to + channel * stride[1]));
            });
        finish_split_k(sharers);
    }

private:
    /// Offsets of four columns of the AccumulatorTile, and the image of y that contains them.
    struct Quad : PixelQuadOffsets<int> {
        int image = 0;

        __device__ Quad(Tiles const& tiles, Grid const& grid, unsigned tile, int column) {
            PlanePart const part = grid.part(tile, column / pixels);
            int const width = tiles.y_width, rows = part.n < 0 ? 0 : (min)(tiles.rows, tiles.y_height - part.row);
            if (part.n >= 0) image = part.n;
            for (int j = 0; j < 4; ++j) {
                int const pixel = (column + j) % pixels, p = pixel / tiles.pitch, q = pixel % tiles.pitch;
                this->elements[j] = p < rows && q < width ? (part.row + p) * width + q : -1;
            }
        }
    };
};

}  // namespace fusekit::hip
