// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/vector.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <vector>

namespace fk = fusekit;
using namespace fk::host;

namespace {

template <class V>
struct Sum {
    V value;

    friend Sum merge(Sum const& a, Sum const& b) { return {a.value + b.value}; }
};

template <class V>
struct Pair {
    V first, second;
};

}  // namespace

TEMPLATE_TEST_CASE("vectors are loaded and stored with every stride, and with fewer lanes than they have", "", float,
                   fk::half, fk::bfloat16, fk::int8) {
    std::vector<TestType> memory;
    for (int i = 0; i < 3 * lanes; ++i) memory.push_back(TestType(static_cast<float>(i % 100 - 50)));
    for (int const stride : {1, 3})
        for (int count = 1; count <= lanes; ++count) {
            Vector const v = load(memory.data(), stride, count);
            auto const widened = load_widened(memory.data(), stride, count);
            std::vector<TestType> written(memory.size(), TestType(99.0f));
            store(written.data(), stride, count, v + 1.0f);
            int wrong = 0;
            for (int i = 0; i < lanes; ++i) {
                float const expected = i < count ? static_cast<float>(i * stride % 100 - 50) : 0;
                wrong += v[i] != expected || static_cast<float>(widened[i]) != expected;
            }
            for (int i = 0; i < 3 * lanes; ++i) {
                bool const stored = i % stride == 0 && i / stride < count;
                wrong += static_cast<float>(written[static_cast<std::size_t>(i)]) !=
                         (stored ? static_cast<float>(i % 100 - 49) : 99);
            }
            CAPTURE(stride, count);
            CHECK(wrong == 0);
        }
}

TEST_CASE("a transposition exchanges rows and lanes") {
    Vector rows[lanes];
    Integers of_integers[lanes];
    for (int i = 0; i < lanes; ++i)
        for (int j = 0; j < lanes; ++j) rows[i][j] = static_cast<float>(of_integers[i][j] = 100 * i + j);
    transpose(rows);
    transpose(of_integers);
    int wrong = 0;
    for (int i = 0; i < lanes; ++i)
        for (int j = 0; j < lanes; ++j)
            wrong += rows[i][j] != static_cast<float>(100 * j + i) || of_integers[i][j] != 100 * j + i;
    CHECK(wrong == 0);
}

TEST_CASE("the first lanes are a mask") {
    for (int count = 0; count <= lanes; ++count)
        for (int i = 0; i < lanes; ++i) CHECK(first_lanes(count)[i] == (i < count ? -1 : 0));
}

TEST_CASE("a lane of a struct of vectors is the same struct of floats") {
    Pair<Vector> all{};
    for (int i = 0; i < lanes; ++i) set_lane(all, i, Pair<float>{static_cast<float>(i), static_cast<float>(10 + i)});
    for (int i = 0; i < lanes; ++i) {
        CHECK(all.second[i] == static_cast<float>(10 + i));
        CHECK(of_lane<Pair<float>>(all, i).first == static_cast<float>(i));
        CHECK(of_lane<Pair<float>>(all, i).second == static_cast<float>(10 + i));
    }
}

TEST_CASE("the totals of all lanes are merged, each once") {
    Sum<Vector> totals{};
    for (int i = 0; i < lanes; ++i) totals.value[i] = static_cast<float>(1 << i);
    CHECK(merge_lanes<Sum<float>>(totals).value == static_cast<float>((1 << lanes) - 1));
}
