// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <stdexcept>
#include <vector>

#include "fusekit/hip.hpp"

namespace test {

namespace fk = fusekit;

/// Device that runs plans directly, or captures each into a graph and replays it, checking that every replay writes the
/// same bytes.
class Runner : public fk::hip::Memory, public fk::hip::AcceptsAll {
public:
    using Memory = fk::hip::Memory;

    static constexpr bool may_replay = true, every_schedule = true;

    explicit Runner(fk::hip::Device& device, int replays = 0) : Memory(device), device(&device), replays(replays) {}

    template <class BoundPlan, class T, class U>
    void run(BoundPlan const& bound, fk::detail::ImageView<T const> const& x, fk::detail::ImageView<U> const& y) {
        if (replays == 0) return device->run(bound, x, y);
        using namespace fusekit::hip;
        hipGraph_t graph;
        hipGraphExec_t executable;
        require(hipStreamBeginCapture(stream(), hipStreamCaptureModeThreadLocal));
        device->run(bound, x, y);
        require(hipStreamEndCapture(stream(), &graph));
        require(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
        std::size_t const bytes = static_cast<std::size_t>(y.layout.span()) * sizeof(U);
        std::vector<unsigned char> before(bytes), first(bytes), now(bytes);
        copy_out(before.data(), y.data, bytes);
        int differ = 0;
        for (int replay = 0; replay < replays; ++replay) {
            copy_in(y.data, before.data(), bytes);
            require(hipGraphLaunch(executable, stream()));
            auto& result = replay == 0 ? first : now;
            copy_out(result.data(), y.data, bytes);
            differ += std::memcmp(result.data(), first.data(), bytes) != 0;
        }
        require(hipGraphExecDestroy(executable));
        require(hipGraphDestroy(graph));
        if (differ) throw std::runtime_error(std::to_string(differ) + " replays differ from the first");
    }
    void check_accessible(fk::Check const& in, char const* argument, void const* data) const {
        device->check_accessible(in, argument, data);
    }

private:
    fk::hip::Device* device;
    int replays;

    template <class Status>
    static void require(Status status) {
        if (status != Status{}) throw std::runtime_error(fk::hip::error_string(status).c_str());
    }
};

}  // namespace test
