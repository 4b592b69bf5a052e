// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/config.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

namespace detail {

template <int bytes>
struct RegistersOf {
    using Type = Packet<unsigned, bytes / 4>;
};
template <>
struct RegistersOf<2> {
    using Type = unsigned short;
};
template <>
struct RegistersOf<1> {
    using Type = unsigned char;
};

/// Type: Count elements as 32-bit words, or as one integer of fewer bits. Loaded registers keep this form until they
/// are used: extracting the elements earlier would wait for the load.
template <class T, int Count>
using RegistersFor = typename RegistersOf<static_cast<int>(sizeof(T)) * Count>::Type;

}  // namespace detail

/// Columns of a row of x that a thread of a Depthwise kernel reads.
struct RowColumns {
    unsigned mask;  ///< bit j is set if column j is in bounds
    int stride;  ///< elements from one column to the next
    int channels;  ///< the thread's channels in bounds
    std::int64_t next_channel;  ///< elements from the thread's first channel to its second
    int vector;  ///< elements per access

    /// Returns the mask of `count` columns from column `first` on, in a row of `width` columns.
    template <int count>
    __device__ static unsigned mask_of(int first, int width) {
        static_assert(count <= 32);
        unsigned mask = 0;
#pragma unroll
        for (int j = 0; j < count; ++j)
            mask |= static_cast<unsigned>(static_cast<unsigned>(first + j) < static_cast<unsigned>(width)) << j;
        return mask;
    }
};

/// `columns` pixels of a row of x, of `channels` channels each, in flight from memory; zeros where `mask` has no bit.
template <Element T, int columns, int channels>
class ChannelRow {
public:
    __device__ void load(Zeros const& zeros, T const* row, unsigned mask, RowColumns const& of) {
        if (__builtin_expect(of.vector == channels, 1)) {
#pragma unroll
            for (int j = 0; j < columns; ++j)
                all[j] = config::bit_cast<Registers>(
                    zeros.load_if(mask >> j & 1, reinterpret_cast<Pixel const*>(row + std::int64_t{j} * of.stride)));
        } else {
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                Pixel pixel;
#pragma unroll
                for (int c = 0; c < channels; ++c)
                    pixel.values[c] = zeros.load_if((mask >> j & 1) && c < of.channels,
                                                    row + std::int64_t{j} * of.stride + c * of.next_channel);
                all[j] = config::bit_cast<Registers>(pixel);
            }
        }
    }
    __device__ T at(int j, int channel) const { return config::bit_cast<Pixel>(all[j]).values[channel]; }

private:
    using Pixel = Packet<T, channels>;
    using Registers = detail::RegistersFor<T, channels>;
    Registers all[columns];
};

/// Zeros::load_if() for SMEM.
struct SharedLoads {
    template <class T>
    __device__ T load_if(bool is_read, T const* from) const {
        return is_read ? *from : T{};
    }
};

/// `columns` pixels of one channel of a row of x, in flight from memory; zeros where `mask` has no bit. The `center`
/// columns from column `left` on, a multiple of 4 bytes, are loaded as vectors of RowColumns::vector elements, which
/// are aligned and entirely inside or outside the row.
template <Element T, int columns, int left, int center>
class PixelRow {
    static_assert(center * static_cast<int>(sizeof(T)) % 4 == 0);
    static constexpr int right = (max)(columns - left - center, 0), bytes = static_cast<int>(sizeof(T)),
                         widest = detail::widest_vector(bytes, center), lanes = 4 / bytes;

public:
    template <class Loads>
    __device__ void load(Loads const& zeros, T const* row, unsigned mask, RowColumns const& of) {
        auto const one = [&](int j) {
            return config::bit_cast<One>(
                zeros.load_if(mask >> j & 1, reinterpret_cast<Packet<T, 1> const*>(row + std::int64_t{j} * of.stride)));
        };
#pragma unroll
        for (int j = 0; j < left; ++j) before[j] = one(j);
        load_center<widest>(zeros, row, mask, of);
#pragma unroll
        for (int j = 0; j < right; ++j) after[j] = one(left + center + j);
    }
    __device__ T at(int j, int) const {
        if (j < left) return config::bit_cast<Packet<T, 1>>(before[j]).values[0];
        if (j >= left + center) return config::bit_cast<Packet<T, 1>>(after[j - left - center]).values[0];
        int const i = j - left;
        return config::bit_cast<Packet<T, lanes>>(words[i / lanes]).values[i % lanes];
    }

private:
    using One = detail::RegistersFor<T, 1>;
    One before[(max)(left, 1)], after[(max)(right, 1)];
    unsigned words[(max)(center / lanes, 1)];

    template <int count, class Loads>
    __device__ void load_center(Loads const& zeros, T const* row, unsigned mask, RowColumns const& of) {
        if constexpr (count > 1) {
            if (of.vector < count) return load_center<count / 2>(zeros, row, mask, of);
        }
        constexpr int loads = (max)(lanes / count, 1);  // loads per 32-bit word
#pragma unroll
        for (int i = 0; i < center; i += count * loads) {
            struct {
                Packet<T, count> values[loads];
            } packets;
#pragma unroll
            for (int l = 0; l < loads; ++l) {
                int const j = left + i + l * count;
                packets.values[l] = zeros.load_if(
                    mask >> j & 1, reinterpret_cast<Packet<T, count> const*>(row + std::int64_t{j} * of.stride));
            }
            auto const loaded = config::bit_cast<Packet<unsigned, (max)(count / lanes, 1)>>(packets);
#pragma unroll
            for (int w = 0; w < count * loads / lanes; ++w) words[i / lanes + w] = loaded.values[w];
        }
    }
};

}  // namespace fusekit::hip
