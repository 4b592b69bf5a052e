// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/image_packet_params.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"
#include "fusekit/plan/pairwise.hpp"

namespace fusekit::hip {

/// Pooling over the windows of a filter, in a plan without a Conv. A thread computes `lanes` outputs of adjacent
/// channels, which are contiguous in x and y, or one output. Consecutive threads compute adjacent channels or adjacent
/// columns of y. A pixel that several windows read is loaded (from cache) for each window, and the operators are
/// applied each time.
///
/// Every load is in bounds: an index in the padding is clamped to the edge of x, which is in the same window because
/// the padding is smaller than the window. So no load depends on a branch.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class WindowPooling {
    using Epilogue = typename Plan::Epilogue;
    using Pool = typename Plan::Pool;
    using Reduce = typename Pool::Reduce;
    static constexpr Filter<2> window = Pool::geometry;
    static constexpr bool padded = window.pad(0) != window || Pool::rounds_up;
    static constexpr bool writes_taps = Pool::writes_taps;
    /// True if vectors in the padding are masked to zero: Reduce adds values, and no operator precedes the Pool.
    static constexpr bool masks =
        !Reduce::may_repeat && Epilogue::size == 1 && sizeof(Packet<T, lanes>) % sizeof(unsigned) == 0;
    static constexpr std::int64_t taps = std::int64_t{window.size.h} * window.size.w;
    /// Number of a window's rows, and of its columns, whose loads are in flight at once.
    static constexpr int rows_at_once = taps <= 16 ? window.size.h : 1;
    static constexpr int columns_at_once = window.size.w <= 16 ? window.size.w : 4;

public:
    static constexpr int threads = 256, blocks = 4;
    using Params = ImagePacketParams<Plan, T, U>;
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        Slabs::Start const start = params.slabs.of(block);
        unsigned const packet = (block - start.block) * threads + thread;
        if (packet >= params.packets) return;
        unsigned const output = packet * lanes, in_slab = params.image.divide(output);
        OutputCoord to = params.order.coord(output - in_slab * params.image.value());
        std::int64_t const n = std::int64_t{start.image} + in_slab;
        if (n >= params.y.layout.shape[0]) return;
        to.n = n;
        decltype(Epilogue::prepare(to.k, params.bound.epilogue)) state[lanes];
        float total[lanes];
        detail::TappedMaximum<float> maximum[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            state[lane] = Epilogue::prepare(to.k + lane, params.bound.epilogue);
            total[lane] = Reduce::template neutral<float>();
        }
#pragma unroll rows_at_once
        for (int i = 0; i < window.size.h; ++i) {
            Tap const row = index(params, 0, to.p, i);
            float of_row[lanes];
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                of_row[lane] = in_rows ? Reduce::template neutral<float>() : total[lane];
#pragma unroll columns_at_once
            for (int j = 0; j < window.size.w; ++j) {
                Tap const column = index(params, 1, to.q, j);
                bool const is_inside = row.is_inside && column.is_inside;
                auto const values = masked(
                    *reinterpret_cast<Packet<T, lanes> const*>(&params.x(n, to.k, row.at, column.at)), is_inside);
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) {
                    ThreadCoord const from({n, to.k + lane, row.at, column.at});
                    float const value = Epilogue::apply(static_cast<float>(values.values[lane]), from, state[lane],
                                                        params.bound.epilogue);
                    if constexpr (writes_taps) {
                        if (is_inside) maximum[lane].add(value, i * window.size.w + j);
                        continue;
                    }
                    float const sum = Reduce::combine(of_row[lane], value);
                    of_row[lane] = Reduce::may_repeat || masks || is_inside ? sum : of_row[lane];
                }
            }
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                total[lane] = in_rows ? Reduce::combine(total[lane], of_row[lane]) : of_row[lane];
        }
        if constexpr (writes_taps) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                total[lane] = maximum[lane].value;
                Pool::store_tap(detail::get<Epilogue::size - 1>(params.bound.epilogue), {{n, to.k + lane, to.p, to.q}},
                                maximum[lane].tap);
            }
        }
        std::int64_t const count = Pool::window(params.x.layout.shape, to.p, to.q).count();
        Packet<U, lanes> result;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) result.values[lane] = U(Reduce::finish(total[lane], count));
        if constexpr (Element<U>) *reinterpret_cast<Packet<U, lanes>*>(&params.y(n, to.k, to.p, to.q)) = result;
    }

private:
    /// True if each window row is reduced first, and then the rows: for large windows, so that rounding errors grow
    /// with rows + columns instead of rows * columns.
    static constexpr bool in_rows = taps > detail::addends;

    /// Returns the vector or, if `masks` and the vector is in the padding, zeros.
    __device__ static Packet<T, lanes> masked(Packet<T, lanes> const& values, [[maybe_unused]] bool is_inside) {
        if constexpr (masks) {
            struct Words {
                unsigned word[sizeof(values) / sizeof(unsigned)];
            };
            auto words = config::bit_cast<Words>(values);
            unsigned const mask = is_inside ? ~0u : 0;
#pragma unroll
            for (unsigned& word : words.word) word &= mask;
            return config::bit_cast<Packet<T, lanes>>(words);
        } else {
            return values;
        }
    }

    /// Row or column index in x that a tap reads, clamped to x (`at`), and true if the unclamped index is inside x
    /// (`is_inside`).
    struct Tap {
        std::int64_t at;
        bool is_inside;
    };
    __device__ static Tap index(Params const& params, int mode, std::int64_t output, int tap) {
        constexpr Filter<2> f = window;
        std::int64_t const at = output * f.strides[mode] - f.pad_before[mode] + tap,
                           last = params.x.layout.shape[2 + mode] - 1;
        if (!padded) return {at, true};
        return {at < 0 ? 0 : at > last ? last : at, at >= 0 && at <= last};
    }
};

}  // namespace fusekit::hip
