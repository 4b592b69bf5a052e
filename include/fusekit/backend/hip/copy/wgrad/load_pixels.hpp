// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// Coordinate in x and its offset in elements. It is either the coordinate of the first tap of a window of a pixel of
/// dy (the window's origin), or the distance from an origin to the element of x that a weight's tap and channel read.
/// An origin plus a distance is the element of x to multiply, which may be in padding; it is out of bounds if either is
/// `out_of_bounds`.
template <int Space>
struct alignas(16) InputCoord {
    static constexpr std::int32_t out_of_bounds = -(1 << 30);

    PerMode<Space> at;
    std::int64_t offset;

    __device__ void set_out_of_bounds() { at[0] = out_of_bounds; }
    __device__ bool in_bounds() const { return at[0] != out_of_bounds; }
    /// Loads the whole struct by one 16-byte load, if it has 16 bytes.
    __device__ InputCoord whole() const {
        if constexpr (sizeof(InputCoord) != 16) return *this;
        Words<4> const words = read_words(this);
        InputCoord result;
        __builtin_memcpy(&result, &words, sizeof words);
        return result;
    }
};

/// Table in SMEM for Size pixels of dy: the origins of their windows in x (InputCoord), and their offsets in dy, in
/// elements.
template <int Space, int Size>
struct PixelTable {
    InputCoord<Space> in_x[Size];
    std::int64_t in_dy[Size];
};

/// Direction and width of an operand's loads, along the mode that is contiguous in memory: channels of a pixel, as
/// vectors of eight or four or one at a time; pixels, one at a time; or rows: for both operands, vectors of four pixels
/// of a row (WeightGradientRows).
enum class ContiguousMode { channels_by_8, channels_by_4, channels, pixels, rows };

/// A thread's elements of an operand tile (TileK pixels; Size channels of dy or columns of dw), in registers between
/// global memory and an MMA atom's Tile in SMEM. Consecutive threads load consecutive elements.
///
/// If pixels are contiguous in the Tile, a thread has several consecutive pixels and stores up to 16 bytes of a row at
/// once. Channels loaded as vectors are permuted in the Tile (tile_row()): the rows that threads store at the same time
/// are consecutive, which avoids bank conflicts.
template <Element T, class Tile, int Size, int TileK, int threads>
class TileOfPixels {
    static constexpr int per_thread = Size * TileK / threads;
    static_assert(threads % Size == 0 || Size % threads == 0);
    static_assert(threads % TileK == 0 && per_thread % 4 == 0 && per_thread * threads == Size * TileK);
    using Operand = typename Tile::Operand;
    static constexpr bool has_packets_of_8 = !Tile::contiguous_rows && sizeof(T) == 2;

public:
    /// True if pixels are contiguous in a row of the SMEM tile, so that vectors of channels are transposed when they
    /// are stored.
    static constexpr bool transposes = !Tile::contiguous_rows;
    /// Widest vector of channels that a thread can load at once.
    static constexpr ContiguousMode widest =
        has_packets_of_8 ? ContiguousMode::channels_by_8 : ContiguousMode::channels_by_4;
    /// Number of vector loads per thread with the widest vectors.
    static constexpr int packets = per_thread / (has_packets_of_8 ? 8 : 4);

