// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "call.hpp"
#include "grid.hpp"
#include "hip_on_cpu/cluster.hpp"

using namespace hip_on_cpu;

struct hipEvent {
    hipStream_t stream = nullptr;  ///< stream that it was last recorded on
    std::chrono::steady_clock::time_point time{};
    bool recorded = false;
};

struct hipGraphExec {
    std::vector<std::function<void()>> work;
};

namespace {

/// Number of threads that a device can run at once: 4 multiprocessors with 2,048 threads each.
constexpr std::size_t threads_at_once = 4 * 2048;

constexpr std::size_t plain_shared_bytes = 48 << 10, max_shared_bytes = 227 << 10;

/// Maximum dynamic shared memory, in bytes, of the kernels for which hipFuncSetAttribute() has raised it.
struct SharedBytes {
    std::mutex mutex;
    std::map<void const*, std::size_t> most;
};
SharedBytes& shared_bytes_of_kernels() {
    static SharedBytes s;
    return s;
}

/// The stream that this thread is capturing, or null; one at a time suffices for tests.
thread_local hipStream_t capturing = nullptr;

/// All non-blocking streams, which defer their work.
struct Streams {
    std::mutex mutex;
    std::set<hipStream_t> all;
};
Streams& streams() {
    static Streams s;
    return s;
}

void do_waiting(hipStream_t stream) {
    std::lock_guard const lock(stream->mutex);
    for (auto const& work : stream->waiting) work();
    stream->waiting.clear();
}

/// True if the stream's device is current.
bool usable(hipStream_t stream) { return !stream || stream->device == current_device(); }

}  // namespace

hipError_t hip_on_cpu::submit(hipStream_t stream, std::function<void()> work) {
    if (!usable(stream)) return hipErrorInvalidHandle;
    if (stream && stream->capture) stream->capture->work.push_back(std::move(work));
    else if (!stream && capturing) return refuse_in_capture();
    else if (stream && stream->flags & hipStreamNonBlocking) {
        std::lock_guard const lock(stream->mutex);
        stream->waiting.push_back(std::move(work));
    } else work();
    return hipSuccess;
}

void hip_on_cpu::finish(hipStream_t stream) {
    std::lock_guard const lock(streams().mutex);
    if (streams().all.contains(stream)) do_waiting(stream);
}

void hip_on_cpu::finish_all(int device) {
    std::lock_guard const lock(streams().mutex);
    for (hipStream_t const stream : streams().all)
        if (stream->device == device) do_waiting(stream);
}

hipError_t hip_on_cpu::refuse_in_capture() {
    if (!capturing) return hipSuccess;
    capturing->capture->valid = false;
    return hipErrorStreamCaptureUnsupported;
}

