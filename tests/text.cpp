#include "fusekit/text.hpp"

#if __has_include(<fmt/core.h>)
#define FMT_HEADER_ONLY
#include <fmt/core.h>
#endif

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace fk = fusekit;

TEST_CASE("text joins, compares, and searches") {
    fk::Text text = "Conv";
    text += fk::Text(", Bias") + ", ";
    text += text;
    CHECK(text == "Conv, Bias, Conv, Bias, ");
    CHECK(text != "Conv, Bias, Conv, Bias");
    CHECK(text.size() == 24);
    CHECK(text.contains("Bias, Conv"));
    CHECK(!text.contains("Relu"));
    CHECK(fk::Text(text.c_str() + 6, 4) == "Bias");
    CHECK(fk::Text().empty());
}

TEST_CASE("text copies are independent, and moved-from text is empty") {
    fk::Text const original = "x";
    fk::Text copy = original;
    copy += "y";
    CHECK(original == "x");
    fk::Text moved = std::move(copy);
    CHECK(moved == "xy");
    CHECK(copy == "");  // NOLINT(bugprone-use-after-move): stated
    copy = moved;
    CHECK(copy == moved);
    copy += copy.c_str();
    CHECK(copy == "xyxy");
}

TEST_CASE("text of numbers") {
    CHECK(fk::Text::number(-7) == "-7");
    CHECK(fk::Text::number(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(fk::Text::number(1e-5f) == "9.99999975e-06");
    CHECK(fk::Text::number(0.5) == "0.5");
}

TEST_CASE("text converts to the standard strings") {
    fk::Text const text = "Bias";
    std::string const copied = text;
    std::string const direct(text);
    std::string assigned;
    assigned = text;
    std::string_view const seen = text;
    CHECK(copied == "Bias");
    CHECK(direct == "Bias");
    CHECK(assigned == "Bias");
    CHECK(seen == "Bias");
    CHECK(fk::Text(std::string("Bias")) == text);
    CHECK(text == std::string("Bias"));
    std::ostringstream stream;
    stream << text << 1;
    CHECK(stream.str() == "Bias1");
#ifdef FMT_VERSION
    CHECK(fmt::format("{} {:>6}", text, text) == "Bias   Bias");
#endif
    CHECK(std::string(format_as(text)) == "Bias");  // called by fmt 10 and later
}
