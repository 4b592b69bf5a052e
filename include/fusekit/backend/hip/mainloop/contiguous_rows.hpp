// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/row_params.hpp"

namespace fusekit::hip {

/// Plan whose head is a RowOp, with rows whose elements are contiguous along `axis`: `params.group` threads reduce a
/// row, a CTA as many rows as it has such groups, again and again. A thread holds up to `resident` packets of its row
/// in registers between the three steps (center, sum, results); a longer row is read again for each step. Sums of a
/// row's threads are merged by shuffles, and those of its waves in SMEM, in an order that depends on the shape alone.
template <class Plan, Element T, detail::OutputElement U, int lanes, detail::Axis axis>
class ContiguousRows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename Plan::Epilogue;
    using State = RowState<Plan>;
    using Row = typename Steps::template Row<float>;
    static constexpr int wave = arch::Target::processor.wave;

public:
    static constexpr int threads = 512, blocks = 2, resident = lanes > 1 ? 4 : 8;
    static constexpr bool waits_for_previous_kernel = true;
    using Params = RowParams<Plan, T, U>;

    /// Channels' parameters that fit SMEM, as words. `state_words`: words of one channel.
    struct Words {
        unsigned word[(sizeof(State) + 3) / 4];
    };
    static constexpr int state_words = State::is_empty ? 0 : sizeof(Words) / 4;
    static constexpr int max_words = State::is_empty || Epilogue::per_pixel ? 0 : 8192;

    struct Shared {
        float centers[threads / wave], sums[threads / wave];
        alignas(16) unsigned words[max_words > 0 ? max_words : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        wait_for_previous_kernel();
        if constexpr (max_words > 0)
            if (params.shares_states) prepare_channels(params, shared, thread);
        unsigned const group = params.group, own = thread / group, of_cta = threads / group;
        for (unsigned first = block * of_cta; first < params.rows; first += gridDim.x * of_cta) {
            if (params.batches == 1) row<true>(params, shared, thread, first + own);
            else row<false>(params, shared, thread, first + own);
        }
    }

private:
    struct Place {
        OutputCoord at;
        std::int64_t x, y, distance;
    };

    /// Coordinate and offsets of the first element of a row.
    __device__ static Place place_of(Params const& params, unsigned row) {
        unsigned const image = params.of_image.divide(row), rest = row - image * params.of_image.value();
        Index<4> const &sx = params.x.layout.stride, &sy = params.y.layout.stride;
        Place result{{image, 0, 0, 0}, image * sx[0], image * sy[0], 0};
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

    /// Coordinate and offsets of packet `index` of the row that begins at `first`.
    __device__ static Place packet_of(Params const& params, Place first, unsigned index) {
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
        std::int64_t const step = std::int64_t{index} * lanes;
        std::int64_t const x_step = lanes > 1 ? 1 : params.x.layout.stride[axis == detail::Axis::channel ? 1 : 3],
                           y_step = lanes > 1 ? 1 : params.y.layout.stride[axis == detail::Axis::channel ? 1 : 3];
        first.x += step * x_step, first.y += step * y_step, first.distance += step * y_step;
        (axis == detail::Axis::channel ? first.at.k : first.at.q) += step;
        return first;
    }

    template <bool is_resident>
    __device__ static void row(Params const& params, Shared& shared, unsigned thread, unsigned number) {
        unsigned const group = params.group, own = thread & (group - 1);
        bool const has_row = number < params.rows;
        Place const first = place_of(params, has_row ? number : 0);
        Packet<T, lanes> values[resident];
        unsigned batch = 0;
        auto const index_of = [&](int i) { return (batch * resident + static_cast<unsigned>(i)) * group + own; };
        auto const has = [&](int i) { return has_row && index_of(i) < params.packets; };
        auto const load = [&] {
#pragma unroll
            for (int i = 0; i < resident; ++i) {
                values[i] = {};
                if (has(i))
                    values[i] = *reinterpret_cast<Packet<T, lanes> const*>(params.x.data +
                                                                           packet_of(params, first, index_of(i)).x);
            }
        };
        auto const each_packet = [&](auto const& f) {
            for (batch = 0; batch < (is_resident ? 1 : params.batches); ++batch) {
                if constexpr (!is_resident) load();
#pragma unroll
                for (int i = 0; i < resident; ++i)
                    if (has(i)) f(i);
            }
        };
        if constexpr (is_resident) load();
        float const count = params.count;
        float center = 0, sum = 0;
        auto const merge = [](float a, float b) { return Steps::merge_centers(a, b); };
        auto const add = [](float a, float b) { return a + b; };
        if constexpr (Steps::has_center) {
            center = Steps::template neutral_center<float>();
            each_packet([&](int i) {
                float of_packet = values[i].values[0];
#pragma unroll
                for (int lane = 1; lane < lanes; ++lane)
                    of_packet = merge(of_packet, static_cast<float>(values[i].values[lane]));
                center = merge(center, of_packet);
            });
            center = Steps::center_of(reduce(center, merge, shared.centers, thread, group), count);
        }
        each_packet([&](int i) {
            float of_packet = Op::term(static_cast<float>(values[i].values[0]), center);
#pragma unroll
            for (int lane = 1; lane < lanes; ++lane)
                of_packet += Op::term(static_cast<float>(values[i].values[lane]), center);
            sum += of_packet;
        });
        sum = reduce(sum, add, shared.sums, thread, group);
        Row const parameters = Op::finish(center, sum, count, params.bound.head);
        each_packet([&](int i) {
            Place const at = packet_of(params, first, index_of(i));
            OutputCoord coords[lanes];
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) coords[lane] = coord_of(params, at.at, lane);
            store_row_packet<Plan, lanes>(params, values[i], parameters, coords, at.distance, at.y,
                                          [&](int lane) { return state_of(params, shared, coords[lane]); });
        });
    }

