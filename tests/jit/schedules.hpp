// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "driver.hpp"
#include "forms.hpp"
#include "fusekit/runtime/compiled.hpp"
#include "fusekit/runtime/gradient_operator.hpp"
#include "kernels.hpp"
#include "layer.hpp"
#include "sequence.hpp"
#include "unit.hpp"

namespace test {
template <class ThePlan>
concept AnyPlan = true;
}

/// Kernels of every plan of these units are entries, as those of plans that are compiled at run time.
template <test::AnyPlan ThePlan>
struct fusekit::hip::CompiledLater<ThePlan> {
    static constexpr bool later = true;
    template <class Mainloop>
    static auto address() {
        static jit::KernelEntry const entry{
            jit::text_of<Mainloop>(), jit::text_of<ThePlan>(), "", 0, 0, 0, 0, false, false};
        return reinterpret_cast<void (*)(typename Mainloop::Params)>(reinterpret_cast<std::uintptr_t>(&entry));
    }
};

namespace test {

namespace rt = fusekit::runtime;

/// Chosen of a kernel, and its launch: as text for comparison.
struct Chosen {
    std::string mainloop, launch;  ///< empty mainloop: refused, with the message in `launch`
    std::string unit;  ///< the translation unit, if fusekit_jit chose it
};

/// Operators, and the arguments of a call.
struct Problem {
    std::vector<rt::Descriptor> descriptors;
    std::vector<rt::Arguments> arguments;
    rt::View x, y;
    bool compares_shared_memory = true;  ///< false if the size depends on operators that the host does not know
};

/// View of half elements with extents N, C, H, W, contiguous in the order of `modes`, slowest first, with `gap` unused
/// elements after each row of the fastest mode.
inline rt::View view_of(fusekit::Index<4> const& shape, char const* modes, std::uintptr_t address, int gap = 0) {
    rt::View view;
    view.type = fusekit::DataType::float16, view.rank = 4;
    view.data = reinterpret_cast<void*>(address);
    std::int64_t stride = 1;
    for (int i = 3; i >= 0; --i) {
        int const mode = static_cast<int>(std::strchr("nchw", modes[i]) - "nchw");
        view.extents[mode] = shape[mode];
        view.strides[mode] = stride;
        stride *= shape[mode] > 0 ? shape[mode] : 1;
        if (i == 3) stride += gap;
    }
    return view;
}

/// The mainloop in a KernelEntry, with "ThePlan" in place of the plan.
inline std::string mainloop_of(fusekit::jit::KernelEntry const& entry) {
    auto const named = [](char const* pretty) {
        std::string const text = std::strstr(pretty, "Named = ") + 8;
        return text.substr(0, text.find_last_of(']'));
    };
    std::string text = named(entry.mainloop);
    std::string const plan = named(entry.plan);
    for (std::size_t at; (at = text.find(plan)) != std::string::npos;) text.replace(at, plan.size(), "ThePlan");
    return text;
}

/// Runs a prepared run on the fake driver. Returns its grid, threads and attributes.
inline std::string launch_of(rt::Run<fusekit::hip::Device> const& run, fusekit::hip::Device& device,
                             Problem const& problem) {
    fusekit::jit::driver::current_kernel = {const_cast<unsigned*>(launches()), 0};
    unsigned const before = launches()[0];
    fusekit::Refusal const refusal = run->run(device, problem.x.data, problem.y.data, {});
    fusekit::jit::driver::current_kernel = {};
    if (refusal) return refusal->what();
    if (launches()[0] == before) return "nothing launched";
    std::string text;
    for (int i = 1; i < (problem.compares_shared_memory ? 5 : 4); ++i) text += std::to_string(launches()[i]) + " ";
    return text + std::to_string(run->workspace_bytes());
}

inline fusekit::Text no_name() { return "plan"; }

/// The choice of the library's code for the plan as a type.
template <class Plan, class X, class Y>
Chosen chosen_by_header(Problem const& problem, fusekit::hip::Device& device) {
    using Form = rt::detail::FormOf<rt::Form<Plan, X, Y>>;
    std::int8_t at[rt::max_operators];
    for (int i = 0; i < rt::max_operators; ++i) at[i] = static_cast<std::int8_t>(i);
    fusekit::Refusal refusal;
    rt::detail::Reader const reader{
        problem.descriptors.data(), problem.arguments.data(), at, 4, false, no_name, refusal};
    rt::detail::Call<fusekit::hip::Device> const call{device, reader, problem.x, problem.y, 16};
    Chosen result;
    rt::detail::with_prepared<Form>(call, 16, [&]<class Prepared>(Prepared const& prepared) {
        auto const* const entry = reinterpret_cast<fusekit::jit::KernelEntry const*>(
            reinterpret_cast<std::uintptr_t>(prepared.prepared_launch().kernel));
        result.mainloop = entry ? mainloop_of(*entry) : "none";
        rt::Run<fusekit::hip::Device> run;
        run.reset(new rt::detail::Holding<fusekit::hip::Device, Prepared>(prepared));
        result.launch = launch_of(run, device, problem);
    });
    if (refusal) result.launch = refusal->what();
    return result;
}

/// The choice of fusekit_jit's host code for the sequence.
inline Chosen chosen_at_run_time(Problem const& problem, rt::Types types, fusekit::hip::Device& device) {
    rt::Explanation const why = fusekit::jit::explain(problem.descriptors, &types);
    if (!why) return {"", why.error().what(), ""};
    fusekit::jit::Spec const spec = fusekit::jit::spec_of(problem.descriptors);
    fusekit::Refusal refusal;
    rt::detail::Reader const reader{
        problem.descriptors.data(), problem.arguments.data(), spec.at, 4, false, no_name, refusal};
    fusekit::jit::current = {&spec, &reader, nullptr, "plan"};
    fusekit::jit::Launchable prepared;
    fusekit::jit::host_code(spec, types)->prepare({device, reader, problem.x, problem.y, 16}, prepared);
    Chosen result;
    if (!refusal) {
        result.mainloop = prepared.kernel ? mainloop_of(*prepared.kernel) : "none";
        result.launch = launch_of(prepared.run, device, problem);
        std::string why;
        if (prepared.kernel) result.unit = fusekit::jit::unit_of(spec, *prepared.kernel, prepared.filter, why);
        REQUIRE((!prepared.kernel || !result.unit.empty()));
    } else {
        result.launch = refusal->what();
    }
    fusekit::jit::current = {};
    return result;
}

/// Units by the mainloops and plans that they compile.
class Units {
public:
    void add(Chosen const& chosen, std::string const& plan) {
        if (!chosen.unit.empty()) all.emplace(chosen.mainloop + " of " + plan, chosen.unit);
    }
    std::size_t size() const { return all.size(); }
    /// Compiles the units, whose assertions compare the kernel's parameters with those of the host. With `each`, all;
    /// else one for each class template of mainloops. Compiles nothing without a compiler, nor with FEWER_KERNELS.
    void compile(bool each) const {
#ifdef FEWER_KERNELS
        if (!each) return;
#endif
        if (no_compiler()) return;
        Device const device;  // with a disk cache of its own
        std::string last;
        for (auto const& [mainloop, unit] : all) {
            std::string const name = mainloop.substr(0, mainloop.find('<'));
            if (!each && name == last) continue;
            last = name;
            fusekit::jit::Failure failure;
            bool const compiled = fusekit::jit::code_of(unit, failure) != nullptr;
            INFO(mainloop << "\n" << unit << "\n" << failure.expected << "\n" << failure.given);
            REQUIRE(compiled);
        }
    }

private:
    std::map<std::string, std::string> all;
};

/// True if the environment asks tests to compile every kernel that they choose: for changes of the units.
inline bool compiles_each() { return std::getenv("FUSEKIT_JIT_EACH") != nullptr; }

}  // namespace test
