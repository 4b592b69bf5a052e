// SPDX-License-Identifier: MIT
#include "fusekit/tensor/dtype.hpp"

#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "support/format.hpp"

namespace fk = fusekit;

/// Declared as in CUDA's and HIP's headers; only the names matter.
struct __half;
struct __nv_bfloat16;
struct __hip_bfloat16;
typedef struct {
    std::uint16_t data;
} hip_bfloat16;
namespace application {
struct __half;
struct my__half;
struct Float;
}  // namespace application
template <>
inline constexpr auto fk::element_like<application::Float> = std::type_identity<float>();

namespace {

template <class T, class Element>
constexpr bool is_stored_as =
    std::is_same_v<fk::ElementOf<T>, Element> && std::is_same_v<fk::ElementOf<T const>, Element>;
static_assert(is_stored_as<__half, fk::half> && is_stored_as<fk::half, fk::half>);
static_assert(is_stored_as<__nv_bfloat16, fk::bfloat16> && is_stored_as<__hip_bfloat16, fk::bfloat16>);
static_assert(is_stored_as<hip_bfloat16, fk::bfloat16> && is_stored_as<fk::bfloat16, fk::bfloat16>);
static_assert(is_stored_as<std::int8_t, fk::int8> && is_stored_as<fk::int8, fk::int8>);
static_assert(is_stored_as<float, float> && is_stored_as<double, double> && is_stored_as<application::Float, float>);
static_assert(is_stored_as<unsigned, void> && is_stored_as<std::uint8_t, void> && is_stored_as<long double, void>);
static_assert(is_stored_as<application::__half, void> && is_stored_as<application::my__half, void>);
#ifdef __FLT16_MANT_DIG__
static_assert(is_stored_as<_Float16, fk::half>);
#endif

static_assert(fk::half(1.0f).bits == 0x3c00 && fk::half(-2.0f).bits == 0xc000);
static_assert(fk::half(65519.996f).bits == 0x7bff && fk::half(65520.0f).bits == 0x7c00);
static_assert(fk::half(0x1p-24f).bits == 1 && fk::half(0x1p-25f).bits == 0 && fk::half(0x1.8p-24f).bits == 2);
static_assert(fk::bfloat16(1.0f).bits == 0x3f80 && float(fk::bfloat16(3.140625f)) == 3.140625f);
static_assert(fk::bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
static_assert(fk::Element<float> && fk::Element<fk::half> && fk::Element<fk::bfloat16> && fk::Element<double> &&
              !fk::Element<long double> && !fk::Element<int>);
static_assert(fk::int8(1.5f).value == 2 && fk::int8(2.5f).value == 2 && fk::int8(-0.5f).value == 0 &&
              fk::int8(-1.5f).value == -2);
static_assert(fk::int8(127.4f).value == 127 && fk::int8(1e30f).value == 127 && fk::int8(-128.5f).value == -128 &&
              fk::int8(-1e30f).value == -128);
static_assert(fk::int8(std::numeric_limits<float>::quiet_NaN()).value == 0 && float(fk::int8(-7.0f)) == -7);
static_assert(sizeof(fk::int8) == 1 && fk::size_of(fk::data_type<fk::int8>) == 1 && fk::Element<fk::int8>);
static_assert(std::is_same_v<fk::detail::AccumulatorOf<fk::int8>, std::int32_t> &&
              std::is_same_v<fk::detail::AccumulatorOf<fk::half>, float> &&
              std::is_same_v<fk::detail::AccumulatorOf<float>, float> &&
              std::is_same_v<fk::detail::AccumulatorOf<double>, double>);
static_assert(sizeof(fk::half) == 2 && sizeof(fk::bfloat16) == 2);
static_assert(fk::size_of(fk::data_type<double>) == 8);
static_assert(fk::size_of(fk::data_type<float>) == 4 && fk::size_of(fk::data_type<fk::half>) == 2 &&
              fk::size_of(fk::data_type<fk::bfloat16>) == 2);

/// Counts the floats that T does not convert to the nearest value of the format.
template <class T>
struct Conversions {
    test::Format format = test::format_of(fk::data_type<T>);
    std::uint64_t wrong = 0, checked = 0;
    std::uint32_t first_wrong = 0;

    void check(std::uint32_t bits) {
        float const value = std::bit_cast<float>(bits);
        T const element(value);
        std::uint32_t got;
        if constexpr (std::is_same_v<T, fk::int8>) got = static_cast<std::uint8_t>(element.value);
        else got = element.bits;
        bool same;
        if (std::isnan(value) && !format.is_integer()) same = std::isnan(format.decode(got)) && got >> 15 == bits >> 31;
        else same = got == format.encode(format.round(value));
        ++checked;
        if (!same && wrong++ == 0) first_wrong = bits;
    }
};

}  // namespace

TEMPLATE_TEST_CASE("every bit pattern of a 16-bit type converts to float and back", "", fk::half, fk::bfloat16) {
    test::Format const format = test::format_of(fk::data_type<TestType>);
    int wrong_value = 0, wrong_bits = 0, nans = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        TestType element;
        element.bits = static_cast<std::uint16_t>(bits);
        double const exact = format.decode(bits);
        float const value = element;
        if (std::isnan(exact)) {
            ++nans;
            wrong_value += !std::isnan(value) || std::signbit(value) != (bits >> 15 == 1);
            wrong_bits += !std::isnan(format.decode(TestType(value).bits));
        } else {
            wrong_value += value != exact || std::signbit(value) != std::signbit(exact);
            wrong_bits += TestType(value).bits != bits;
        }
    }
    CHECK(wrong_value == 0);
    CHECK(wrong_bits == 0);
    CHECK(nans == 2 * ((1 << format.fraction_bits) - 1));
}

