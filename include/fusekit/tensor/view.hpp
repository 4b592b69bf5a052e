// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit {

/// A pointer and a layout; non-owning, trivially copyable, any strides. The pointer may be null if an extent is 0. Code
/// that omits a TensorView argument does not compile. T is any type with an ElementOf, const or not.
template <class T, int Rank = 4>
struct TensorView {
    static constexpr int rank = Rank;
    static constexpr bool is_element = !std::is_void_v<ElementOf<T>>;
    static_assert(is_element,
                  "elements are float, half, bfloat16, double, int8 or an 8-bit float of fusekit, or __half, _Float16, "
                  "__nv_bfloat16, __hip_bfloat16, hip_bfloat16, __bf16, std::int8_t or __nv_fp8_e4m3 and its like, "
                  "which have the bits of one of them");
    using Given = T;  ///< element type in the application's code
    using Stored = detail::StoredAs<T>;  ///< type as which elements are read and written

    T* data;
    Layout<Rank> layout;

    FUSEKIT_HD constexpr TensorView(T* the_data, Layout<Rank> the_layout) : data(the_data), layout(the_layout) {}

    /// Fails a static_assert for arguments other than a pointer to T and a layout of Rank modes.
    template <class Data, class Given>
        requires(!std::is_convertible_v<Data, T*> || !std::is_convertible_v<Given, Layout<Rank>>)
    FUSEKIT_H constexpr TensorView(Data const&, Given const&) : data(nullptr), layout() {
        constexpr bool points = std::is_convertible_v<Data, T*>;
        constexpr bool of_rank = std::is_convertible_v<Given, Layout<Rank>>;
        static_assert(
            of_rank, "the second argument (Given) must be a layout of the view's number of modes (Rank, 4 by default)");
        static_assert(
            points || !of_rank,
            "the first argument (Data) must be a pointer to the view's elements (T): for a vector write data()");
    }

    /// Converts a view of T to a view of T const.
    template <class Writable>
        requires std::is_same_v<Writable const, T>
    FUSEKIT_HD constexpr TensorView(TensorView<Writable, Rank> const& other) : data(other.data), layout(other.layout) {}

    /// Converts a view of an application's type, such as __half, to a view of its element type, such as half.
    template <class Other>
        requires(!Element<std::remove_const_t<Other>> && std::is_convertible_v<detail::StoredAs<Other>*, T*>)
    FUSEKIT_HD constexpr TensorView(TensorView<Other, Rank> const& other)
        : data(detail::stored(other.data)), layout(other.layout) {}

    template <class... Int>
    FUSEKIT_HD constexpr T& operator()(Int... at) const
        requires(sizeof...(Int) == Rank)
    {
        return data[layout.offset({{static_cast<std::int64_t>(at)...}})];
    }

    /// The same view with elements of type Stored.
    FUSEKIT_HD constexpr TensorView<Stored, Rank> view() const
        requires(!std::is_const_v<T>)
    {
        return {detail::stored(data), layout};
    }
    FUSEKIT_HD constexpr TensorView<Stored const, Rank> const_view() const { return {detail::stored(data), layout}; }
};

/// Deduction guide for data that is not a pointer, so that the constructor's static_assert is the error.
template <class Data, int Rank>
    requires(!std::is_pointer_v<std::decay_t<Data>>)
TensorView(Data const&, Layout<Rank> const&) -> TensorView<float, Rank>;

namespace detail {

/// Type: element type of the view that const_view() returns.
template <class T, int Rank>
FUSEKIT_H T element_of(TensorView<T const, Rank>);

template <class Source, int Rank>
concept Viewable = requires(Source const& source) {
    { source.const_view().layout } -> std::convertible_to<Layout<Rank>>;
    { element_of(source.const_view()) } -> Element;
};

/// True if a Source owns the elements of its view, as a Tensor and a Literal do.
template <class Source>
concept Owning = !std::is_trivially_copyable_v<Source> ||
                 !requires(Source const& source) { static_cast<Source const&&>(source).const_view(); };

}  // namespace detail

/// Read-only view whose element type is known at run time only, so that parameters may be float and the tensor half.
/// Converts implicitly from tensors and views of any Element type. 8-bit floats are element types of weights alone,
/// which backends read by their static type: load() does not support them.
template <int Rank>
struct AnyView {
    static constexpr int rank = Rank;

    union {
#define FUSEKIT_POINTER(Type, data_type, number) detail::ElementAs<DataType::data_type> const* data_type;
        FUSEKIT_ELEMENTS(FUSEKIT_POINTER)
#undef FUSEKIT_POINTER
    };
    DataType type;
    Layout<Rank> layout;

#define FUSEKIT_FROM_VIEW(Type, data_type, number)                                                 \
    FUSEKIT_HD constexpr AnyView(TensorView<detail::ElementAs<DataType::data_type> const, Rank> v) \
        : data_type(v.data), type(DataType::data_type), layout(v.layout) {}
    FUSEKIT_ELEMENTS(FUSEKIT_FROM_VIEW)
#undef FUSEKIT_FROM_VIEW

    /// Converts from a Tensor, which must outlive the view; a temporary Tensor does not compile.
    template <detail::Viewable<Rank> Source>
    FUSEKIT_H constexpr AnyView(Source const& source) : AnyView(source.const_view()) {}
    template <detail::Viewable<Rank> Source>
        requires detail::Owning<Source>
    AnyView(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    /// Loads the element at `offset`, in elements from the first, as float, or as double if V is double. Not for
    /// elements of double in device code.
    template <class V = float>
    FUSEKIT_HD constexpr V load(std::int64_t offset) const {
        if constexpr (!config::on_device)
            if (type == DataType::float64) return static_cast<V>(float64[offset]);
        switch (type) {
#define FUSEKIT_LOAD(Type, data_type, number) \
    case DataType::data_type: return static_cast<V>(float{data_type[offset]});
            FUSEKIT_CONVERTED_ELEMENTS(FUSEKIT_LOAD)
#undef FUSEKIT_LOAD
            case DataType::float32:
            case DataType::float64:
#define FUSEKIT_CASE(Type, data_type, number) case DataType::data_type:
                FUSEKIT_FLOAT8_ELEMENTS(FUSEKIT_CASE)
#undef FUSEKIT_CASE
                break;
        }
        return static_cast<V>(float32[offset]);
    }

    FUSEKIT_H void const* data() const { return float32; }
};

namespace detail {

/// Returns `view` as a TensorView of T. Precondition: its elements are of type T. At compile time it has no address.
template <Element T, int Rank>
FUSEKIT_HD constexpr TensorView<T const, Rank> typed(AnyView<Rank> const& view) {
    if (std::is_constant_evaluated()) return {nullptr, view.layout};
#define FUSEKIT_TYPED(Type, data_type, number)                                 \
    if constexpr (std::same_as<T, Type>) return {view.data_type, view.layout}; \
    else
    FUSEKIT_ELEMENTS(FUSEKIT_TYPED)
#undef FUSEKIT_TYPED
    return {nullptr, view.layout};
}

}  // namespace detail

}  // namespace fusekit
