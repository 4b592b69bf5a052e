// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/row_params.hpp"

namespace fusekit::hip {

/// Plan whose head is a RowOp over groups of channels and all pixels of an image, with contiguous channels and an
/// epilogue whose results depend on the channel alone. `params.cluster` CTAs of the grid share an image: each has a
/// range of its pixels, all channels of them. A thread has one packet of channels of every pixel that it reads; the
/// first `resident` packets stay in SMEM between the three steps (center, sum, results), the others are read again,
/// from L2.
///
/// Values of threads are merged in SMEM, first those of a channel, then those of a group's channels; values of CTAs in
/// workspace, after a barrier of the image's CTAs. The order of all sums depends on the shape and the GPU alone.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class ImageRows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename Plan::Epilogue;
    using Row = typename Steps::template Row<float>;
    static constexpr unsigned wave = arch::Target::processor.wave, unroll = 8;

public:
    static constexpr int threads = 512, blocks = 1;
    static constexpr unsigned max_groups = 1024, resident = arch::is_targeted<arch::Amd> ? 2
                                                            : kernels_cluster            ? 24
                                                                                         : 16;
    using Params = RowParams<Plan, T, U>;

    struct DynamicShared {
        Packet<T, lanes> values[resident][threads];
        float of_threads[threads * lanes];
        float centers[max_groups], sums[max_groups];  ///< of the groups of an image
        bool is_last;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        ImageRows self(params, shared, thread, block);
        for (unsigned image = block / params.cluster; image < params.rows; image += gridDim.x / params.cluster)
            self.reduce(image);
    }

private:
    struct States {
        typename Steps::States::PixelState head;
        typename Epilogue::PixelState epilogue;
    };

    Params const& params;
    DynamicShared& shared;
    unsigned const thread, block, groups;
    unsigned const row, rows;  ///< this thread's row in the matrix of rows x packets of a pixel; none from `rows` on
    unsigned const channel;  ///< first one of this thread's packets
    unsigned first, pixels;  ///< the thread's first pixel; its number of pixels, every `rows`-th
    States states[lanes];

