// SPDX-License-Identifier: MIT
// Runtime functions behave as HIP's do, and kernels as on a GPU.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "hip_on_cpu/control.hpp"

namespace {

/// Device memory, and a copy of it on the host.
template <class T>
struct Buffer {
    std::vector<T> host;
    T* device = nullptr;

    explicit Buffer(std::size_t size) : host(size) { REQUIRE(hipMalloc(&device, bytes()) == hipSuccess); }
    Buffer(Buffer const&) = delete;
    Buffer& operator=(Buffer const&) = delete;
    ~Buffer() { (void)hipFree(device); }
    std::size_t bytes() const { return host.size() * sizeof(T); }
    std::vector<T> const& fetch() {
        REQUIRE(hipMemcpy(host.data(), device, bytes(), hipMemcpyDeviceToHost) == hipSuccess);
        return host;
    }
};

template <class... Parameters, class... Arguments>
hipError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, hipStream_t stream, Arguments... arguments) {
    std::tuple<Parameters...> values(arguments...);
    return std::apply(
        [&](auto&... value) {
            void* pointers[] = {&value..., nullptr};
            return hipLaunchKernel(kernel, grid, block, pointers, 0, stream);
        },
        values);
}

__global__ void where(unsigned* out) {
    unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void reverse(int* data, int size) {
    __shared__ int held[256];
    int const i = static_cast<int>(threadIdx.x);
    for (int round = 0; round < 3; ++round) {
        held[i] = data[static_cast<int>(blockIdx.x) * size + i];
        __syncthreads();
        data[static_cast<int>(blockIdx.x) * size + i] = held[size - 1 - i];
        __syncthreads();
    }
}

template <int Way>
__global__ void shuffle(int* out, int by, int width) {
    int const lane = static_cast<int>(threadIdx.x), mine = 100 + lane;
    if constexpr (Way == 0) out[lane] = __shfl(mine, by, width);
    if constexpr (Way == 1) out[lane] = __shfl_xor(mine, by, width);
    if constexpr (Way == 2) out[lane] = __shfl_up(mine, static_cast<unsigned>(by), width);
    if constexpr (Way == 3) out[lane] = __shfl_down(mine, static_cast<unsigned>(by), width);
}

__global__ void sum_of_waves(float* out) {
    float value = static_cast<float>(threadIdx.x + 1);
    for (int mask = warpSize / 2; mask > 0; mask /= 2) value += __shfl_xor(value, mask);
    out[threadIdx.x] = value;
}

__global__ void odd_lanes(unsigned long long* out) {
    if (threadIdx.x < 5) return;
    out[threadIdx.x] = __ballot(threadIdx.x % 2);
}

__global__ void from_finished_lane(float* out) {
    if (threadIdx.x == 3) return;
    out[threadIdx.x] = __shfl(1.0f, 3);
}

__global__ void count(int* total, float* also) {
    atomicAdd(total, 2);
    atomicAdd(also, 0.5f);
}

__global__ void reads_shared_too_early(float* out) {
    __shared__ float held[64];
    if (blockIdx.x == 0) held[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = held[threadIdx.x];
}

__global__ void nothing() {}

}  // namespace

TEST_CASE("every thread has its threadIdx and blockIdx") {
    dim3 const grid(3, 2, 2), block(4, 3, 2);
    Buffer<unsigned> out(12 * 24);
    REQUIRE(launch(where, grid, block, nullptr, out.device) == hipSuccess);
    out.fetch();
    for (unsigned b = 0; b < 12; ++b)
        for (unsigned t = 0; t < 24; ++t) REQUIRE(out.host[b * 24 + t] == b * 1000 + t);
}

TEST_CASE("reads after a barrier see the writes before it") {
    for (int const size : {1, 31, 64, 100, 256}) {
        int const blocks = 5;
        Buffer<int> data(static_cast<std::size_t>(blocks * size));
        std::iota(data.host.begin(), data.host.end(), 0);
        REQUIRE(hipMemcpy(data.device, data.host.data(), data.bytes(), hipMemcpyHostToDevice) == hipSuccess);
        REQUIRE(launch(reverse, 5, static_cast<unsigned>(size), nullptr, data.device, size) == hipSuccess);
        data.fetch();
        for (int b = 0; b < blocks; ++b)
            for (int i = 0; i < size; ++i)
                REQUIRE(data.host[static_cast<std::size_t>(b * size + i)] == b * size + size - 1 - i);
    }
}

TEST_CASE("shuffles move values within groups of lanes") {
    int const lanes = warpSize;
    CHECK(lanes == std::atoi(std::getenv("HIP_ON_CPU_WAVE") ? std::getenv("HIP_ON_CPU_WAVE") : "32"));
    Buffer<int> out(static_cast<std::size_t>(lanes));
    for (int width = 1; width <= lanes; width *= 2)
        for (int by = 0; by < lanes; by += 1 + by / 3) {
            INFO("width " << width << ", by " << by);
            void (*const ways[])(int*, int, int) = {shuffle<0>, shuffle<1>, shuffle<2>, shuffle<3>};
            for (int way = 0; way < 4; ++way) {
                REQUIRE(launch(ways[way], 1, static_cast<unsigned>(lanes), nullptr, out.device, by, width) ==
                        hipSuccess);
                out.fetch();
                for (int lane = 0; lane < lanes; ++lane) {
                    int const group = lane / width * width;
                    int from = way == 0 ? group + by % width : way == 1 ? lane ^ by : way == 2 ? lane - by : lane + by;
                    if ((way == 1 && from >= group + width) || (way == 2 && from < group) ||
                        (way == 3 && from >= group + width))
                        from = lane;
                    REQUIRE(out.host[static_cast<std::size_t>(lane)] == 100 + from);
                }
            }
        }
}

TEST_CASE("a sum over lanes is of the lanes of one wave") {
    Buffer<float> out(128);
    REQUIRE(launch(sum_of_waves, 1, 128, nullptr, out.device) == hipSuccess);
    out.fetch();
    for (int i = 0; i < 128; ++i) {
        int const first = i / warpSize * warpSize + 1, last = first + warpSize - 1;
        REQUIRE(out.host[static_cast<std::size_t>(i)] == static_cast<float>((first + last) * warpSize / 2));
    }
}

TEST_CASE("a vote and a shuffle see the lanes that have not finished") {
    Buffer<unsigned long long> votes(32);
    REQUIRE(launch(odd_lanes, 1, 32, nullptr, votes.device) == hipSuccess);
    CHECK(votes.fetch()[31] == 0xaaaaaaa0);
    Buffer<float> values(32);
    REQUIRE(launch(from_finished_lane, 1, 32, nullptr, values.device) == hipSuccess);
    CHECK(std::isnan(values.fetch()[0]));
}

TEST_CASE("atomic additions from all blocks add up") {
    Buffer<int> total(1);
    Buffer<float> also(1);
    REQUIRE(hipMemset(total.device, 0, total.bytes()) == hipSuccess);
    REQUIRE(hipMemset(also.device, 0, also.bytes()) == hipSuccess);
    REQUIRE(launch(count, 50, 40, nullptr, total.device, also.device) == hipSuccess);
    CHECK(total.fetch()[0] == 4000);
    CHECK(also.fetch()[0] == 1000);
}

TEST_CASE("shared memory is NaN in every block until it is written") {
    Buffer<float> out(64 * 40);
    REQUIRE(launch(reads_shared_too_early, 40, 64, nullptr, out.device) == hipSuccess);
    out.fetch();
    for (std::size_t i = 0; i < 64; ++i) REQUIRE(out.host[i] == 1);
    for (std::size_t i = 64; i < out.host.size(); ++i) REQUIRE(std::isnan(out.host[i]));
}

TEST_CASE("device memory is NaN until it is written, and knows its device") {
    Buffer<float> first(7);
    CHECK(std::isnan(first.fetch()[6]));
    REQUIRE(hipSetDevice(1) == hipSuccess);
    Buffer<float> second(7);
    REQUIRE(hipSetDevice(0) == hipSuccess);
    hipPointerAttribute_t about;
    REQUIRE(hipPointerGetAttributes(&about, first.device + 6) == hipSuccess);
    CHECK((about.type == hipMemoryTypeDevice && about.device == 0));
    REQUIRE(hipPointerGetAttributes(&about, second.device) == hipSuccess);
    CHECK((about.type == hipMemoryTypeDevice && about.device == 1));
    REQUIRE(hipPointerGetAttributes(&about, reinterpret_cast<char*>(first.device) + first.bytes()) == hipSuccess);
    CHECK(about.type == hipMemoryTypeUnregistered);
    REQUIRE(hipPointerGetAttributes(&about, first.host.data()) == hipSuccess);
    CHECK(about.type == hipMemoryTypeUnregistered);
    void* pinned;
    REQUIRE(hipHostMalloc(&pinned, 16) == hipSuccess);
    REQUIRE(hipPointerGetAttributes(&about, pinned) == hipSuccess);
    CHECK(about.type == hipMemoryTypeHost);
    CHECK(hipFree(pinned) == hipErrorInvalidValue);
    CHECK(hipHostFree(pinned) == hipSuccess);
    CHECK(hipFree(nullptr) == hipSuccess);
    CHECK(hipMemcpy(first.host.data(), first.device, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
    void* much;
    CHECK(hipMalloc(&much, std::size_t{1} << 50) == hipErrorOutOfMemory);
    (void)hipGetLastError();
}

TEST_CASE("a launch that no device could run is refused") {
    CHECK(launch(nothing, 1, 1024, nullptr) == hipSuccess);
    for (dim3 const block : {dim3(1025), dim3(0), dim3(1, 1, 65), dim3(32, 33)})
        CHECK(launch(nothing, 1, block, nullptr) == hipErrorInvalidConfiguration);
    for (dim3 const grid : {dim3(0), dim3(1, 65536), dim3(1, 1, 65536)})
        CHECK(launch(nothing, grid, 1, nullptr) == hipErrorInvalidConfiguration);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    hipStream_t stream;
    REQUIRE(hipStreamCreate(&stream) == hipSuccess);
    CHECK(launch(nothing, 1, 1, stream) == hipSuccess);
    REQUIRE(hipSetDevice(1) == hipSuccess);
    CHECK(launch(nothing, 1, 1, stream) == hipErrorInvalidHandle);
    REQUIRE(hipSetDevice(0) == hipSuccess);
    REQUIRE(hipStreamDestroy(stream) == hipSuccess);
    CHECK(hipGetLastError() == hipErrorInvalidHandle);
}

TEST_CASE("hipGetLastError is per thread and clears the error") {
    CHECK(hipSetDevice(2) == hipErrorInvalidDevice);
    std::thread([] { CHECK(hipPeekAtLastError() == hipSuccess); }).join();
    CHECK(hipPeekAtLastError() == hipErrorInvalidDevice);
    CHECK(hipGetLastError() == hipErrorInvalidDevice);
    CHECK(hipGetLastError() == hipSuccess);
    REQUIRE(hipSetDevice(1) == hipSuccess);
    std::thread([] {
        int device = -1;
        CHECK((hipGetDevice(&device) == hipSuccess && device == 0));
    }).join();
    REQUIRE(hipSetDevice(0) == hipSuccess);
}

TEST_CASE("fail_next and fail_always make calls fail") {
    hip_on_cpu::fail_next("hipMalloc", hipErrorOutOfMemory);
    float* memory = nullptr;
    CHECK(hipMalloc(&memory, 4) == hipErrorOutOfMemory);
    CHECK(hipGetLastError() == hipErrorOutOfMemory);
    REQUIRE(hipMalloc(&memory, 4) == hipSuccess);
    hip_on_cpu::fail_always(hipErrorIllegalAddress);
    CHECK(launch(nothing, 1, 1, nullptr) == hipErrorIllegalAddress);
    CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
    CHECK(hipGetLastError() == hipErrorIllegalAddress);
    CHECK(hipGetLastError() == hipErrorIllegalAddress);
    hip_on_cpu::fail_always(hipSuccess);
    CHECK(hipGetLastError() == hipSuccess);
    CHECK(hipFree(memory) == hipSuccess);
    long const before = hip_on_cpu::calls("hipFree");
    CHECK(hipFree(nullptr) == hipSuccess);
    CHECK(hip_on_cpu::calls("hipFree") == before + 1);
    hip_on_cpu::set_devices(0);
    int count = -1;
    CHECK(hipGetDeviceCount(&count) == hipErrorNoDevice);
    CHECK(count == 0);
    hip_on_cpu::set_devices(2);
    (void)hipGetLastError();
}

TEST_CASE("a captured stream becomes a graph that runs when it is launched") {
    long const before = hip_on_cpu::live_objects();
    {
        Buffer<int> total(1);
        Buffer<float> also(1);
        hipStream_t stream;
        hipGraph_t graph;
        hipGraphExec_t exec;
        REQUIRE(hipStreamCreate(&stream) == hipSuccess);
        REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal) == hipSuccess);
        REQUIRE(hipMemsetAsync(total.device, 0, total.bytes(), stream) == hipSuccess);
        REQUIRE(launch(count, 3, 5, stream, total.device, also.device) == hipSuccess);
        REQUIRE(hipStreamEndCapture(stream, &graph) == hipSuccess);
        CHECK(total.fetch()[0] == -1);
        std::size_t nodes = 0;
        REQUIRE((hipGraphGetNodes(graph, nullptr, &nodes) == hipSuccess && nodes == 2));
        REQUIRE(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess);
        REQUIRE(hipGraphDestroy(graph) == hipSuccess);
        for (int replay = 0; replay < 3; ++replay) {
            REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
            CHECK(total.fetch()[0] == 30);
        }
        REQUIRE(hipGraphExecDestroy(exec) == hipSuccess);

        REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal) == hipSuccess);
        void* memory;
        CHECK(hipMalloc(&memory, 4) == hipErrorStreamCaptureUnsupported);
        CHECK(hipStreamEndCapture(stream, &graph) == hipErrorStreamCaptureInvalidated);
        (void)hipGetLastError();
        REQUIRE(hipStreamDestroy(stream) == hipSuccess);
    }
    CHECK(hip_on_cpu::live_objects() == before);
}

