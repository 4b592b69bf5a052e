// SPDX-License-Identifier: MIT
#include "gradients.hpp"

#include "fusekit/plan/backward.hpp"
#include "fusekit/runtime/facts.hpp"

namespace fusekit::jit {

using runtime::Descriptor;
using runtime::Descriptors;
using runtime::Kind;

namespace {

bool is_norm(Kind kind) { return kind == Kind::batch_norm_backward || kind == Kind::batch_norm_inference; }

/// Order of an operator in a gradient; -1 for one that no gradient has.
int rank_of(Kind kind) {
    if (is_norm(kind)) return 0;
    if (kind == Kind::residual_backward) return 1;
    return kind == Kind::activation_backward ? 2 : -1;
}

bool is_per_activation(Descriptor const& of) {
    return of.mode == static_cast<std::int32_t>(runtime::NormMode::per_activation);
}

}  // namespace

bool is_gradient(Descriptors descriptors) {
    for (int i = 0; i < descriptors.size; ++i)
        if (rank_of(descriptors[i].kind) > 0 || descriptors[i].kind == Kind::batch_norm_backward) return true;
    return false;
}

char const* broken_gradient(Descriptors descriptors, int position) {
    namespace sentences = fusekit::detail::backward_sentences;
    Kind const kind = descriptors[position].kind;
    if (kind == Kind::own) return sentences::slope;
    fusekit::detail::OperatorFacts const* const facts = runtime::detail::library_facts(descriptors[position]);
    if (facts && facts->head) return sentences::pointwise;
    if (facts && facts->pools) return sentences::whole;
    int const before = position > 0 ? rank_of(descriptors[position - 1].kind) : -1;
    if (rank_of(kind) <= before)
        return "an operator of a gradient that is compiled at run time: a batch norm (BatchNormBackward, or "
               "BatchNormInference of inference), then a ResidualBackward, then an ActivationBackward, at most one of "
               "each";
    return nullptr;
}

GradientShape gradient_shape(Descriptors descriptors) {
    GradientShape shape;
    int* const positions[] = {&shape.norm, &shape.residual, &shape.activation};
    for (int i = 0; i < descriptors.size; ++i) *positions[rank_of(descriptors[i].kind)] = i;
    return shape;
}

Head head_of_gradient(Descriptors descriptors) {
    Descriptor const& first = descriptors[0];
    bool const per_activation = is_per_activation(first);
    if (first.kind == Kind::batch_norm_backward)
        return per_activation ? Head::activation_norm_gradient : Head::spatial_norm_gradient;
    if (first.kind == Kind::batch_norm_inference)
        return per_activation ? Head::activation_inference_gradient : Head::spatial_inference_gradient;
    return Head::activation_gradient;
}

TypeText text_of_gradient(Descriptors descriptors) {
    GradientShape const shape = gradient_shape(descriptors);
    std::string type = "fusekit::detail::Gradient<";
    if (shape.norm >= 0) {
        Descriptor const& norm = descriptors[shape.norm];
        type += norm.kind == Kind::batch_norm_backward ? "BatchNormTraining<" : "BatchNormInference<";
        type += is_per_activation(norm) ? "PerActivation>, " : "Spatial>, ";
    }
    if (shape.residual >= 0) type += "Residual, ";
    if (shape.activation < 0) type += "jit::NoActivation>";
    else
        type += std::string("jit::KnownActivation<") +
                name(static_cast<runtime::ActivationMode>(descriptors[shape.activation].mode)) + ">>";
    return {type, "known_gradient.hpp"};
}

}  // namespace fusekit::jit
