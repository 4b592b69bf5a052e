// SPDX-License-Identifier: MIT
#include "activation_descriptor.hpp"

namespace fusekit::compat {

ActivationDescriptor const& get_set(miopenActivationDescriptor_t handle, char const* argument) {
    ActivationDescriptor const& activation = get<ActivationDescriptor>(handle, argument);
    if (!activation.is_set)
        fail(miopenStatusNotInitialized,
             Text(argument) + ": expected an activation descriptor that was set, got a new one");
    return activation;
}

void check(miopenActivationMode_t mode) {
    if (mode < miopenActivationPASTHRU || mode > miopenActivationCLAMP)
        fail(miopenStatusInvalidValue, "mode: expected a miopenActivationMode_t, got " + Text::number(int{mode}));
}

}  // namespace fusekit::compat

using namespace fusekit::compat;

extern "C" {

miopenStatus_t miopenCreateActivationDescriptor(miopenActivationDescriptor_t* activDesc) {
    return guard(__func__, [&] { give_handle(activDesc, "activDesc", std::make_unique<ActivationDescriptor>()); });
}

miopenStatus_t miopenSetActivationDescriptor(const miopenActivationDescriptor_t activDesc, miopenActivationMode_t mode,
                                             double activAlpha, double activBeta, double activGamma) {
    return guard(__func__, [&] {
        ActivationDescriptor& activation = get<ActivationDescriptor>(activDesc, "activDesc");
        check(mode);
        activation = {true, mode, activAlpha, activBeta, activGamma};
    });
}

miopenStatus_t miopenGetActivationDescriptor(const miopenActivationDescriptor_t activDesc, miopenActivationMode_t* mode,
                                             double* activAlpha, double* activBeta, double* activGamma) {
    return guard(__func__, [&] {
        ActivationDescriptor const& activation = get_set(activDesc, "activDesc");
        if (mode) *mode = activation.mode;
        if (activAlpha) *activAlpha = activation.alpha;
        if (activBeta) *activBeta = activation.beta;
        if (activGamma) *activGamma = activation.gamma;
    });
}

miopenStatus_t miopenDestroyActivationDescriptor(miopenActivationDescriptor_t activDesc) {
    return guard(__func__, [&] { destroy<ActivationDescriptor>(activDesc, "activDesc"); });
}
}
