// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/fusekit.hpp>

#include "bind.hpp"

/// Plans on the CPU, instantiated by one unit per element type.
namespace fusekit_torch {

/// Never destroyed: its threads must not be joined while a library is unloaded.
inline fk::host::Device& host_device() {
    static fk::host::Device& only = *new fk::host::Device;
    return only;
}

template <fk::Element T>
void run_activation(auto const& call) {
    auto const run = [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); };
    if (is_clamp(call.activation.kind)) bind<T, fk::Clamp>(call, bounds_of(call.activation), run);
    else bind<T, AnyMode>(call, call.activation, run);
}

template <fk::Element T>
void OnHost<T>::run(ConvCall const& call) {
    run_activation<T>(call);
}
template <fk::Element T>
void OnHost<T>::run(NormCall const& call) {
    run_activation<T>(call);
}
template <fk::Element T>
void OnHost<T>::run(ActivationGradientCall const& call) {
    run_activation<T>(call);
}
template <fk::Element T>
void OnHost<T>::run(NormGradientCall const& call) {
    bind<T>(call, [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); });
}
template <fk::Element T>
void StatisticsOnHost<T>::run(StatisticsCall const& call) {
    bind<T>(call, [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); });
}
template <fk::Element T>
void StatisticsOnHost<T>::run(NormSumsCall const& call) {
    bind<T>(call, [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); });
}
template <fk::Element T>
void StatisticsOnHost<T>::run(SynchronizedGradientCall const& call) {
    bind<T>(call, [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); });
}
template <fk::Element T>
void OnHost<T>::run(PoolCall const& call) {
    bind<T>(call, [](auto const& bound, auto const& x, auto const& y) { bound(host_device(), x, y); });
}

}  // namespace fusekit_torch
