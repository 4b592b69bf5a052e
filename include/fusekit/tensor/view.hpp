// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit {

/// A pointer and a layout; owns nothing, trivially copyable, any strides. There is no empty view: an argument
/// that is left out does not compile.
template <class T, int Rank = 4>
struct TensorView {
    static constexpr int rank = Rank;

    T* data;
    Layout<Rank> layout;

    FUSEKIT_HD constexpr TensorView(T* data, Layout<Rank> layout) : data(data), layout(layout) {}

    /// A view to write through is also a view to read through.
    template <class Writable>
        requires std::is_same_v<Writable const, T>
    FUSEKIT_HD constexpr TensorView(TensorView<Writable, Rank> const& other) : data(other.data), layout(other.layout) {}

    template <class... Int>
    FUSEKIT_HD constexpr T& operator()(Int... at) const
        requires(sizeof...(Int) == Rank)
    {
        return data[layout.offset({{static_cast<std::int64_t>(at)...}})];
    }

    FUSEKIT_HD constexpr TensorView view() const
        requires(!std::is_const_v<T>)
    {
        return *this;
    }
    FUSEKIT_HD constexpr TensorView<T const, Rank> const_view() const { return *this; }
};

namespace detail {

/// What const_view() gives, as a view of some Element; void for anything else.
template <class T, int Rank>
T element_of(TensorView<T const, Rank>);

template <class Source, int Rank>
concept Viewable = requires(Source const& source) {
    { source.const_view().layout } -> std::convertible_to<Layout<Rank>>;
    { element_of(source.const_view()) } -> Element;
};

/// Whether the elements that its view reads go with it: a Tensor, a Literal, and whatever else owns memory.
template <class Source>
concept Owning = !std::is_trivially_copyable_v<Source> ||
                 !requires(Source const& source) { static_cast<Source const&&>(source).const_view(); };

}  // namespace detail

/// A view to read through whose element type is known at run time only: parameters may be float beside a half
/// tensor. Made implicitly from tensors and views of any Element.
template <int Rank>
struct AnyView {
    static constexpr int rank = Rank;

    union {
        float const* float32;
        half const* float16;
        fusekit::bfloat16 const* bfloat16;
        double const* float64;
        fusekit::int8 const* int8;
    };
    DataType type;
    Layout<Rank> layout;

    FUSEKIT_HD constexpr AnyView(TensorView<float const, Rank> v)
        : float32(v.data), type(DataType::float32), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyView(TensorView<half const, Rank> v)
        : float16(v.data), type(DataType::float16), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyView(TensorView<fusekit::bfloat16 const, Rank> v)
        : bfloat16(v.data), type(DataType::bfloat16), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyView(TensorView<double const, Rank> v)
        : float64(v.data), type(DataType::float64), layout(v.layout) {}
    FUSEKIT_HD constexpr AnyView(TensorView<fusekit::int8 const, Rank> v)
        : int8(v.data), type(DataType::int8), layout(v.layout) {}

    /// From a Tensor, which outlives the view: a temporary one is refused.
    template <detail::Viewable<Rank> Source>
    constexpr AnyView(Source const& source) : AnyView(source.const_view()) {}
    template <detail::Viewable<Rank> Source>
        requires detail::Owning<Source>
    AnyView(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    /// The element at `offset`, as float, or as double where V is. On a device there are no doubles.
    template <class V = float>
    FUSEKIT_HD constexpr V load(std::int64_t offset) const {
        if constexpr (!config::on_device)
            if (type == DataType::float64) return static_cast<V>(float64[offset]);
        switch (type) {
            case DataType::float16: return float16[offset];
            case DataType::bfloat16: return bfloat16[offset];
            case DataType::int8: return int8[offset];
            default: return float32[offset];
        }
    }

    void const* data() const { return float32; }
};

/// The view of elements of type T that `view` is known to be.
template <Element T, int Rank>
FUSEKIT_HD constexpr TensorView<T const, Rank> typed(AnyView<Rank> const& view) {
    if constexpr (std::same_as<T, float>) return {view.float32, view.layout};
    else if constexpr (std::same_as<T, half>) return {view.float16, view.layout};
    else if constexpr (std::same_as<T, bfloat16>) return {view.bfloat16, view.layout};
    else if constexpr (std::same_as<T, double>) return {view.float64, view.layout};
    else return {view.int8, view.layout};
}

}  // namespace fusekit
