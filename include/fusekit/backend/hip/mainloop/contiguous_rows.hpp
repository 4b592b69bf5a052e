// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/row_exchange.hpp"
#include "fusekit/backend/hip/row_params.hpp"

namespace fusekit::hip {

/// Plan whose head is a RowOp, with rows whose elements are contiguous along `axis`: `params.group` threads reduce a
/// row, and a CTA as many rows as it has such groups.
///
/// is_held: a row fits the registers of a CTA's threads, which load it once, as floats; other CTAs load rows meanwhile.
/// Else (long rows): `params.cluster` CTAs reduce one row, and load it again for each of the three steps (center, sum,
/// results) if it exceeds their registers, where a thread has up to `resident` packets.
///
/// A prologue is applied to packets in registers, after they are loaded; its operators store values in one step alone.
///
/// Sums of a row's threads are merged by shuffles, those of its waves in SMEM and those of a cluster's CTAs in DSMEM,
/// in an order that depends on the shape alone.
template <class Plan, Element T, detail::OutputElement U, int lanes, detail::Axis axis, bool is_held>
class ContiguousRows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename Plan::Epilogue;
    using Row = typename Steps::template Row<float>;

public:
    // more packets exceed what AMD's compiler unrolls, and it then indexes them in memory
    // and each packet has the prologue's code, which takes minutes to compile for eight
    static constexpr int resident = Plan::has_prologue                        ? (arch::is_targeted<arch::Amd> ? 1 : 2)
                                    : is_held || arch::is_targeted<arch::Amd> ? 4
                                                                              : 8;
    static constexpr bool is_small =
        is_held || lanes == 1 || Plan::maxima > 0 || Plan::has_prologue || arch::is_targeted<arch::Amd>;
    static constexpr int threads = is_small ? 512 : 1024, blocks = Plan::has_prologue ? 1 : 1024 / threads;
    static constexpr bool waits_for_previous_kernel = true;
    using Params = RowParams<Plan, T, U>;

    /// Values that the threads of a row exchange in one step.
    struct Exchange {
        Packet<float, 4> of_block;  ///< the first element: the CTA's value, which the CTAs of its cluster read
        float of_cluster;
        RowExchange<threads, 1> of_threads;
    };
    struct Shared {
        Exchange centers, sums;
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        wait_for_previous_kernel();
        unsigned const rows_of_cta = blockDim.x / params.group, own = thread / params.group,
                       rank = block & (params.cluster - 1);
        Values values;
        if constexpr (is_held) {
            OwnRow const row = row_at(params, thread, block * rows_of_cta + own, 0);
            load(params, row, 0, values);
            reduce_row<true>(params, shared, thread, row, values);
        } else {
            OwnRow const row = row_at(params, thread, block / params.cluster * rows_of_cta + own, rank);
            load(params, row, 0, values);
            // a prologue is applied in each step, so that the kernel has its code three times and not four
            if (!Plan::has_prologue && params.batches == 1)
                reduce_row<!Plan::has_prologue>(params, shared, thread, row, values);
            else reduce_row<false>(params, shared, thread, row, values);
            if (params.cluster > 1) cluster_barrier();  // the cluster's other CTAs have read this one's SMEM
        }
    }

private:
    /// Coordinate of an element, its offsets in x and y, and its distance in y from its image's first element.
    struct Place {
        OutputCoord at;
        std::int64_t x, y, distance;
    };

    __device__ static Place first_of_row(Params const& params, unsigned row) {
        unsigned const image = params.of_image.divide(row), rest = row - image * params.of_image.value();
        Place result{{image, 0, 0, 0}, image * params.x.layout.stride[0], image * params.y.layout.stride[0], 0};
        if constexpr (Steps::over_pixels) {
            result.at.k = std::int64_t{rest} * params.channels;
            result.x += rest * params.x_row[0], result.distance = rest * params.y_row[0];
        } else {
            unsigned const p = params.columns.divide(rest), q = rest - p * params.columns.value();
            result.at.p = p, result.at.q = q;
            result.x += p * params.x_row[0] + q * params.x_row[1];
            result.distance = p * params.y_row[0] + q * params.y_row[1];
        }
        result.y += result.distance;
        return result;
    }

