// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/runtime/device.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/hip/gpu.hpp"

using namespace test;
using namespace fusekit::hip;  // with nvcc, HIP's functions are members of it

static_assert(fk::Device<fk::hip::Device>);
static_assert(!std::is_copy_constructible_v<fk::hip::Device> && !std::is_copy_assignable_v<fk::hip::Device>);
static_assert(std::is_nothrow_move_constructible_v<fk::hip::Device> &&
              std::is_nothrow_move_assignable_v<fk::hip::Device>);

namespace test {

/// Operator that cannot be derived from or overloaded.
struct Final final {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    FUSEKIT_HD static float apply(float x, Args const&) { return x; }
};
struct OfALambda {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static constexpr auto apply = [](float x, Args const&) { return x; };
};
static_assert(fk::detail::has_code_for<fk::hip::Memory, Final> && fk::detail::has_code_for<fk::hip::Memory, OfALambda>);

}  // namespace test

namespace {

using Biased = fk::Plan<fk::Bias, fk::Activation<fk::Abs>>;

bool says(std::string const& text, std::string const& part) {
    INFO(text << " should say " << part);
    bool const found = text.find(part) != text.npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("HIP: a device reports its name, architecture and processors") {
    fk::hip::Device device = gpu();
    CHECK(device.index() == 0);
    CHECK(device.processors() >= 1);
    CHECK(!device.name().empty());
    CHECK(!device.architecture().name().empty());
    CHECK(works(device));
    INFO(device.name().c_str());
    CHECK(fk::hip::device_count() >= 1);
}

TEST_CASE("HIP: an index beyond the last device is refused") {
    int const count = gpu().index() + fk::hip::device_count();
    for (int const index : {-1, count, 1000}) {
        std::string const text = refusal([&] { fk::hip::Device{index}; });
        says(text, "index: expected 0 to " + std::to_string(count - 1));
        says(text, "got " + std::to_string(index));
    }
    fk::hip::Device device;
    CHECK(works(device));
}

TEST_CASE("HIP: moving a device moves its stream and keeps its tensors valid") {
    fk::hip::Device first = gpu();
    auto const x = fk::tensor<float>(first, fk::nchw(1, 1, 1, 2), {-5, 6});
    auto const stream = first.stream();
    fk::hip::Device second(std::move(first));
    CHECK(second.stream() == stream);
    CHECK(numbers(Abs::bind({})(second, x)) == std::vector<float>{5, 6});
    fk::hip::Device third;
    third = std::move(second);
    CHECK(third.stream() == stream);
    CHECK(numbers(Abs::bind({})(third, x)) == std::vector<float>{5, 6});
    CHECK(works(third));
}

TEST_CASE("HIP: a run is ordered after the default stream's earlier work") {
    fk::hip::Device device = gpu();
    auto const layout = fk::nchw(1, 1, 256, 256);
    std::size_t const bytes = static_cast<std::size_t>(layout.size()) * sizeof(float);
    auto x = fk::random<float>(device, layout), y = fk::random<float>(device, layout, 2);
    for (int i = 0; i < 20; ++i) REQUIRE(hipMemsetAsync(x.data(), 0xbf, bytes, nullptr) == hipSuccess);
    Abs::bind({})(device, x, y);
    std::vector<float> results(static_cast<std::size_t>(layout.size()));
    REQUIRE(hipMemcpy(results.data(), y.data(), bytes, hipMemcpyDeviceToHost) == hipSuccess);
    auto const right = std::count(results.begin(), results.end(), 0x1.7f7f7ep0f);  // 0x3fbfbfbf
    CHECK(right == layout.size());
}

TEST_CASE("HIP: a non-blocking device completes its work at synchronization") {
    fk::hip::Device const ordered = gpu();
    fk::hip::Device device = fk::hip::Device::non_blocking();
    unsigned flags = ~0u;
    REQUIRE((hipStreamGetFlags(device.stream(), &flags) == hipSuccess && flags == hipStreamNonBlocking));
    REQUIRE((hipStreamGetFlags(ordered.stream(), &flags) == hipSuccess && flags == hipStreamDefault));
    CHECK(device.index() == 0);
    CHECK(works(device));
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 2), {-5, 6});
    auto const y = Abs::bind({})(device, x);
    device.synchronize();
    float results[2] = {};
    REQUIRE(hipMemcpy(results, y.data(), sizeof results, hipMemcpyDeviceToHost) == hipSuccess);
    CHECK((results[0] == 5 && results[1] == 6));
    CHECK(fk::hip::Device::non_blocking(fk::hip::device_count() - 1).index() == fk::hip::device_count() - 1);
}

