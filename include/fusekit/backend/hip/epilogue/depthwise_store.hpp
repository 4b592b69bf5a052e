// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Epilogue of a Depthwise thread: applies the operators to the sums of `columns` pixels of a row of y, of `channels`
/// channels each, and stores them as vectors along y's contiguous mode. `is_aligned`: all pixels are at multiples of
/// the bytes of `channels` channels.
template <class Plan, Element T, Element U, detail::Axis fast, int columns, int channels, bool is_aligned = false>
class DepthwiseStore {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Params = ConvParams<Plan, T, U>;
    static constexpr int widest = detail::widest_vector(static_cast<int>(sizeof(U)), columns);

public:
    /// Stores rows of y from pixel `the_start` on, `the_count` channels from the_start.k on.
    __device__ DepthwiseStore(Params const& the_params, OutputCoord const& the_start, int the_count)
        : kernel_params(the_params),
          at(the_start),
          count(the_count),
          to_end(static_cast<int>(the_params.y.layout.shape[3] - at.q)) {
        Params const& params = kernel_params;
        Index<4> const& stride = params.y.layout.stride;
        distance = at.k * stride[1] + at.p * stride[2] + at.q * stride[3];
        to = params.y.data + at.n * stride[0] + distance;
#pragma unroll
        for (int c = 0; c < channels; ++c)
            states[c] = Epilogue::prepare(at.k + (c < count ? c : 0), params.bound.epilogue);
    }

    /// Stores the next row of y, or skips it if `valid` is false.
    template <class Sum>
    __device__ void store(Sum const (&sums)[columns][channels], bool valid = true) {
        Params const& params = reload(kernel_params);
        Index<4> const& stride = params.y.layout.stride;
        Packet<U, channels> values[columns];
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            int const columns_left = valid ? remaining() : 0;
            float results[channels] = {};
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                if (!Epilogue::pixelwise || (j < columns_left && c < count)) {
                    OffsetCoord const coord({at.n, at.k + c, at.p, at.q + j}, distance + c * stride[1] + j * stride[3],
                                            stride);
                    results[c] =
                        Epilogue::apply(static_cast<float>(sums[j][c]), coord, states[c], params.bound.epilogue);
                }
            }
            values[j] = rounded(results);
        }
        if constexpr (fast == detail::Axis::channel) store_pixels(params, values, valid ? remaining() : 0);
        else store_row<widest>(params, values, valid ? remaining() : 0);
        skip();
    }
    /// Skips the next `rows` rows of y.
    __device__ void skip(int rows = 1) {
        std::int64_t const distance_of_rows = rows * kernel_params.y.layout.stride[2];
        at.p += rows, distance += distance_of_rows, to += distance_of_rows;
    }

private:
    Params const& kernel_params;
    OutputCoord at;
    int count, to_end;  ///< to_end: columns of y from at.q on
    std::int64_t distance;  ///< elements from the image's first element to that of `at`
    U* to;
    State states[channels];

    /// Number of columns of y from at.q on. Opaque to AMD's compiler, which would otherwise keep comparisons with it in
    /// scalar registers.
    __device__ int remaining() const { return static_cast<int>(opaque_per_thread(static_cast<unsigned>(to_end))); }
    /// Rounds the results of a pixel to U.
    __device__ static Packet<U, channels> rounded(float const (&results)[channels]) {
        Packet<U, channels> values;
        if constexpr (channels == 2 && sizeof(U) == 2 && !std::is_integral_v<U>) {
            values = config::bit_cast<Packet<U, channels>>(packed<U>(results[0], results[1]));
        } else {
#pragma unroll
            for (int c = 0; c < channels; ++c) values.values[c] = U(results[c]);
        }
        return values;
    }
    /// Stores a packet as words: nvcc splits a store of elements if another branch uses its address.
    template <int width>
    __device__ static void store_words(U* to, Packet<U, width> const& packet) {
        using Words = detail::RegistersFor<U, width>;
        *reinterpret_cast<Words*>(to) = config::bit_cast<Words>(packet);
    }
    __device__ void store_pixels(Params const& params, Packet<U, channels> const (&values)[columns],
                                 int columns_left) const {
        std::int64_t const step = static_cast<int>(params.y.layout.stride[3]);
        if (is_aligned || __builtin_expect(params.depthwise.y_vector == channels, 1)) {
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                if (j < columns_left) store_words(to + j * step, values[j]);
            }
        } else {
#pragma unroll
            for (int j = 0; j < columns; ++j) {
#pragma unroll
                for (int c = 0; c < channels; ++c) {
                    if (j < columns_left && c < count)
                        to[j * step + c * params.y.layout.stride[1]] = values[j].values[c];
                }
            }
        }
    }
    /// Stores a row of pixels as vectors of `width` elements, which are entirely inside or outside the row.
    template <int width>
    __device__ void store_row(Params const& params, Packet<U, 1> const (&values)[columns], int columns_left) const {
        if constexpr (width > 1) {
            if (params.depthwise.y_vector < width) return store_row<width / 2>(params, values, columns_left);
        }
#pragma unroll
        for (int j = 0; j < columns; j += width) {
            if (j < columns_left) {
                Packet<U, width> packet;
#pragma unroll
                for (int i = 0; i < width; ++i) packet.values[i] = values[j + i].values[0];
                store_words(to + j * params.y.layout.stride[3], packet);
            }
        }
    }
};

}  // namespace fusekit::hip
