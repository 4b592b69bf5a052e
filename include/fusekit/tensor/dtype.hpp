// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"
#include "fusekit/tensor/float8.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

/// Rounds to IEEE 754-2019 binary16, to nearest even. Too large values give infinity; NaN stays NaN.
FUSEKIT_HD constexpr std::uint16_t half_bits(float value) {
    if constexpr (config::on_device)
        if (!std::is_constant_evaluated()) return config::float_to_half(value);
    std::uint32_t const bits = config::bit_cast<std::uint32_t>(value);
    std::uint32_t const sign = (bits >> 16) & 0x8000u;
    std::uint32_t const magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    // 65520 and above round to infinity
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // subnormal half: adding 0.5 aligns its last bit with the float's last mantissa bit
        float const aligned = config::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (config::bit_cast<std::uint32_t>(aligned) - 0x3f000000u));
    }
    std::uint32_t const odd = (magnitude >> 13) & 1u;
    return static_cast<std::uint16_t>(sign | ((magnitude + 0xc8000fffu + odd) >> 13));
}

FUSEKIT_HD constexpr float half_value(std::uint16_t bits) {
    if constexpr (config::on_device)
        if (!std::is_constant_evaluated()) return config::half_to_float(bits);
    std::uint32_t const sign = (bits & 0x8000u) << 16;
    std::uint32_t const magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return config::bit_cast<float>(sign | 0x7f800000u | (magnitude << 13));
    if (magnitude < 0x0400u) {  // zero and subnormals: magnitude * 2^-24, which is exact
        float const value = static_cast<float>(magnitude) * 0x1p-24f;
        return config::bit_cast<float>(sign | config::bit_cast<std::uint32_t>(value));
    }
    return config::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

FUSEKIT_HD constexpr std::uint16_t bfloat16_bits(float value) {
    std::uint32_t const bits = config::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Rounds to the nearest integer, ties to even, and saturates to -128 ... 127; NaN gives 0.
FUSEKIT_HD constexpr std::int8_t int8_value(float value) {
    if constexpr (config::has_int8)
        if (!std::is_constant_evaluated()) return config::float_to_int8(value);
    constexpr float round = 0x1.8p23f;  // |value| + round has the nearest integer in its mantissa
    float const clamped = value < -128.0f ? -128.0f : value > 127.0f ? 127.0f : value == value ? value : 0.0f;
    return static_cast<std::int8_t>(config::bit_cast<std::int32_t>(clamped + round) -
                                    config::bit_cast<std::int32_t>(round));
}

}  // namespace detail

/// IEEE binary16 as a storage type: arithmetic is in float. Conversion rounds to nearest even.
struct half {
    std::uint16_t bits = 0;

    FUSEKIT_H half() = default;
    FUSEKIT_HD constexpr explicit(false) half(float value) : bits(detail::half_bits(value)) {}
    FUSEKIT_HD constexpr operator float() const { return detail::half_value(bits); }
};

/// Upper 16 bits of a float as a storage type: arithmetic is in float. Conversion rounds to nearest even.
struct bfloat16 {
    std::uint16_t bits = 0;

    FUSEKIT_H bfloat16() = default;
    FUSEKIT_HD constexpr explicit(false) bfloat16(float value) : bits(detail::bfloat16_bits(value)) {}
    FUSEKIT_HD constexpr operator float() const { return config::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// Integer from -128 to 127 as a storage type: convolutions accumulate in std::int32_t, other arithmetic is in float.
/// Conversion rounds to nearest even and saturates; NaN gives 0.
struct int8 {
    std::int8_t value = 0;

    FUSEKIT_H int8() = default;
    FUSEKIT_HD constexpr explicit(false) int8(float from) : value(detail::int8_value(from)) {}
    FUSEKIT_HD constexpr operator float() const { return value; }
};

/// Lists of the element types, as X(type, its DataType, the DataType's number). FUSEKIT_CONVERTED_ELEMENTS: types of
/// which a load converts to float. FUSEKIT_FLOAT8_ELEMENTS: 8-bit floats, element types of x, y and weights only.
#define FUSEKIT_CONVERTED_ELEMENTS(X) X(half, float16, 1) X(bfloat16, bfloat16, 2) X(int8, int8, 4)
#define FUSEKIT_FLOAT8_ELEMENTS(X) \
    X(e4m3, float8_e4m3, 5) X(e5m2, float8_e5m2, 6) X(e4m3_fnuz, float8_e4m3_fnuz, 7) X(e5m2_fnuz, float8_e5m2_fnuz, 8)
#define FUSEKIT_ELEMENTS(X) \
    X(float, float32, 0) X(double, float64, 3) FUSEKIT_CONVERTED_ELEMENTS(X) FUSEKIT_FLOAT8_ELEMENTS(X)

namespace detail {

#define FUSEKIT_IS_SAME(Type, data_type, number) || std::is_same_v<T, Type>
template <class T>
inline constexpr bool is_element = false FUSEKIT_ELEMENTS(FUSEKIT_IS_SAME);
#undef FUSEKIT_IS_SAME

}  // namespace detail

/// Element types of tensors. Plans on double compute in double, and only the host runs them.
template <class T>
concept Element = detail::is_element<T>;

namespace detail {

/// True if the compiler's name of T is `name`: the last word of __PRETTY_FUNCTION__, "... [with T = __half]".
template <class T>
consteval bool is_called(char const* name) {
    char const* const whole = __PRETTY_FUNCTION__;
    // length without the final "]" and terminator
    int at = static_cast<int>(sizeof __PRETTY_FUNCTION__) - 3, length = 0;
    while (name[length]) ++length;
    for (int i = length - 1; i >= 0; --i, --at)
        if (at < 0 || whole[at] != name[i]) return false;
    return whole[at] == ' ' || whole[at] == '=';
}

/// Element type with the bit format of T, a type of CUDA, HIP or the compiler; void if there is none. Types are
/// compared by name, because their headers may be missing, and have different forward declarations.
template <class T>
consteval auto element_like() {
    if constexpr (Element<T>) return std::type_identity<T>();
    else if constexpr (std::same_as<T, signed char>) return std::type_identity<int8>();
    else if constexpr (is_called<T>("__half") || is_called<T>("_Float16")) return std::type_identity<half>();
    else if constexpr (is_called<T>("__nv_bfloat16") || is_called<T>("__hip_bfloat16") ||
                       is_called<T>("hip_bfloat16") || is_called<T>("__bf16"))
        return std::type_identity<bfloat16>();
    else if constexpr (is_called<T>("__nv_fp8_e4m3") || is_called<T>("__hip_fp8_e4m3"))
        return std::type_identity<e4m3>();
    else if constexpr (is_called<T>("__nv_fp8_e5m2") || is_called<T>("__hip_fp8_e5m2"))
        return std::type_identity<e5m2>();
    else if constexpr (is_called<T>("__hip_fp8_e4m3_fnuz")) return std::type_identity<e4m3_fnuz>();
    else if constexpr (is_called<T>("__hip_fp8_e5m2_fnuz")) return std::type_identity<e5m2_fnuz>();
    else return std::type_identity<void>();
}

}  // namespace detail

/// Element type with the bit format of T, as which tensors of T are read and written: T itself, half for __half, and so
/// on; void if there is none. Applications may specialise it for their own type.
template <class T>
inline constexpr auto element_like = detail::element_like<T>();

template <class T>
using ElementOf = typename decltype(element_like<std::remove_const_t<T>>)::type;

namespace detail {

template <class T, class Element = ElementOf<T>>
struct StoredAsOf {
    using Type = std::conditional_t<std::is_const_v<T>, Element const, Element>;
};
template <class T>
struct StoredAsOf<T, void> : StoredAsOf<T, float> {};  // substitute; a view of such a T fails a static_assert

/// Type as which elements of T are read and written: ElementOf<T>, const if T is const.
template <class T>
using StoredAs = typename StoredAsOf<T>::Type;

/// Casts a pointer to T to a pointer to the type as which elements of T are read and written.
template <class T>
FUSEKIT_HD constexpr StoredAs<T>* stored(T* data) {
    if constexpr (std::is_same_v<StoredAs<T>, T>) return data;
    else return reinterpret_cast<StoredAs<T>*>(data);
}

}  // namespace detail

/// Element type as a run-time value.
enum class DataType : std::uint8_t {
#define FUSEKIT_ENUMERATOR(Type, data_type, number) data_type = number,
    FUSEKIT_ELEMENTS(FUSEKIT_ENUMERATOR)
#undef FUSEKIT_ENUMERATOR
};

namespace detail {

template <DataType>
struct ElementOfType;
template <class>
inline constexpr auto type_of_element = DataType();
#define FUSEKIT_TYPE_OF_ELEMENT(Type, data_type, number)                     \
    template <>                                                              \
    struct ElementOfType<DataType::data_type> : std::type_identity<Type> {}; \
    template <>                                                              \
    inline constexpr auto type_of_element<Type> = DataType::data_type;
FUSEKIT_ELEMENTS(FUSEKIT_TYPE_OF_ELEMENT)
#undef FUSEKIT_TYPE_OF_ELEMENT

/// Element type whose DataType is `type`.
template <DataType type>
using ElementAs = typename ElementOfType<type>::type;

}  // namespace detail

template <Element T>
inline constexpr DataType data_type = detail::type_of_element<T>;

FUSEKIT_H constexpr char const* name(DataType type) {
    switch (type) {
#define FUSEKIT_NAME(Type, data_type, number) \
    case DataType::data_type: return #Type;
        FUSEKIT_ELEMENTS(FUSEKIT_NAME)
#undef FUSEKIT_NAME
    }
    return "?";
}

/// Size of one element in bytes.
FUSEKIT_HD constexpr int size_of(DataType type) {
    switch (type) {
#define FUSEKIT_SIZE(Type, data_type, number) \
    case DataType::data_type: return sizeof(Type);
        FUSEKIT_ELEMENTS(FUSEKIT_SIZE)
#undef FUSEKIT_SIZE
    }
    return 0;
}

namespace detail {

#define FUSEKIT_IS_TYPE(Type, data_type, number) || type == DataType::data_type
/// True for 8-bit floats.
FUSEKIT_H constexpr bool is_float8_type(DataType type) { return false FUSEKIT_FLOAT8_ELEMENTS(FUSEKIT_IS_TYPE); }
#undef FUSEKIT_IS_TYPE

/// Type in which a convolution multiplies and accumulates elements of type T; int32 for int8, whose sums are exact.
template <class T>
using AccumulatorOf =
    std::conditional_t<std::same_as<T, int8>, std::int32_t, std::conditional_t<std::same_as<T, double>, double, float>>;

/// Converts an element to accumulator type Acc; int8 is converted to float unless Acc is an integer.
template <class Acc, Element T>
FUSEKIT_HD constexpr Acc widened_to(T element) {
    if constexpr (std::same_as<Acc, std::int32_t>) return element.value;
    else return element;
}
template <Element T>
FUSEKIT_HD constexpr AccumulatorOf<T> widened(T element) {
    return widened_to<AccumulatorOf<T>>(element);
}

}  // namespace detail

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
