// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/plan/rows.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Threads of the CTAs that share an image with contiguous channels, and the merge of values of groups of channels.
/// `parts` consecutive CTAs share an image: each has a range of its pixels, all channels of them. A thread has the
/// packet of `lanes` channels from `channel` on of `pixels` pixels: `first` and every `rows`-th from there on.
template <int threads, int lanes>
struct ImageGroups {
    static constexpr unsigned wave = arch::Target::processor.wave;
    struct Shared {
        float of_threads[threads * lanes];
        bool is_last;
    };

    unsigned thread, part, item;  ///< item: the image among those that the grid's CTAs have at once
    unsigned parts, groups, channels;  ///< channels of a group
    unsigned row, rows, channel, first, pixels;

    /// packets: those of a pixel, at most `threads`; image_pixels: pixels of an image.
    __device__ ImageGroups(unsigned the_thread, unsigned block, unsigned the_parts, unsigned the_groups,
                           unsigned the_channels, unsigned packets, unsigned image_pixels)
        : thread(the_thread),
          part(block % the_parts),
          item(block / the_parts),
          parts(the_parts),
          groups(the_groups),
          channels(the_channels),
          row(the_thread / packets),
          rows(threads / packets),
          channel(the_thread % packets * lanes),
          first(static_cast<unsigned>(std::uint64_t{image_pixels} * part / parts) + row) {
        auto const end = static_cast<unsigned>(std::uint64_t{image_pixels} * (part + 1) / parts);
        pixels = exists() && first < end ? (end - first + rows - 1) / rows : 0;
    }

    /// False for threads past the last whole row of packets.
    __device__ bool exists() const { return row < rows; }
    /// Offset in a view, from its image, of the thread's pixel `index`; columns: Q.
    template <class View>
    __device__ std::int64_t offset(View const& view, unsigned index, FastDivmod const& columns) const {
        unsigned const pixel = first + index * rows, p = columns.divide(pixel), q = pixel - p * columns.value();
        return p * view.layout.stride[2] + q * view.layout.stride[3] + channel;
    }
    /// Group of the thread's channel `lane`.
    __device__ unsigned group_of(int lane) const {
        return exists() ? (channel + static_cast<unsigned>(lane)) / channels : 0;
    }

    /// Merges the threads' values of each channel of the CTA, then calls f(channel, value). All threads call it.
    template <class Merge, class F>
    __device__ void each_channel(float const (&values)[lanes], Merge const& merge, Shared& shared, F const& f) const {
        unsigned const all = groups * channels;
        if (exists())
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                shared.of_threads[row * all + channel + static_cast<unsigned>(lane)] = values[lane];
        __syncthreads();
        for (unsigned k = thread; k < all; k += threads) {
            float value = shared.of_threads[k];
            for (unsigned other = 1; other < rows; ++other) value = merge(value, shared.of_threads[other * all + k]);
            f(k, value);
        }
        __syncthreads();
    }

    /// Merges `count` values of each group over the threads and over the image's CTAs into `merged`; these exchange
    /// them through `partial`, gridDim.x * count * groups floats of workspace. All threads call it.
    template <std::size_t count, class Merge, std::size_t max_groups>
    __device__ void merge(float const (&values)[count][lanes], Merge const& merge_two, float neutral, Shared& shared,
                          float (&merged)[count][max_groups], GroupWorkspace const& workspace, float* partial) const {
        unsigned const lane = thread % wave;
        auto const of_wave = [&](float value) {
#pragma unroll
            for (unsigned mask = wave / 2; mask > 0; mask /= 2) value = merge_two(value, of_lane_xor(value, mask));
            return value;
        };
        auto const partial_of = [&](unsigned of_part, unsigned number, unsigned group) -> float& {
            return partial[(std::size_t{item * parts + of_part} * count + number) * groups + group];
        };
#pragma unroll
        for (unsigned number = 0; number < count; ++number) {
            each_channel(values[number], merge_two, shared,
                         [&](unsigned k, float value) { shared.of_threads[k] = value; });
            for (unsigned group = thread / wave; group < groups; group += threads / wave) {
                float value = neutral;
                for (unsigned k = lane; k < channels; k += wave)
                    value = merge_two(value, shared.of_threads[group * channels + k]);
                value = of_wave(value);
                if (lane == 0) (parts > 1 ? partial_of(part, number, group) : merged[number][group]) = value;
            }
            __syncthreads();
        }
        if (parts == 1) return;
        GridGroup(workspace.state(item), parts, thread, shared.is_last).arrive_and_wait([] {});
        for (unsigned index = thread / wave; index < groups * count; index += threads / wave) {
            unsigned const number = index / groups, group = index - number * groups;
            float value = neutral;
            for (unsigned other = lane; other < parts; other += wave)
                value = merge_two(
                    value,
                    load_fresh(reinterpret_cast<Packet<float, 1> const*>(&partial_of(other, number, group))).values[0]);
            value = of_wave(value);
            if (lane == 0) merged[number][group] = value;
        }
        __syncthreads();
    }

    /// Reduces an image's values to the center of each group, in shared.centers, and its sum, in shared.sums; sets
    /// `center` to those of the thread's channels. each(f) and each_again(f) call f(packet) for each packet of the
    /// thread. `partial` as of merge(), with gridDim.x * groups floats for each. All threads call it.
    template <class Op, class Params, class KernelShared, class Each, class EachAgain>
    __device__ __forceinline__ void reduce_values(Params const& params, KernelShared& shared, float* partial,
                                                  float (&center)[lanes], Each const& each,
                                                  EachAgain const& each_again) const {
        using Steps = detail::RowSteps<Op>;
        auto const merge_two = [](float a, float b) { return Steps::merge_centers(a, b); };
        float centers[1][lanes], sum[1][lanes] = {};
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) centers[0][lane] = Steps::template neutral_center<float>();
        each([&](auto const& x) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                centers[0][lane] = merge_two(centers[0][lane], static_cast<float>(x.values[lane]));
        });
        if constexpr (Steps::has_center)
            merge(centers, merge_two, Steps::template neutral_center<float>(), shared.exchange, shared.centers,
                  params.workspace, partial);
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane)
            center[lane] = Steps::has_center ? Steps::center_of(shared.centers[0][group_of(lane)], params.count) : 0;
        each_again([&](auto const& x) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                sum[0][lane] += Op::term(static_cast<float>(x.values[lane]), center[lane]);
        });
        merge(
            sum, [](float a, float b) { return a + b; }, 0, shared.exchange, shared.sums, params.workspace,
            partial + std::size_t{gridDim.x} * groups);
    }
};

}  // namespace fusekit::hip
