// SPDX-License-Identifier: MIT
#include "support/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/chains.hpp"
#include "support/difference.hpp"
#include "support/graph_timing.hpp"
#include "support/hip_machine.hpp"
#include "zoo/filter.hpp"

namespace bench {

namespace {

template <class T>
using Tensors = std::vector<fk::Tensor<T, fk::hip::Device>>;

/// Fills a tensor on the device with a repeated block of a million random values.
template <class T, int Rank>
void fill(fk::hip::Device& device, fk::Tensor<T, fk::hip::Device, Rank>& tensor) {
    static fk::Tensor<T, fk::hip::Device, 1> const values = fk::random<T>(device, fk::channels(1 << 20));
    std::int64_t const size = tensor.layout().span(), period = values.layout().span();
    T* const to = tensor.view().data;
    for (std::int64_t i = 0; i < size; i += period)
        require(hipMemcpyAsync(to + i, values.const_view().data,
                               static_cast<std::size_t>(std::min(period, size - i)) * sizeof(T),
                               hipMemcpyDeviceToDevice, device.stream()),
                "hipMemcpyAsync");
}

/// First and last elements of a tensor, at most a quarter of a million each.
template <class T>
std::vector<T> ends_of(fk::Tensor<T, fk::hip::Device> const& tensor) {
    auto const size = static_cast<std::size_t>(tensor.layout().span()), part = std::min<std::size_t>(size, 1 << 18);
    std::vector<T> ends(2 * part);
    T const* const from = tensor.const_view().data;
    require(hipMemcpy(ends.data(), from, part * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    require(hipMemcpy(ends.data() + part, from + size - part, part * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    return ends;
}

/// Predictions; for Split, one per split-K factor (2, 4 and 8); for a schedule with a stream-K tail, one without it
/// too.
std::vector<fk::hip::Prediction> expand(fk::hip::Predictions const& predictions) {
    std::vector<fk::hip::Prediction> all;
    for (fk::hip::Prediction each : predictions) {
        all.push_back(each);
        int const best = each.split_k;
        if (each.schedule.splits)
            for (each.split_k = 2; each.split_k <= 8; each.split_k *= 2)
                if (each.split_k != best) all.push_back(each);
        if (!each.schedule.splits && best > 1) {
            each.split_k = 1;
            all.push_back(each);
        }
    }
    return all;
}

template <class T>
Measured measure(fk::hip::Device& device, Problem const& problem, int repeats,
                 std::function<bool(fk::hip::Prediction const&)> const& wanted) {
    zoo::Layer const& l = problem.layer;
    bool const last = problem.channels_last;
    auto const x = activations({problem.batch, l.c, l.h, l.w, last}),
               y = activations({problem.batch, l.k, l.p(), l.q(), last});
    fk::Tensor<T, fk::hip::Device> weights(device, activations({l.k, l.c / l.groups, l.r, l.s, last}));
    fk::Tensor<T, fk::hip::Device, 1> bias(device, fk::channels(l.k));
    auto const layer = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Activation<fk::Relu>>::bind(
        {.weights = weights, .filter = zoo::filter_of(l)}, {.bias = bias}, {});
    fk::TensorView<T const> const x_view(nullptr, x);
    fk::TensorView<T> const y_view(nullptr, y);
    Measured found{fk::hip::tuned_key(layer, x_view, y_view), {}};
    for (auto const& each : expand(predict_all(device, layer, x_view, y_view))) found.all.push_back({each, 0});
    if (std::none_of(found.all.begin(), found.all.end(), [&](Candidate const& c) { return wanted(c.predicted); }))
        return found;

    fill(device, weights), fill(device, bias);
    std::int64_t const bytes = (x.span() + y.span()) * static_cast<std::int64_t>(sizeof(T));
    Tensors<T> inputs, outputs;
    for (std::int64_t filled = 0; inputs.empty() || filled <= gpu_rotated_bytes(device.index()); filled += bytes) {
        fill(device, inputs.emplace_back(device, x));
        fill(device, outputs.emplace_back(device, y));
    }
    auto const slot = [&](std::int64_t call) { return static_cast<std::size_t>(call) % inputs.size(); };

    std::vector<Subject> subjects;
    std::vector<Candidate*> measured;
    std::vector<T> expected;
    for (Candidate& candidate : found.all) {
        if (!wanted(candidate.predicted)) continue;
        fk::hip::TunedProblem const choice{found.key, candidate.predicted.schedule, candidate.predicted.split_k};
        fk::hip::TunedTable table;
        table.architecture = device.architecture(), table.problems = &choice, table.count = 1;
        auto const run = layer.template prepare<T>(device.tuned(table), x, y);
        require(hipMemset(outputs[0].view().data, 0xff, static_cast<std::size_t>(y.span()) * sizeof(T)), "hipMemset");
        device.synchronize();
        run(device, inputs[0], outputs[0]);
        device.synchronize();
        auto const result = ends_of(outputs[0]);
        if (expected.empty()) expected = result;
        if (!(largest_difference(result, expected) <= 1e-2))
            throw std::runtime_error(problem.name() + ": " +
                                     candidate.predicted.schedule.name(candidate.predicted.split_k).c_str() +
                                     " differs from other schedules");
        subjects.push_back([&, run](std::int64_t call) { run(device, inputs[slot(call)], outputs[slot(call)]); });
        measured.push_back(&candidate);
    }
    auto const medians = graph_medians(device.stream(), subjects, static_cast<std::int64_t>(inputs.size()), repeats);
    for (std::size_t i = 0; i < measured.size(); ++i) measured[i]->seconds = medians[i];
    return found;
}

}  // namespace

Measured measure_candidates(fk::hip::Device& device, Problem const& problem, int repeats,
                            std::function<bool(fk::hip::Prediction const&)> const& wanted) {
    return problem.is_half ? measure<fk::half>(device, problem, repeats, wanted)
                           : measure<float>(device, problem, repeats, wanted);
}

}  // namespace bench