    /// Calls f(packet, pixel, row) for each Packet (vector of 1, 4 or 8 elements) that the thread loads, with the
    /// Packet's pixel and its first row in the tile. `along` is an enumerator of ContiguousMode, or an
    /// integral_constant of one.
    template <class Along, class F>
    __device__ void each(Along along, unsigned thread, F const& f) {
        with_fragment(along, thread, [&]<class Fragment>(Fragment const& of) {
#pragma unroll
            for (unsigned i = 0; i < Fragment::packets; ++i) {
                f(packet<Fragment::count>(i), of.pixel(i), of.row(i));
                if (!transposes || i % 4 == 3) keep_apart();
            }
        });
    }
    /// Stores the thread's elements to the tile. ORs `over` into the first element of each transposed vector, as a
    /// 32-bit word: into two consecutive pixels at once for 16-bit elements. If `over` is ones, a column of x that was
    /// loaded as zeros becomes the column of ones that sums the bias gradient.
    template <class Along>
    __device__ void store(Along along, unsigned thread, Tile& tile, std::uint32_t over = 0) {
        with_fragment(along, thread, [&]<class Fragment>(Fragment const& of) {
            if constexpr (transposes && !Fragment::contiguous_pixels) store_transposed(of, tile, over);
            else store_as_loaded(of, tile);
        });
    }
    /// Waits until all of this thread's loads have completed, by one wait for the last load; AMD's compiler would wait
    /// for each load.
    template <ContiguousMode along>
    __device__ void wait(std::integral_constant<ContiguousMode, along>) {
        std::conditional_t<(along == ContiguousMode::pixels && sizeof(T) == 2), std::uint16_t, std::uint32_t> last;
        void* const at = reinterpret_cast<unsigned char*>(values) + sizeof values - sizeof last;
        __builtin_memcpy(&last, at, sizeof last);
        wait_for(last);
        __builtin_memcpy(at, &last, sizeof last);
    }
    __device__ void wait(ContiguousMode) {}

    /// first_row(), first_pixel(): row and pixel, in the tile, of the first vector that the thread loads. All
    /// transposed vectors of the thread have that row, at consecutive pixels.
    template <class Along>
    __device__ static unsigned first_row(Along along, unsigned thread) {
        unsigned row = 0;
        with_fragment(along, thread, [&](auto const& of) { row = of.row(0); });
        return row;
    }

    template <class Along>
    __device__ static unsigned first_pixel(Along along, unsigned thread) {
        unsigned pixel = 0;
        with_fragment(along, thread, [&](auto const& of) { pixel = of.pixel(0); });
        return pixel;
    }

    /// Returns the row of the operand (a channel of dy, or a column of dw) that is stored in row `row` of the tile.
    __device__ static unsigned operand_row(ContiguousMode along, unsigned row) {
        if (!transposes) return row;
        unsigned const count = along == ContiguousMode::channels_by_4   ? 4
                               : along == ContiguousMode::channels_by_8 ? has_packets_of_8 ? 8 : 4
                                                                        : 1;
        return turned(row, Size / count);
    }

    /// Returns the row of the tile that stores row `row` of the operand, if channels are loaded as vectors of 4 or 8.
    template <ContiguousMode along>
    __device__ static unsigned tile_row(std::integral_constant<ContiguousMode, along>, unsigned row) {
        return transposes ? turned(row, along == ContiguousMode::channels_by_8 ? 8 : 4) : row;
    }

private:
    alignas(16) T values[per_thread];

    template <int Count>
    __device__ Packet<T, Count>& packet(unsigned i) {
        return *reinterpret_cast<Packet<T, Count>*>(values + i * Count);
    }

    /// The rows and pixels, in the operand tile, of the Packets (vectors) that a thread loads; a Packet has Count rows.
    template <int Count, bool along_pixels>
    struct FragmentOf {
        static constexpr int count = Count;
        static constexpr unsigned packets = per_thread / Count;
        static constexpr bool contiguous_pixels = along_pixels;
        static constexpr unsigned wide = along_pixels ? TileK : Size / Count, step = threads / wide;
        unsigned inner, outer;

        __device__ explicit FragmentOf(unsigned thread) : inner(thread % wide), outer(thread / wide) {}
        __device__ unsigned pixel(unsigned i) const { return along_pixels ? inner : outer_index(i); }
        __device__ unsigned row(unsigned i) const { return along_pixels ? outer_index(i) : inner * Count; }

