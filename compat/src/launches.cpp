// SPDX-License-Identifier: MIT
#include "launches.hpp"

#include <algorithm>

#include "failure.hpp"
#include "fusion_op.hpp"

namespace fusekit::compat {

int second_launch(runtime::Descriptors all) {
    using runtime::Kind;
    for (int i = 1; i < all.size; ++i) {
        bool const norm = all[i].kind == Kind::batch_norm_inference;
        if (all[i - 1].kind == Kind::residual && (norm || all[i].kind == Kind::residual)) return i;
        if (i == 1 && all[0].kind == Kind::bias && norm) return i;
    }
    return all.size;
}

Launches::Launches(Session const& session, std::vector<runtime::Descriptor> const& descriptors, runtime::Types types) {
    runtime::Descriptors const all = descriptors;
    int const second = second_launch(all);
    launches.push_back({find_plan(session.queue, all.first(second), types), 0});
    if (second == all.size) return;
    launches.push_back({find_plan(session.queue, {all.data + second, all.size - second}, {types.y, types.y}), second});
}

std::size_t Launches::compile(Session const& session, std::vector<runtime::Arguments> const& arguments,
                              runtime::View const& x, runtime::View const& y) const {
    std::size_t bytes = 0;
    for (Launch const& each : launches)
        bytes = std::max(bytes, each.plan->compile(session.queue, part(each, arguments), each.first == 0 ? x : y, y));
    return bytes;
}

void Launches::prepare(Session const& session, std::vector<runtime::Arguments> const& arguments, runtime::View const& x,
                       runtime::View const& y, int alignment) {
    reset();
    try {
        for (Launch& each : launches)
            each.run = each.plan->prepare(session.queue, part(each, arguments), each.first == 0 ? x : y, y, alignment);
    } catch (...) {
        reset();
        throw;
    }
    if (launches.size() == 1) return;
    arguments_of_second.assign(arguments.begin() + launches[1].first, arguments.end());
    output = y;
}

void Launches::reset() {
    for (Launch& each : launches) each.run.reset();
}

void Launches::check_apart_from(void* y) const {
    runtime::View written = output;
    written.data = y;
    for (auto const& of : arguments_of_second)
        for (int role = 0; role < runtime::roles; ++role)
            if (share_memory(of.tensors[role], written))
                fail(miopenStatusBadParm, Text(runtime::name(static_cast<runtime::Role>(role))) +
                                              ": expected memory apart from y, which the first of two kernels writes, "
                                              "got memory that overlaps it");
}

std::size_t Launches::workspace_bytes() const {
    std::size_t bytes = 0;
    for (Launch const& each : launches) bytes = std::max(bytes, each.run.workspace_bytes());
    return bytes;
}

void Launches::run(Session& session, void const* x, void* y, WorkspaceView workspace) const {
    check_apart_from(y);
    session.measure([&] {
        for (Launch const& each : launches)
            check(each.run.execute(session.queue, each.first == 0 ? x : y, y, workspace));
    });
}

}  // namespace fusekit::compat
