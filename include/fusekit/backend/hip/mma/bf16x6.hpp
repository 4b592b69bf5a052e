// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/mma/wgmma_tile.hpp"

namespace fusekit::hip {

/// One step of splitting floats x into three bfloat16 terms, x = x0 + x1 + x2: x0 is x rounded to nearest, x1 and x2
/// are the rounded remainders. Writes the next term of each float in `remainder` to `words`, two per word, and
/// subtracts the term from the float. The split is exact if |x| < 3.39e38, bfloat16's largest value, and x2 is 0 or at
/// least 2^-133. An infinity, or a value that rounds to one, gives NaN.
template <int Count>
__device__ void take_bf16_term(float (&remainder)[Count], std::uint32_t (&words)[Count / 2]) {
    static_assert(Count % 2 == 0, "Count must be even: two floats are rounded to one word");
#pragma unroll
    for (int i = 0; i < Count / 2; ++i) {
        words[i] = packed<bfloat16>(remainder[2 * i], remainder[2 * i + 1]);
        float rounded[2];
        unpack<bfloat16>(words[i], rounded);
#pragma unroll
        for (int j = 0; j < 2; ++j) remainder[2 * i + j] -= rounded[j];
    }
}
/// Splits the floats in `remainder` into three bfloat16 terms: calls put(term, words) for term = 0, 1, 2; each of
/// `words` holds that term of two consecutive floats. Leaves the last remainders in `remainder`.
template <int Count, class Put>
__device__ void for_each_bf16_term(float (&remainder)[Count], Put const& put) {
#pragma unroll
    for (int term = 0; term < 3; ++term) {
        std::uint32_t words[Count / 2];
        take_bf16_term(remainder, words);
        put(term, words);
    }
}

/// Splits the eight floats in `remainder` into three bfloat16 terms and stores term i of all eight, 16 bytes, at byte i
/// * term_bytes of `to`.
__device__ inline void store_bf16_terms(float (&remainder)[8], unsigned char* to, int term_bytes) {
    for_each_bf16_term(remainder, [&](int term, std::uint32_t const(&words)[4]) {
        *reinterpret_cast<Packet<std::uint32_t, 4>*>(to + term * term_bytes) = {words[0], words[1], words[2], words[3]};
    });
}

/// Index (0 to 2) of the bfloat16 term that factor 0 (a) or 1 (b) contributes to product `product` (0 to 5) of bf16x6,
/// smallest products first. Of the nine products of three terms each, the three smallest are omitted: at most 2^-23 of
/// the full product.
FUSEKIT_HD constexpr int bf16x6_term(int product, int factor) {
    constexpr int terms[6][2] = {{0, 2}, {1, 1}, {2, 0}, {0, 1}, {1, 0}, {0, 0}};
    return terms[product][factor];
}

/// Operand tile of floats (Size rows, TILE_K indices of GemmK) in SMEM, stored as three bfloat16 tiles whose sum it is,
/// one tile per term.
template <int Size>
class Bf16x3Tile {
    using Term = SwizzledTile<bfloat16, Size>;

public:
    using Operand = float;
    static constexpr bool contiguous_rows = false;

    __device__ Term const& term(int i) const { return terms[i]; }

    /// Splits and stores the elements of row `row` (a pixel or an output channel of the tile) at indices k to k + Count
    /// - 1 of the k-tile, k a multiple of Count; operand(i) returns element k + i.
    template <int Count, class OperandAt>
    __device__ void put_along_k(unsigned k, unsigned row, OperandAt operand) {
        float remainder[Count];
#pragma unroll
        for (int i = 0; i < Count; ++i) remainder[i] = operand(i);
        for_each_bf16_term(remainder, [&](int term, std::uint32_t const(&words)[Count / 2]) {
            terms[term].template put_along_k<Count>(k, row, [&](int i) { return value(words, i); });
        });
    }
    /// Splits and stores the elements of rows `row` to `row` + Count - 1 at index k of the k-tile.
    template <int Count>
    __device__ void put_along_rows(unsigned k, unsigned row, Packet<float, Count> operands) {
        for_each_bf16_term(operands.values, [&](int term, std::uint32_t const(&words)[Count / 2]) {
#pragma unroll
            for (int i = 0; i < Count; ++i) *terms[term].at(k, row + static_cast<unsigned>(i)) = value(words, i);
        });
    }

private:
    Term terms[3];