TEST_CASE("a non-blocking stream runs its work at synchronization, others at once") {
    hipStream_t stream, other;
    hipEvent_t event;
    REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
    REQUIRE(hipStreamCreateWithFlags(&other, hipStreamDefault) == hipSuccess);
    REQUIRE(hipEventCreate(&event) == hipSuccess);
    Buffer<int> data(1);
    int way = 0;
    for (hipError_t (*const wait)(hipStream_t, hipStream_t, hipEvent_t) :
         {+[](hipStream_t s, hipStream_t, hipEvent_t) { return hipStreamSynchronize(s); },
          +[](hipStream_t s, hipStream_t, hipEvent_t) { return hipStreamQuery(s); },
          +[](hipStream_t, hipStream_t, hipEvent_t) { return hipDeviceSynchronize(); },
          +[](hipStream_t, hipStream_t, hipEvent_t e) { return hipEventSynchronize(e); },
          +[](hipStream_t, hipStream_t o, hipEvent_t e) { return hipStreamWaitEvent(o, e); },
          +[](hipStream_t, hipStream_t, hipEvent_t) {
              void* memory;
              return hipMalloc(&memory, 4) == hipSuccess ? hipFree(memory) : hipErrorUnknown;
          }}) {
        INFO("way " << way++);
        REQUIRE(hipMemset(data.device, 1, data.bytes()) == hipSuccess);
        REQUIRE(hipMemsetAsync(data.device, 2, data.bytes(), stream) == hipSuccess);
        REQUIRE(hipEventRecord(event, stream) == hipSuccess);
        CHECK(data.fetch()[0] == 0x01010101);
        CHECK(wait(stream, other, event) == hipSuccess);
        CHECK(data.fetch()[0] == 0x02020202);
    }
    REQUIRE(hipMemsetAsync(data.device, 3, data.bytes(), other) == hipSuccess);
    CHECK(data.fetch()[0] == 0x03030303);
    REQUIRE(hipMemsetAsync(data.device, 4, data.bytes(), stream) == hipSuccess);
    REQUIRE(hipStreamDestroy(stream) == hipSuccess);
    CHECK(data.fetch()[0] == 0x04040404);
    REQUIRE(hipStreamDestroy(other) == hipSuccess);
    REQUIRE(hipEventDestroy(event) == hipSuccess);
}

TEST_CASE("grids from several threads run at once") {
    std::vector<std::thread> threads;
    std::vector<int> wrong(4);
    for (std::size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            std::vector<int> values(64 * 7);
            for (int round = 0; round < 20; ++round) {
                std::iota(values.begin(), values.end(), 0);
                wrong[t] += launch(reverse, 7, 64, nullptr, values.data(), 64) != hipSuccess;
                for (int i = 0; i < 64 * 7; ++i)
                    wrong[t] += values[static_cast<std::size_t>(i)] != i / 64 * 64 + 63 - i % 64;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4));
}
