// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/device.hpp"
#include "fusekit/backend/hip/kernel.hpp"
#include "fusekit/plan/name.hpp"

namespace fusekit::hip {

/// Throws the Error of a launch that was refused. What an earlier kernel did comes to light at any later call: then
/// it is that work that is named, and not this plan.
[[noreturn]] inline void refuse_launch(Device const& device, Text (*plan)(), hipError_t status) {
    clear_last_error();
    bool const no_code = status == hipErrorNoBinaryForGpu || status == hipErrorInvalidDeviceFunction;
    bool const earlier = status == hipErrorIllegalAddress || status == hipErrorLaunchFailure;
    if (no_code)
        raise(Error(plan(), "hip::Device", "hipLaunchKernel",
                    "code for " + device.name() + " in this program: compile for it", "none: " + error_string(status)));
    raise(Error(plan(), "hip::Device", "hipLaunchKernel", earlier ? "a device that works" : "success",
                (earlier ? "a failure of work before this call: " : "") + error_string(status)));
}

/// How the blocks of a launch run: each on its own, or all at the same time, so that they can wait for each other.
enum class Cooperative { no, yes };

/// Launches a plan's kernel on the device's stream.
template <class Plan, class Mainloop>
void launch(Device const& device, typename Mainloop::Params const& params, std::int64_t blocks,
            int threads = Mainloop::threads, Cooperative cooperative = Cooperative::no) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    if (blocks > most)
        raise(Error(type_name<Plan>(), "hip::Device", "blocks", "at most " + Text::number(most), Text::number(blocks)));
    DeviceGuard const guard(device.index());
    void* arguments[] = {const_cast<typename Mainloop::Params*>(&params)};
    auto const launch_kernel = [&](auto* kernel) {
        dim3 const grid(static_cast<unsigned>(blocks)), block(static_cast<unsigned>(threads));
        auto const with = [&](auto* function) {
            if (cooperative == Cooperative::yes)
                return hipLaunchCooperativeKernel(function, grid, block, arguments, 0, device.stream());
            return hipLaunchKernel(function, grid, block, arguments, 0, device.stream());
        };
        if constexpr (kernels_overlap && requires { Mainloop::waits_for_previous_kernel; })
            return launch_overlapping(reinterpret_cast<void const*>(kernel), grid, block, arguments, device.stream());
        else if constexpr (requires { hipLaunchKernel(kernel, grid, block, arguments, 0, device.stream()); })
            return with(kernel);
        else return with(reinterpret_cast<void const*>(kernel));
    };
    hipError_t const status = launch_kernel(&fused<Plan, Mainloop>);
    if (status != hipSuccess) refuse_launch(device, type_name<Plan>, status);
}

inline void check_limit(Text (*plan)(), char const* tensor, char const* expected, Shape<4> const& shape,
                        std::int64_t value, std::int64_t limit = std::int64_t{1} << 31) {
    if (value >= limit) raise(Error(plan(), tensor, "shape", expected, to_string(shape)));
}

inline bool aligned(void const* data, int bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0;
}

}  // namespace fusekit::hip
