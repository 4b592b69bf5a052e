// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/region.hpp"

namespace fusekit::detail {

/// List of the memory regions of a plan's arguments, to which each argument is added after it is tested for overlap
/// with the earlier ones.
class AliasChecker {
public:
    /// Returns an added argument that overlaps `region` in memory if the run writes one of the two; null if there is
    /// none.
    FUSEKIT_H Region const* conflict(Region const& region) const {
        for (Region const* one = first; one != first + count; ++one)
            if (in_conflict(*one, region)) return one;
        return nullptr;
    }
    FUSEKIT_H void add(Region const& region) {
        if (count < most) first[count++] = region;
    }
    FUSEKIT_H Region const* begin() const { return first; }
    FUSEKIT_H Region const* end() const { return first + count; }

protected:
    FUSEKIT_H AliasChecker(Region* the_first, int the_most) : first(the_first), most(the_most) {}

private:
    Region* first;
    int most, count = 0;
};

/// AliasChecker with storage for the regions of x and of all views that Arguments, a bound plan, can contain. The
/// number of views is at most its size divided by that of a TensorView<T, 1>.
template <class Arguments>
class AliasCheckerOf : public AliasChecker {
public:
    static constexpr int most = static_cast<int>(sizeof(Arguments) / 24) + 2;

    FUSEKIT_H AliasCheckerOf() : AliasChecker(storage, most) {}

private:
    union {  // the array's elements are uninitialised until they are added
        Region storage[static_cast<std::size_t>(most)];
    };
};

}  // namespace fusekit::detail
