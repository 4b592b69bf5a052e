// SPDX-License-Identifier: MIT
#include "plans.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace fusekit::compat {

namespace c = runtime::c;

namespace {

/// A backend's device: null, with the reason in `refusal`, if the backend has no code for the GPU.
struct Opened {
    c::Backend const* backend;
    int number;
    c::DeviceObject* device;
    Refusal refusal;
};

/// Device of a backend: created at the first call for its number, and never destroyed, because destructors of static
/// objects may still use it. Throws Error if a call of the GPU's driver fails.
Opened const& opened(c::Backend const& backend, int number) {
    static std::mutex mutex;
    static auto& all = *new std::vector<std::unique_ptr<Opened>>;
    std::lock_guard const lock(mutex);
    for (auto const& each : all)
        if (each->backend == &backend && each->number == number) return *each;
    auto made = std::make_unique<Opened>(Opened{&backend, number, nullptr, {}});
    all.reserve(all.size() + 1);
    try {
        made->device = backend.create(number).release();
    } catch (Error const& error) {
        if (error.code != 0) throw;
        made->refusal = error;
    }
    all.push_back(std::move(made));
    return *all.back();
}

/// A sequence of operators for a device, and its plans.
struct Known {
    std::vector<runtime::Descriptor> descriptors;
    runtime::Types types;
    int number;
    std::shared_ptr<FoundPlan> plan;

    bool is_of(runtime::Descriptors given, runtime::Types of, int device) const {
        return number == device && types == of && static_cast<int>(descriptors.size()) == given.size &&
               std::equal(descriptors.begin(), descriptors.end(), given.data);
    }
};

/// Sequences that are kept: more than the layers of a network.
constexpr std::size_t most_known = 512;

bool is_not_compiled(Refusal const& refusal) { return refusal && refusal->operator_name == c::compiler_name; }

c::Compile compile_of(Queue const& queue) { return queue.is_captured() ? c::Compile::never : c::Compile::now; }

}  // namespace

runtime::Explanation explain_beginning(runtime::Descriptors descriptors) {
    c::Backend const *const ready = Queue::ready_made(), *const jit = c::jit_backend();
    runtime::Explanation of_ready;
    if (ready) of_ready = ready->explain(descriptors, nullptr);
    if (!jit || (ready && of_ready)) return of_ready;
    runtime::Explanation of_jit = jit->explain(descriptors, nullptr);
    return of_jit || !ready ? of_jit : of_ready;
}

void open_device(Queue const& queue) {
    c::Backend const* backend = Queue::ready_made();
    if (!backend) backend = c::jit_backend();
    require(backend != nullptr, miopenStatusNotImplemented,
            "expected a library with plans for this device, got one without");
    check(opened(*backend, queue.index()).refusal, miopenStatusNotImplemented);
}

FoundPlan::OnDevice FoundPlan::find(c::Backend const* backend, Queue const& queue, runtime::Descriptors descriptors,
                                    runtime::Types types) {
    OnDevice found;
    if (!backend) return found;
    found.device = opened(*backend, queue.index()).device;
    if (found.device) found.plan = backend->find(descriptors, types);
    return found;
}

FoundPlan::FoundPlan(Queue const& queue, runtime::Descriptors descriptors, runtime::Types types)
    : compiled_later(find(c::jit_backend(), queue, descriptors, types)),
      ready_made(find(Queue::ready_made(), queue, descriptors, types)) {
    if (compiled_later.plan || ready_made.plan) return;
    c::Backend const* const ready = Queue::ready_made();
    fail(miopenStatusUnsupportedOp, (ready ? ready : c::jit_backend())->explain(descriptors, &types).error().what());
}

/// Calls f with the plan that is compiled at run time and, if it refuses, with the ready-made one. Returns the last
/// refusal.
template <class F>
Refusal FoundPlan::try_each(Queue const& queue, F const& f) {
    if (compiled_later.plan && !(does_not_compile && ready_made.plan)) {
        c::Compile const how = compile_of(queue);
        Refusal refusal = f(compiled_later, how);
        if (!refusal || !ready_made.plan) return refusal;
        if (how == c::Compile::now && is_not_compiled(refusal)) does_not_compile = true;
    }
    return f(ready_made, c::Compile::now);
}

std::size_t FoundPlan::compile(Queue const& queue, runtime::ArgumentList arguments, runtime::View const& x,
                               runtime::View const& y) {
    std::size_t bytes = 0;
    check(try_each(queue,
                   [&](OnDevice const& on, c::Compile how) -> Refusal {
                       auto const needed = on.plan->compile(*on.device, arguments, x, y, how);
                       if (!needed) return needed.error();
                       bytes = *needed;
                       return {};
                   }),
          miopenStatusUnsupportedOp);
    return bytes;
}

PreparedRun FoundPlan::prepare(Queue const& queue, runtime::ArgumentList arguments, runtime::View const& x,
                               runtime::View const& y, int alignment) {
    PreparedRun prepared;
    check(try_each(queue, [&](OnDevice const& on, c::Compile how) {
        std::unique_ptr<c::RunObject> run;
        Refusal refusal = on.plan->prepare(*on.device, arguments, x, y, alignment, how, run);
        if (!refusal) prepared = {std::move(run), *on.device};
        return refusal;
    }));
    return prepared;
}

std::shared_ptr<FoundPlan> find_plan(Queue const& queue, runtime::Descriptors descriptors, runtime::Types types) {
    static std::mutex mutex;
    static auto& all = *new std::vector<Known>;
    std::lock_guard const lock(mutex);
    for (Known const& each : all)
        if (each.is_of(descriptors, types, queue.index())) return each.plan;
    auto plan = std::make_shared<FoundPlan>(queue, descriptors, types);
    if (all.size() == most_known) all.clear();
    all.push_back({{descriptors.data, descriptors.data + descriptors.size}, types, queue.index(), plan});
    return plan;
}

void check(Refusal const& refusal, miopenStatus_t status) {
    if (refusal)
        fail(status_of(*refusal, is_not_compiled(refusal) ? miopenStatusUnsupportedOp : status), refusal->what());
}

int alignment_of(void const* x, void const* y) {
    auto const bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y) | 16;
    return static_cast<int>(bits & -bits);
}

}  // namespace fusekit::compat
