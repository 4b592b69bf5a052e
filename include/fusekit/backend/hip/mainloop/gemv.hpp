// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/atom/native.hpp"
#include "fusekit/backend/hip/collective/gemv_columns.hpp"
#include "fusekit/backend/hip/collective/gemv_fma.hpp"
#include "fusekit/backend/hip/collective/gemv_mma.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Product with few rows (schedule/gemv.hpp): y[m, k] = epilogue(sum over c of w[k, c] x[m, c]), where m counts the
/// pixels of y. Each warp sums a range of C for its filters and stores the sums to shared memory; then each thread adds
/// those of one output in the order of the ranges, and applies the epilogue.
template <class Plan, class Schedule, Element T, Element U>
class GemvConv {
    using Epilogue = typename Plan::Epilogue;
    using Weight = typename Plan::Head::template WeightElement<T>;
    using Sum = detail::AccumulatorOf<T>;
    FUSEKIT_H static consteval bool is_by_mma() {
        if constexpr (!std::is_same_v<T, Weight> || sizeof(T) > 2) return false;
        else return std::is_same_v<typename detail::NativeUnit<T, arch::Target>::Type, MmaSync<T>>;
    }
    static constexpr bool transposed = has_transposed_conv<Plan>;
    FUSEKIT_H static consteval auto sums() {
        if constexpr (transposed) return std::type_identity<GemvColumns<T>>{};
        else if constexpr (is_by_mma()) return std::type_identity<GemvMma<T>>{};
        else return std::type_identity<GemvFma<T, Weight>>{};
    }
    using Sums = typename decltype(sums())::type;

    /// floats per row of partial sums: 4 floats of padding, so that the lanes of an MMA fragment store to different
    /// banks
    static constexpr int pitch = GemvTiles::warp_filters + 4;

public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true;
    using Params = ConvParams<Plan, T, U>;
    using Architecture = std::conditional_t<transposed, arch::Sm90a, arch::Any>;
    struct Shared {
        Sum partial[GemvTiles::warps][GemvTiles::max_rows][pitch];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        // the thread's output, then every `threads`-th
        Outputs outputs(params, thread, block);
        wait_for_previous_kernel();
        start_next_kernel();
        State state;
        sum(params, shared, outputs, thread, [&] { state = outputs.prepare(reload(params)); });
        __syncthreads();
        Params const& own = reload(params);
        while (outputs.exist()) {
            outputs.store(own, shared, state);
            outputs.advance(own.gemv);
            if (outputs.exist()) state = outputs.prepare(own);
        }
    }

private:
    using State = typename Epilogue::template State<float>;

    /// A thread's outputs in its CTA's tile; `number` counts them, filters fastest, then rows of x.
    struct Outputs {
        int first_k, first_m, rows, number, count;

        __device__ Outputs(Params const& params, unsigned thread, unsigned block) : number(static_cast<int>(thread)) {
            GemvTiles const& tiles = params.gemv;
            auto const column = static_cast<int>(tiles.row_tiles.divide(block));
            first_k = column << tiles.filter_bits;
            first_m = (static_cast<int>(block) - column * static_cast<int>(tiles.row_tiles.value())) * tiles.rows;
            rows = (min)(params.problem().gemm_m() - first_m, tiles.rows);
            count = rows << tiles.filter_bits;
        }
        __device__ bool exist() const { return number < count; }
        __device__ void advance(GemvTiles const& tiles) { number += tiles.threads(); }
        __device__ int filter(GemvTiles const& tiles) const { return number & (tiles.filters() - 1); }

        __device__ State prepare(Params const& params) const {
            int const last = static_cast<int>(params.y.layout.shape[1]) - 1;
            return Epilogue::prepare(std::int64_t{(min)(first_k + filter(params.gemv), last)}, params.bound.epilogue);
        }
        __device__ void store(Params const& params, Shared const& shared, State const& state) const {
            GemvTiles const& tiles = params.gemv;
            Layout<4> const& y = params.y.layout;
            int const f = filter(tiles), k = first_k + f, m = number >> tiles.filter_bits;
            if (k >= static_cast<int>(y.shape[1])) return;
            Sum sum = 0;
            for (int i = 0; i < tiles.splits; ++i)
                sum += shared.partial[i * tiles.groups + (f >> tiles.warp_bits)][m][f & ((1 << tiles.warp_bits) - 1)];
            Pixel const at = pixel_of(params.problem(), first_m + m);
            ThreadCoord const coord({at.n, k, at.p, at.q});
            params.y(at.n, k, at.p, at.q) =
                U(Epilogue::apply(static_cast<float>(sum), coord, state, params.bound.epilogue));
        }
    };

    /// Stores each warp's sums to shared memory. Calls prepare() while the warp's first loads are in flight.
    template <class Prepare>
    __device__ static void sum(Params const& params, Shared& shared, Outputs const& outputs, unsigned thread,
                               Prepare const& prepare) {
        GemvTiles const& tiles = params.gemv;
        auto const conv = params.problem();
        unsigned const warp = thread / 32, groups = static_cast<unsigned>(tiles.groups),
                       split = tiles.groups == 1 ? warp : warp / groups, group = warp - split * groups;
        auto const channels = static_cast<unsigned>(conv.group_c()), steps = (channels + Sums::step - 1) / Sums::step,
                   splits = static_cast<unsigned>(tiles.splits), of_part = (steps + splits - 1) / splits,
                   begin = split * of_part * Sums::step, end = begin + of_part * Sums::step;
        int const k = outputs.first_k + static_cast<int>(group << tiles.warp_bits);
        GemvPart const part = {k,
                               (min)(static_cast<int>(conv.y[1]) - k, 1 << tiles.warp_bits),
                               outputs.first_m,
                               outputs.rows,
                               begin,
                               end < channels ? end : channels,
                               of_part};
        Sums::sum(
            part, tiles, Rows<decltype(conv)>{conv}, thread % 32,
            [&](int m, int f) -> Sum& { return shared.partial[warp][m][f]; }, prepare);
    }

    template <class Conv>
    __device__ static Pixel pixel_of(Conv const& conv, int m) {
        return conv.y[2] * conv.y[3] == 1 ? Pixel{m, 0, 0} : conv.existing_pixel(m);
    }

    /// Addresses of filter k and of the element of x that pixel m of y reads.
    template <class Conv>
    struct Rows {
        Conv const& conv;

        __device__ Weight const* filter(int k) const { return conv.w.data + k * conv.w.layout.stride[0]; }
        /// elements from a filter, or from a channel of the filters, to the next
        __device__ std::int64_t filter_stride() const { return conv.w.layout.stride[0]; }
        __device__ std::int64_t channel_stride() const { return conv.w.layout.stride[1]; }
        __device__ T const* pixel(int m) const { return conv.template input_row<false>(pixel_of(conv, m), 0).first; }
    };
};

}  // namespace fusekit::hip
