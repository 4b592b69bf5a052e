// SPDX-License-Identifier: MIT
#include "fusekit/hip.hpp"
#include "fusekit_runtime_gpu.hpp"

#include "backend_of.hpp"

namespace fusekit::runtime::c {

namespace {

struct Streams {
    static std::unique_ptr<hip::Device> make(int index) { return std::make_unique<hip::Device>(index); }
    template <class F>
    static Refusal on(hip::Device& device, RunTarget const& target, F const& f) {
        if (!target.stream) return f(static_cast<hip::Stream const&>(device));
        WorkspaceView const own{device.own_workspace(), device.own_workspace_bytes()};
        hip::Stream const stream(device, static_cast<decltype(device.stream())>(*target.stream), own);
        return f(stream);
    }
};

}  // namespace

Backend const* gpu_backend() {
    static BackendOf<hip::Device, ready_made::GpuSet, Streams> const backend;
    return &backend;
}

}  // namespace fusekit::runtime::c
