// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <string>
#include <type_traits>

/// The macros of Catch2 that the tests of tests/windows use: Debian has no Catch2 for mingw-w64. A failed check prints
/// its file, line and text; a failed REQUIRE also ends the test.
namespace test::windows {

struct Stop {};

struct Test {
    char const* name;
    void (*body)();
    Test* next;

    static inline Test* first = nullptr;
    static inline int checks = 0, failures = 0;

    Test(char const* the_name, void (*the_body)()) : name(the_name), body(the_body), next(first) { first = this; }
};

inline bool check(bool holds, char const* text, char const* file, int line) {
    ++Test::checks;
    if (!holds) ++Test::failures, std::printf("%s:%d: failed: %s\n", file, line, text);
    return holds;
}

inline void run_all() {
    for (Test* each = Test::first; each; each = each->next) {
        int const before = Test::failures;
        try {
            each->body();
        } catch (Stop const&) {
        } catch (std::exception const& error) {
            check(false, error.what(), each->name, 0);
        }
        std::printf("%s %s\n", Test::failures == before ? "passed" : "FAILED", each->name);
    }
}

}  // namespace test::windows

#define TEST_JOIN_OF(a, b) a##b
#define TEST_JOIN(a, b) TEST_JOIN_OF(a, b)
#define TEST_CASE_OF(body, name)                                   \
    static void body();                                            \
    static test::windows::Test TEST_JOIN(body, _test)(name, body); \
    static void body()
#define TEST_CASE(name, ...) TEST_CASE_OF(TEST_JOIN(test_at_, __LINE__), name)

#define TEMPLATE_TEST_CASE_OF(body, name, ...)                                                       \
    template <class TestType>                                                                        \
    static void body();                                                                              \
    template <class... Types>                                                                        \
    static void TEST_JOIN(body, _each)() {                                                           \
        (body<Types>(), ...);                                                                        \
    }                                                                                                \
    static test::windows::Test TEST_JOIN(body, _test)(name, TEST_JOIN(body, _each) < __VA_ARGS__ >); \
    template <class TestType>                                                                        \
    static void body()
#define TEMPLATE_TEST_CASE(name, tags, ...) TEMPLATE_TEST_CASE_OF(TEST_JOIN(test_at_, __LINE__), name, __VA_ARGS__)

#define CHECK(...) test::windows::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_FALSE(...) test::windows::check(!static_cast<bool>(__VA_ARGS__), "not " #__VA_ARGS__, __FILE__, __LINE__)
#define REQUIRE(...)                                          \
    do {                                                      \
        if (!CHECK(__VA_ARGS__)) throw test::windows::Stop{}; \
    } while (false)
#define REQUIRE_FALSE(...) REQUIRE(!(__VA_ARGS__))
#define STATIC_CHECK(...) static_assert(__VA_ARGS__)
#define CHECK_NOTHROW(...) static_cast<void>(__VA_ARGS__)
#define CHECK_THROWS_AS(expression, type)                                               \
    do {                                                                                \
        bool thrown = false;                                                            \
        try {                                                                           \
            static_cast<void>(expression);                                              \
        } catch (type const&) {                                                         \
            thrown = true;                                                              \
        }                                                                               \
        test::windows::check(thrown, #expression " throws " #type, __FILE__, __LINE__); \
    } while (false)
// Context of a failure, which Catch2 prints.
#define INFO(...) static_cast<void>(0)
#define CAPTURE(...) static_cast<void>(0)
