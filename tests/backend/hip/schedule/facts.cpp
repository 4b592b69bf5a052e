// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/facts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace fusekit::hip;

namespace {

struct NoBlocks {
    static constexpr int threads = 64;
};
struct Whole : NoBlocks {
    static constexpr int blocks = 2;
};
static_assert(HasBlocks<Whole> && !HasBlocks<NoBlocks> && !HasBlocks<int>);

// Two schedules are the same if all their numbers are; tools/tune compares them.
constexpr ScheduleFacts facts{.ping_pong = true, .m = 128, .n = 64, .stages = 4};
constexpr ScheduleFacts with_stages(int stages) {
    ScheduleFacts result = facts;
    result.stages = stages;
    return result;
}
static_assert(facts == with_stages(4) && !(facts == with_stages(5)));

}  // namespace

TEST_CASE("HIP: numbers of a schedule are listed as in its type") {
    CHECK(std::string(detail::list_of(128).c_str()) == "128");
    CHECK(std::string(detail::list_of(128, 64, 4).c_str()) == "128, 64, 4");
    CHECK(std::string(detail::list_of(-1, std::int64_t{1} << 40).c_str()) == "-1, 1099511627776");
}
