// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/memory.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/tensor/check.hpp"

namespace fusekit::hip {

/// How many GPUs this process can use; 0 where there is none, or no driver for them.
inline int device_count() {
    int count = 0;
    if (hipGetDeviceCount(&count) == hipSuccess) return count;
    clear_last_error();
    return 0;
}

template <class Schedule>
class Scheduled;

/// A GPU and a stream on it. Runs are asynchronous: they are put on the stream and may be captured into a graph;
/// copies between tensors and the host wait for them. May be used from one thread at a time; several devices, on
/// one GPU or many, may be used at once. Move-only.
///
/// Some plans need workspace(), which a device has once: graphs captured from one device must not run at the same time,
/// nor beside its other runs. Launch them on one stream, or capture each from a device of its own.
class Device : public Memory, public Suits<void> {
public:
    /// The GPU with this index, with a stream of its own that is in order with the default stream, and so with an
    /// application's kernels and hipMemcpy there. Throws Error where there is no such GPU, or no driver for it.
    /// While the stream is captured, the default stream may not be used, by any thread.
    explicit Device(int index = 0) : Device(index, nullptr) { create_stream(hipStreamDefault); }

    /// The same with a stream that runs beside the default stream: order what they share by events, or synchronize().
    static Device non_blocking(int index = 0) {
        Device device(index, nullptr);
        device.create_stream(hipStreamNonBlocking);
        return device;
    }

    /// The same with somebody else's stream, which outlives the device. A program of default streams per thread passes
    /// its own, hipStreamPerThread.
    Device(int index, hipStream_t stream) : Memory(index, stream) {
        require_device(index);
        hipDeviceProp_t all;
        check(hipGetDeviceProperties(&all, index), index, "hipGetDeviceProperties");
        processor_count = all.multiProcessorCount;
        cache = all.l2CacheSize;
        reads_host_memory = all.pageableMemoryAccess != 0;
    }

    Device(Device&& other) noexcept
        : Memory(other),
          processor_count(other.processor_count),
          cache(other.cache),
          workspace_memory(std::exchange(other.workspace_memory, nullptr)),
          reads_host_memory(other.reads_host_memory),
          owns_stream(std::exchange(other.owns_stream, false)) {}
    Device& operator=(Device&& other) noexcept {
        std::swap(static_cast<Memory&>(*this), static_cast<Memory&>(other));
        std::swap(processor_count, other.processor_count);
        std::swap(cache, other.cache);
        std::swap(workspace_memory, other.workspace_memory);
        std::swap(reads_host_memory, other.reads_host_memory);
        std::swap(owns_stream, other.owns_stream);
        std::swap(known_accessible, other.known_accessible);  // by another GPU, perhaps
        return *this;
    }
    ~Device() {
        if (workspace_memory) release(workspace_memory);
        if (owns_stream && hipStreamDestroy(stream()) != hipSuccess) clear_last_error();
    }

    /// "AMD Instinct MI300X, gfx942" or "NVIDIA H200, compute capability 9.0".
    Text name() const {
        hipDeviceProp_t all;
        check(hipGetDeviceProperties(&all, index()), index(), "hipGetDeviceProperties");
        return Text(all.name) + ", " + architecture(all);
    }

    /// Compute units, or streaming multiprocessors.
    int processors() const { return processor_count; }

    /// Bytes of the cache that all processors share.
    std::int64_t cache_bytes() const { return cache; }

    /// Memory that blocks of a kernel exchange values in, zero at first and left so by every kernel. The first run that
    /// needs it allocates it: before a capture, run such a plan once. Runs, and all graphs captured from them, share
    /// it, so they must take turns, as on one stream they do.
    void* workspace(std::size_t bytes) {
        if (workspace_memory) return workspace_memory;
        void* const memory = allocate(bytes);
        DeviceGuard const guard(index());
        hipError_t status = hipMemsetAsync(memory, 0, bytes, stream());
        if (status != hipSuccess) release(memory);
        check(status, index(), "hipMemsetAsync");
        return workspace_memory = memory;
    }

