// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/tf32.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/plan/packed_state.hpp"

namespace fusekit::hip {

/// Applies the prologue (the plan's operators before its Conv or Gemm) to an element of x and rounds the result to x's
/// element type.
template <class Prologue, Element T, class State>
__device__ T before_conv(T value, State const& state, typename Prologue::Args const& args) {
    if constexpr (Prologue::size == 0) return value;
    else return T(Prologue::apply(static_cast<float>(value), OutputCoord{}, state, args));
}

/// Converts an element to the operand type of the MMA atom: unchanged, rounded to TF32 or widened.
template <class Operand, Element T>
__device__ Operand as_operand(T value) {
    if constexpr (std::is_same_v<Operand, T>) return value;
    else if constexpr (std::is_same_v<Operand, tf32>) return rounded_to_tf32(value);
    else return detail::widened_to<Operand>(value);
}

/// SMEM table of the prologue's prepared per-channel parameters for `Size` consecutive indices of GemmK, as a structure
/// of arrays: a thread loads the same float of four consecutive indices as one vector.
template <class Prologue, int Size, bool = Prologue::channelwise>
struct PrologueStates {
    using Packed = detail::PackedState<Prologue>;
    static constexpr int floats = Packed::size;

    alignas(16) float values[floats][Size];

    __device__ void put(unsigned k, typename Packed::State const& state) {
        auto const packed = Packed::of(state);
#pragma unroll
        for (int i = 0; i < floats; ++i) values[i][k] = packed.values[i];
    }

    /// The parameters of indices k to k + Count - 1 of the table, in registers; state_packet(k) loads them, k a
    /// multiple of Count.
    template <int Count>
    struct StatePacket {
        Packet<float, Count> values[floats];

        __device__ typename Packed::State operator[](int i) const {
            Packed packed;
#pragma unroll
            for (int j = 0; j < floats; ++j) packed.values[j] = values[j].values[i];
            return packed.state();
        }
    };
    template <int Count>
    __device__ StatePacket<Count> state_packet(unsigned k) const {
        StatePacket<Count> result;
#pragma unroll
        for (int i = 0; i < floats; ++i)
            result.values[i] = *reinterpret_cast<Packet<float, Count> const*>(&values[i][k]);
        return result;
    }
};
template <class Prologue, int Size>
struct PrologueStates<Prologue, Size, false> {
    struct StatePacket {
        __device__ typename Prologue::template State<float> operator[](int) const { return {}; }
    };
    template <int>
    __device__ StatePacket state_packet(unsigned) const {
        return {};
    }
};

/// Mask with one bit for each element that a thread loads: set if the element is in bounds of x. Empty if not
/// `enabled`.
template <bool enabled>
struct ValidBits {
    std::uint32_t bits = 0;

    __device__ void clear() { bits = 0; }
    __device__ void set(int first, int count, bool valid) {
        if (valid) bits |= static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
    }
    __device__ bool is_set(int i) const { return bits >> i & 1; }
};
template <>
struct ValidBits<false> {
    __device__ void clear() {}
    __device__ void set(int, int, bool) {}
};

/// Convert parameter of the operand loaders (load_tile.hpp) for plans without a prologue: elements are not converted.
struct NoConversion {
    static constexpr bool converts = false;
};

/// Convert parameter of the operand loaders (load_tile.hpp) that applies the prologue to each element in bounds;
/// padding stays zero. `states` is a table for several k-tiles; its entry `first` has the parameters of this k-tile's
/// first index of GemmK.
template <class Prologue, int Size>
struct ApplyPrologue {
    static constexpr bool converts = true;
    PrologueStates<Prologue, Size> const& states;
    KOffset const* offsets;  ///< for each index of GemmK of the k-tile: its offset in x, and its padding mask
    unsigned first;
    typename Prologue::Args const& args;

    template <int Count>
    __device__ auto state_packet(unsigned k) const {
        return states.template state_packet<Count>(first + k);
    }
    template <class Operand, Element T, class State>
    __device__ Operand convert(T value, bool valid, State const& state) const {
        auto const result = as_operand<Operand>(before_conv<Prologue>(value, state, args));
        return valid ? result : Operand{};
    }
};

}  // namespace fusekit::hip
