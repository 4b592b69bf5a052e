// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/load_tile.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/blocks.hpp"
#include "fusekit/backend/hip/atom/k_major_tile.hpp"

using namespace test;
using fk::hip::KOffset, fk::hip::RowPointer;

namespace {

/// Conversion whose result depends on the mask and on k.
struct TwiceAndK {
    static constexpr bool converts = true;
    KOffset const* offsets = nullptr;

    struct StatePacket {
        unsigned first;
        __host__ __device__ int operator[](int i) const { return static_cast<int>(first) + i; }
    };
    template <int Count>
    __host__ __device__ StatePacket state_packet(unsigned k) const {
        return {k % Count == 0 ? k : 1000 + k};  // checks the alignment of k
    }
    template <class Operand, class T>
    __host__ __device__ Operand convert(T value, bool valid, int k) const {
        int const twice = valid ? 2 * static_cast<int>(static_cast<float>(value)) + 1 : 0;
        return Operand(static_cast<float>(twice + k));
    }
};

/// Each CTA loads one tile.
template <class Loader, class Convert, class T, class Tile, int Size, int TileK, int Threads>
struct LoadTile : BlockOf<Threads> {
    struct Params {
        RowPointer<T> const* rows;
        KOffset const* offsets;
        bool vectorized;
        float* out;  ///< [TileK][Size]
    };
    struct Shared {
        Tile tile;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        Loader loader(thread, params.vectorized, [&](unsigned i) { return params.rows[i]; });
        loader.load(params.offsets, shared.tile);
        if constexpr (Convert::converts) loader.store(shared.tile, Convert{params.offsets});
        else loader.store(shared.tile, Convert{});
        __syncthreads();
        for (unsigned i = thread; i < TileK * Size; i += Threads)
            params.out[i] = static_cast<float>(*shared.tile.at(i / Size, i % Size));
    }
};

/// Elements that every type represents exactly; adjacent elements differ.
template <class T>
std::vector<T> elements(std::size_t count) {
    std::vector<T> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(T(static_cast<float>(static_cast<int>(i * 37 % 251) - 125)));
    return all;
}

/// Masks of rows and indices: a row has an element at an index if all bits of the index are valid in the row.
std::uint32_t valid_of(int row) { return static_cast<std::uint32_t>(row / 16 % 4); }
std::uint32_t mask_of(int packet) { return packet % 5 == 4 ? KOffset::never : static_cast<std::uint32_t>(packet % 3); }

/// Loads a tile whose row i starts at first(i) and whose index k has offset(k), and compares every element.
template <class Loader, class Convert, class T, class Operand, int Size, int TileK, int Threads>
void check_tile(bool vectorized, auto first, auto offset, auto mask) {
    using Body = LoadTile<Loader, Convert, T, fk::hip::KMajorTile<Operand, Size, TileK>, Size, TileK, Threads>;
    fk::hip::Device device = gpu();
    std::vector<T> const memory = elements<T>(std::size_t{Size} * TileK * 4);
    Array<T> const x(device, memory);
    std::vector<RowPointer<T>> rows;
    std::vector<KOffset> offsets;
    for (int i = 0; i < Size; ++i) rows.push_back({x.data() + first(i), valid_of(i)});
    for (int k = 0; k < TileK; ++k) offsets.push_back({offset(k), mask(k)});
    Array<RowPointer<T>> const row_pointers(device, rows);
    Array<KOffset> const k_offsets(device, offsets);
    Array<float> const out(device, Size * TileK, -999);
    run_blocks<Body>(device, {row_pointers.data(), k_offsets.data(), vectorized, out.data()});

    std::vector<float> expected;
    for (int k = 0; k < TileK; ++k)
        for (int i = 0; i < Size; ++i) {
            bool const there = (mask(k) & ~valid_of(i)) == 0;
            T const value = there ? memory[static_cast<std::size_t>(first(i) + offset(k))] : T{};
            if constexpr (Convert::converts)
                expected.push_back(static_cast<float>(Convert{}.template convert<Operand>(value, there, k)));
            else expected.push_back(static_cast<float>(value));
        }
    CAPTURE(Size, TileK, Threads, vectorized, Convert::converts);
    CHECK(out.values() == expected);
}

template <class T, int Size, int TileK, int Threads, class Convert, class Operand = fk::detail::AccumulatorOf<T>>
void check_along_k() {
    using Loader = fk::hip::TileAlongK<T, Size, TileK, Threads, Convert>;
    check_tile<Loader, Convert, T, Operand, Size, TileK, Threads>(
        true, [](int i) { return i * 2 * TileK; }, [](int k) { return k; },
        [](int k) { return mask_of(k / Loader::count); });
    check_tile<Loader, Convert, T, Operand, Size, TileK, Threads>(
        false, [](int i) { return i * 3 + 1; }, [](int k) { return (k * 5 % TileK) * Size; },
        [](int k) { return mask_of(k); });
}

template <class T, int Size, int TileK, int Threads, class Convert, class Operand = fk::detail::AccumulatorOf<T>>
void check_along_rows() {
    using Loader = fk::hip::TileAlongRows<T, Size, TileK, Threads, true, Convert>;
    check_tile<Loader, Convert, T, Operand, Size, TileK, Threads>(
        true, [](int i) { return i; }, [](int k) { return (k * 3 % TileK) * Size; }, [](int k) { return mask_of(k); });
    check_tile<Loader, Convert, T, Operand, Size, TileK, Threads>(
        false, [](int i) { return i * 2 + 1; }, [](int k) { return (k * 3 % TileK) * Size + k; },
        [](int k) { return mask_of(k); });
}

}  // namespace

TEMPLATE_TEST_CASE("HIP: TileAlongK stores each element at its (k, row)", "", float, fk::half, fk::int8) {
    check_along_k<TestType, 64, 8, 64, fk::hip::NoConversion>();
    check_along_k<TestType, 64, 16, 64, TwiceAndK>();
    check_along_k<TestType, 128, 16, 128, fk::hip::NoConversion>();
    check_along_k<TestType, 64, 8, 256, TwiceAndK>();
}

TEMPLATE_TEST_CASE("HIP: TileAlongRows stores each element at its (k, row)", "", float, fk::half, fk::int8) {
    check_along_rows<TestType, 64, 8, 64, fk::hip::NoConversion>();
    check_along_rows<TestType, 64, 16, 64, TwiceAndK>();
    check_along_rows<TestType, 128, 16, 128, fk::hip::NoConversion>();
    check_along_rows<TestType, 128, 16, 128, TwiceAndK>();
}

TEMPLATE_TEST_CASE("HIP: a tile of unconverted elements stores each at its (k, row)", "", fk::half, fk::int8) {
    check_along_k<TestType, 64, 16, 64, fk::hip::NoConversion, TestType>();
    check_along_k<TestType, 64, 16, 64, TwiceAndK, TestType>();
    check_along_rows<TestType, 64, 16, 64, fk::hip::NoConversion, TestType>();
    check_along_rows<TestType, 64, 16, 64, TwiceAndK, TestType>();
}