TEMPLATE_TEST_CASE("float converts to the nearest value of a narrower type, ties to even", "", fk::half, fk::bfloat16,
                   fk::int8) {
    Conversions<TestType> conversions;
    for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 1021) conversions.check(static_cast<std::uint32_t>(bits));
    // Each value of the type, the tie above it, and the floats adjacent to both.
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        double const low = conversions.format.decode(bits), step = conversions.format.spacing(low);
        if (!std::isfinite(low)) continue;
        for (double const at : {low, low + std::copysign(step / 2, low)}) {
            auto const float_bits = std::bit_cast<std::uint32_t>(static_cast<float>(at));
            for (std::uint32_t const beside : {float_bits - 1, float_bits, float_bits + 1}) conversions.check(beside);
        }
    }
    for (std::uint32_t const special : {0u, 0x80000000u, 1u, 0x80000001u, 0x7f7fffffu, 0x7f800000u, 0xff800000u,
                                        0x7f800001u, 0xff800001u, 0x7fc00000u, 0xffffffffu, 0x7fffe000u, 0x7f80ffffu})
        conversions.check(special);
    INFO("first wrong float: 0x" << std::hex << conversions.first_wrong);
    CHECK(conversions.wrong == 0);
    CHECK(conversions.checked > 4'000'000);
}

TEST_CASE("the test's own rounding agrees with double to float of the processor") {
    test::Format const format = test::format_of(fk::DataType::float32);
    int wrong = 0;
    for (std::uint64_t i = 0; i < 400'000; ++i) {
        double const value = std::bit_cast<double>(0x3690000000000000u + i * 0x0000123456789u % 0x1170000000000000u);
        wrong += format.round(value) != static_cast<double>(static_cast<float>(value));
        wrong += format.encode(format.round(value)) != std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    CHECK(wrong == 0);
}

TEST_CASE("element types have names") {
    CHECK(std::string(fk::name(fk::DataType::float32)) == "float");
    CHECK(std::string(fk::name(fk::DataType::float16)) == "half");
    CHECK(std::string(fk::name(fk::DataType::bfloat16)) == "bfloat16");
    CHECK(std::string(fk::name(fk::DataType::float64)) == "double");
    CHECK(std::string(fk::name(fk::DataType::int8)) == "int8");
}
