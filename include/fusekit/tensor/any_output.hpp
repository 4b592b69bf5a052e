// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/collapse.hpp"

namespace fusekit {

/// Activations of any rank to write to, whose element type is known at run time only: the counterpart of
/// AnyActivations. Made implicitly from views, and from tensors that outlive it.
struct AnyOutput {
    union {
        float* float32;
        half* float16;
        fusekit::bfloat16* bfloat16;
        double* float64;
        fusekit::int8* int8;
    };
    DataType type;
    Layout<4> layout;
    CollapsedFrom from{};

    FUSEKIT_HD constexpr AnyOutput(TensorView<float> const& v)
        : float32(v.data), type(DataType::float32), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyOutput(TensorView<half> const& v)
        : float16(v.data), type(DataType::float16), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyOutput(TensorView<fusekit::bfloat16> const& v)
        : bfloat16(v.data), type(DataType::bfloat16), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyOutput(TensorView<double> const& v)
        : float64(v.data), type(DataType::float64), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyOutput(TensorView<fusekit::int8> const& v)
        : int8(v.data), type(DataType::int8), layout(v.layout) {}

    template <class T, int Rank>
        requires(Rank == 2 || Rank == 3 || Rank == 5 || (Rank == 4 && !Element<T>)) && (!std::is_const_v<T>)
    FUSEKIT_H constexpr AnyOutput(TensorView<T, Rank> const& view)
        : AnyOutput(of_image(detail::collapse<4>(view.view()))) {}
    template <class Source>
        requires(!std::is_trivially_copyable_v<Source> && detail::rank_of<Source>() >= 2 &&
                 detail::rank_of<Source>() <= 5 && requires(Source& source) { detail::collapse<4>(source.view()); })
    FUSEKIT_H constexpr AnyOutput(Source& source) : AnyOutput(of_image(detail::collapse<4>(source.view()))) {}

    template <class Source>
        requires(!std::is_base_of_v<AnyOutput, Source> && !std::is_convertible_v<Source const&, TensorView<float>>)
    FUSEKIT_H constexpr AnyOutput(Source const&) {
        constexpr bool is_output = sizeof(Source) == 0;
        static_assert(is_output,
                      "this output (Source) is no view or Tensor of 2 to 5 modes that may be written to: "
                      "elements are not const, and a Tensor outlives the call");
    }

    /// Calls f with the pointer to the first element. On a device there are no doubles.
    template <class F>
    FUSEKIT_HD constexpr void visit(F const& f) const {
        if constexpr (!config::on_device)
            if (type == DataType::float64) return f(float64);
        switch (type) {
            case DataType::float16: return f(float16);
            case DataType::bfloat16: return f(bfloat16);
            case DataType::int8: return f(int8);
            case DataType::float32:
            case DataType::float64:
            case DataType::float8_e4m3:
            case DataType::float8_e5m2:
            case DataType::float8_e4m3_fnuz:
            case DataType::float8_e5m2_fnuz: break;
        }
        return f(float32);
    }

    /// Writes the element at `offset`, rounded from float, or from double where V is double.
    template <class V>
    FUSEKIT_HD constexpr void store(std::int64_t offset, V value) const {
        visit([&]<class T>(T* data) {
            if constexpr (std::is_same_v<T, double>) data[offset] = static_cast<double>(value);
            else data[offset] = T(static_cast<float>(value));
        });
    }

    FUSEKIT_H void const* data() const { return float32; }

private:
    template <class T>
    FUSEKIT_H static constexpr AnyOutput of_image(detail::ImageView<T> const& view) {
        AnyOutput output(static_cast<TensorView<T> const&>(view));
        output.from = view.from;
        return output;
    }
};

/// An AnyOutput that may be left out.
struct OptionalOutput : AnyOutput {
    using AnyOutput::AnyOutput;
    FUSEKIT_H constexpr OptionalOutput() : AnyOutput(TensorView<float>{nullptr, {}}) {}
    FUSEKIT_HD constexpr OptionalOutput(AnyOutput const& output) : AnyOutput(output) {}

    FUSEKIT_HD constexpr bool given() const { return float32 != nullptr; }
};

}  // namespace fusekit