    /// Coordinate of element `lane` of a packet. Lines of pixels may continue past the end of y's rows.
    __device__ static OutputCoord coord_of(Params const& params, OutputCoord at, int lane) {
        if constexpr (axis == detail::Axis::channel) {
            at.k += lane;
        } else if constexpr (Epilogue::pixelwise) {
            auto const q = static_cast<unsigned>(at.q) + static_cast<unsigned>(lane), p = params.columns.divide(q);
            at.p += p, at.q = q - p * params.columns.value();
        }
        return at;
    }

    __device__ static State state_of(Params const& params, Shared const& shared, OutputCoord const& at) {
        if constexpr (max_words > 0)
            if (params.shares_states) {
                Words words;
#pragma unroll
                for (int w = 0; w < state_words; ++w)
                    words.word[w] = shared.words[slot(params, static_cast<unsigned>(w), static_cast<unsigned>(at.k))];
                return config::bit_cast<State>(words);
            }
        return State::at(at, params.bound);
    }

    /// Prepares the parameters of all channels in SMEM. All threads of the CTA call it.
    __device__ static void prepare_channels(Params const& params, Shared& shared, unsigned thread) {
        auto const channels = static_cast<unsigned>(params.y.layout.shape[1]);
        for (unsigned k = thread; k < channels; k += threads) {
            auto const words = config::bit_cast<Words>(State::at({0, k, 0, 0}, params.bound));
#pragma unroll
            for (int w = 0; w < state_words; ++w)
                shared.words[slot(params, static_cast<unsigned>(w), k)] = words.word[w];
        }
        __syncthreads();
    }
    /// Index in Shared::words of word w of channel k. Four channels of a packet are contiguous, followed by the same
    /// four of the next packet, which the next thread loads.
    __device__ static unsigned slot(Params const& params, unsigned w, unsigned k) {
        constexpr unsigned width = axis == detail::Axis::channel && lanes > 4 ? 4 : lanes,
                           of_packet = axis == detail::Axis::channel ? lanes : 1;
        auto const channels = static_cast<unsigned>(params.y.layout.shape[1]);
        if constexpr (of_packet <= 4) {
            return w * channels + k;
        } else {
            unsigned const packet = k / of_packet, lane = k % of_packet, packets = channels / of_packet;
            return w * channels + (lane / width * packets + packet) * width + lane % width;
        }
    }

    /// Merges the values of `group` threads, a power of two; each of them gets the result. All threads of the CTA call
    /// it.
    template <class Merge>
    __device__ static float reduce(float value, Merge const& merge, float* of_waves, unsigned thread, unsigned group) {
#pragma unroll
        for (unsigned mask = wave / 2; mask > 0; mask /= 2) {
            float const other = of_lane_xor(value, mask);
            if (mask < group) value = merge(value, other);
        }
        if (group <= wave) return value;
        if (thread % wave == 0) of_waves[thread / wave] = value;
        __syncthreads();
        unsigned const first = thread / group * (group / wave);
        value = of_waves[first];
        for (unsigned i = 1; i < group / wave; ++i) value = merge(value, of_waves[first + i]);
        return value;
    }
};

}  // namespace fusekit::hip