    private:
        __device__ unsigned outer_index(unsigned i) const {
            return transposes ? outer * packets + i : outer + i * step;
        }
    };
    /// Calls f with the thread's FragmentOf for the ContiguousMode `along`. A thread with many rows recomputes its
    /// indices from the thread number instead of keeping them in registers.
    template <ContiguousMode along, class F>
    __device__ static void with_fragment(std::integral_constant<ContiguousMode, along>, unsigned thread, F const& f) {
        constexpr int count = along == ContiguousMode::channels_by_8   ? 8
                              : along == ContiguousMode::channels_by_4 ? 4
                                                                       : 1;
        constexpr bool is_along_pixels = along == ContiguousMode::pixels;
        f(FragmentOf<count, is_along_pixels>(is_along_pixels ? opaque_per_thread(thread) : thread));
    }
    template <class F>
    __device__ static void with_fragment(ContiguousMode along, unsigned the_thread, F const& f) {
        unsigned const thread = opaque_per_thread(the_thread);
        if (along == ContiguousMode::pixels) return f(FragmentOf<1, true>(thread));
        if (along == ContiguousMode::channels) return f(FragmentOf<1, false>(thread));
        if constexpr (has_packets_of_8)
            if (along == ContiguousMode::channels_by_8) return f(FragmentOf<8, false>(thread));
        f(FragmentOf<4, false>(thread));
    }

    template <class Fragment>
    __device__ void store_as_loaded(Fragment const& of, Tile& tile) {
#pragma unroll
        for (unsigned i = 0; i < Fragment::packets; ++i) {
            Packet<Operand, Fragment::count> operands;
#pragma unroll
            for (int own = 0; own < Fragment::count; ++own)
                operands.values[own] = as_operand<Operand>(packet<Fragment::count>(i).values[own]);
            tile.template put_along_rows<Fragment::count>(of.pixel(i), of.row(i), operands);
            if (!transposes) keep_apart();
        }
    }
    template <class Fragment>
    __device__ void store_transposed(Fragment const& of, Tile& tile, std::uint32_t over) {
        constexpr unsigned count = Fragment::count, pixels = Fragment::packets;
        if constexpr (arch::has<arch::Amd> && sizeof(T) == 2 && count > 1) {
            // A thread's rows are at compile-time distances from one address, so that the compiler merges stores.
            constexpr unsigned apart = Size / count * TileK;
            static_assert(Tile::element_index(0, Size / count) == apart);
            T* const first = tile.at(of.pixel(0), turned(of.row(0), count));
#pragma unroll
            for (unsigned own = 0; own < count; ++own) {
                Packet<std::uint32_t, pixels / 2> pairs;
#pragma unroll
                for (unsigned i = 0; i < pixels; i += 2) {
                    pairs.values[i / 2] = permuted(word<count>(i + 1, own / 2), word<count>(i, own / 2),
                                                   own % 2 ? 0x07060302 : 0x05040100);
                    if (own == 0) pairs.values[i / 2] |= over;
                }
                *reinterpret_cast<decltype(pairs)*>(first + own * apart) = pairs;
            }
        } else {
#pragma unroll
            for (unsigned own = 0; own < count; ++own) {
                unsigned const row = turned(of.row(0) + own, count);
                tile.template put_along_k<static_cast<int>(pixels)>(of.pixel(0), row, [&](int i) {
                    T value = values[static_cast<unsigned>(i) * count + own];
                    if constexpr (sizeof(T) == sizeof over)
                        if (own == 0) value = with_bits(value, over);
                    return as_operand<Operand>(value);
                });
            }
        }
    }
    __device__ static T with_bits(T value, std::uint32_t over) {
        std::uint32_t bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        bits |= over;
        __builtin_memcpy(&value, &bits, sizeof bits);
        return value;
    }
    /// Returns elements 2 `number` and 2 `number` + 1 of the thread's vector number i, as a 32-bit word.
    template <int Count>
    __device__ std::uint32_t word(unsigned i, unsigned number) const {
        std::uint32_t result;
        __builtin_memcpy(&result, values + i * Count + 2 * number, sizeof result);
        return result;
    }

    /// Transposes row indices: seeing the Size rows as a row-major matrix of `columns` columns, returns the
    /// column-major index of row `row`.
    __device__ static unsigned turned(unsigned row, unsigned columns) {
        return row % columns * (Size / columns) + row / columns;
    }
};

}  // namespace fusekit::hip
