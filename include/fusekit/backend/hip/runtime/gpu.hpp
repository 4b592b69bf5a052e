// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/arch/architecture.hpp"
#include "fusekit/backend/hip/runtime/memory.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/stand_in.hpp"

namespace fusekit::hip {

/// Number of GPUs that this process can use; 0 if there is no GPU or no driver.
FUSEKIT_H inline int device_count() {
    int count = 0;
    if (hipGetDeviceCount(&count) == hipSuccess) return count;
    clear_last_error();
    return 0;
}

/// Properties of a GPU, read once, and a cache of pointers that the GPU can access. Several threads may use it.
class Gpu {
public:
    /// Reads the properties of GPU `the_index`. Throws Error if there is no such GPU or no driver for it.
    FUSEKIT_H explicit Gpu(int the_index) : device(the_index) {
        require_device();
        hipDeviceProp_t all;
        check(hipGetDeviceProperties(&all, device), device, "hipGetDeviceProperties");
        own_architecture = Architecture::of(all);
        processor_count = all.multiProcessorCount;
        cache = all.l2CacheSize;
        reads_host_memory = all.pageableMemoryAccess != 0;
        pools_memory = attribute(hipDeviceAttributeMemoryPoolsSupported) != 0;
        clock_rate = 1e3 * attribute(hipDeviceAttributeClockRate);
        // two transfers per clock cycle (DDR)
        double const bytes_a_cycle = 2 * attribute(hipDeviceAttributeMemoryBusWidth) / 8.0;
        memory_bytes = 1e3 * attribute(hipDeviceAttributeMemoryClockRate) * bytes_a_cycle;
    }

    FUSEKIT_H int index() const { return device; }

    /// Name of the GPU: "AMD Instinct MI300X, gfx942" or "NVIDIA H200, compute capability 9.0".
    FUSEKIT_H Text name() const {
        hipDeviceProp_t all;
        check(hipGetDeviceProperties(&all, device), device, "hipGetDeviceProperties");
        return Text(all.name) + ", " + architecture_in_full(all);
    }

    /// Instruction set: "gfx942" or "sm_90".
    FUSEKIT_H Architecture architecture() const { return own_architecture; }

    /// Number of SMs or compute units.
    FUSEKIT_H int processors() const { return processor_count; }

    /// clock(): peak clock in Hz; memory_rate(): peak memory bandwidth in bytes/s. 0 if the driver does not report it.
    FUSEKIT_H double clock() const { return clock_rate; }
    FUSEKIT_H double memory_rate() const { return memory_bytes; }

    /// Size of L2 in bytes.
    FUSEKIT_H std::int64_t cache_bytes() const { return cache; }

    /// True if the GPU supports stream-ordered allocation.
    FUSEKIT_H bool has_memory_pools() const { return pools_memory; }

    /// True if check_accessible() has found `data` accessible and still has this pointer in its cache.
    FUSEKIT_H bool has_reached(void const* data) const {
        return __atomic_load_n(&slot(data), __ATOMIC_RELAXED) == data;
    }

    /// Calls in.fail() if this GPU cannot read the memory at `data`. Accessible pointers are cached, because a query
    /// takes 1/50 of a launch; so memory that was freed after the query is not detected. Addresses of stand_in()
    /// (tensor/stand_in.hpp) are not checked.
    FUSEKIT_H void check_accessible(Check const& in, char const* argument, void const* data) const {
        if (has_reached(data) || detail::is_stand_in(data)) return;
        hipPointerAttribute_t attributes{};
        hipError_t const status = hipPointerGetAttributes(&attributes, data);
        bool const known = status == hipSuccess;
        if (status == hipErrorInvalidValue) clear_last_error();  // HIP before version 6 returns this for host memory
        else if (Refusal refusal = refusal_of(status, device, "hipPointerGetAttributes", "a device that works"))
            return in.refuse(*refusal);
        auto const type = type_of(attributes);
        bool const registered = known && (type == hipMemoryTypeDevice || attributes.devicePointer != nullptr);
        if (!registered && !reads_host_memory) return refuse(in, argument, "memory of the host");
        if (registered && type == hipMemoryTypeDevice && attributes.device != device)
            return refuse(in, argument, "memory of device " + Text::number(attributes.device));
        __atomic_store_n(&slot(data), data, __ATOMIC_RELAXED);
    }

private:
    static constexpr std::size_t slot_count = 32;

    int device, processor_count = 0;
    Architecture own_architecture;
    std::int64_t cache = 0;
    double clock_rate = 0, memory_bytes = 0;
    bool reads_host_memory = false, pools_memory = false;
    mutable void const* reached[slot_count] = {};  // accessed atomically

    FUSEKIT_H void const*& slot(void const* data) const {
        return reached[reinterpret_cast<std::uintptr_t>(data) / 512 % slot_count];
    }

    template <class Attributes>
    FUSEKIT_H static std::remove_const_t<decltype(hipMemoryTypeDevice)> type_of(Attributes const& attributes) {
        if constexpr (requires { attributes.type; }) return attributes.type;
        else return attributes.memoryType;  // HIP before version 6
    }

    FUSEKIT_H int attribute(hipDeviceAttribute_t which) const {
        int value = 0;
        if (hipDeviceGetAttribute(&value, which, device) == hipSuccess) return value;
        clear_last_error();
        return 0;
    }

    FUSEKIT_H void require_device() const {
        int count = 0;
        hipError_t const status = hipGetDeviceCount(&count);
        if (status == hipErrorInsufficientDriver) {
            int driver = 0, runtime = 0;
            if (hipDriverGetVersion(&driver) != hipSuccess || hipRuntimeGetVersion(&runtime) != hipSuccess)
                clear_last_error();
            check(status, device, "hipGetDeviceCount",
                  ("a driver for version " + Text::number(runtime) + ", not " + Text::number(driver)).c_str());
        }
        check(status, device, "hipGetDeviceCount", "a GPU");
        if (device < 0 || device >= count)
            detail::raise(Error("hip::Device", "Device", "index", "0 to " + Text::number(count - 1) + ", the GPUs here",
                                Text::number(device)));
    }

    template <class Properties>
    FUSEKIT_H static Text architecture_in_full(Properties const& all) {
        if constexpr (requires { all.gcnArchName; })
            if (all.gcnArchName[0] != 0) return all.gcnArchName;
        return "compute capability " + Text::number(all.major) + "." + Text::number(all.minor);
    }

    FUSEKIT_H void refuse(Check const& in, char const* argument, Text given) const {
        in.fail(argument, "memory of device " + Text::number(device), std::move(given));
    }
};

}  // namespace fusekit::hip
