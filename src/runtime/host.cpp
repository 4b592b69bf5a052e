// SPDX-License-Identifier: MIT
#include "fusekit/fusekit.hpp"
#include "fusekit_runtime_host.hpp"

#include "backend_of.hpp"

namespace fusekit::runtime::c {

namespace {

struct Streams {
    static std::unique_ptr<host::Device> make(int threads) { return std::make_unique<host::Device>(threads); }
    template <class F>
    static Refusal on(host::Device& device, RunTarget const&, F const& f) {
        return f(device);
    }
};

}  // namespace

Backend const* host_backend() {
    static BackendOf<host::Device, ready_made::HostSet, Streams> const backend;
    return &backend;
}

}  // namespace fusekit::runtime::c
