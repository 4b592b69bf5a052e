// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "backend/hip/gpu.hpp"

namespace test {

/// Base of a body of run_blocks(): threads per CTA, and intended CTAs per processor.
template <int Threads>
struct BlockOf {
    static constexpr int threads = Threads, blocks = 1;
};

/// Runs Body::run(params, shared, thread, block) in every thread of `blocks` CTAs, as the library's kernel runs a
/// mainloop. Body is a BlockOf with Params and Shared.
template <class Body>
void run_blocks(fk::hip::Device& device, typename Body::Params const& params, std::int64_t blocks = 1,
                fk::hip::LaunchMode mode = fk::hip::LaunchMode::plain) {
    auto const prepared = fk::hip::prepare_launch<Abs, Body>(device.gpu(), params, blocks, Body::threads, mode);
    prepared.value().start(device).raise();
    device.synchronize();
}

/// Array of trivially copyable elements in device memory.
template <class T>
class Array {
public:
    Array(fk::hip::Device& the_device, std::vector<T> const& values)
        : device(the_device),
          size(values.size()),
          memory(static_cast<T*>(the_device.allocate(values.size() * sizeof(T)))) {
        device.copy_in(memory, values.data(), size * sizeof(T));
    }
    Array(fk::hip::Device& the_device, std::size_t count, T const& value)
        : Array(the_device, std::vector<T>(count, value)) {}
    Array(Array const&) = delete;
    Array& operator=(Array const&) = delete;
    ~Array() { device.release(memory); }

    T* data() const { return memory; }
    std::vector<T> values() const {
        std::vector<T> all(size);
        device.copy_out(all.data(), memory, size * sizeof(T));
        return all;
    }

private:
    fk::hip::Device& device;
    std::size_t size;
    T* memory;
};

}  // namespace test
