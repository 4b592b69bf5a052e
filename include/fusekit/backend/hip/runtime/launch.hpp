// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/launch_attribute.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/runtime/kernel.hpp"
#include "fusekit/backend/hip/runtime/range.hpp"
#include "fusekit/backend/hip/runtime/stream.hpp"
#include "fusekit/plan/choice.hpp"
#include "fusekit/plan/name.hpp"

namespace fusekit::hip {

/// Error of a failed launch. HIP may report the failure of an earlier kernel at any later call; the Error's text then
/// says that the work was before this call.
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Refusal refuse_launch(Stream const& stream, Text (*plan)(),
                                                                    hipError_t status) {
    clear_last_error();
    bool const no_code = status == hipErrorNoBinaryForGpu || status == hipErrorInvalidDeviceFunction;
    bool const earlier = status == hipErrorIllegalAddress || status == hipErrorLaunchFailure;
    int const code = static_cast<int>(status);
    if (no_code)
        return Error(plan(), "hip::Device", "hipLaunchKernel",
                     "code for " + stream.gpu().name() + " in this program: compile for it",
                     "none: " + error_string(status), code);
    return Error(plan(), "hip::Device", "hipLaunchKernel", earlier ? "a device that works" : "success",
                 (earlier ? "a failure of work before this call: " : "") + error_string(status), code);
}

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline void refuse_stream(Check in, int expected, int given) {
    in.operator_name = [] { return Text("stream"); };
    in.fail("", "a stream of device " + Text::number(expected) + ", as it was prepared for",
            "one of device " + Text::number(given));
}

/// Instruction set of a GPU after a comma: ", gfx942"; "" if HIP does not tell it.
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Text instruction_set(int device) {
    hipDeviceProp_t all;
    if (hipGetDeviceProperties(&all, device) == hipSuccess) return Text(", ") + Architecture::of(all).name();
    clear_last_error();
    return "";
}

/// How CTAs are launched. plain: independent. cooperative: co-resident, so that they may synchronize. overlapping:
/// before the end of the previous kernel on the stream (arch/overlap.hpp). clusters: in clusters (arch/cluster.hpp).
enum class LaunchMode { plain, cooperative, overlapping, clusters, overlapping_clusters };

/// Grid and device of a prepared launch: the members of Launch that do not depend on the kernel's parameter.
struct LaunchConfig {
    Text (*plan)();
    int device;
    unsigned blocks, threads;
    LaunchMode mode;
    std::size_t workspace_bytes;
    unsigned shared_bytes = 0;  ///< bytes of dynamic shared memory, in addition to the kernel's static shared memory
    unsigned cluster = 1;  ///< CTAs per cluster
    Choice choice = {};  ///< the schedule whose kernel this is

    /// Number and instruction set of the GPU: "GPU 0, gfx942".
    [[gnu::cold]] FUSEKIT_H Text device_name() const { return "GPU " + Text::number(device) + instruction_set(device); }

    FUSEKIT_H bool is_for(Stream const& stream) const { return stream.index() == device; }
    FUSEKIT_H void check_device(Check const& in, Stream const& stream) const {
        if (!is_for(stream)) refuse_stream(in, device, stream.index());
    }

    /// Throws an Error if the stream's own workspace is too small.
    FUSEKIT_H void require_workspace(Stream const& stream) const {
        if (workspace_bytes > stream.own_workspace_bytes())
            detail::raise(Error(plan(), "workspace", "",
                                Text::number(workspace_bytes) + " bytes, passed to the run or owned by the stream",
                                stream.own_workspace() ? Text::number(stream.own_workspace_bytes()) : "none"));
    }

    /// Launches the kernel with the parameter at `argument` on the stream.
    FUSEKIT_H Refusal start_kernel(AnyKernel kernel, void* argument, Stream const& stream) const {
        Refusal refusal;
        DeviceGuard const guard(device, &refusal);
        if (refusal) return refusal;
        [[maybe_unused]] Range const range(plan);
        void* arguments[] = {argument};
        hipError_t const status = launch(kernel, arguments, stream.stream());
        if (status != hipSuccess) return refuse_launch(stream, plan, status);
        return refusal;
    }

private:
    FUSEKIT_H hipError_t launch(AnyKernel kernel, void** arguments, hipStream_t stream) const {
        dim3 const grid(blocks), block(threads);
        if constexpr (kernels_overlap) {
            if (mode == LaunchMode::overlapping)
                return launch_overlapping(kernel, grid, block, arguments, shared_bytes, stream);
            if constexpr (kernels_cluster)
                if (mode == LaunchMode::overlapping_clusters)
                    return launch_overlapping_clusters(kernel, grid, block, cluster, arguments, shared_bytes, stream);
        }
        if constexpr (kernels_cluster)
            if (mode == LaunchMode::clusters)
                return launch_clusters(kernel, grid, block, cluster, arguments, shared_bytes, stream);
        if (mode == LaunchMode::cooperative)
            return hipLaunchCooperativeKernel(kernel, grid, block, arguments, shared_bytes, stream);
        return hipLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
    }
};

/// A prepared launch: kernel, kernel argument and grid, without the pointers of x, y and workspace, which a run passes.
/// The kernels of all schedules of a plan have the same argument type.
template <class TheParams>
struct Launch : LaunchConfig {
    using Params = TheParams;
    using Stream = hip::Stream const;

