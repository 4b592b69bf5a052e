// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>
#include <vector>

#include "fusekit/runtime.hpp"
#include "support/catalogue.hpp"
#include "support/difference.hpp"
#include "support/oracle_training.hpp"
#include "support/placed.hpp"
#include "support/problem.hpp"

namespace test {

namespace rt = fk::runtime;

/// Number of an activation that cases name.
inline rt::ActivationMode mode_of(std::string const& name) {
    int number = 0, found = 0;
    catalogue::for_each_activation([&](auto const& line) {
        if (name == line.name) found = number;
        ++number;
    });
    return static_cast<rt::ActivationMode>(found);
}

/// A problem in a framework's form: descriptors, and arguments with separate memory on a device.
template <class Device>
class Described {
public:
    std::vector<rt::Descriptor> descriptors;
    std::vector<rt::Arguments> arguments;
    rt::View x;

    Described(Problem const& the_problem, Device& the_device) : problem(the_problem), device(the_device) {
        Case const& about = problem.about;
        x = tensor(about.type, layout_of(about.x_layout, about.x), problem.x);
        std::size_t step = 0;
        for (char letter : about.form)
            if (letter == 'C') {
                oracle::Window const& f = about.window;
                rt::Arguments& own = add(rt::conv(about.filter()));
                own[rt::Role::weights] = tensor(
                    about.type, layout_of(about.w_layout, {about.k, about.x.c / f.groups, f.r, f.s}), problem.weights);
            } else {
                add(problem.steps[step++]);
            }
    }

    /// Arguments of the operator at `position`.
    rt::Arguments& at(std::size_t position) { return arguments[position]; }

    rt::View channels(std::vector<double> const& values) {
        return tensor(fk::DataType::float32, fk::channels(static_cast<std::int64_t>(values.size())), values);
    }
    /// Per-channel or per-pixel parameters in MIOpen's shapes: 1 x K x 1 x 1, or 1 x K x P x Q.
    rt::View parameters(bool per_pixel, std::vector<double> const& values) {
        oracle::Shape const y = problem.about.y();
        return per_pixel ? tensor(fk::DataType::float32, fk::nchw(1, y.c, y.h, y.w), values)
                         : tensor(fk::DataType::float32, fk::nchw(1, y.c, 1, 1), values);
    }
    template <int Rank>
    rt::View tensor(fk::DataType type, fk::Layout<Rank> const& layout, std::vector<double> const& values) {
        auto& placed = std::get<std::list<Placed<Device, Rank>>>(tensors).emplace_back(device, type, layout, values);
        return rt::View(type, layout, const_cast<void*>(placed.any().data()));
    }

private:
    Problem const& problem;
    Device& device;
    std::tuple<std::list<Placed<Device, 1>>, std::list<Placed<Device, 4>>> tensors;

    rt::Arguments& add(rt::Descriptor const& descriptor) {
        descriptors.push_back(descriptor);
        return arguments.emplace_back();
    }

    void add(Step const& step) {
        Case const& about = problem.about;
        oracle::Statistics const& s = step.statistics;
        bool const spatial = step.letter == 'N' || step.letter == 'T';
        auto const mode = spatial ? rt::NormMode::spatial : rt::NormMode::per_activation;
        switch (step.letter) {
            case 'B':
                add(rt::bias())[rt::Role::bias] = tensor(about.parameters, fk::nchw(1, about.y().c, 1, 1), step.values);
                break;
            case 'A': {
                rt::Arguments& own = add(rt::activation(mode_of(step.mode.name)));
                own.alpha = step.mode.alpha, own.beta = step.mode.beta, own.gamma = step.mode.gamma;
                break;
            }
            case 'R': {
                rt::Arguments& own = add(rt::residual());
                own[rt::Role::z] = tensor(about.parameters, layout_of(about.y_layout, about.y()), step.values);
                own.factor = step.factor;
                break;
            }
            case 'S': add(rt::scale()).factor = step.factor; break;
            case 'Q': {
                rt::Arguments& own = add(rt::requantize());
                own[rt::Role::scale] = channels(step.values);
                own.zero_point = step.factor;
                break;
            }
            case 'N':
            case 'M': {
                rt::Arguments& own = add(rt::batch_norm_inference(mode));
                own[rt::Role::mean] = parameters(!spatial, s.mean);
                own[rt::Role::variance] = parameters(!spatial, s.variance);
                own[rt::Role::scale] = parameters(!spatial, s.scale);
                own[rt::Role::shift] = parameters(!spatial, s.shift);
                own.epsilon = s.epsilon;
                break;
            }
            default: {
                rt::Arguments& own = add(rt::batch_norm_training(mode));
                own[rt::Role::scale] = parameters(!spatial, s.scale);
                own[rt::Role::shift] = parameters(!spatial, s.shift);
                own.epsilon = s.epsilon;
                break;
            }
        }
    }
};

/// Finds a problem's plan in a set and runs it, bound and prepared; returns the difference from the oracle.
template <class Set, class Device>
std::string run_found(std::string const& text, Device& device) {
    Case const about = Case::parse(text);
    Problem const problem(about);
    oracle::Tensor const expected = problem.expected();
    Described<Device> described(problem, device);
    auto const found = Set::find(described.descriptors, about.type);
    if (!found) return found.error().what();
    auto const shape = found->output_shape(described.arguments, described.x);
    oracle::Shape const y = about.y();
    if (!shape || !(*shape == fk::Index<4>{{y.n, y.c, y.h, y.w}})) return "output_shape";
    fk::Layout<4> const layout = layout_of(about.y_layout, y);
    std::string wrong;
    for (bool const prepared : {false, true}) {
        Placed<Device, 4> placed(device, about.type, layout, 64);
        rt::View const to(about.type, layout, const_cast<void*>(placed.any().data()));
        fk::Refusal refusal;
        if (prepared) {
            rt::Run<Device> run;
            refusal = found->prepare(device, described.arguments, described.x, to, run, fk::size_of(about.type));
            if (!refusal) {
                auto const bytes = found->workspace_bytes(device, described.arguments, described.x, to);
                if (!bytes || *bytes != run->workspace_bytes()) return "workspace_bytes";
                refusal = run->run(device, described.x.data, to.data);
            }
        } else {
            refusal = found->run(device, described.arguments, described.x, to);
        }
        if (refusal) return refusal->what();
        wrong += difference(expected, placed.fetch());
    }
    return wrong;
}

}  // namespace test
