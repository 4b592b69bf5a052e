// SPDX-License-Identifier: MIT
//
// The C interface's backend FUSEKIT_JIT: plans that are compiled when they are first prepared.
#include <cstring>

#include "backend.hpp"
#include "forms.hpp"
#include "kernels.hpp"
#include "operators.hpp"
#include "sequence.hpp"

namespace fusekit::jit {

namespace {

namespace c = runtime::c;
using runtime::ArgumentList;
using runtime::View;

/// A plan, which its handle and its runs own.
struct Plan {
    runtime::Descriptor descriptors[runtime::max_operators] = {};
    int size = 0;
    Text name;
    Spec spec;
    HostCode const* code = nullptr;
    mutable Kernels kernels;
};

/// Makes a plan the thread's current one; messages of the host's code take names from it.
class InPlan {
public:
    InPlan(Plan const& plan, runtime::detail::Reader const* reader) : before(current) {
        current = {&plan.spec, reader, nullptr, plan.name.c_str()};
    }
    InPlan(InPlan const&) = delete;
    InPlan& operator=(InPlan const&) = delete;
    ~InPlan() { current = before; }

private:
    Current before;
};

/// Sets the kernel of the thread's launches.
class WithKernel {
public:
    explicit WithKernel(driver::Kernel const& kernel) : before(driver::current_kernel) {
        driver::current_kernel = kernel;
    }
    WithKernel(WithKernel const&) = delete;
    WithKernel& operator=(WithKernel const&) = delete;
    ~WithKernel() { driver::current_kernel = before; }

private:
    driver::Kernel before;
};

struct OwnDevice final : c::DeviceObject {
    std::unique_ptr<hip::Device> device;

    OwnDevice(c::Backend const& of, int index) : DeviceObject(of), device(std::make_unique<hip::Device>(index)) {
        hip::Architecture const architecture = device->architecture();
        if (architecture.maker() != hip::Architecture::Maker::nvidia || architecture.number() != 90)
            throw Error("fusekit_jit", "device", "index", "a GPU of compute capability 9.0", architecture.name());
    }
    void synchronize() override { device->synchronize(); }
};
hip::Device& device_of(c::DeviceObject& device) { return *static_cast<OwnDevice&>(device).device; }

/// Calls f with the stream of a run: the device's own or the caller's.
template <class F>
Refusal on_stream(c::RunTarget const& target, F const& f) {
    hip::Device& device = device_of(target.device);
    if (!target.stream) return f(static_cast<hip::Stream const&>(device));
    WorkspaceView const own{device.own_workspace(), device.own_workspace_bytes()};
    hip::Stream const stream(device, static_cast<hip::hipStream_t>(*target.stream), own);
    return f(stream);
}

struct OwnRun final : c::RunObject {
    std::shared_ptr<Plan const> plan;
    runtime::Run<hip::Device> run;
    driver::Kernel kernel;

    OwnRun(c::Backend const& of, std::shared_ptr<Plan const> the_plan, runtime::Run<hip::Device> the_run,
           driver::Kernel const& the_kernel)
        : RunObject(of), plan(std::move(the_plan)), run(std::move(the_run)), kernel(the_kernel) {}
    std::size_t workspace_bytes() const override { return run->workspace_bytes(); }
    Refusal execute(c::RunTarget const& target, void const* x, void* y) const override {
        InPlan const in(*plan, nullptr);
        WithKernel const with(kernel);
        return on_stream(target, [&](hip::Stream const& stream) { return run->run(stream, x, y, target.workspace); });
    }
};

struct OwnPlan final : c::PlanObject {
    std::shared_ptr<Plan const> plan;

    OwnPlan(c::Backend const& of, std::shared_ptr<Plan const> the_plan) : PlanObject(of), plan(std::move(the_plan)) {}
    int size() const override { return plan->size; }
    Text name() const override { return plan->name; }

    runtime::detail::Reader reader(ArgumentList arguments, View const& x, bool stands_in, Refusal& refusal) const {
        return {plan->descriptors, arguments.data, plan->spec.at, x.rank, stands_in, current_plan, refusal};
    }

    Result<Index<4>> output_shape(ArgumentList arguments, View const& x) const override {
        Refusal refusal;
        Index<4> shape{};
        runtime::detail::Reader const own = reader(arguments, x, true, refusal);
        InPlan const in(*plan, &own);
        plan->code->output_shape(own, x, shape);
        if (!refusal && runtime::detail::lacks_outputs(plan->descriptors[0].kind, x, shape))
            refusal = Error(plan->name, "x", "", "extents that give an output", to_string(shape));
        if (refusal) return *refusal;
        return shape;
    }