    Params params;
    void (*kernel)(Params);

    /// Launches the kernel on the stream with these pointers; allocates nothing. Precondition: the pointers are
    /// checked.
    template <class X, class Y>
    FUSEKIT_H Refusal start(Stream& stream, X const* x, Y* y, WorkspaceView workspace) const {
        Params own = params;
        own.x.data = x;
        own.y.data = y;
        if constexpr (requires { own.maps.in_use; })
            if (own.maps.in_use) own.maps.replace_memory(x, y);
        if constexpr (requires { own.stem.in_use; })
            if (own.stem.in_use) own.stem.replace_memory(x);
        if constexpr (requires { own.phased_halo.in_use; })
            if (own.phased_halo.in_use) own.phased_halo.replace_memory(x);
        if constexpr (requires { own.col2im.in_use; })
            if (own.col2im.in_use) own.col2im.replace_memory(x);
        return start_with(own, stream, workspace);
    }
    /// Launches the kernel on the tensors that were passed to prepare().
    FUSEKIT_H Refusal start(Stream& stream) const {
        Params own = params;
        return start_with(own, stream, {});
    }

private:
    FUSEKIT_H Refusal start_with(Params& own, Stream& stream, WorkspaceView workspace) const {
        if (blocks == 0) return {};  // an empty grid is an error in HIP
        if (workspace_bytes > 0) {
            void* const memory = workspace.data ? workspace.data : stream.own_workspace();
            if constexpr (requires { own.workspace.memory; }) own.workspace.memory = memory;
            else if constexpr (requires { own.split_k.workspace; }) own.split_k.workspace.memory = memory;
            else if constexpr (requires { own.tile_groups.workspace; }) own.tile_groups.workspace.memory = memory;
        }
        return start_kernel(any_kernel(kernel), &own, stream);
    }
};

/// Results of is_launchable() for one kernel: bit d of `launchable` for device d, valid if bit d of `queried` is set;
/// devices 0 to 63.
struct KnownKernel {
    std::uint64_t queried = 0, launchable = 0;
};

/// Returns the bit of `known` for a device; calls `query` once for each of the devices 0 to 63, while `device` is
/// current.
template <class Query>
FUSEKIT_H bool query_once(KnownKernel& known, int device, Query const& query) {
    std::uint64_t const bit = device < 64 ? std::uint64_t{1} << device : 0;
    if (__atomic_load_n(&known.queried, __ATOMIC_ACQUIRE) & bit)
        return __atomic_load_n(&known.launchable, __ATOMIC_RELAXED) & bit;
    Refusal refusal;
    DeviceGuard const guard(device, &refusal);
    bool const accepts = !refusal && query();
    if (!accepts) clear_last_error();
    else __atomic_fetch_or(&known.launchable, bit, __ATOMIC_RELAXED);
    __atomic_fetch_or(&known.queried, bit, __ATOMIC_RELEASE);
    return accepts;
}

/// True if this program has a kernel's code for the device and the device has the kernel's shared memory. Queries HIP
/// once for each of the devices 0 to 63. Not a template, because it is called for many kernels.
[[gnu::noinline]] FUSEKIT_H inline bool is_launchable(KnownKernel& known, void const* kernel, int threads,
                                                      unsigned shared_bytes, int device) {
    return query_once(known, device, [&] {
        hipFuncAttributes attributes{};
        return hipFuncGetAttributes(&attributes, kernel) == hipSuccess && attributes.maxThreadsPerBlock >= threads &&
               hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)) == hipSuccess;
    });
}

/// Members of Kernel that do not depend on the kernel's parameter.
struct KernelConfig {
    KnownKernel* known;
    Text (*plan)();
    int threads;
    unsigned shared_bytes;  ///< bytes of dynamic shared memory, in addition to the kernel's static shared memory
    bool waits_for_previous;

