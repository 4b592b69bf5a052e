// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/offset_coord.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// Epilogue of a Depthwise thread: applies the operators to the sums of `columns` pixels of a row of y, of `channels`
/// channels each, and stores them as vectors along y's contiguous mode.
template <class Plan, Element T, Element U, detail::Axis fast, int columns, int channels>
class DepthwiseStore {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    using Params = ConvParams<Plan, T, U>;
    static constexpr int widest = (min)(16 / static_cast<int>(sizeof(U)), columns);

public:
    /// For channels k to k + channels - 1, of which y has `the_count`, of columns q to q + columns - 1 of image n.
    __device__ DepthwiseStore(Params const& the_params, int the_n, int the_k, int the_count, int the_q)
        : params(the_params), n(the_n), k(the_k), q(the_q), count(the_count) {
#pragma unroll
        for (int c = 0; c < channels; ++c)
            states[c] = Epilogue::prepare(std::int64_t{k + (c < count ? c : 0)}, params.bound.epilogue);
    }

    template <class Sum>
    __device__ void store(int p, Sum const (&sums)[columns][channels]) const {
        Index<4> const& stride = params.y.layout.stride;
        int const remaining = static_cast<int>(params.y.layout.shape[3]) - q;
        std::int64_t const distance = k * stride[1] + p * stride[2] + q * stride[3];
        U* const to = params.y.data + n * stride[0] + distance;
        Packet<U, channels> values[columns];
#pragma unroll
        for (int j = 0; j < columns; ++j) {
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                if (!Epilogue::placewise || (j < remaining && c < count)) {
                    OffsetCoord const at({n, std::int64_t{k} + c, p, std::int64_t{q} + j},
                                         distance + c * stride[1] + j * stride[3], stride);
                    values[j].values[c] =
                        U(Epilogue::apply(static_cast<float>(sums[j][c]), at, states[c], params.bound.epilogue));
                }
            }
        }
        if constexpr (fast == detail::Axis::channel) {
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                if (j < remaining) store_pixel(to + std::int64_t{j} * static_cast<int>(stride[3]), values[j]);
            }
        } else {
            store_row<widest>(to, values, remaining);
        }
    }

private:
    Params const& params;
    int n, k, q, count;
    State states[channels];

    __device__ void store_pixel(U* to, Packet<U, channels> const& pixel) const {
        if (params.depthwise.y_vector == channels) {
            *reinterpret_cast<Packet<U, channels>*>(to) = pixel;
        } else {
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                if (c < count) to[c * params.y.layout.stride[1]] = pixel.values[c];
            }
        }
    }
    /// Stores a row of pixels as vectors of `width` elements, which are entirely inside or outside the row.
    template <int width>
    __device__ void store_row(U* to, Packet<U, 1> const (&values)[columns], int remaining) const {
        if constexpr (width > 1) {
            if (params.depthwise.y_vector < width) return store_row<width / 2>(to, values, remaining);
        }
#pragma unroll
        for (int j = 0; j < columns; j += width) {
            if (j < remaining) {
                Packet<U, width> packet;
#pragma unroll
                for (int i = 0; i < width; ++i) packet.values[i] = values[j + i].values[0];
                *reinterpret_cast<Packet<U, width>*>(to + j * params.y.layout.stride[3]) = packet;
            }
        }
    }
};

}  // namespace fusekit::hip
