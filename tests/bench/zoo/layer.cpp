// SPDX-License-Identifier: MIT
#include "../../../bench/zoo/layer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "../../../bench/zoo/random_problems.hpp"
#include "../../../bench/zoo/rows.hpp"

namespace {

using namespace bench;

TEST_CASE("A layer is read from its name") {
    auto const layer = zoo::parse_layer("64-28-30-128-1x7-p0x3-s2-d2-g8");
    REQUIRE(layer);
    CHECK(layer->c == 64);
    CHECK(layer->h == 28);
    CHECK(layer->w == 30);
    CHECK(layer->k == 128);
    CHECK(layer->r == 1);
    CHECK(layer->s == 7);
    CHECK(layer->pad_h == 0);
    CHECK(layer->pad_w == 3);
    CHECK(layer->stride == 2);
    CHECK(layer->dilation == 2);
    CHECK(layer->groups == 8);
    CHECK(layer->p() == 14);
    CHECK(layer->q() == 12);
    CHECK(layer->elements(2) == 2 * (64 * 28 * 30 + 128 * 14 * 12) + 128 * 8 * 7);
    for (char const* name : {"64-56-56-64-3x3-p1-s1", "3-224-224-24-3x3-p1-s2", "6-9-9-6-3x3-p2-s1-d2",
                             "6-9-9-6-3x3-p1-s1-g6", "64-28-30-128-1x7-p0x3-s2-d2-g8"}) {
        auto const named = zoo::parse_layer(name);
        REQUIRE(named);
        CHECK(zoo::name_of(*named) == name);
    }
}

TEST_CASE("A name that is not a layer's is refused") {
    for (char const* name :
         {"", "64-56-56-64-3x3-p1", "64-56-56-64-3x3-p1-s0", "64-56-56-64-3x3-p1-s1-x", "64-2-2-64-7x7-p1-s1",
          "64-56-56-64-3x3-p1-s1-g3", "64--56-56-64-3x3-p1-s1", "64-56-56-64-3x3-p1x-s1"})
        CHECK(!zoo::parse_layer(name));
    CHECK_THROWS_AS(Problem::parse("64-56-56-64-3x3-p1-s1 1 int8 nhwc"), UsageError);
    CHECK(Problem::parse("64-56-56-64-3x3-p1-s1-g8 32 half nchw").name() == "64-56-56-64-3x3-p1-s1-g8 32 half nchw");
}

TEST_CASE("Random problems repeat, differ from each other, and have every kind of convolution") {
    auto const problems = zoo::RandomProblems().make(200), again = zoo::RandomProblems().make(200);
    std::set<std::string> names;
    int depthwise = 0, grouped = 0, dilated = 0, strided = 0, odd = 0;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        zoo::Layer const& l = problems[i].layer;
        CHECK(problems[i].name() == again[i].name());
        CHECK(zoo::parse_layer(l.name));
        names.insert(problems[i].name());
        depthwise += l.groups > 1 && l.groups == l.c, grouped += l.groups > 1 && l.groups < l.c;
        dilated += l.dilation > 1, strided += l.stride > 1, odd += l.c % 8 != 0;
    }
    CHECK(names.size() == 200);
    for (int const count : {depthwise, grouped, dilated, strided, odd}) CHECK(count >= 5);
}

TEST_CASE("Rows of an earlier run are found") {
    auto const path = std::filesystem::temp_directory_path() / "fusekit_rows" / "rows.csv";
    std::filesystem::remove_all(path.parent_path());
    {
        zoo::Rows rows(path, "a,b,c", 2);
        rows.add("1,2", {"x, y"});
        CHECK(rows.has("1,2"));
    }
    zoo::Rows rows(path, "a,b,c", 2);
    CHECK(rows.has("1,2"));
    CHECK(!rows.has("1"));
    CHECK(!rows.has("1,2,x"));
    CHECK(rows.lines() == std::vector<std::string>{"1,2,\"x, y\""});
    CHECK_THROWS_AS(zoo::Rows(path, "a,b", 2), UsageError);
    std::filesystem::remove_all(path.parent_path());
}

}  // namespace