    /// Prepares a run on `stream`; compiles its kernel unless `kernel` is null.
    Refusal prepare_on(hip::Stream const& stream, ArgumentList arguments, View const& x, View const& y, int alignment,
                       bool stands_in, Launchable& result, driver::Kernel* kernel, Compile how = Compile::now) const {
        Refusal refusal;
        runtime::detail::Reader const own = reader(arguments, x, stands_in, refusal);
        InPlan const in(*plan, &own);
        plan->code->prepare({stream, own, x, y, alignment}, result);
        if (refusal || !kernel || !result.kernel) return refusal;
        hip::DeviceGuard const guard(stream.index(), &refusal);
        if (refusal) return refusal;
        Failure failure;
        if (driver::is_capturing(stream.stream())) how = Compile::never;
        *kernel = plan->kernels.find(plan->spec, *result.kernel, result.filter, stream.index(), how, failure);
        if (!*kernel)
            refusal = Error(plan->name, failure.is_pending ? c::pending_name : c::compiler_name, "",
                            failure.expected.c_str(), failure.given.c_str());
        return refusal;
    }

    Result<std::size_t> workspace_bytes(c::DeviceObject& device, ArgumentList arguments, View const& x,
                                        View const& y) const override {
        Launchable prepared;
        if (Refusal refusal = prepare_on(device_of(device), arguments, x, y, 16, true, prepared, nullptr))
            return *refusal;
        return prepared.run->workspace_bytes();
    }
    Result<std::size_t> compile(c::DeviceObject& device, ArgumentList arguments, View const& x, View const& y,
                                Compile how) const override {
        Launchable prepared;
        driver::Kernel kernel;
        if (Refusal refusal = prepare_on(device_of(device), arguments, x, y, 16, true, prepared, &kernel, how))
            return *refusal;
        return prepared.run->workspace_bytes();
    }
    Refusal prepare(c::DeviceObject& device, ArgumentList arguments, View const& x, View const& y, int alignment,
                    Compile how, std::unique_ptr<c::RunObject>& run) const override {
        Launchable prepared;
        driver::Kernel kernel;
        Refusal refusal = prepare_on(device_of(device), arguments, x, y, alignment, false, prepared, &kernel, how);
        if (!refusal) run = std::make_unique<OwnRun>(backend, plan, std::move(prepared.run), kernel);
        return refusal;
    }
    Refusal execute(c::RunTarget const& target, ArgumentList arguments, View const& x, View const& y) const override {
        return on_stream(target, [&](hip::Stream const& stream) {
            Launchable prepared;
            driver::Kernel kernel;
            if (Refusal refusal = prepare_on(stream, arguments, x, y, 0, false, prepared, &kernel)) return refusal;
            InPlan const in(*plan, nullptr);
            WithKernel const with(kernel);
            return prepared.run->run(stream, x.data, y.data, target.workspace);
        });
    }
};

struct OwnBackend final : c::JitBackend {
    std::unique_ptr<c::DeviceObject> create(int index) const override {
        return std::make_unique<OwnDevice>(*this, index);
    }
    std::unique_ptr<c::PlanObject> find(runtime::Descriptors operators, runtime::Types types) const override {
        if (!jit::explain(operators, &types)) return nullptr;
        auto plan = std::make_shared<Plan>();
        plan->size = operators.size;
        for (int i = 0; i < operators.size; ++i) plan->descriptors[i] = operators[i];
        plan->name = name_of(operators);
        plan->spec = spec_of(operators);
        plan->code = host_code(plan->spec, types);
        return std::make_unique<OwnPlan>(*this, std::move(plan));
    }
    runtime::Explanation explain(runtime::Descriptors operators, runtime::Types const* types) const override {
        return jit::explain(operators, types);
    }
    runtime::detail::FormList forms() const override { return {nullptr, 0}; }

    Refusal add_operator(char const* name, char const* source, std::int32_t& mode) const override {
        return jit::add_operator(name, source, mode);
    }
    void use_disk_cache(char const* folder, std::uint64_t bytes) const override { jit::use_disk_cache(folder, bytes); }
    void count(std::uint64_t (&numbers)[3]) const override {
        Counts const all = counts();
        numbers[0] = all.compiled, numbers[1] = all.from_disk, numbers[2] = all.from_memory;
    }
};

}  // namespace

}  // namespace fusekit::jit

fusekit::runtime::c::JitBackend const* fusekit::runtime::c::jit_backend() {
    static jit::OwnBackend const backend;
    return &backend;
}
