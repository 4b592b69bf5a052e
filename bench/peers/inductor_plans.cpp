// SPDX-License-Identifier: MIT
//
// Batch norm + ReLU behind a C interface, for inductor.py and training.py: takes pointers to GPU memory and a stream
// that the caller owns.
#include <fusekit/hip.hpp>

#include <cstdint>
#include <memory>

#include "support/c_calls.hpp"

namespace fk = fusekit;
using bench::succeeds;

/// Part of the interface, so not in an unnamed namespace: inductor.py declares the same struct.
struct Problem {
    std::int64_t n, c, h, w;
    int channels_last, is_half, device;
    void* stream;
    float const *mean, *variance, *scale, *shift;
    float epsilon;
    float *saved_mean, *saved_inverse_deviation, *running_mean, *running_variance, *scale_gradient, *shift_gradient;
};

namespace {

struct Layer {
    virtual ~Layer() = default;
    virtual void run(void const* x, void* y) = 0;
    virtual void run_backward(void const* x, void const* dy, void* dx) = 0;
};

/// A plan of batch norm + ReLU, at inference or in training.
template <class T, class Norm>
class NormRelu final : public Layer {
public:
    NormRelu(Problem const& p, typename Norm::Args const& norm)
        : device(p.device, static_cast<decltype(device.stream())>(p.stream)),
          layout(p.channels_last ? fk::nhwc(p.n, p.h, p.w, p.c) : fk::nchw(p.n, p.c, p.h, p.w)),
          plan(Plan::bind(norm, {})),
          gradients{fk::TensorView<float, 1>(p.scale_gradient, fk::channels(p.c)),
                    fk::TensorView<float, 1>(p.shift_gradient, fk::channels(p.c))} {}

    void run(void const* x, void* y) override { plan(device, input(x), output(y)); }
    void run_backward(void const* x, void const* dy, void* dx) override {
        fk::Backward<Plan>::bind(plan, input(x), gradients, {})(device, input(dy), output(dx));
    }

private:
    using Plan = fk::Plan<Norm, fk::Activation<fk::Relu>>;

    fk::hip::Device device;
    fk::Layout<4> layout;
    fk::BoundPlan<Plan> plan;
    typename Norm::Gradients gradients;

    fk::TensorView<T const> input(void const* data) const { return {static_cast<T const*>(data), layout}; }
    fk::TensorView<T> output(void* data) const { return {static_cast<T*>(data), layout}; }
};

using Inference = fk::BatchNormInference<fk::Spatial>;
using Training = fk::BatchNormTraining<fk::Spatial>;

template <class Norm>
Layer* make(Problem const& p, typename Norm::Args const& norm) {
    if (p.is_half) return new NormRelu<fk::half, Norm>(p, norm);
    return new NormRelu<float, Norm>(p, norm);
}

}  // namespace

extern "C" {

/// Message of the last call that failed.
char const* fusekit_message() { return bench::message.c_str(); }

/// Makes a layer; null on error.
void* fusekit_norm_relu(Problem const* problem, int training) {
    Layer* layer = nullptr;
    succeeds([&] {
        Problem const& p = *problem;
        auto const read = [&](float const* data) { return fk::TensorView<float const, 1>(data, fk::channels(p.c)); };
        auto const write = [&](float* data) { return fk::TensorView<float, 1>(data, fk::channels(p.c)); };
        if (!training)
            layer = make<Inference>(p, {read(p.mean), read(p.variance), read(p.scale), read(p.shift), p.epsilon});
        else
            layer = make<Training>(p, {.scale = read(p.scale),
                                       .shift = read(p.shift),
                                       .saved_mean = write(p.saved_mean),
                                       .saved_inverse_deviation = write(p.saved_inverse_deviation),
                                       .running_mean = write(p.running_mean),
                                       .running_variance = write(p.running_variance),
                                       .epsilon = p.epsilon});
    });
    return layer;
}

/// Enqueues one kernel on the layer's stream; 0 on success.
int fusekit_run(void* layer, void const* x, void* y) {
    return !succeeds([&] { static_cast<Layer*>(layer)->run(x, y); });
}

/// Runs the gradient; 0 on success.
int fusekit_run_backward(void* layer, void const* x, void const* dy, void* dx) {
    return !succeeds([&] { static_cast<Layer*>(layer)->run_backward(x, dy, dx); });
}

void fusekit_delete(void* layer) { delete static_cast<Layer*>(layer); }
}