    /// Configuration of a launch of `blocks` CTAs, at most 2^31 - 1.
    FUSEKIT_H LaunchConfig config(int device, std::int64_t blocks, LaunchMode mode, std::size_t workspace_bytes,
                                  unsigned cluster) const {
        if (waits_for_previous)
            mode = mode == LaunchMode::plain      ? LaunchMode::overlapping
                   : mode == LaunchMode::clusters ? LaunchMode::overlapping_clusters
                                                  : mode;
        return {
            plan,         device, static_cast<unsigned>(blocks), static_cast<unsigned>(threads), mode, workspace_bytes,
            shared_bytes, cluster};
    }
};

/// A plan's kernel with one mainloop, as a value, so that code that prepares launches is compiled once for all kernels
/// of a plan.
template <class Params>
struct Kernel : KernelConfig {
    void (*function)(Params);

    FUSEKIT_H bool is_launchable(int device) const {
        return hip::is_launchable(*known, reinterpret_cast<void const*>(function), threads, shared_bytes, device);
    }
};
// static: nvcc 13 gives each unit its own host stub of a kernel template (--static-global-template-stub), to which what
// is known, such as its limit of shared memory, belongs.
template <class Plan, class Mainloop>
FUSEKIT_H static Kernel<typename Mainloop::Params> kernel_of() {
    static KnownKernel known;
    constexpr bool waits = kernels_overlap && requires { Mainloop::waits_for_previous_kernel; };
    using Function = void (*)(typename Mainloop::Params);
    Function function;
    if constexpr (CompiledLater<Plan>::later) function = CompiledLater<Plan>::template address<Mainloop>();
    else function = &fused<Plan, Mainloop>;
    return {{&known, type_name<Plan>, Mainloop::threads, dynamic_shared_bytes<Mainloop>, waits}, function};
}

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Error refuse_blocks(Text (*plan)(), std::int64_t most,
                                                                  std::int64_t blocks) {
    return Error(plan(), "hip::Device", "blocks", "at most " + Text::number(most), Text::number(blocks));
}

/// Prepares the launch of a kernel with `blocks` CTAs. `workspace_bytes`: size of the workspace through which the CTAs
/// of a run exchange values; 0 if they do not.
template <class Params>
FUSEKIT_H Result<Launch<Params>> prepare_launch(Gpu const& gpu, Kernel<Params> const& kernel, Params const& params,
                                                std::int64_t blocks, LaunchMode mode = LaunchMode::plain,
                                                std::size_t workspace_bytes = 0, unsigned cluster = 1) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    if (blocks > most) return refuse_blocks(kernel.plan, most, blocks);
    return Launch<Params>{kernel.config(gpu.index(), blocks, mode, workspace_bytes, cluster), params, kernel.function};
}
template <class Plan, class Mainloop>
FUSEKIT_H Result<Launch<typename Mainloop::Params>> prepare_launch(
    Gpu const& gpu, typename Mainloop::Params const& params, std::int64_t blocks, int threads = Mainloop::threads,
    LaunchMode mode = LaunchMode::plain, std::size_t workspace_bytes = 0, unsigned cluster = 1) {
    auto kernel = kernel_of<Plan, Mainloop>();
    kernel.threads = threads;
    return prepare_launch(gpu, kernel, params, blocks, mode, workspace_bytes, cluster);
}

/// Returns a launch without a kernel, for a run that writes nothing.
template <class Params>
FUSEKIT_H Launch<Params> launch_nothing(Gpu const& gpu, Text (*plan)(), Params const& params) {
    return {{plan, gpu.index(), 0, 0, LaunchMode::plain, 0}, params, nullptr};
}

/// Returns `launch` with the schedule that was chosen for it; an Error is returned unchanged.
template <class Params>
FUSEKIT_H Result<Launch<Params>> with_choice(Result<Launch<Params>> launch, Choice const& choice) {
    if (launch && (*launch).kernel) (*launch).choice = choice;
    return launch;
}

namespace detail {

[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Error refuse_shape(Text (*plan)(), char const* tensor,
                                                                 char const* expected, CollapsedShape<4> const& shape) {
    return Error(plan(), tensor, "shape", expected, to_string(shape));
}

}  // namespace detail

FUSEKIT_H inline Refusal refuse_limit(Text (*plan)(), char const* tensor, char const* expected,
                                      CollapsedShape<4> const& shape, std::int64_t value,
                                      std::int64_t limit = std::int64_t{1} << 31) {
    if (value < limit) return {};
    return detail::refuse_shape(plan, tensor, expected, shape);
}

}  // namespace fusekit::hip
