// SPDX-License-Identifier: MIT
#include "fusekit/tensor/float8.hpp"

#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fusekit/backend/host/vector.hpp"
#include "support/format.hpp"

namespace fk = fusekit;

/// Declared as in CUDA's and HIP's headers; only the names matter.
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;
struct __hip_fp8_e4m3;
struct __hip_fp8_e5m2_fnuz;

namespace {

static_assert(std::is_same_v<fk::ElementOf<__nv_fp8_e4m3>, fk::e4m3> &&
              std::is_same_v<fk::ElementOf<__nv_fp8_e5m2>, fk::e5m2> &&
              std::is_same_v<fk::ElementOf<__hip_fp8_e4m3>, fk::e4m3> &&
              std::is_same_v<fk::ElementOf<__hip_fp8_e5m2_fnuz>, fk::e5m2_fnuz>);

// Values from the tables of OFP8 and of AMD: largest, smallest normal, smallest subnormal.
static_assert(float{fk::e4m3(1e9f)} == 448 && fk::e4m3(448).bits == 0x7e && fk::e4m3(0x1p-6f).bits == 0x08 &&
              fk::e4m3(0x1p-9f).bits == 0x01);
static_assert(float{fk::e5m2(1e9f)} == 57344 && fk::e5m2(57344).bits == 0x7b && fk::e5m2(0x1p-14f).bits == 0x04 &&
              fk::e5m2(0x1p-16f).bits == 0x01);
static_assert(float{fk::e4m3_fnuz(1e9f)} == 240 && fk::e4m3_fnuz(0x1p-7f).bits == 0x08 &&
              fk::e4m3_fnuz(0x1p-10f).bits == 0x01);
static_assert(float{fk::e5m2_fnuz(1e9f)} == 57344 && fk::e5m2_fnuz(0x1p-15f).bits == 0x04 &&
              fk::e5m2_fnuz(0x1p-17f).bits == 0x01);
static_assert(fk::e4m3(-0.0f).bits == 0x80 && fk::e4m3_fnuz(-0.0f).bits == 0 && fk::e4m3_fnuz(-1e-9f).bits == 0);

template <class T>
test::Format const format = test::format_of(fk::data_type<T>);

/// Code of a float by the format's definition; NaN has one code.
template <class T>
std::uint8_t code_of(float value) {
    return static_cast<std::uint8_t>(format<T>.encode(format<T>.round(value)));
}

/// True if a float converts by the format's definition, as scalar and in a CPU vector.
template <class T>
bool converts(float value) {
    T const one(value);
    T lanes[fk::host::lanes];
    float same_floats[fk::host::lanes];
    for (float& lane : same_floats) lane = value;
    fk::host::store(lanes, fk::host::load(same_floats));
    bool same = true;
    for (T const& lane : lanes) same = same && lane.bits == one.bits;
    if (std::isnan(value)) return same && std::isnan(format<T>.decode(one.bits));
    return same && one.bits == code_of<T>(value);
}

}  // namespace

TEMPLATE_TEST_CASE("every code of an 8-bit float converts to float and back", "", fk::e4m3, fk::e5m2, fk::e4m3_fnuz,
                   fk::e5m2_fnuz) {
    int wrong = 0, nans = 0, infinities = 0;
    for (unsigned bits = 0; bits < 256; ++bits) {
        TestType element, lanes[fk::host::lanes];
        element.bits = static_cast<std::uint8_t>(bits);
        for (TestType& lane : lanes) lane = element;
        double const exact = format<TestType>.decode(bits);
        float const value = element, of_lane = fk::host::load(lanes)[fk::host::lanes - 1];
        if (std::isnan(exact)) {
            ++nans;
            wrong += !std::isnan(value) || !std::isnan(of_lane) || !std::isnan(float{TestType(value)});
            continue;
        }
        infinities += std::isinf(exact);
        wrong += value != exact || of_lane != exact || std::signbit(value) != std::signbit(exact);
        wrong += !std::isinf(exact) && TestType(value).bits != bits;
    }
    CHECK(wrong == 0);
    bool const is_e5m2 = std::is_same_v<TestType, fk::e5m2>;
    CHECK(nans == (is_e5m2 ? 6 : std::is_same_v<TestType, fk::e4m3> ? 2 : 1));
    CHECK(infinities == (is_e5m2 ? 2 : 0));
}

TEMPLATE_TEST_CASE("float converts to the nearest 8-bit float, ties to even, and to the largest beyond it", "",
                   fk::e4m3, fk::e5m2, fk::e4m3_fnuz, fk::e5m2_fnuz) {
    int wrong = 0, ties = 0;
    auto const check = [&](float value) { wrong += !converts<TestType>(value); };
    for (unsigned bits = 0; bits < 256; ++bits) {
        double const low = format<TestType>.decode(bits), step = format<TestType>.spacing(low);
        if (!std::isfinite(low)) continue;
        for (double const at : {low, low + std::copysign(step / 2, low)}) {
            auto const value = static_cast<float>(at);
            REQUIRE(value == at);
            ++ties;
            for (float const beside : {std::nextafter(value, -1e9f), value, std::nextafter(value, 1e9f)}) check(beside);
        }
    }
    for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 65521)
        check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (float const special : {infinity, -infinity, nan, -nan, std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::denorm_min()})
        check(special);
    CHECK(wrong == 0);
    CHECK(ties > 490);
}

TEST_CASE("8-bit floats have names") {
    CHECK(std::string(fk::name(fk::data_type<fk::e4m3>)) == "e4m3");
    CHECK(std::string(fk::name(fk::data_type<fk::e5m2>)) == "e5m2");
    CHECK(std::string(fk::name(fk::data_type<fk::e4m3_fnuz>)) == "e4m3_fnuz");
    CHECK(std::string(fk::name(fk::data_type<fk::e5m2_fnuz>)) == "e5m2_fnuz");
    CHECK(fk::size_of(fk::DataType::float8_e5m2_fnuz) == 1);
}
