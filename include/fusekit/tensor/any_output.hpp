// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/collapse.hpp"

namespace fusekit {

/// Writable view of a tensor of two to five modes, collapsed to N, C, rows and columns, whose element type is known at
/// run time only; AnyActivations is the same for inputs. Converts implicitly from views, and from tensors that outlive
/// it.
struct AnyOutput {
    union {
        float* float32;
        double* float64;
#define FUSEKIT_POINTER(Type, data_type, number) detail::ElementAs<DataType::data_type>* data_type;
        FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_POINTER)
#undef FUSEKIT_POINTER
    };
    DataType type;
    Layout<4> layout;
    CollapsedFrom from{};

    FUSEKIT_HD constexpr AnyOutput(TensorView<float> const& v)
        : float32(v.data), type(DataType::float32), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyOutput(TensorView<double> const& v)
        : float64(v.data), type(DataType::float64), layout(v.layout) {}
#define FUSEKIT_FROM_VIEW(Type, data_type, number)                                              \
    FUSEKIT_HD constexpr AnyOutput(TensorView<detail::ElementAs<DataType::data_type>> const& v) \
        : data_type(v.data), type(DataType::data_type), layout(v.layout) {}
    FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_FROM_VIEW)
#undef FUSEKIT_FROM_VIEW

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
        static_assert(
            is_output,
            "this output (Source) must be a view or a named Tensor of 2 to 5 modes whose elements are not const");
    }

    /// Calls f(pointer to the first element), with the pointer's type that of the elements. Not for double in device
    /// code.
    template <class F>
    FUSEKIT_HD constexpr void visit(F const& f) const {
        if constexpr (!config::on_device)
            if (type == DataType::float64) return f(float64);
        switch (type) {
#define FUSEKIT_CALL(Type, data_type, number) \
    case DataType::data_type: return f(data_type);
            FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_CALL)
#undef FUSEKIT_CALL
            case DataType::float32:
            case DataType::float64:
#define FUSEKIT_CASE(Type, data_type, number) case DataType::data_type:
                FUSEKIT_FLOAT8_ELEMENTS(FUSEKIT_CASE)
#undef FUSEKIT_CASE
                break;
        }
        return f(float32);
    }

    /// Stores `value`, rounded to the view's element type, to the element at `offset`, counted in elements from the
    /// first.
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

/// Output that may be omitted: an AnyOutput with a null pointer by default.
struct OptionalOutput : AnyOutput {
    using AnyOutput::AnyOutput;
    FUSEKIT_H constexpr OptionalOutput() : AnyOutput(TensorView<float>{nullptr, {}}) {}
    FUSEKIT_HD constexpr OptionalOutput(AnyOutput const& output) : AnyOutput(output) {}

    FUSEKIT_HD constexpr bool given() const { return float32 != nullptr; }
};

}  // namespace fusekit
