// SPDX-License-Identifier: MIT
#pragma once

/// The part of the C++ library that the device headers use, for NVRTC and hipRTC, which have none: every name is as in
/// the C++ standard. Functions are constexpr, or only declared for host code, which NVRTC parses and does not compile.
/// The headers <cstdint>, <type_traits> ... of the embedded source include this file.

#define INT_MAX 0x7fffffff
#define INT64_MIN (-0x7fffffffffffffff - 1)
#define INT64_MAX 0x7fffffffffffffff
#define stderr (static_cast<std::FILE*>(nullptr))

#if defined(__HIPCC_RTC__)
/// hipRTC has some names of namespace std, so that this library has another; the compiler needs one of its names in
/// std.
namespace std {

template <class T>
class initializer_list {
    T const* first = nullptr;
    __SIZE_TYPE__ count = 0;

public:
    constexpr initializer_list() noexcept = default;
    constexpr __SIZE_TYPE__ size() const noexcept { return count; }
    constexpr T const* begin() const noexcept { return first; }
    constexpr T const* end() const noexcept { return first + count; }
};

}  // namespace std

namespace fusekit_standard {

using ::std::initializer_list;

}  // namespace fusekit_standard

#define std fusekit_standard

#else

#define __builtin_memcpy(...) ::memcpy(__VA_ARGS__)

/// GCC's builtins in code for the host, which device code never calls.
#define __ATOMIC_RELAXED 0
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
template <class A, class B, class C>
bool __builtin_add_overflow(A, B, C*);
template <class A, class B, class C>
bool __builtin_sub_overflow(A, B, C*);
template <class A, class B, class C>
bool __builtin_mul_overflow(A, B, C*);
constexpr double __builtin_fabs(double x) { return x < 0 ? -x : x; }
double __builtin_exp(double);
double __builtin_expm1(double);
double __builtin_log1p(double);
double __builtin_log(double);
double __builtin_sin(double);
double __builtin_cos(double);
double __builtin_erf(double);
double __builtin_erfc(double);
double __builtin_tanh(double);
double __builtin_sqrt(double);
double __builtin_pow(double, double);
inline float __builtin_fabsf(float x) { return fabsf(x); }
inline float __builtin_powf(float x, float exponent) { return powf(x, exponent); }
template <class T>
T __atomic_load_n(T const*, int);
template <class T, class U>
void __atomic_store_n(T*, U, int);
template <class T, class U>
T __atomic_fetch_or(T*, U, int);
template <class T, class U>
bool __atomic_compare_exchange_n(T*, T*, U, bool, int, int);

#endif

namespace std {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
static_assert(sizeof(int64_t) == 8 && sizeof(uintptr_t) == sizeof(void*));
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using nullptr_t = decltype(nullptr);

// <type_traits>

template <class T, T v>
struct integral_constant {
    using value_type = T;
    using type = integral_constant;
    static constexpr T value = v;
    constexpr operator T() const noexcept { return value; }
    constexpr T operator()() const noexcept { return value; }
};
template <bool b>
using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool, class T, class>
struct conditional {
    using type = T;
};
template <class T, class F>
struct conditional<false, T, F> {
    using type = F;
};
template <bool b, class T, class F>
using conditional_t = typename conditional<b, T, F>::type;

template <bool, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
    using type = T;
};
template <bool b, class T = void>
using enable_if_t = typename enable_if<b, T>::type;

template <class...>
using void_t = void;