    template <int Words>
    __device__ static bfloat16 value(std::uint32_t const (&words)[Words], int i) {
        return config::bit_cast<bfloat16>(static_cast<std::uint16_t>(words[i / 2] >> 16 * (i % 2)));
    }
};

/// MMA atom of warpgroups for FP32 operands on sm_90a's tensor cores: each operand is split into three bfloat16 terms,
/// and six products of terms approximate an FP32 product (bf16x6).
///
/// The tensor cores add 16 products at a time and round toward zero. Each k-tile issues its small products first, so
/// that only four additions round at the magnitude of the sum. The sums of a k-tile, 64 indices of GemmK, are then
/// promoted: added to the FP32 running sums, rounded to nearest. Error bound for K indices of GemmK: (13 + K / 64)
/// 2^-24 sum |a b|. Five roundings contribute 2^-23 each, and so do the omitted products; the small products and each
/// k-tile contribute 2^-24. A chain of FP32 additions is bounded by K 2^-24 sum |a b|. Source: Ootomo and Yokota,
/// "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance",
/// IJHPCA 2022.
template <int TileM, int TileN>
class Bf16x6 : public WgmmaTile<bfloat16, TileM, TileN> {
    using Base = WgmmaTile<bfloat16, TileM, TileN>;
    using Unit = Wgmma<bfloat16, TileN>;

public:
    using Base::Base, Base::tile_k;
    using Operand = float;
    static constexpr bool interleaves_loads = true;

    struct Stage {
        Bf16x3Tile<TileM> x;
        Bf16x3Tile<TileN> w;
    };
    struct Fragment : Base::Fragment {
        typename Unit::Accumulators step;  ///< sums of the k-tile whose MMAs are in flight, not yet added to `acc`
    };

    /// Issues the MMAs of a k-tile; wait() completes them. Calls convert<i, 4>() for i = 0 to 3 between the MMAs: the
    /// caller converts quarter i of the next k-tile there, while the tensor cores run the MMAs issued before.
    template <class Convert>
    __device__ void multiply(Stage const& stage, Fragment& fragment, Convert const& convert) const {
        auto const x = Unit::descriptor(ptx::shared_address(&stage.x)) + Unit::row_offset(this->warpgroup() * Unit::m);
        auto const w = Unit::descriptor(ptx::shared_address(&stage.w));
        auto const multiply_terms = [&](int number) {
            auto const a = x + static_cast<unsigned>(bf16x6_term(number, 0)) * Unit::row_offset(TileM),
                       b = w + static_cast<unsigned>(bf16x6_term(number, 1)) * Unit::row_offset(TileN);
            mma::OperandA<Unit> const terms_of_a{a};  // (64, TILE_K), swizzled, one term
            mma::OperandB<Unit> const terms_of_b{b};  // (TILE_N, TILE_K), swizzled, one term
            mma::gemm<Unit>(fragment.step, terms_of_a, terms_of_b, number > 0);  // (64, TILE_N) += over TILE_K
        };
        multiply_terms(0);
        multiply_terms(1);
        convert.template operator()<0, 4>();
        multiply_terms(2);
        convert.template operator()<1, 4>();
        multiply_terms(3);
        convert.template operator()<2, 4>();
        multiply_terms(4);
        convert.template operator()<3, 4>();
        multiply_terms(5);
    }
    __device__ void wait(Fragment& fragment) const {
        mma::wait(fragment.step);
        mma::promote(fragment.acc, fragment.step);
    }
};

}  // namespace fusekit::hip
