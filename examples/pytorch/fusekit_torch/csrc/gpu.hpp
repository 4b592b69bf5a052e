// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <fusekit/hip.hpp>

#include "bind.hpp"

/// Plans on a GPU, instantiated by one unit per element type.
namespace fusekit_torch {

/// Enqueues a bound plan on the call's stream. Workspace comes from the caller.
struct RunOnGpu {
    LaunchTarget const& target;

    void operator()(auto const& bound, auto const& x, auto const& y) const {
        auto const& device = properties(target.gpu);
        fk::hip::Stream stream(device, static_cast<decltype(device.stream())>(target.stream));
        auto const prepared = bound.prepare(stream, x, y);
        fk::WorkspaceView workspace;
        if (std::size_t const bytes = prepared.workspace_bytes()) workspace = {target.zeros(bytes), bytes};
        prepared(stream, x, y, workspace);
    }

private:
    /// Properties of a GPU, queried by the first call on it.
    static fk::hip::Device const& properties(int gpu) {
        static constexpr int most = 64;
        static fk::hip::Device* devices[most] = {};
        if (gpu < 0 || gpu >= most)
            throw fk::Error("fusekit", "x", "", "a GPU below 64", "GPU " + fk::Text::number(gpu));
        fk::hip::Device* known = __atomic_load_n(&devices[gpu], __ATOMIC_ACQUIRE);
        if (known) return *known;
        auto* const made = make(gpu);
        if (__atomic_compare_exchange_n(&devices[gpu], &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return *made;
        delete made;
        return *known;
    }

    /// Allocates, which is permitted while another stream is captured; no run uses this device's stream, the default
    /// one.
    static fk::hip::Device* make(int gpu) {
        auto mode = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&mode);
        auto* const made = new fk::hip::Device(gpu, nullptr);
        cudaThreadExchangeStreamCaptureMode(&mode);
        return made;
    }
};

template <fk::Element T, class Mode>
void OnGpu<T, Mode>::run(ConvCall const& call, typename Mode::Args const& activation, LaunchTarget const& target) {
    bind<T, Mode>(call, activation, RunOnGpu{target});
}
template <fk::Element T, class Mode>
void OnGpu<T, Mode>::run(NormCall const& call, typename Mode::Args const& activation, LaunchTarget const& target) {
    bind<T, Mode>(call, activation, RunOnGpu{target});
}
template <fk::Element T, class Mode>
void OnGpu<T, Mode>::run(ActivationGradientCall const& call, typename Mode::Args const& activation,
                         LaunchTarget const& target) {
    bind<T, Mode>(call, activation, RunOnGpu{target});
}
template <fk::Element T>
void GradientOnGpu<T>::run(NormGradientCall const& call, LaunchTarget const& target) {
    bind<T>(call, RunOnGpu{target});
}
template <fk::Element T>
void StatisticsOnGpu<T>::run(StatisticsCall const& call, LaunchTarget const& target) {
    bind<T>(call, RunOnGpu{target});
}
template <fk::Element T>
void StatisticsOnGpu<T>::run(NormSumsCall const& call, LaunchTarget const& target) {
    bind<T>(call, RunOnGpu{target});
}
template <fk::Element T>
void StatisticsOnGpu<T>::run(SynchronizedGradientCall const& call, LaunchTarget const& target) {
    bind<T>(call, RunOnGpu{target});
}
template <fk::Element T>
void PoolOnGpu<T>::run(PoolCall const& call, LaunchTarget const& target) {
    bind<T>(call, RunOnGpu{target});
}

}  // namespace fusekit_torch