    __device__ ImageRows(Params const& the_params, DynamicShared& the_shared, unsigned the_thread, unsigned the_block)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          block(the_block),
          groups(the_params.of_image.value()),
          row(the_params.of_line.divide(the_thread)),
          rows(the_params.of_line.divide(threads)),
          channel((the_thread - row * the_params.of_line.value()) * lanes) {
        auto const all = static_cast<unsigned>(params.x.layout.shape[2] * params.x.layout.shape[3]);
        unsigned const part = block % params.cluster;
        first = static_cast<unsigned>(std::uint64_t{all} * part / params.cluster) + row;
        unsigned const end = static_cast<unsigned>(std::uint64_t{all} * (part + 1) / params.cluster);
        pixels = row < rows && first < end ? (end - first + rows - 1) / rows : 0;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            OutputCoord const at{0, std::int64_t{channel} + lane, 0, 0};
            if (row < rows)
                states[lane] = {Steps::States::prepare(at, Steps::state_args(params.bound.head)),
                                Epilogue::prepare(at, params.bound.epilogue)};
        }
    }

    /// Offset in a view, from its image, of pixel `index` of the thread.
    template <class View>
    __device__ std::int64_t offset(View const& view, unsigned index) const {
        unsigned const pixel = first + index * rows, p = params.columns.divide(pixel),
                       q = pixel - p * params.columns.value();
        return p * view.layout.stride[2] + q * view.layout.stride[3] + channel;
    }

    /// Calls f(packet, pixel) for each of the thread's pixels; `loads`: for the first time. Backwards, so that pixels
    /// that were read last are in L2.
    template <bool loads, bool backwards, class F>
    __device__ __forceinline__ void each(unsigned image, F const& f) const {
        T const* const x = params.x.data + image * params.x.layout.stride[0];
        unsigned const batches = (pixels + unroll - 1) / unroll;
        for (unsigned batch = 0; batch < batches; ++batch) {
            unsigned const from = (backwards ? batches - 1 - batch : batch) * unroll;
            Packet<T, lanes> values[unroll];
#pragma unroll
            for (unsigned i = 0; i < unroll; ++i)
                if (from + i < pixels) {
                    if (!loads && from + i < resident) values[i] = shared.values[from + i][thread];
                    else values[i] = *reinterpret_cast<Packet<T, lanes> const*>(x + offset(params.x, from + i));
                }
#pragma unroll
            for (unsigned i = 0; i < unroll; ++i)
                if (from + i < pixels) {
                    if (loads && from + i < resident) shared.values[from + i][thread] = values[i];
                    f(values[i], from + i);
                }
        }
    }

    __device__ void reduce(unsigned image) const {
        auto const add = [](float a, float b) { return a + b; };
        auto const merge = [](float a, float b) { return Steps::merge_centers(a, b); };
        float center[lanes] = {}, sum[lanes] = {};
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) center[lane] = Steps::template neutral_center<float>();
        each<true, false>(image, [&](Packet<T, lanes> const& x, unsigned) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                center[lane] = merge(center[lane], static_cast<float>(x.values[lane]));
        });
        if constexpr (Steps::has_center)
            merge_groups(center, merge, Steps::template neutral_center<float>(), shared.centers, 0);
        unsigned group[lanes];
        Row row_of[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            group[lane] = row < rows ? (channel + static_cast<unsigned>(lane)) / params.channels : 0;
            center[lane] = Steps::has_center ? Steps::center_of(shared.centers[group[lane]], params.count) : 0;
        }
        each<false, true>(image, [&](Packet<T, lanes> const& x, unsigned) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                sum[lane] += Op::term(static_cast<float>(x.values[lane]), center[lane]);
        });
        merge_groups(sum, add, 0, shared.sums, 1);
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane)
            row_of[lane] = Op::finish(center[lane], shared.sums[group[lane]], params.count, params.bound.head);
        U* const y = params.y.data + image * params.y.layout.stride[0];
        each<false, false>(image, [&](Packet<T, lanes> const& x, unsigned pixel) {
            Packet<U, lanes> results;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                OutputCoord const at{0, std::int64_t{channel} + lane, 0, 0};
                float const n = Steps::apply(static_cast<float>(x.values[lane]), row_of[lane], at, states[lane].head,
                                             params.bound.head);
                results.values[lane] = U(Epilogue::apply(n, at, states[lane].epilogue, params.bound.epilogue));
            }
            if constexpr (Element<U>)
                store_once(reinterpret_cast<Packet<U, lanes>*>(y + offset(params.y, pixel)), results);
        });
        __syncthreads();  // the next image's values replace those in SMEM
    }

    /// Merges the values of each group over the threads and over the image's CTAs into `merged`. All threads call it.
    template <class Merge>
    __device__ void merge_groups(float const (&values)[lanes], Merge const& merge, float neutral, float* merged,
                                 unsigned step) const {
        unsigned const channels = groups * params.channels, lane = thread % wave;
        auto const merge_wave = [&](float value) {
#pragma unroll
            for (unsigned mask = wave / 2; mask > 0; mask /= 2) value = merge(value, of_lane_xor(value, mask));
            return value;
        };
        float* const all = shared.of_threads;
        if (row < rows)
#pragma unroll
            for (int i = 0; i < lanes; ++i) all[row * channels + channel + static_cast<unsigned>(i)] = values[i];
        __syncthreads();
        for (unsigned k = thread; k < channels; k += threads) {
            float value = all[k];
            for (unsigned other = 1; other < rows; ++other) value = merge(value, all[other * channels + k]);
            all[k] = value;
        }
        __syncthreads();
        float* const partial = params.workspace.values() + std::size_t{step} * gridDim.x * groups;
        for (unsigned group = thread / wave; group < groups; group += threads / wave) {
            float value = neutral;
            for (unsigned k = lane; k < params.channels; k += wave)
                value = merge(value, all[group * params.channels + k]);
            value = merge_wave(value);
            if (lane == 0) (params.cluster > 1 ? partial + std::size_t{block} * groups : merged)[group] = value;
        }
        if (params.cluster > 1) {
            unsigned const item = block / params.cluster;
            GridGroup(params.workspace.state(item), params.cluster, thread, shared.is_last).arrive_and_wait([] {});
            for (unsigned group = thread / wave; group < groups; group += threads / wave) {
                float value = neutral;
                for (unsigned part = lane; part < params.cluster; part += wave) {
                    float const* const other = partial + std::size_t{item * params.cluster + part} * groups + group;
                    value = merge(value, load_fresh(reinterpret_cast<Packet<float, 1> const*>(other)).values[0]);
                }
                value = merge_wave(value);
                if (lane == 0) merged[group] = value;
            }
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