    /// First element of packet `index` of the row that begins at `first`.
    __device__ static Place first_of_packet(Params const& params, Place first, unsigned index) {
        if constexpr (Steps::over_pixels) {
            unsigned const line = params.of_line.divide(index), outer = params.inner.divide(line),
                           inner = line - outer * params.inner.value();
            index -= line * params.of_line.value();
            std::int64_t const y = outer * params.y_line[0] + inner * params.y_line[1];
            first.x += outer * params.x_line[0] + inner * params.x_line[1];
            first.y += y, first.distance += y;
            if constexpr (axis == detail::Axis::channel) first.at.p = outer, first.at.q = inner;
            else first.at.k += outer, first.at.p = inner;
        }
        constexpr int mode = axis == detail::Axis::channel ? 1 : 3;
        std::int64_t const step = std::int64_t{index} * lanes,
                           x_step = lanes > 1 ? step : step * params.x.layout.stride[mode],
                           y_step = lanes > 1 ? step : step * params.y.layout.stride[mode];
        first.x += x_step, first.y += y_step, first.distance += y_step;
        (axis == detail::Axis::channel ? first.at.k : first.at.q) += step;
        return first;
    }

    /// Coordinate of element `lane` of a packet that begins at `at`. Lines of pixels continue past the end of y's rows.
    __device__ static OutputCoord coord_of(Params const& params, OutputCoord at, int lane) {
        if constexpr (axis == detail::Axis::channel) {
            at.k += lane;
        } else if constexpr (Epilogue::pixelwise || Plan::Prologue::pixelwise) {
            auto const q = static_cast<unsigned>(at.q) + static_cast<unsigned>(lane), p = params.columns.divide(q);
            at.p += p, at.q = q - p * params.columns.value();
        }
        return at;
    }

    struct Values {
        Packet<T, lanes> packets[resident];
    };
    /// A thread's packets of a row: `own`, and every `group`-th from there on; none if `exists` is false.
    struct OwnRow {
        Place first;
        bool exists;
        unsigned own, group;

        __device__ unsigned index(unsigned batch, int i) const {
            return (batch * resident + static_cast<unsigned>(i)) * group + own;
        }
        __device__ bool has(Params const& params, unsigned batch, int i) const {
            return exists && index(batch, i) < params.packets;
        }
    };
    __device__ static OwnRow row_at(Params const& params, unsigned thread, unsigned number, unsigned rank) {
        bool const exists = number < params.rows;
        return {first_of_row(params, exists ? number : 0), exists, rank * params.group + (thread & (params.group - 1)),
                params.group * params.cluster};
    }
    __device__ static void load(Params const& params, OwnRow const& row, unsigned batch, Values& values) {
#pragma unroll
        for (int i = 0; i < resident; ++i) {
            values.packets[i] = {};
            if (row.has(params, batch, i))
                values.packets[i] = *reinterpret_cast<Packet<T, lanes> const*>(
                    params.x.data + first_of_packet(params, row.first, row.index(batch, i)).x);
        }
    }

