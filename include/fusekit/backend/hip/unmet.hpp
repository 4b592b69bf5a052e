// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/error.hpp"
#include "fusekit/text.hpp"

namespace fusekit::hip {

/// Relation that a condition requires of a quantity to its limit.
enum class Relation : unsigned char { none, at_most, at_least, equal, multiple_of };

/// The first condition of a schedule that a plan, a problem or a tensor does not meet; converts to false if all
/// conditions are met. A literal type, so that the same function checks at compile time and at run time; its text is
/// formatted only when it is read.
struct Unmet {
    char const* quantity = nullptr;  ///< name of the quantity, such as "C"; with Relation::none the whole sentence
    std::int64_t value = 0;
    Relation relation = Relation::none;
    std::int64_t limit = 0;
    char const* fix = nullptr;  ///< remedy: an argument to pass, or a schedule to use

    FUSEKIT_H constexpr explicit operator bool() const { return quantity != nullptr; }

    /// Text of the failed condition, its value and the remedy: "C = 96 exceeds 64: use WarpSpecialized".
    FUSEKIT_H Text sentence() const {
        constexpr char const* relations[] = {"", " exceeds ", " is below ", " is not ", " is not a multiple of "};
        Text result = quantity;
        if (relation != Relation::none)
            result += " = " + Text::number(value) + relations[static_cast<int>(relation)] + Text::number(limit);
        if (fix) result += Text(": ") + fix;
        return result;
    }
    /// Text of the required value: "C at most 64".
    FUSEKIT_H Text expected() const {
        constexpr char const* relations[] = {"", " at most ", " at least ", " = ", " a multiple of "};
        if (relation == Relation::none) return fix ? fix : "another schedule";
        return Text(quantity) + relations[static_cast<int>(relation)] + Text::number(limit);
    }
    /// Text of the given value: "C = 96".
    FUSEKIT_H Text given() const {
        return relation == Relation::none ? Text(quantity) : Text(quantity) + " = " + Text::number(value);
    }
};

namespace detail {

FUSEKIT_H constexpr Unmet at_most(char const* quantity, std::int64_t value, std::int64_t limit,
                                  char const* fix = nullptr) {
    return value <= limit ? Unmet{} : Unmet{quantity, value, Relation::at_most, limit, fix};
}
FUSEKIT_H constexpr Unmet at_least(char const* quantity, std::int64_t value, std::int64_t limit,
                                   char const* fix = nullptr) {
    return value >= limit ? Unmet{} : Unmet{quantity, value, Relation::at_least, limit, fix};
}
FUSEKIT_H constexpr Unmet equal(char const* quantity, std::int64_t value, std::int64_t limit,
                                char const* fix = nullptr) {
    return value == limit ? Unmet{} : Unmet{quantity, value, Relation::equal, limit, fix};
}
FUSEKIT_H constexpr Unmet multiple_of(char const* quantity, std::int64_t value, std::int64_t limit,
                                      char const* fix = nullptr) {
    return value % limit == 0 ? Unmet{} : Unmet{quantity, value, Relation::multiple_of, limit, fix};
}
FUSEKIT_H constexpr Unmet holds(bool condition, char const* otherwise, char const* fix = nullptr) {
    return condition ? Unmet{} : Unmet{otherwise, 0, Relation::none, 0, fix};
}

/// Returns the first argument that is an unmet condition; a met condition if there is none.
FUSEKIT_H constexpr Unmet first_unmet(auto const&... each) {
    Unmet first;
    static_cast<void>(((first = each, static_cast<bool>(first)) || ...));
    return first;
}

}  // namespace detail

/// Error for a schedule that the caller named: "Plan<...>: Halo: C = 96 exceeds 64: use WarpSpecialized". `splits`:
/// true if the caller named Split<schedule>.
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Error refuse_schedule(Text (*plan)(), char const* schedule,
                                                                    Unmet const& unmet, bool splits = false) {
    Text name = schedule;
    if (splits) name = "Split<" + name + ">";
    return Error::of_sentence(plan(), std::move(name), unmet.expected(), unmet.given(), unmet.sentence());
}

}  // namespace fusekit::hip
