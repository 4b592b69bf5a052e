// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/ops/conv/window.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Returns a view of a depthwise convolution's filters as K x 1 x R x S, for K channels of y. For a transposed
/// convolution without strides, the view is rotated by 180 degrees: it is then an ordinary convolution.
template <class Problem>
__device__ auto depthwise_filters(Problem const& of) {
    auto w = of.w;
    if constexpr (detail::is_transposed<decltype(of.filter)>) {  // (C/G, 1, R, S), and groups along the second mode
        Index<4> const& shape = w.layout.shape;
        Index<4>& stride = w.layout.stride;
        if (shape[0] == 1) stride[0] = stride[1];
        if constexpr (!detail::spreads<decltype(of.filter)>) {
            w.data += (shape[2] - 1) * stride[2] + (shape[3] - 1) * stride[3];
            stride[2] = -stride[2], stride[3] = -stride[3];
        }
    }
    return w;
}

/// Weights of `channels` channels of y, which a thread of a Depthwise kernel keeps in registers. `rotated`: the
/// filters' view is rotated by 180 degrees.
template <class Window, int channels, Element Weight, class Sum, bool rotated = false>
class DepthwiseWeights {
    static constexpr int taps = Window::taps, each = taps * channels;
    /// number of weights that a thread loads before it stores the first of them
    static constexpr int batch = each % 9 == 0 ? 9 : each % 7 == 0 ? 7 : (min)(each, 8);

public:
    using Registers = Sum[Window::rows][Window::columns][channels];

    /// Copies the weights of a CTA's channels to SMEM: [item][channel][tap], where an item is the channels of one
    /// thread. A CTA's threads have consecutive items, and item 0 again after the last. Consecutive threads load
    /// consecutive weights. All threads call it.
    template <class Params>
    __device__ static void stage(Params const& params, Zeros const& zeros, TensorView<Weight const> const& w,
                                 void* shared, unsigned thread, unsigned block) {
        DepthwiseTiles const& tiles = params.depthwise;
        int const items = static_cast<int>(tiles.inner.value()), count = (min)(items, tiles.threads),
                  first = static_cast<int>(tiles.inner.remainder(block * static_cast<unsigned>(tiles.threads))),
                  filters = static_cast<int>(params.y.layout.shape[1]);
        Index<4> const& stride = w.layout.stride;
        auto* const to = static_cast<Packet<Weight, 1>*>(shared);
        auto const copy = [&](auto const& offset_of) {
#pragma unroll 1
            for (int start = static_cast<int>(thread); start < count * each; start += batch * tiles.threads) {
                Packet<Weight, 1> loaded[batch];
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    int const i = start + b * tiles.threads, item = first + i / each, element = i % each,
                              k = (item < items ? item : item - items) * channels + element / taps;
                    loaded[b] = zeros.load_if(
                        i < count * each && k < filters,
                        reinterpret_cast<Packet<Weight, 1> const*>(w.data + offset_of(k, element % taps)));
                }
#pragma unroll
                for (int b = 0; b < batch; ++b) {
                    int const i = start + b * tiles.threads;
                    if (i < count * each) to[i] = loaded[b];
                }
            }
        };
        if (tiles.dense_weights) {
            copy([&](int k, int tap) { return std::int64_t{k} * taps + (rotated ? -tap : tap); });
        } else {
            copy([&](int k, int tap) {
                return k * stride[0] + tap / Window::columns * stride[2] + tap % Window::columns * stride[3];
            });
        }
    }
    /// Loads the thread's weights from SMEM.
    template <class Params>
    __device__ static void load_staged(Params const& params, void const* shared, unsigned thread, Registers& weights) {
        FastDivmod const& items = params.depthwise.inner;
        unsigned const item = thread < items.value() ? thread : items.remainder(thread);
        using Vector = Packet<Weight, channels>;
        auto const* const from = static_cast<Vector const*>(shared) + item * taps;
#pragma unroll
        for (int i = 0; i < taps; ++i) {
            Vector const vector = from[i];
#pragma unroll
            for (int lane = 0; lane < channels; ++lane) {
                int const element = i * channels + lane, tap = element % taps;
                weights[tap / Window::columns][tap % Window::columns][element / taps] =
                    detail::widened_to<Sum>(vector.values[lane]);
            }
        }
    }
    /// Loads the weights of channel k from global memory.
    __device__ static void load(TensorView<Weight const> const& w, int k, Registers& weights) {
        Index<4> const& stride = w.layout.stride;
        Weight const* const from = w.data + k * stride[0];
#pragma unroll
        for (int r = 0; r < Window::rows; ++r)
#pragma unroll
            for (int s = 0; s < Window::columns; ++s)
                weights[r][s][0] = detail::widened_to<Sum>(from[r * stride[2] + s * stride[3]]);
    }
};

}  // namespace fusekit::hip