    /// The same device for calls that run with a schedule of yours in place of the library's choice
    /// (backend/hip/schedule.hpp): layer(device.with<fk::hip::Gemm<64, 64, 8>>(), x, y).
    template <class Schedule>
    Scheduled<Schedule> with() {
        return Scheduled<Schedule>(*this);
    }

    /// Puts one kernel on the stream. The arguments have been validated. Throws Error where HIP refuses it.
    template <class BoundPlan, Element T>
    void run(BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y);

    /// Refuses, with in.fail(), a pointer into memory that this GPU cannot read.
    /// HIP is asked once about each of the last pointers, because asking costs a fiftieth of a launch: memory that was
    /// freed and is somebody else's now may go unnoticed.
    void check_accessible(Check const& in, char const* argument, void const* data) const {
        void const*& last = known_accessible[reinterpret_cast<std::uintptr_t>(data) / 512 %
                                             (sizeof known_accessible / sizeof *known_accessible)];
        if (last == data) return;
        hipPointerAttribute_t attributes{};
        hipError_t const status = hipPointerGetAttributes(&attributes, data);
        bool const known = status == hipSuccess;
        if (status == hipErrorInvalidValue) clear_last_error();  // what HIP before version 6 says of host memory
        else check(status, index(), "hipPointerGetAttributes", "a device that works");
        auto const type = type_of(attributes);
        bool const registered = known && (type == hipMemoryTypeDevice || attributes.devicePointer != nullptr);
        if (!registered && !reads_host_memory) refuse(in, argument, "memory of the host");
        if (registered && type == hipMemoryTypeDevice && attributes.device != index())
            refuse(in, argument, "memory of device " + Text::number(attributes.device));
        last = data;
    }

private:
    template <class Attributes>
    static std::remove_const_t<decltype(hipMemoryTypeDevice)> type_of(Attributes const& attributes) {
        if constexpr (requires { attributes.type; }) return attributes.type;
        else return attributes.memoryType;  // HIP before version 6
    }

    int processor_count = 0;
    std::int64_t cache = 0;
    void* workspace_memory = nullptr;
    bool reads_host_memory = false;
    bool owns_stream = false;
    mutable void const* known_accessible[32] = {};

    void create_stream(unsigned flags) {
        DeviceGuard const guard(index());
        hipStream_t own = nullptr;
        check(hipStreamCreateWithFlags(&own, flags), index(), "hipStreamCreateWithFlags");
        static_cast<Memory&>(*this) = Memory(index(), own);
        owns_stream = true;
    }

    static void require_device(int index) {
        int count = 0;
        hipError_t const status = hipGetDeviceCount(&count);
        if (status == hipErrorInsufficientDriver) {
            int driver = 0, runtime = 0;
            if (hipDriverGetVersion(&driver) != hipSuccess || hipRuntimeGetVersion(&runtime) != hipSuccess)
                clear_last_error();
            check(status, index, "hipGetDeviceCount",
                  ("a driver for version " + Text::number(runtime) + ", not " + Text::number(driver)).c_str());
        }
        check(status, index, "hipGetDeviceCount", "a GPU");
        if (index < 0 || index >= count)
            raise(Error("hip::Device", "Device", "index", "0 to " + Text::number(count - 1) + ", the GPUs here",
                        Text::number(index)));
    }

    template <class Properties>
    static Text architecture(Properties const& all) {
        if constexpr (requires { all.gcnArchName; }) return all.gcnArchName;
        else return "compute capability " + Text::number(all.major) + "." + Text::number(all.minor);
    }

    [[noreturn]] void refuse(Check const& in, char const* argument, Text given) const {
        in.fail(argument, "memory of device " + Text::number(index()), std::move(given));
    }
};

}  // namespace fusekit::hip