namespace {

bool fits(dim3 grid, dim3 block, std::size_t shared_bytes) {
    return grid.count() > 0 && grid.x < 1u << 31 && grid.y < 1u << 16 && grid.z < 1u << 16 && block.count() > 0 &&
           block.count() <= max_threads && block.z <= 64 && shared_bytes <= max_shared_bytes;
}

using Body = std::function<void()>;

Body body_of(Call const* call) {
    return [call = std::shared_ptr<Call const>(call)] { call->run(); };
}

/// Body of an AnyKernel with a copy of its argument.
Body body_of(AnyKernel const& kernel, void const* argument) {
    struct alignas(64) Line {
        unsigned char bytes[64];
    };
    std::shared_ptr<Line[]> const copy(new Line[(kernel.bytes + sizeof(Line) - 1) / sizeof(Line)]);
    std::memcpy(copy.get(), argument, kernel.bytes);
    return [=] { kernel.call(kernel.kernel, copy.get()); };
}

hipError_t launch_body(Body const& body, dim3 grid, dim3 block, std::size_t shared_bytes, hipStream_t stream,
                       bool at_once) {
    char const* const function = at_once ? "hipLaunchCooperativeKernel" : "hipLaunchKernel";
    if (hipError_t const early = enter(function); early != hipSuccess) return leave(early);
    if (!fits(grid, block, shared_bytes)) return leave(hipErrorInvalidConfiguration);
    if (at_once && grid.count() * block.count() > threads_at_once) return leave(hipErrorCooperativeLaunchTooLarge);
    auto const run = at_once ? run_grid_concurrently : run_grid;
    return leave(submit(stream, [=] { run(grid, block, shared_bytes, body); }));
}

hipError_t launch_body_in_clusters(Body const& body, dim3 grid, dim3 block, unsigned cluster, std::size_t shared_bytes,
                                   hipStream_t stream) {
    if (hipError_t const early = enter("hipLaunchKernel"); early != hipSuccess) return leave(early);
    if (compute_capability() < 90) return leave(hipErrorInvalidValue);
    bool const whole = cluster > 0 && cluster <= max_cluster_blocks && grid.x % cluster == 0;
    if (!whole || !fits(grid, block, shared_bytes)) return leave(hipErrorInvalidConfiguration);
    return leave(submit(stream, [=] { run_clusters(grid, block, cluster, shared_bytes, body); }));
}

hipError_t launch_any(AnyKernel const& kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                      hipStream_t stream, bool at_once) {
    std::size_t const bytes = checked_shared_bytes(reinterpret_cast<void const*>(kernel.kernel), shared_bytes);
    return launch_body(body_of(kernel, *arguments), grid, block, bytes, stream, at_once);
}

}  // namespace

hipError_t hip_on_cpu::launch(Call const* call, dim3 grid, dim3 block, std::size_t shared_bytes, hipStream_t stream,
                              bool at_once) {
    return launch_body(body_of(call), grid, block, shared_bytes, stream, at_once);
}

hipError_t hip_on_cpu::launch_clusters(Call const* call, dim3 grid, dim3 block, unsigned cluster,
                                       std::size_t shared_bytes, hipStream_t stream) {
    return launch_body_in_clusters(body_of(call), grid, block, cluster, shared_bytes, stream);
}

hipError_t hip_on_cpu::launch_clusters(AnyKernel const& kernel, dim3 grid, dim3 block, unsigned cluster,
                                       void** arguments, std::size_t shared_bytes, hipStream_t stream) {
    std::size_t const bytes = checked_shared_bytes(reinterpret_cast<void const*>(kernel.kernel), shared_bytes);
    return launch_body_in_clusters(body_of(kernel, *arguments), grid, block, cluster, bytes, stream);
}

hipError_t hipLaunchKernel(AnyKernel const& kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                           hipStream_t stream) {
    return launch_any(kernel, grid, block, arguments, shared_bytes, stream, false);
}

hipError_t hipLaunchCooperativeKernel(AnyKernel const& kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
    return launch_any(kernel, grid, block, arguments, shared_bytes, stream, true);
}

hipError_t hipFuncSetAttribute(void const* kernel, hipFuncAttribute attribute, int value) {
    HIP_ON_CPU_ENTER();
    bool const legal = attribute == hipFuncAttributeMaxDynamicSharedMemorySize && value >= 0 &&
                       static_cast<std::size_t>(value) <= max_shared_bytes;
    if (!legal) return leave(hipErrorInvalidValue);
    SharedBytes& kernels = shared_bytes_of_kernels();
    std::lock_guard const lock(kernels.mutex);
    kernels.most[kernel] = static_cast<std::size_t>(value);
    return hipSuccess;
}

std::size_t hip_on_cpu::checked_shared_bytes(void const* kernel, std::size_t bytes) {
    if (bytes <= plain_shared_bytes) return bytes;
    SharedBytes& kernels = shared_bytes_of_kernels();
    std::lock_guard const lock(kernels.mutex);
    auto const found = kernels.most.find(kernel);
    return found != kernels.most.end() && bytes <= found->second ? bytes : ~std::size_t{0};
}