    template <bool stores>
    __device__ __forceinline__ static void apply_prologue(Params const& params, OwnRow const& row, unsigned batch,
                                                          Values& values) {
        if constexpr (Plan::has_prologue) {
#pragma unroll
            for (int i = 0; i < resident; ++i) {
                if (!row.has(params, batch, i)) continue;
                Place const at = first_of_packet(params, row.first, row.index(batch, i));
                OutputCoord coords[lanes];
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) coords[lane] = coord_of(params, at.at, lane);
                apply_row_prologue<axis == detail::Axis::channel, stores>(params, values.packets[i], coords,
                                                                          at.distance);
            }
        }
    }

    /// The three steps for a row, whose first packets are in `values`.
    template <bool is_resident>
    __device__ __forceinline__ static void reduce_row(Params const& params, Shared& shared, unsigned thread,
                                                      OwnRow const& row, Values& values) {
        using Held = std::conditional_t<is_held, float, T>;
        Packet<Held, lanes> held[is_held ? resident : 1];
        if constexpr (is_resident) apply_prologue<true>(params, row, 0, values);
        if constexpr (is_held) {
#pragma unroll
            for (int i = 0; i < resident; ++i)
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane)
                    held[i].values[lane] = static_cast<float>(values.packets[i].values[lane]);
        }
        auto const each_packet_with = [&]<bool stores>(auto const& f, std::bool_constant<stores>) {
            for (unsigned batch = 0; batch < (is_resident ? 1 : params.batches); ++batch) {
                if constexpr (!is_resident) {
                    load(params, row, batch, values);
                    apply_prologue<stores>(params, row, batch, values);
                }
#pragma unroll
                for (int i = 0; i < resident; ++i)
                    if (row.has(params, batch, i)) {
                        if constexpr (is_held) f(held[i], row.index(batch, i));
                        else f(values.packets[i], row.index(batch, i));
                    }
            }
        };
        auto const each_packet = [&](auto const& f) { each_packet_with(f, std::false_type{}); };
        float center = 0, sum = 0;
        auto const merge = [](float a, float b) { return Steps::merge_centers(a, b); };
        auto const add = [](float a, float b) { return a + b; };
        if constexpr (Steps::has_center) {
            center = Steps::template neutral_center<float>();
            each_packet([&](Packet<Held, lanes> const& packet, unsigned) {
                float of_packet = static_cast<float>(packet.values[0]);
#pragma unroll
                for (int lane = 1; lane < lanes; ++lane)
                    of_packet = merge(of_packet, static_cast<float>(packet.values[lane]));
                center = merge(center, of_packet);
            });
            center = Steps::center_of(merged(center, merge, shared.centers, thread, params), params.count);
        }
        constexpr bool keeps_terms = is_held && Steps::applies_to_terms;
        each_packet([&](auto& packet, unsigned) {
            float of_packet = 0;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                float const term = Op::term(static_cast<float>(packet.values[lane]), center);
                if constexpr (keeps_terms) packet.values[lane] = term;
                of_packet = lane == 0 ? term : of_packet + term;
            }
            sum += of_packet;
        });
        sum = merged(sum, add, shared.sums, thread, params);
        Row const parameters = Op::finish(center, sum, params.count, params.bound.head);
        auto const write = [&](Packet<Held, lanes> const& packet, unsigned index) {
            Params const& again = reload(params);
            Place const at = first_of_packet(again, row.first, index);
            OutputCoord coords[lanes];
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) coords[lane] = coord_of(again, at.at, lane);
            store_row_packet<axis == detail::Axis::channel, Plan, lanes, keeps_terms>(again, packet, parameters, coords,
                                                                                      at.distance, at.y);
        };
        each_packet_with(write, std::true_type{});
    }

    /// Merges the values of a row's threads; each of them gets the result. All threads of the CTA call it.
    template <class Merge>
    __device__ static float merged(float value, Merge const& merge, Exchange& shared, unsigned thread,
                                   Params const& params) {
        float values[1] = {value};
        shared.of_threads.merge(values, merge, params.group, thread);
        value = values[0];
        if (is_held || params.cluster == 1) return value;
        if (thread == 0) shared.of_block.values[0] = value;
        cluster_barrier();
        if (thread == 0) {
            value = load_of_block(&shared.of_block, 0).values[0];
            for (unsigned rank = 1; rank < params.cluster; ++rank)
                value = merge(value, load_of_block(&shared.of_block, rank).values[0]);
            shared.of_cluster = value;
        }
        __syncthreads();
        return shared.of_cluster;
    }
};

}  // namespace fusekit::hip
