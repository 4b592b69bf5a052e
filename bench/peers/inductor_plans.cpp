// SPDX-License-Identifier: MIT
//
// Batch norm + ReLU behind a C interface, for inductor.py: pointers to a GPU's memory and a stream that others own.
#include <fusekit/hip.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace fk = fusekit;

/// A part of the interface, and so of no unnamed namespace: inductor.py has the same.
struct Problem {
    std::int64_t n, c, h, w;
    int channels_last, is_half, device;
    void* stream;
    float const *mean, *variance, *scale, *shift;
    float epsilon;
};

namespace {

struct Layer {
    virtual ~Layer() = default;
    virtual void run(void const* x, void* y) = 0;
};

template <class T>
class NormRelu final : public Layer {
public:
    explicit NormRelu(Problem const& p)
        : device(p.device, static_cast<decltype(device.stream())>(p.stream)),
          layout(p.channels_last ? fk::nhwc(p.n, p.h, p.w, p.c) : fk::nchw(p.n, p.c, p.h, p.w)),
          plan(Plan::bind({.mean = parameter(p.mean, p.c),
                           .variance = parameter(p.variance, p.c),
                           .scale = parameter(p.scale, p.c),
                           .shift = parameter(p.shift, p.c),
                           .epsilon = p.epsilon},
                          {})) {}

    void run(void const* x, void* y) override {
        plan(device, fk::TensorView<T const>(static_cast<T const*>(x), layout),
             fk::TensorView<T>(static_cast<T*>(y), layout));
    }

private:
    using Plan = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>;

    fk::hip::Device device;
    fk::Layout<4> layout;
    fk::Bound<Plan> plan;

    static fk::TensorView<float const, 1> parameter(float const* data, std::int64_t c) {
        return {data, fk::channels(c)};
    }
};

thread_local std::string message;

}  // namespace

extern "C" {

/// What went wrong in the last call that failed.
char const* fusekit_message() { return message.c_str(); }

/// A layer to run, or null.
void* fusekit_norm_relu(Problem const* problem) {
    try {
        if (problem->is_half) return static_cast<Layer*>(new NormRelu<fk::half>(*problem));
        return static_cast<Layer*>(new NormRelu<float>(*problem));
    } catch (std::exception const& error) {
        message = error.what();
        return nullptr;
    }
}

/// Puts one kernel on the layer's stream; 0 where it was accepted.
int fusekit_run(void* layer, void const* x, void* y) {
    try {
        static_cast<Layer*>(layer)->run(x, y);
        return 0;
    } catch (std::exception const& error) {
        message = error.what();
        return 1;
    }
}

void fusekit_delete(void* layer) { delete static_cast<Layer*>(layer); }
}
