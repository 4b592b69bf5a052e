// SPDX-License-Identifier: MIT
#pragma once

#include "backend.hpp"
#include "fusekit/runtime/plan_set.hpp"

namespace fusekit::runtime::c {

/// Backend of a device and a set of plans. `Streams::make(number)` makes a device, and `Streams::on(device, place, f)`
/// calls f with the stream or device to run on.
template <class Device, class Set, class Streams>
struct BackendOf final : Backend {
    struct OwnDevice final : DeviceObject {
        std::unique_ptr<Device> device;

        OwnDevice(Backend const& of, int number) : DeviceObject(of), device(Streams::make(number)) {}
        void synchronize() override { device->synchronize(); }
    };
    static Device& of(DeviceObject& device) { return *static_cast<OwnDevice&>(device).device; }

    struct OwnRun final : RunObject {
        Run<Device> run;

        OwnRun(Backend const& backend, Run<Device> the_run) : RunObject(backend), run(std::move(the_run)) {}
        std::size_t workspace_bytes() const override { return run->workspace_bytes(); }
        Refusal execute(RunTarget const& target, void const* x, void* y) const override {
            return Streams::on(of(target.device), target,
                               [&](auto& stream) { return run->run(stream, x, y, target.workspace); });
        }
    };

    struct OwnPlan final : PlanObject {
        Handle<Device> handle;

        OwnPlan(Backend const& backend, Handle<Device> const& the_handle) : PlanObject(backend), handle(the_handle) {}
        int size() const override { return handle.size(); }
        Text name() const override { return handle.name(); }
        Result<Index<4>> output_shape(ArgumentList arguments, View const& x) const override {
            return handle.output_shape(arguments, x);
        }
        Result<std::size_t> workspace_bytes(DeviceObject& device, ArgumentList arguments, View const& x,
                                            View const& y) const override {
            return handle.workspace_bytes(of(device), arguments, x, y);
        }
        Result<std::size_t> compile(DeviceObject& device, ArgumentList arguments, View const& x, View const& y,
                                    Compile) const override {
            return workspace_bytes(device, arguments, x, y);
        }
        Refusal prepare(DeviceObject& device, ArgumentList arguments, View const& x, View const& y, int alignment,
                        Compile, std::unique_ptr<RunObject>& run) const override {
            Run<Device> prepared;
            Refusal refusal = handle.prepare(of(device), arguments, x, y, prepared, alignment);
            if (!refusal) run = std::make_unique<OwnRun>(backend, std::move(prepared));
            return refusal;
        }
        Refusal execute(RunTarget const& target, ArgumentList arguments, View const& x, View const& y) const override {
            return Streams::on(of(target.device), target,
                               [&](auto& stream) { return handle.run(stream, arguments, x, y, target.workspace); });
        }
    };

    std::unique_ptr<DeviceObject> create(int number) const override {
        return std::make_unique<OwnDevice>(*this, number);
    }
    std::unique_ptr<PlanObject> find(Descriptors operators, Types types) const override {
        auto const found = Set::find_or_none(operators, types);
        return found ? std::make_unique<OwnPlan>(*this, *found) : nullptr;
    }
    Explanation explain(Descriptors operators, Types const* types) const override {
        return types ? Set::explain(operators, *types) : Set::accepts_prefix(operators);
    }
    detail::FormList forms() const override { return Set::all(); }
};

}  // namespace fusekit::runtime::c
