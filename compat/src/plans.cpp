// SPDX-License-Identifier: MIT
#include "plans.hpp"

#include "failure.hpp"
#include "set.hpp"

namespace fusekit::compat {
runtime::Explanation explain_beginning(runtime::Descriptors descriptors) { return Plans::accepts_prefix(descriptors); }

runtime::Handle<Device> find_plan(runtime::Descriptors descriptors, runtime::Types types) {
    auto const found = Plans::find(descriptors, types);
    if (!found) fail(miopenStatusUnsupportedOp, found.error().what());
    return *found;
}

void check(Refusal const& refusal, miopenStatus_t status) {
    if (refusal) fail(status_of(*refusal, status), refusal->what());
}

int alignment_of(void const* x, void const* y) {
    auto const bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y) | 16;
    return static_cast<int>(bits & -bits);
}

}  // namespace fusekit::compat