TEST_CASE("HIP: a borrowed stream is used and not destroyed") {
    {
        fk::hip::Device const any = gpu();
    }
    hipStream_t stream;
    REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
    {
        fk::hip::Device device(0, stream);
        CHECK(device.stream() == stream);
        CHECK(works(device));
        fk::hip::Device const moved(std::move(device));
    }
    CHECK(hipStreamSynchronize(stream) == hipSuccess);
    {
        fk::hip::Device device(0, nullptr);  // the default stream
        CHECK(works(device));
    }
    CHECK(hipStreamDestroy(stream) == hipSuccess);
}

TEST_CASE("HIP: a failed allocation is refused, and the device remains usable") {
    fk::hip::Device device = gpu();
    std::string const text = refusal([&] { device.allocate(std::size_t{1} << 50); });
    says(text, "hipMalloc");
    says(text, "1125899906842624 bytes");
    says(text, std::string(hipGetErrorString(hipErrorOutOfMemory)));
    says(refusal([&] { Floats(device, fk::nchw(1 << 20, 1 << 20, 1, 1)); }), "hipMalloc");
    CHECK(works(device));
    CHECK(hipGetLastError() == hipSuccess);
}

TEST_CASE("HIP: memory of the host is refused, and the output left untouched") {
    fk::hip::Device device = gpu();
    hipDeviceProp_t properties;
    REQUIRE(hipGetDeviceProperties(&properties, 0) == hipSuccess);
    if (properties.pageableMemoryAccess) SKIP("this GPU reads the host's memory");
    std::vector<float> host{1, 2, 3, 4};
    auto const layout = fk::nchw(1, 4, 1, 1);
    auto x = fk::tensor<float>(device, layout, {1, 2, 3, 4}), y = fk::tensor<float>(device, layout, {7, 7, 7, 7});
    fk::TensorView<float> const host_view{host.data(), layout};
    fk::TensorView<float const, 1> const host_bias{host.data(), fk::channels(4)};
    std::string text = refusal([&] { Abs::bind({})(device, host_view, y); });
    says(text, "Plan<Activation<Abs>>: x: expected memory of device 0, got memory of the host");
    text = refusal([&] { Abs::bind({})(device, x, host_view); });
    says(text, "Plan<Activation<Abs>>: y: expected memory of device 0, got memory of the host");
    text = refusal([&] { Biased::bind({.bias = host_bias}, {})(device, x, y); });
    says(text, "Bias.bias: expected memory of device 0, got memory of the host");
    CHECK(numbers(y) == std::vector<float>{7, 7, 7, 7});
    CHECK(works(device));
    CHECK(hipGetLastError() == hipSuccess);
}

TEST_CASE("HIP: memory of another device is refused, and the output left untouched") {
    fk::hip::Device second = gpu(1), first;
    auto const layout = fk::nchw(1, 2, 1, 1);
    auto there = fk::tensor<float>(second, layout, {1, 2}), here = fk::tensor<float>(first, layout, {7, 7});
    auto const bias = fk::tensor<float>(second, fk::channels(2), {1, 2});
    auto const x = fk::tensor<float>(first, layout, {1, 2});
    says(refusal([&] { Abs::bind({})(first, there, here); }), "x: expected memory of device 0, got memory of device 1");
    says(refusal([&] { Abs::bind({})(first, here, there); }), "y: expected memory of device 0, got memory of device 1");
    says(refusal([&] { Biased::bind({.bias = bias}, {})(first, x, here); }),
         "Bias.bias: expected memory of device 0, got memory of device 1");
    CHECK(numbers(here) == std::vector<float>{7, 7});
    CHECK(numbers(there) == std::vector<float>{1, 2});
    CHECK((works(first) && works(second)));

    // The cache of accessible pointers moves with the device.
    auto const z = fk::tensor<float>(first, layout, {3, 4});
    Abs::bind({})(first, z, here);
    std::swap(first, second);
    says(refusal([&] { Abs::bind({})(first, z, there); }), "x: expected memory of device 1, got memory of device 0");
    first = std::move(second);
    says(refusal([&] { Abs::bind({})(first, there, here); }), "x: expected memory of device 0, got memory of device 1");
    CHECK(numbers(here) == std::vector<float>{3, 4});
    CHECK(numbers(there) == std::vector<float>{1, 2});
}

TEST_CASE("HIP: a call restores the thread's current device") {
    fk::hip::Device second = gpu(1);
    for (int const current : {1, 0}) {
        REQUIRE(hipSetDevice(current) == hipSuccess);
        fk::hip::Device first;
        CHECK((works(first) && works(second)));
        refusal([&] { first.allocate(std::size_t{1} << 50); });
        int now = -1;
        REQUIRE(hipGetDevice(&now) == hipSuccess);
        CHECK(now == current);
    }
}

TEST_CASE("HIP: a call ignores the program's earlier last error") {
    fk::hip::Device device = gpu();
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {-3});
    CHECK(hipSetDevice(1000) == hipErrorInvalidDevice);
    CHECK(numbers(Abs::bind({})(device, x)) == std::vector<float>{3});
    static_cast<void>(hipGetLastError());
}
