// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/copy/grouped_halo.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Epilogue of a warp of a Grouped kernel: applies the operators to the accumulators of 16 columns of a row of y x 32
/// filters, and stores them. Lane l has filters 8 j + 2 (l % 4) and 8 j + 2 (l % 4) + 1 of N-block j, at columns l / 4
/// and l / 4 + 8. 16-bit results are transposed within each quad of lanes, so that a lane stores 8 contiguous channels;
/// if channels of y are not contiguous, a lane stores single elements, at the same columns of 8 pixels as other lanes.
template <class Plan, Element T, Element U>
class GroupedStore {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Params = ConvParams<Plan, T, U>;
    static constexpr int n_blocks = GroupedTile::unit / 8, strip = GroupedTile::strip;
    static constexpr bool exchanges = sizeof(U) == 2;

public:
    /// Prepared parameters of the CTA's filters, in SMEM: they would occupy a lane's registers in the mainloop.
    struct States {
        static constexpr int count = Epilogue::channelwise ? 2 * GroupedTile::unit : 1;
        Uninitialized<State> each[count];

        __device__ void prepare(Params const& the_params, int begin, unsigned thread) {
            if constexpr (Epilogue::channelwise) {
                if (thread < static_cast<unsigned>(count)) {
                    std::int64_t const k = begin + static_cast<int>(thread);
                    each[thread].value() = Epilogue::prepare(k < the_params.y.layout.shape[1] ? k : std::int64_t{0},
                                                             the_params.bound.epilogue);
                }
            }
        }
        __device__ State operator[](int i) const {
            if constexpr (Epilogue::channelwise) return *reinterpret_cast<State const*>(each[i].bytes);
            else return {};
        }
    };

    /// Prepared parameters of a lane's filters, in registers.
    struct LaneStates {
        State each[n_blocks][2];

        __device__ LaneStates(States const& from, int unit, unsigned lane) {
#pragma unroll
            for (int i = 0; i < n_blocks * 2; ++i)
                each[i / 2][i % 2] =
                    from[unit * GroupedTile::unit + 8 * (i / 2) + 2 * static_cast<int>(lane % 4) + i % 2];
        }
    };

    /// Epilogue of the 32 filters from filter 32 * `the_unit` of the CTA's tile on.
    __device__ GroupedStore(Params const& the_params, GroupedCoord const& the_tile, int the_unit, unsigned lane)
        : params(the_params),
          at(the_tile),
          quad_lane(static_cast<int>(lane % 4)),
          first(the_tile.k + the_unit * GroupedTile::unit),
          filters(static_cast<int>(the_params.y.layout.shape[1])) {}

    /// A lane's two pixels of a phase in the first row of a strip: columns `column` and `column` + 8, counted over all
    /// strips of the tile, which have `count` columns.
    struct Pixels {
        int n[2], p[2], q[2];
        int rows[2];  ///< rows of y from the pixel's row on; 0 if the pixel is out of bounds of y
        U* to[2];
    };
    __device__ Pixels pixels(int column, int count, PerMode<2> const& phase) const {
        Pixels result;
        Index<4> const &shape = params.y.layout.shape, &stride = params.y.layout.stride;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const i = column + 8 * half;
            GroupedTiles const& tiles = params.grouped;
            unsigned const number = tiles.columns.divide(static_cast<unsigned>(i));
            GroupedStrip const of(tiles, number);
            int const n = at.n + of.image, p = (at.p + of.strip * strip) * phases().h + phase.h,
                      q = (at.q + i - static_cast<int>(number * tiles.columns.value())) * phases().w + phase.w;
            bool const exists = i < count && n < static_cast<int>(shape[0]) && q < static_cast<int>(shape[3]);
            result.n[half] = n, result.p[half] = p, result.q[half] = q;
            result.rows[half] = exists ? static_cast<int>(shape[2]) - p : 0;
            result.to[half] = params.y.data + n * stride[0] + p * stride[2] + q * stride[3] + first * stride[1];
        }
        return result;
    }

    /// Applies the epilogue to row `m` of the strip and stores it, then advances `pixels` to the next row; called for
    /// rows in order.
    __device__ void store(float const (&acc)[n_blocks][4], LaneStates const& states, Pixels& pixels, int m) const {
        Index<4> const& stride = params.y.layout.stride;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const n = pixels.n[half], p = pixels.p[half] + m * phases().h, q = pixels.q[half];
            bool const exists = m * phases().h < pixels.rows[half];
            U* const to = pixels.to[half];
            pixels.to[half] += phases().h * stride[2];
            Packet<U, 2> values[n_blocks] = {};
            if (exists) {
                std::int64_t const pixel = p * stride[2] + q * stride[3];
#pragma unroll
                for (int j = 0; j < n_blocks; ++j) {
                    int const k = first + 8 * j + 2 * quad_lane;
                    if (first + 8 * j >= filters) continue;
                    auto const value = [&](int e) {
                        OffsetCoord const coord({n, k + e, p, q}, pixel + (k + e) * stride[1], stride);
                        return Epilogue::apply(acc[j][2 * half + e], coord, states.each[j][e], params.bound.epilogue);
                    };
                    float const even = value(0), odd = value(1);
                    if constexpr (exchanges) values[j] = config::bit_cast<Packet<U, 2>>(packed<U>(even, odd));
                    else values[j].values[0] = U(even), values[j].values[1] = U(odd);
                }
            }
            if (params.grouped.y_planes) {
#pragma unroll
                for (int i = 0; i < n_blocks * 2; ++i) {
                    int const k = 8 * (i / 2) + 2 * quad_lane + i % 2;
                    if (exists && first + k < filters) to[k * stride[1]] = values[i / 2].values[i % 2];
                }
            } else if constexpr (exchanges) {
                Packet<std::uint32_t, n_blocks> const words = transposed(values);
                int const k = 8 * quad_lane;
                if (exists && first + k < filters) *reinterpret_cast<Packet<std::uint32_t, n_blocks>*>(to + k) = words;
            } else {
                using Words = detail::RegistersFor<U, 2>;
#pragma unroll
                for (int j = 0; j < n_blocks; ++j) {
                    int const k = 8 * j + 2 * quad_lane;
                    if (exists && first + k < filters)
                        *reinterpret_cast<Words*>(to + k) = config::bit_cast<Words>(values[j]);
                }
            }
        }
    }

private:
    Params const& params;
    GroupedCoord const& at;
    int quad_lane, first, filters;

    __device__ PerMode<2> phases() const { return grouped_phases(Plan::Head::geometry(params.bound.head)); }

    /// Transposes four words in each of the four lanes of a quad.
    __device__ Packet<std::uint32_t, n_blocks> transposed(Packet<U, 2> const (&values)[n_blocks]) const {
        std::uint32_t w[n_blocks];
#pragma unroll
        for (int j = 0; j < n_blocks; ++j) w[j] = config::bit_cast<std::uint32_t>(values[j]);
        transpose_in_quad(w, static_cast<unsigned>(quad_lane));
        return {{w[0], w[1], w[2], w[3]}};
    }
};

}  // namespace fusekit::hip