hipError_t hipLaunchKernel(void const*, dim3, dim3, void**, std::size_t, hipStream_t) {
    HIP_ON_CPU_ENTER();
    return leave(hipErrorInvalidDeviceFunction);
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    HIP_ON_CPU_ENTER();
    *stream = new hipStream{current_device(), flags};
    ++objects;
    std::lock_guard const lock(streams().mutex);
    if (flags & hipStreamNonBlocking) streams().all.insert(*stream);
    return hipSuccess;
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
    HIP_ON_CPU_ENTER();
    *flags = stream ? stream->flags : hipStreamDefault;
    return hipSuccess;
}
hipError_t hipStreamCreate(hipStream_t* stream) { return hipStreamCreateWithFlags(stream, hipStreamDefault); }
hipError_t hipStreamDestroy(hipStream_t stream) {
    if (!stream) return leave(hipErrorInvalidHandle);
    hipError_t const error = enter(__func__);
    finish(stream);
    {
        std::lock_guard const lock(streams().mutex);
        streams().all.erase(stream);
    }
    delete stream;  // also after a device error
    --objects;
    return leave(error);
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
    HIP_ON_CPU_ENTER();
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    finish(stream);
    return hipSuccess;
}
hipError_t hipStreamQuery(hipStream_t stream) { return hipStreamSynchronize(stream); }
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t event, unsigned) {
    HIP_ON_CPU_ENTER();
    finish(event->stream);
    return hipSuccess;
}
hipError_t hipDeviceSynchronize() {
    HIP_ON_CPU_ENTER();
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    finish_all(current_device());
    return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
    HIP_ON_CPU_ENTER();
    *event = new hipEvent;
    ++objects;
    return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }
hipError_t hipEventDestroy(hipEvent_t event) {
    HIP_ON_CPU_ENTER();
    finish(event->stream);
    delete event;
    --objects;
    return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    HIP_ON_CPU_ENTER();
    event->stream = stream;
    return leave(submit(stream, [event] {
        event->time = std::chrono::steady_clock::now();
        event->recorded = true;
    }));
}
hipError_t hipEventSynchronize(hipEvent_t event) {
    HIP_ON_CPU_ENTER();
    if (hipError_t const error = refuse_in_capture(); error != hipSuccess) return leave(error);
    finish(event->stream);
    return hipSuccess;
}
hipError_t hipEventQuery(hipEvent_t event) { return hipEventSynchronize(event); }
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
    HIP_ON_CPU_ENTER();
    if (!start->recorded || !stop->recorded) return leave(hipErrorInvalidHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return hipSuccess;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
    HIP_ON_CPU_ENTER();
    if (!stream || stream->capture || capturing) return leave(hipErrorStreamCaptureUnsupported);
    stream->capture = new hipGraph;
    ++objects;
    capturing = stream;
    return hipSuccess;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
    HIP_ON_CPU_ENTER();
    *graph = nullptr;
    if (!stream || !stream->capture) return leave(hipErrorInvalidValue);
    hipGraph_t const captured = std::exchange(stream->capture, nullptr);
    capturing = nullptr;
    if (captured->valid) *graph = captured;
    else delete captured, --objects;
    return leave(*graph ? hipSuccess : hipErrorStreamCaptureInvalidated);
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
    HIP_ON_CPU_ENTER();
    if (!stream || !stream->capture) *status = hipStreamCaptureStatusNone;
    else *status = stream->capture->valid ? hipStreamCaptureStatusActive : hipStreamCaptureStatusInvalidated;
    return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
    HIP_ON_CPU_ENTER();
    if (nodes) return leave(hipErrorNotSupported);
    *count = graph->work.size();
    return hipSuccess;
}
hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t*, char*, std::size_t) {
    HIP_ON_CPU_ENTER();
    *exec = new hipGraphExec{graph->work};
    ++objects;
    return hipSuccess;
}
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
    HIP_ON_CPU_ENTER();
    return leave(submit(stream, [work = exec->work] {
        for (auto const& step : work) step();
    }));
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
    HIP_ON_CPU_ENTER();
    delete exec;
    --objects;
    return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
    HIP_ON_CPU_ENTER();
    delete graph;
    --objects;
    return hipSuccess;
}