template <class T>
struct type_identity {
    using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

template <class, class>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;
template <class T, class U>
struct is_same : bool_constant<is_same_v<T, U>> {};

template <class T>
struct remove_reference : type_identity<T> {};
template <class T>
struct remove_reference<T&> : type_identity<T> {};
template <class T>
struct remove_reference<T&&> : type_identity<T> {};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;

template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<T const> : type_identity<T> {};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
struct remove_cv : type_identity<T> {};
template <class T>
struct remove_cv<T const> : type_identity<T> {};
template <class T>
struct remove_cv<T volatile> : type_identity<T> {};
template <class T>
struct remove_cv<T const volatile> : type_identity<T> {};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T>
struct remove_cvref : type_identity<remove_cvref_t<T>> {};

template <class T>
struct remove_pointer : type_identity<T> {};
template <class T>
struct remove_pointer<T*> : type_identity<T> {};
template <class T>
struct remove_pointer<T* const> : type_identity<T> {};
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;

template <class T>
struct remove_all_extents : type_identity<T> {};
template <class T>
struct remove_all_extents<T[]> : remove_all_extents<T> {};
template <class T, size_t count>
struct remove_all_extents<T[count]> : remove_all_extents<T> {};
template <class T>
using remove_all_extents_t = typename remove_all_extents<T>::type;

template <class T>
using add_const_t = T const;

template <class T>
inline constexpr bool is_array_v = false;
template <class T>
inline constexpr bool is_array_v<T[]> = true;
template <class T, size_t count>
inline constexpr bool is_array_v<T[count]> = true;
template <class T>
inline constexpr size_t rank_v = 0;
template <class T, size_t count>
inline constexpr size_t rank_v<T[count]> = 1 + rank_v<T>;
template <class T, unsigned mode = 0>
inline constexpr size_t extent_v = 0;
template <class T, size_t count>
inline constexpr size_t extent_v<T[count], 0> = count;
template <class T, size_t count, unsigned mode>
    requires(mode > 0)
inline constexpr size_t extent_v<T[count], mode> = extent_v<T, mode - 1>;

template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<T const> = true;
template <class T>
inline constexpr bool is_void_v = is_same_v<remove_cv_t<T>, void>;
template <class T>
inline constexpr bool is_pointer_v = false;
template <class T>
inline constexpr bool is_pointer_v<T*> = true;
template <class T>
inline constexpr bool is_pointer_v<T* const> = true;
template <class T>
inline constexpr bool is_lvalue_reference_v = false;
template <class T>
inline constexpr bool is_lvalue_reference_v<T&> = true;
template <class T>
inline constexpr bool is_reference_v = false;
template <class T>
inline constexpr bool is_reference_v<T&> = true;
template <class T>
inline constexpr bool is_reference_v<T&&> = true;

namespace of_library {

template <class T, class... Ts>
inline constexpr bool is_one_of = (is_same_v<T, Ts> || ...);

}  // namespace of_library

template <class T>
inline constexpr bool is_integral_v =
    of_library::is_one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t,
                          short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long>;
template <class T>
inline constexpr bool is_floating_point_v = of_library::is_one_of<remove_cv_t<T>, float, double, long double>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_enum_v = __is_enum(T);
template <class T>
inline constexpr bool is_class_v = __is_class(T);
template <class T>
inline constexpr bool is_empty_v = __is_empty(T);
template <class T>
inline constexpr bool is_final_v = __is_final(T);
template <class T>
inline constexpr bool is_aggregate_v = __is_aggregate(remove_cv_t<T>);
template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T>
inline constexpr bool is_trivially_destructible_v = __has_trivial_destructor(T);
template <class T, class... From>
inline constexpr bool is_constructible_v = __is_constructible(T, From...);
template <class Base, class T>
inline constexpr bool is_base_of_v = __is_base_of(Base, T);
template <class Base, class T>
struct is_base_of : bool_constant<is_base_of_v<Base, T>> {};

namespace of_library {

template <class T>
inline constexpr bool is_function = !is_const_v<T const> && !is_reference_v<T>;

template <class T>
struct Decayed : remove_cv<T> {};
template <class T>
    requires is_function<T>
struct Decayed<T> : type_identity<T*> {};
template <class T>
struct Decayed<T[]> : type_identity<T*> {};
template <class T, size_t count>
struct Decayed<T[count]> : type_identity<T*> {};

}  // namespace of_library

template <class T>
inline constexpr bool is_function_v = of_library::is_function<T>;
template <class T>
inline constexpr bool is_object_v = !is_reference_v<T> && !is_function_v<T> && !is_void_v<T>;
template <class T>
using decay_t = typename of_library::Decayed<remove_reference_t<T>>::type;

template <class T>
T&& declval() noexcept;

template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible_to(From, To);
template <class From, class To>
struct is_convertible : bool_constant<is_convertible_v<From, To>> {};

template <class A, class B>
using common_type_t = decay_t<decltype(false ? declval<A>() : declval<B>())>;

namespace of_library {

template <size_t bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> : type_identity<unsigned char> {};
template <>
struct UnsignedOf<2> : type_identity<unsigned short> {};
template <>
struct UnsignedOf<4> : type_identity<unsigned> {};
template <>
struct UnsignedOf<8> : type_identity<unsigned long> {};

}  // namespace of_library

template <class T>
using make_unsigned_t = typename of_library::UnsignedOf<sizeof(T)>::type;

constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

// <utility>

template <class T, T... values>
struct integer_sequence {
    using value_type = T;
    static constexpr size_t size() noexcept { return sizeof...(values); }
};

namespace of_library {

template <class T, class Half, bool odd>
struct Doubled;
template <class T, T... values>
struct Doubled<T, integer_sequence<T, values...>, false>
    : type_identity<integer_sequence<T, values..., (static_cast<T>(sizeof...(values)) + values)...>> {};
template <class T, T... values>
struct Doubled<T, integer_sequence<T, values...>, true>
    : type_identity<integer_sequence<T, values..., (static_cast<T>(sizeof...(values)) + values)...,
                                     static_cast<T>(2 * sizeof...(values))>> {};
template <class T, size_t count>
struct FirstIntegers : Doubled<T, typename FirstIntegers<T, count / 2>::type, count % 2 == 1> {};
template <class T>
struct FirstIntegers<T, 0> : type_identity<integer_sequence<T>> {};

}  // namespace of_library

template <class T, T count>
using make_integer_sequence = typename of_library::FirstIntegers<T, static_cast<size_t>(count)>::type;
template <size_t... values>
using index_sequence = integer_sequence<size_t, values...>;
template <size_t count>
using make_index_sequence = make_integer_sequence<size_t, count>;

template <class T>
constexpr remove_reference_t<T>&& move(T&& value) noexcept {
    return static_cast<remove_reference_t<T>&&>(value);
}
template <class T>
constexpr T&& forward(remove_reference_t<T>& value) noexcept {
    return static_cast<T&&>(value);
}
template <class T>
constexpr T&& forward(remove_reference_t<T>&& value) noexcept {
    return static_cast<T&&>(value);
}
template <class T>
constexpr void swap(T& a, T& b) {
    T old = move(a);
    a = move(b);
    b = move(old);
}
template <class T, class U = T>
constexpr T exchange(T& object, U&& value) {
    T old = move(object);
    object = forward<U>(value);
    return old;
}

// <concepts>

template <class T, class U>
concept same_as = is_same_v<T, U> && is_same_v<U, T>;
template <class From, class To>
concept convertible_to = is_convertible_v<From, To> && requires { static_cast<To>(declval<From>()); };
template <class T, class Base>
concept derived_from = is_base_of_v<Base, T> && is_convertible_v<T const volatile*, Base const volatile*>;
template <class T>
concept integral = is_integral_v<T>;
template <class T>
concept floating_point = is_floating_point_v<T>;

// <limits>

template <class T>
struct numeric_limits;
template <>
struct numeric_limits<float> {
    static constexpr float max() noexcept { return 3.402823466e+38f; }
    static constexpr float lowest() noexcept { return -3.402823466e+38f; }
    static constexpr float epsilon() noexcept { return 1.1920929e-7f; }
    static constexpr float infinity() noexcept { return __builtin_bit_cast(float, 0x7f800000); }
    static constexpr float quiet_NaN() noexcept { return __builtin_bit_cast(float, 0x7fc00000); }
};
template <>
struct numeric_limits<double> {
    static constexpr double max() noexcept { return 1.7976931348623157e+308; }
    static constexpr double lowest() noexcept { return -1.7976931348623157e+308; }
    static constexpr double epsilon() noexcept { return 2.220446049250313e-16; }
    static constexpr double infinity() noexcept { return __builtin_bit_cast(double, 0x7ff0000000000000); }
    static constexpr double quiet_NaN() noexcept { return __builtin_bit_cast(double, 0x7ff8000000000000); }
};
template <class T>
    requires is_integral_v<T>
struct numeric_limits<T> {
    static constexpr T min() noexcept {
        return static_cast<T>(-1) < 0 ? static_cast<T>(make_unsigned_t<T>(1) << (8 * sizeof(T) - 1)) : T(0);
    }
    static constexpr T max() noexcept { return static_cast<T>(~min()); }
    static constexpr T lowest() noexcept { return min(); }
};

// <numeric>, <iterator>

template <class A, class B>
constexpr common_type_t<A, B> gcd(A a, B b) {
    common_type_t<A, B> x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    while (y != 0) {
        auto const rest = x % y;
        x = y, y = rest;
    }
    return x;
}
template <class T, size_t count>
constexpr size_t size(T const (&)[count]) noexcept {
    return count;
}

// <compare>: of integers, as far as a defaulted operator<=> needs it

// <cstring>, <cstdio>, <cstdlib>, <exception>: declared for host code alone

struct FILE;
int snprintf(char*, size_t, char const*, ...);
int fprintf(FILE*, char const*, ...);
int puts(char const*);
[[noreturn]] void abort();
char* getenv(char const*);
size_t strlen(char const*);
int strcmp(char const*, char const*);
int strncmp(char const*, char const*, size_t);
char const* strchr(char const*, int);
char const* strstr(char const*, char const*);
void* memcpy(void*, void const*, size_t);
int memcmp(void const*, void const*, size_t);

class exception {
public:
    exception() noexcept = default;
    exception(exception const&) noexcept = default;
    exception& operator=(exception const&) noexcept = default;
    virtual ~exception() = default;
    virtual char const* what() const noexcept;
};

}  // namespace std
