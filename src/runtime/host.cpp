// SPDX-License-Identifier: MIT
#include "fusekit/fusekit.hpp"
#include "fusekit_runtime_host.hpp"

#include "backend_of.hpp"

namespace fusekit::runtime::c {

Backend const* FUSEKIT_HOST_BACKEND();

namespace {

struct Streams {
    static std::unique_ptr<host::Device> make(int threads) { return std::make_unique<host::Device>(threads); }
    template <class F>
    static Refusal on(host::Device& device, RunTarget const&, F const& f) {
        return f(device);
    }
};

}  // namespace

/// CMake defines a name for each CPU for which this unit is compiled.
Backend const* FUSEKIT_HOST_BACKEND() {
    static BackendOf<host::Device, ready_made::HostSet, Streams> const backend;
    return &backend;
}

}  // namespace fusekit::runtime::c
