// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/row_params.hpp"

namespace fusekit::hip {

/// Plan whose head is a RowOp over the channels of a pixel, with channels that are not contiguous (NCHW): a thread has
/// a packet of adjacent pixels, each a row, and one in `slices` of their channels. A CTA's threads read x three times,
/// from cache if its tile fits, and merge the slices' sums in SMEM, in order.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class PixelRows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Row = typename Steps::template Row<float>;
    static constexpr unsigned width = 32, slices = 16, unroll = Plan::has_prologue ? 1 : 4;

public:
    static constexpr int threads = width * slices, blocks = Plan::has_prologue ? 1 : 2;
    static constexpr unsigned packets_of_cta = width;
    static constexpr bool waits_for_previous_kernel = true;
    using Params = RowParams<Plan, T, U>;

    struct Shared {
        float centers[slices][width][lanes], sums[slices][width][lanes];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        wait_for_previous_kernel();
        unsigned const image = params.of_image.divide(block), column = thread % width, slice = thread / width,
                       packet = (block - image * params.of_image.value()) * width + column;
        bool const has = packet < params.rows;
        unsigned const pixel = has ? packet * lanes : 0, p = params.columns.divide(pixel),
                       q = pixel - p * params.columns.value();
        Index<4> const &sx = params.x.layout.stride, &sy = params.y.layout.stride;
        std::int64_t const x = image * sx[0] + p * params.x_row[0] + q * params.x_row[1],
                           distance = p * params.y_row[0] + q * params.y_row[1];
        unsigned const channels = params.channels;

        OutputCoord coords[lanes];
        coords[0] = {image, 0, p, q};
#pragma unroll
        for (int lane = 1; lane < lanes; ++lane) {
            coords[lane] = coords[lane - 1];
            if (++coords[lane].q == params.columns.value()) coords[lane].q = 0, ++coords[lane].p;
        }
        auto const move_to = [&](unsigned k) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) coords[lane].k = k;
        };
        // calls f(channel, packet after the prologue) for the thread's channels
        auto const each_with = [&]<bool stores>(auto const& f, std::bool_constant<stores>) {
            if (!has) return;
            for (unsigned first = slice; first < channels; first += slices * unroll) {
                Packet<T, lanes> values[unroll];
#pragma unroll
                for (unsigned i = 0; i < unroll; ++i)
                    if (unsigned const k = first + i * slices; k < channels)
                        values[i] = *reinterpret_cast<Packet<T, lanes> const*>(params.x.data + x + k * sx[1]);
#pragma unroll
                for (unsigned i = 0; i < unroll; ++i)
                    if (unsigned const k = first + i * slices; k < channels) {
                        if constexpr (Plan::has_prologue) {
                            move_to(k);
                            apply_row_prologue<false, stores>(params, values[i], coords, distance + k * sy[1]);
                        }
                        f(k, values[i]);
                    }
            }
        };
        auto const each = [&](auto const& f) { each_with(f, std::false_type{}); };
        auto const merge = [](float a, float b) { return Steps::merge_centers(a, b); };
        auto const add = [](float a, float b) { return a + b; };
        float center[lanes] = {}, sum[lanes] = {};
        if constexpr (Steps::has_center) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) center[lane] = Steps::template neutral_center<float>();
            each([&](unsigned, Packet<T, lanes> const& values) {
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane)
                    center[lane] = merge(center[lane], static_cast<float>(values.values[lane]));
            });
            reduce(center, merge, shared.centers, slice, column);
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) center[lane] = Steps::center_of(center[lane], params.count);
        }
        each([&](unsigned, Packet<T, lanes> const& values) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                sum[lane] += Op::term(static_cast<float>(values.values[lane]), center[lane]);
        });
        reduce(sum, add, shared.sums, slice, column);
        Row rows[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane)
            rows[lane] = Op::finish(center[lane], sum[lane], params.count, params.bound.head);
        auto const write = [&](unsigned k, Packet<T, lanes> const& values) {
            move_to(k);
            std::int64_t const offset = distance + k * sy[1];
            store_row_packet<false, Plan, lanes>(params, values, rows, coords, offset, image * sy[0] + offset);
        };
        each_with(write, std::true_type{});
    }

private:
    /// Merges the slices' values of each pixel; all threads get the results and call it.
    template <class Merge>
    __device__ static void reduce(float (&values)[lanes], Merge const& merge, float (&of_slices)[slices][width][lanes],
                                  unsigned slice, unsigned column) {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) of_slices[slice][column][lane] = values[lane];
        __syncthreads();
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) values[lane] = of_slices[0][column][lane];
#pragma unroll
        for (unsigned i = 1; i < slices; ++i)
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) values[lane] = merge(values[lane], of_slices[i][column][lane]);
    }
};

}  // namespace fusekit::hip
