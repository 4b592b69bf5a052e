// SPDX-License-Identifier: MIT
//
//     fuzz [SEQUENCES [SEED]]
//
// Random sequences of all of MIOpen's calls: handles that are valid, null, destroyed, of another kind or invalid;
// numbers that are usual, at limits or beyond. Sanitizers detect errors. Every function must succeed at least once and
// fail at least once, so that the sequences cover both paths.

#include <miopen/miopen.h>

#include <array>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace {

/// Buffers that plans read and write. A tensor whose descriptor is `small` fits in one.
constexpr std::size_t buffer_bytes = 1 << 20, buffers = 12;
alignas(64) unsigned char memory[buffers][buffer_bytes];

enum Kind { session, tensor, convolution, activation, plan, op, arguments, kinds };

struct Object {
    void* handle;
    bool small = true;  ///< true if a run with it stays within the buffers
    int setter = 0;     ///< of an operator: its call in set_arguments()
};

class Fuzzer {
public:
    explicit Fuzzer(std::uint64_t seed) : random(seed) {}

    void sequence() {
        if (!living_session || random.chance(0.02)) {
            if (living_session) ++seen["miopenDestroy"][miopenDestroy(living_session)];
            living_session = nullptr;
            ++seen["miopenCreate"][miopenCreate(nullptr)];
            ++seen["miopenCreate"][miopenCreate(&living_session)];
        }
        objects[session].push_back({living_session});
        for (int i = 0; i < 2; ++i) create_some();
        for (int calls = static_cast<int>(random.range(1, 40)); calls > 0; --calls) call();
        destroy_all();
    }

    /// True if every function has succeeded and has failed; prints those that have not.
    bool has_seen_all() const {
        bool all = true;
        for (auto const& [name, statuses] : seen) {
            long good = 0, bad = 0;
            for (auto const& [status, count] : statuses) (status == miopenStatusSuccess ? good : bad) += count;
            bool const cannot_fail = name == "miopenGetVersion";
            if (good == 0 || (bad == 0 && !cannot_fail)) {
                std::printf("%s succeeded %ld times and was refused %ld times\n", name.c_str(), good, bad);
                all = false;
            }
        }
        return all;
    }
    void print() const {
        for (auto const& [name, statuses] : seen) {
            std::printf("%-42s", name.c_str());
            for (auto const& [status, count] : statuses)
                std::printf(" %s %ld", miopenGetErrorString(static_cast<miopenStatus_t>(status)) + 12, count);
            std::printf("\n");
        }
    }

private:
    test::Random random;
    miopenHandle_t living_session = nullptr;
    std::vector<Object> objects[kinds];
    std::vector<void*> gone;
    std::map<std::string, std::map<int, long>> seen;
    bool used_small = true;  ///< true if all descriptors of the current call are small

    /// ---- Arguments, most of them valid.

    template <class Handle>
    Handle any(Kind kind) {
        void* handle = nullptr;
        if (random.chance(0.97) && !objects[kind].empty()) {
            Object const& object = pick(objects[kind]);
            used_small = used_small && object.small;
            handle = object.handle;
        } else {
            used_small = false;
            switch (random.range(0, 3)) {
                case 0: break;
                case 1: handle = gone.empty() ? nullptr : pick(gone); break;
                case 2: handle = memory[0] + random.range(0, 100); break;
                default: {
                    auto const& others = objects[random.range(0, kinds - 1)];
                    if (!others.empty()) handle = pick(others).handle;
                }
            }
        }
        return reinterpret_cast<Handle>(handle);
    }
    template <class T>
    T& pick(std::vector<T>& list) {
        return list[static_cast<std::size_t>(random.range(0, static_cast<std::int64_t>(list.size()) - 1))];
    }
    template <class T>
    T const& pick(std::vector<T> const& list) {
        return list[static_cast<std::size_t>(random.range(0, static_cast<std::int64_t>(list.size()) - 1))];
    }
    int number(int low, int high) {
        if (random.chance(0.97)) return static_cast<int>(random.range(low, high));
        used_small = false;
        return random.pick({-1, 0, 1000, 65536, INT_MAX, INT_MIN});
    }
    template <class Enum>
    Enum enumerator(int highest) {
        return static_cast<Enum>(random.chance(0.98) ? random.range(0, highest) : random.range(-3, 40));
    }
    miopenDataType_t type() {
        return random.chance(0.85) ? random.pick({miopenFloat, miopenFloat, miopenHalf, miopenBFloat16})
                                   : enumerator<miopenDataType_t>(9);
    }
    void* buffer() {
        if (random.chance(0.02)) return nullptr;
        unsigned char* const begin = memory[random.range(0, buffers - 1)];
        return random.chance(0.9) ? begin : begin + random.range(0, 64);
    }
    /// At most the size of a buffer.
    std::size_t lent_bytes() { return static_cast<std::size_t>(random.range(0, buffer_bytes - 64)); }
    template <class T>
    T* pointer_to(T& real) {
        return random.chance(0.98) ? &real : nullptr;
    }
    double real() { return random.pick({0.0, 1.0, 0.5, -1.0, 1e-5, 6.0, static_cast<double>(NAN), 1e308}); }
    void const* factor() {
        static float const floats[] = {1, 0.5f, 0, 2};
        static double const one = 1;
        std::int64_t const which = random.range(0, 5);
        return which < 4 ? &floats[which] : which == 4 ? static_cast<void const*>(&one) : nullptr;
    }

    /// ---- Calls.

    miopenStatus_t note(char const* name, miopenStatus_t status) {
        ++seen[name][status];
        if (status != miopenStatusSuccess && std::strncmp(fusekitMiopenLastError(), name, std::strlen(name)) != 0) {
            std::printf("%s left the sentence '%s'\n", name, fusekitMiopenLastError());
            std::exit(1);
        }
        return status;
    }
#define CALL(name, ...) note(#name, name(__VA_ARGS__))

    template <class Handle>
    void keep(Kind kind, Handle handle, miopenStatus_t status, bool small = true) {
        if (status == miopenStatusSuccess) objects[kind].push_back({handle, small});
    }
    template <class Handle>
    void create(Kind kind, char const* name, miopenStatus_t (*function)(Handle*)) {
        Handle made = nullptr;
        Handle* const to = pointer_to(made);
        keep(kind, made, note(name, function(to)), true);
        if (made) objects[kind].back().handle = made;
    }
#define CREATE(kind, name) create(kind, #name, name)

    void create_some() {
        CREATE(tensor, miopenCreateTensorDescriptor);
        set_tensor();
        CREATE(tensor, miopenCreateTensorDescriptor);
        set_tensor();
        CREATE(convolution, miopenCreateConvolutionDescriptor);
        set_convolution();
        CREATE(activation, miopenCreateActivationDescriptor);
        CREATE(arguments, miopenCreateOperatorArgs);
        create_plan();
    }
    /// A plan as most programs make it: its tensors fit each other.
    void plausible() {
        int const n = number(1, 3), c = number(1, 4), k = number(1, 4), h = number(3, 6);
        int const r = random.pick({1, 3, 2});
        auto const described = [&](int a, int b, int y, int x) {
            miopenTensorDescriptor_t made = nullptr;
            if (CALL(miopenCreateTensorDescriptor, &made) != miopenStatusSuccess) return made;
            bool const last = random.chance(0.3);
            int const extents[] = {a, b, y, x};
            used_small = true;
            auto const status =
                last ? CALL(miopenSetNdTensorDescriptorWithLayout, made, miopenFloat, miopenTensorNHWC, extents, 4)
                     : CALL(miopenSet4dTensorDescriptor, made, miopenFloat, a, b, y, x);
            std::size_t bytes = 0;
            bool const small = status == miopenStatusSuccess &&
                               miopenGetTensorNumBytes(made, &bytes) == miopenStatusSuccess && bytes < buffer_bytes / 2;
            objects[tensor].push_back({made, small});
            return made;
        };
        auto const x = described(n, c, h, h);
        bool const small_x = objects[tensor].back().small;
        auto const w = described(k, c, r, r);
        bool const small_w = objects[tensor].back().small;
        miopenFusionPlanDescriptor_t made = nullptr;
        if (CALL(miopenCreateFusionPlan, &made, miopenVerticalFusion, x) != miopenStatusSuccess) return;
        Object entry{made, small_x && small_w};
        miopenFusionOpDescriptor_t added = nullptr;
        std::vector<Object> own;
        auto const keep_op = [&](miopenStatus_t status, int setter) {
            if (status == miopenStatusSuccess) own.push_back({added, true, setter});
        };
        miopenTensorDescriptor_t y = x;
        if (random.chance(0.7)) {
            miopenConvolutionDescriptor_t conv = nullptr;
            CALL(miopenCreateConvolutionDescriptor, &conv);
            objects[convolution].push_back({conv});
            CALL(miopenInitConvolutionDescriptor, conv, miopenConvolution, r / 2, r / 2, 1, 1, 1, 1);
            keep_op(CALL(miopenCreateOpConvForward, made, &added, conv, w), 0);
            int out[5] = {1, 1, 1, 1}, modes = 0;
            CALL(miopenGetConvolutionForwardOutputDim, conv, x, w, out, out + 1, out + 2, out + 3);
            CALL(miopenGetConvolutionNdForwardOutputDim, conv, x, w, &modes, out);
            y = described(out[0], out[1], out[2], out[3]);
            entry.small = entry.small && objects[tensor].back().small;
            if (random.chance(0.6)) {
                auto const bias = described(1, k, 1, 1);
                keep_op(CALL(miopenCreateOpBiasForward, made, &added, bias), 1);
            }
            if (random.chance(0.3)) {
                auto const parameters = described(1, k, 1, 1);
                keep_op(CALL(miopenCreateOpBatchNormInference, made, &added, miopenBNSpatial, parameters), 4);
            }
        } else if (random.chance(0.5)) {
            keep_op(CALL(miopenCreateOpBatchNormForward, made, &added, enumerator<miopenBatchNormMode_t>(1),
                         random.chance(0.5)),
                    5);
        } else {
            keep_op(CALL(miopenCreateOpBatchNormBackward, made, &added, enumerator<miopenBatchNormMode_t>(1)), 6);
            keep_op(CALL(miopenCreateOpActivationBackward, made, &added, enumerator<miopenActivationMode_t>(10)), 3);
        }
        if (random.chance(0.7))
            keep_op(CALL(miopenCreateOpActivationForward, made, &added, enumerator<miopenActivationMode_t>(10)), 2);
        objects[plan].push_back(entry);
        if (random.chance(0.9)) CALL(miopenCompileFusionPlan, living_session, made);
        miopenOperatorArgs_t given = nullptr;
        CALL(miopenCreateOperatorArgs, &given);
        objects[arguments].push_back({given});
        for (Object const& each : own) set_arguments(given, each);
        objects[op].insert(objects[op].end(), own.begin(), own.end());
        if (!entry.small) return;
        for (int i = 0; i < 4; ++i) {
            if (i == 2 && random.chance(0.5)) set_arguments();
            auto const args = random.chance(0.9) ? given : any<miopenOperatorArgs_t>(arguments);
            if (i % 2) CALL(miopenExecuteFusionPlan, living_session, made, x, buffer(), y, buffer(), args);
            else
                CALL(miopenExecuteFusionPlan_v2, living_session, made, x, buffer(), y, buffer(), args, buffer(),
                     lent_bytes());
        }
    }

    void set_tensor() {
        if (objects[tensor].empty()) return;
        Object& object = pick(objects[tensor]);
        auto const handle = random.chance(0.97) ? reinterpret_cast<miopenTensorDescriptor_t>(object.handle)
                                                : any<miopenTensorDescriptor_t>(tensor);
        bool const own = handle == reinterpret_cast<miopenTensorDescriptor_t>(object.handle);
        used_small = true;
        int extents[6], strides[6];
        for (int& extent : extents) extent = random.chance(0.02) ? 0 : number(1, 6);
        for (int& stride : strides) stride = random.chance(0.02) ? 0 : number(1, 300);
        int const modes = random.chance(0.8) ? 4 : number(1, 5);
        int const* const steps = random.chance(0.5) ? nullptr : strides;
        int const count = modes >= 1 && modes <= 5 ? modes : 9;  // other ranks are refused before anything is read
        miopenStatus_t status;
        switch (random.range(0, 4)) {
            case 0:
                status =
                    CALL(miopenSet4dTensorDescriptor, handle, type(), extents[0], extents[1], extents[2], extents[3]);
                break;
            case 1:
                status = CALL(miopenSet4dTensorDescriptorEx, handle, type(), extents[0], extents[1], extents[2],
                              extents[3], strides[0], strides[1], strides[2], strides[3]);
                break;
            case 2:
                status = CALL(miopenSetTensorDescriptor, handle, type(), count, pointer_to(extents[0]), steps);
                break;
            case 3: {
                std::size_t wide_extents[6], wide_steps[6];
                for (int i = 0; i < 6; ++i)
                    wide_extents[i] = static_cast<std::size_t>(extents[i]),
                    wide_steps[i] = static_cast<std::size_t>(strides[i]);
                status = CALL(miopenSetTensorDescriptorV2, handle, type(), count, pointer_to(wide_extents[0]),
                              steps ? wide_steps : nullptr);
                break;
            }
            default:
                status = CALL(miopenSetNdTensorDescriptorWithLayout, handle, type(),
                              enumerator<miopenTensorLayout_t>(8), pointer_to(extents[0]), count == 9 ? 4 : count);
        }
        if (own && status == miopenStatusSuccess) object.small = used_small;
        else if (!own)
            for (Object& each : objects[tensor]) each.small = each.small && used_small;
    }

    void set_convolution() {
        auto const handle = any<miopenConvolutionDescriptor_t>(convolution);
        int values[9];
        for (int i = 0; i < 9; ++i) values[i] = number(i < 3 ? 0 : 1, i < 3 ? 2 : 2);
        auto const mode = enumerator<miopenConvolutionMode_t>(random.chance(0.9) ? 0 : 3);
        switch (random.range(0, 4)) {
            case 0:
                CALL(miopenInitConvolutionNdDescriptor, handle, number(1, 3), pointer_to(values[0]),
                     pointer_to(values[3]), pointer_to(values[6]), mode);
                break;
            case 1: CALL(miopenSetConvolutionGroupCount, handle, number(1, 2)); break;
            case 2:
                CALL(miopenSetConvolutionAttribute, handle, enumerator<miopenConvolutionAttrib_t>(1), number(0, 1));
                break;
            default:
                CALL(miopenInitConvolutionDescriptor, handle, mode, values[0], values[1], values[3], values[4],
                     values[6], values[7]);
        }
    }

    void create_plan() {
        used_small = true;
        miopenFusionPlanDescriptor_t made = nullptr;
        auto const direction = random.chance(0.95) ? miopenVerticalFusion : enumerator<miopenFusionDirection_t>(1);
        auto const input = any<miopenTensorDescriptor_t>(tensor);
        auto* const to = pointer_to(made);
        auto const status = CALL(miopenCreateFusionPlan, to, direction, input);
        keep(plan, made, status, used_small);
    }

    void create_operator() {
        if (objects[plan].empty()) return;
        Object& object = pick(objects[plan]);
        used_small = object.small;
        auto const of = random.chance(0.97) ? reinterpret_cast<miopenFusionPlanDescriptor_t>(object.handle)
                                            : any<miopenFusionPlanDescriptor_t>(plan);
        bool const own = of == reinterpret_cast<miopenFusionPlanDescriptor_t>(object.handle);
        miopenFusionOpDescriptor_t made = nullptr;
        auto* const to = pointer_to(made);
        miopenStatus_t status;
        auto const norm = enumerator<miopenBatchNormMode_t>(1);
        auto const mode = enumerator<miopenActivationMode_t>(10);
        auto const setter = static_cast<int>(random.range(0, 6));
        switch (setter) {
            case 0: {
                auto const conv = any<miopenConvolutionDescriptor_t>(convolution);
                status = CALL(miopenCreateOpConvForward, of, to, conv, any<miopenTensorDescriptor_t>(tensor));
                break;
            }
            case 1: status = CALL(miopenCreateOpBiasForward, of, to, any<miopenTensorDescriptor_t>(tensor)); break;
            case 2: status = CALL(miopenCreateOpActivationForward, of, to, mode); break;
            case 3: status = CALL(miopenCreateOpActivationBackward, of, to, mode); break;
            case 4:
                status = CALL(miopenCreateOpBatchNormInference, of, to, norm, any<miopenTensorDescriptor_t>(tensor));
                break;
            case 5: status = CALL(miopenCreateOpBatchNormForward, of, to, norm, random.chance(0.5)); break;
            default: status = CALL(miopenCreateOpBatchNormBackward, of, to, norm);
        }
        keep(op, made, status);
        if (status != miopenStatusSuccess) return;
        objects[op].back().setter = setter;
        if (own) object.small = object.small && used_small;
        else
            for (Object& each : objects[plan]) each.small = each.small && used_small;
    }

    void set_arguments() {
        auto const args = any<miopenOperatorArgs_t>(arguments);
        bool const own = random.chance(0.8) && !objects[op].empty();
        Object const chosen = own ? pick(objects[op]) : Object{any<void*>(op), false, int(random.range(0, 6))};
        set_arguments(args, chosen);
    }
    void set_arguments(miopenOperatorArgs_t args, Object const& chosen) {
        auto const of = reinterpret_cast<miopenFusionOpDescriptor_t>(chosen.handle);
        switch (chosen.setter) {
            case 0: CALL(miopenSetOpArgsConvForward, args, of, factor(), factor(), buffer()); break;
            case 1: CALL(miopenSetOpArgsBiasForward, args, of, factor(), buffer(), buffer()); break;
            case 2: CALL(miopenSetOpArgsActivForward, args, of, factor(), factor(), real(), real(), real()); break;
            case 3:
                CALL(miopenSetOpArgsActivBackward, args, of, factor(), factor(), buffer(), buffer(), real(), real(),
                     real());
                break;
            case 4:
                CALL(miopenSetOpArgsBatchNormInference, args, of, factor(), factor(), buffer(), buffer(), buffer(),
                     buffer(), real());
                break;
            case 5:
                CALL(miopenSetOpArgsBatchNormForward, args, of, factor(), factor(), buffer(), buffer(), buffer(),
                     buffer(), buffer(), buffer(), real(), real());
                break;
            default:
                CALL(miopenSetOpArgsBatchNormBackward, args, of, factor(), factor(), buffer(), buffer(), buffer(),
                     buffer(), buffer(), buffer(), buffer());
        }
    }

    void execute() {
        used_small = true;
        auto const of = any<miopenHandle_t>(session);
        auto const what = any<miopenFusionPlanDescriptor_t>(plan);
        bool const small = used_small;  // implies a small input; the output is small if its descriptor is
        used_small = true;
        auto const from = any<miopenTensorDescriptor_t>(tensor), to = any<miopenTensorDescriptor_t>(tensor);
        auto const args = any<miopenOperatorArgs_t>(arguments);
        void *const x = small && used_small ? buffer() : nullptr, *const y = buffer();
        if (random.chance(0.5)) CALL(miopenExecuteFusionPlan, of, what, from, x, to, y, args);
        else CALL(miopenExecuteFusionPlan_v2, of, what, from, x, to, y, args, buffer(), lent_bytes());
    }

    void execute_at_once() {
        used_small = true;
        auto const x = any<miopenTensorDescriptor_t>(tensor), w = any<miopenTensorDescriptor_t>(tensor),
                   z = any<miopenTensorDescriptor_t>(tensor), bias = any<miopenTensorDescriptor_t>(tensor),
                   y = any<miopenTensorDescriptor_t>(tensor);
        auto const conv = any<miopenConvolutionDescriptor_t>(convolution);
        void* const from = used_small ? buffer() : nullptr;
        CALL(miopenConvolutionBiasActivationForward, any<miopenHandle_t>(session), factor(), x, from, w, buffer(), conv,
             enumerator<miopenConvFwdAlgorithm_t>(5), buffer(), 1000, factor(), z, buffer(), bias, buffer(),
             any<miopenActivationDescriptor_t>(activation), y, buffer());
    }
    /// Fitting descriptors, so that execution is reached.
    void execute_fitting() {
        miopenTensorDescriptor_t x, bias;
        if (CALL(miopenCreateTensorDescriptor, &x) != miopenStatusSuccess) return;
        objects[tensor].push_back({x});
        if (CALL(miopenCreateTensorDescriptor, &bias) != miopenStatusSuccess) return;
        objects[tensor].push_back({bias});
        miopenConvolutionDescriptor_t conv;
        if (CALL(miopenCreateConvolutionDescriptor, &conv) != miopenStatusSuccess) return;
        objects[convolution].push_back({conv});
        CALL(miopenInitConvolutionDescriptor, conv, miopenConvolution, 0, 0, 1, 1, 1, 1);
        CALL(miopenSet4dTensorDescriptor, x, miopenFloat, 2, 2, 1, 1);  // x, w, z and y
        CALL(miopenSet4dTensorDescriptor, bias, miopenFloat, 1, 2, 1, 1);
        CALL(miopenConvolutionBiasActivationForward, living_session, factor(), x, buffer(), x, buffer(), conv,
             miopenConvolutionFwdAlgoGEMM, nullptr, 0, factor(), x, buffer(), bias, buffer(),
             any<miopenActivationDescriptor_t>(activation), x, buffer());
    }

    void get_something() {
        int numbers[20] = {};
        double reals[3];
        std::size_t size = 0;
        miopenDataType_t element;
        auto const t = any<miopenTensorDescriptor_t>(tensor);
        auto const c = any<miopenConvolutionDescriptor_t>(convolution);
        miopenConvolutionMode_t mode;
        switch (random.range(0, 17)) {
            case 0:
                CALL(miopenGet4dTensorDescriptor, t, pointer_to(element), pointer_to(numbers[0]),
                     pointer_to(numbers[1]), pointer_to(numbers[2]), pointer_to(numbers[3]), pointer_to(numbers[4]),
                     pointer_to(numbers[5]), pointer_to(numbers[6]), pointer_to(numbers[7]));
                break;
            case 1:
                CALL(miopenGetTensorDescriptor, t, pointer_to(element), pointer_to(numbers[0]), pointer_to(numbers[5]));
                break;
            case 2: CALL(miopenGetTensorDescriptorSize, t, pointer_to(numbers[0])); break;
            case 3: CALL(miopenGetTensorNumBytes, t, pointer_to(size)); break;
            case 4: CALL(miopenGetConvolutionSpatialDim, c, pointer_to(numbers[0])); break;
            case 5:
                CALL(miopenGetConvolutionDescriptor, c, pointer_to(mode), pointer_to(numbers[0]),
                     pointer_to(numbers[1]), pointer_to(numbers[2]), pointer_to(numbers[3]), pointer_to(numbers[4]),
                     pointer_to(numbers[5]));
                break;
            case 6:
                CALL(miopenGetConvolutionNdDescriptor, c, number(1, 3), pointer_to(numbers[0]), pointer_to(numbers[1]),
                     pointer_to(numbers[4]), pointer_to(numbers[7]), pointer_to(mode));
                break;
            case 7: CALL(miopenGetConvolutionGroupCount, c, pointer_to(numbers[0])); break;
            case 8:
                CALL(miopenGetConvolutionAttribute, c, enumerator<miopenConvolutionAttrib_t>(1),
                     pointer_to(numbers[0]));
                break;
            case 9:
                CALL(miopenGetConvolutionForwardOutputDim, c, t, any<miopenTensorDescriptor_t>(tensor),
                     pointer_to(numbers[0]), pointer_to(numbers[1]), pointer_to(numbers[2]), pointer_to(numbers[3]));
                break;
            case 10:
                CALL(miopenGetConvolutionNdForwardOutputDim, c, t, any<miopenTensorDescriptor_t>(tensor),
                     pointer_to(numbers[0]), pointer_to(numbers[1]));
                break;
            case 11: {
                miopenActivationMode_t own;
                CALL(miopenGetActivationDescriptor, any<miopenActivationDescriptor_t>(activation), pointer_to(own),
                     pointer_to(reals[0]), pointer_to(reals[1]), pointer_to(reals[2]));
                break;
            }
            case 12: {
                miopenFusionOpDescriptor_t found = nullptr;
                CALL(miopenFusionPlanGetOp, any<miopenFusionPlanDescriptor_t>(plan), number(0, 3), pointer_to(found));
                break;
            }
            case 13:
                CALL(miopenFusionPlanGetWorkSpaceSize, any<miopenHandle_t>(session),
                     any<miopenFusionPlanDescriptor_t>(plan), pointer_to(size),
                     enumerator<miopenConvFwdAlgorithm_t>(5));
                break;
            case 14: {
                miopenConvFwdAlgorithm_t algorithms[4];
                CALL(miopenFusionPlanConvolutionGetAlgo, any<miopenFusionPlanDescriptor_t>(plan),
                     random.pick({-1, 0, 1, 4}), pointer_to(numbers[0]), pointer_to(algorithms[0]));
                break;
            }
            case 15:
                CALL(miopenFusionPlanConvolutionSetAlgo, any<miopenFusionPlanDescriptor_t>(plan),
                     enumerator<miopenConvFwdAlgorithm_t>(5));
                break;
            case 16: {
                auto const from = any<miopenTensorDescriptor_t>(tensor);
                auto const status = CALL(miopenDeriveBNTensorDescriptor, t, from, enumerator<miopenBatchNormMode_t>(1));
                // Values of a large tensor may be large.
                if (status == miopenStatusSuccess)
                    for (Object& each : objects[tensor])
                        if (each.handle == static_cast<void*>(t)) each.small = false;
                break;
            }
            default: {
                std::size_t version[3];
                CALL(miopenGetVersion, pointer_to(version[0]), pointer_to(version[1]), pointer_to(version[2]));
            }
        }
    }

    void change_session() {
        auto const of = any<miopenHandle_t>(session);
        miopenAcceleratorQueue_t stream = nullptr;
        float time;
        switch (random.range(0, 5)) {
            case 0: CALL(miopenSetStream, of, buffer()); break;
            case 1: CALL(miopenGetStream, of, pointer_to(stream)); break;
            case 2: CALL(miopenEnableProfiling, of, random.chance(0.5)); break;
            case 3: CALL(miopenGetKernelTime, of, pointer_to(time)); break;
            case 4: {
                auto const give = [](void*, std::size_t bytes) { return std::malloc(bytes); };
                auto const take = [](void*, void* given) { std::free(given); };
                CALL(miopenSetAllocator, of, random.chance(0.7) ? +give : nullptr, random.chance(0.7) ? +take : nullptr,
                     nullptr);
                break;
            }
            default: {
                miopenHandle_t made = nullptr;
                auto* const to = pointer_to(made);
                keep(session, made, CALL(miopenCreateWithStream, to, buffer()));
            }
        }
    }

    void call() {
        std::int64_t const which = random.range(0, 99);
        if (which < 10) set_tensor();
        else if (which < 15) set_convolution();
        else if (which < 20)
            CALL(miopenSetActivationDescriptor, any<miopenActivationDescriptor_t>(activation),
                 enumerator<miopenActivationMode_t>(10), real(), real(), real());
        else if (which < 25) create_plan();
        else if (which < 45) create_operator();
        else if (which < 50)
            CALL(miopenCompileFusionPlan, any<miopenHandle_t>(session), any<miopenFusionPlanDescriptor_t>(plan));
        else if (which < 65) set_arguments();
        else if (which < 72) execute();
        else if (which < 74) execute_at_once();
        else if (which < 76) execute_fitting();
        else if (which < 79) plausible();
        else if (which < 89) get_something();
        else if (which < 93) change_session();
        else if (which < 96) create_some();
        else destroy_one(static_cast<Kind>(random.range(0, kinds - 1)));
    }

    template <class Handle>
    void destroy(Kind kind, std::size_t index, char const* name, miopenStatus_t (*function)(Handle)) {
        void* const handle = objects[kind][index].handle;
        note(name, function(reinterpret_cast<Handle>(handle)));
        gone.push_back(handle);
        objects[kind].erase(objects[kind].begin() + static_cast<std::ptrdiff_t>(index));
    }
    void destroy_one(Kind kind) {
        if (random.chance(0.2)) {  // any handle
            CALL(miopenDestroyTensorDescriptor, reinterpret_cast<miopenTensorDescriptor_t>(bad()));
            CALL(miopenDestroyConvolutionDescriptor, reinterpret_cast<miopenConvolutionDescriptor_t>(bad()));
            CALL(miopenDestroyActivationDescriptor, reinterpret_cast<miopenActivationDescriptor_t>(bad()));
            CALL(miopenDestroyFusionPlan, reinterpret_cast<miopenFusionPlanDescriptor_t>(bad()));
            CALL(miopenDestroyOperatorArgs, reinterpret_cast<miopenOperatorArgs_t>(bad()));
            CALL(miopenDestroy, reinterpret_cast<miopenHandle_t>(bad()));
            return;
        }
        if (objects[kind].empty()) return;
        auto const index =
            static_cast<std::size_t>(random.range(0, static_cast<std::int64_t>(objects[kind].size()) - 1));
        switch (kind) {
            case session:
                if (objects[kind][index].handle != static_cast<void*>(living_session))
                    destroy(kind, index, "miopenDestroy", miopenDestroy);
                break;
            case tensor: destroy(kind, index, "miopenDestroyTensorDescriptor", miopenDestroyTensorDescriptor); break;
            case convolution:
                destroy(kind, index, "miopenDestroyConvolutionDescriptor", miopenDestroyConvolutionDescriptor);
                break;
            case activation:
                destroy(kind, index, "miopenDestroyActivationDescriptor", miopenDestroyActivationDescriptor);
                break;
            case plan: destroy(kind, index, "miopenDestroyFusionPlan", miopenDestroyFusionPlan); break;
            case arguments: destroy(kind, index, "miopenDestroyOperatorArgs", miopenDestroyOperatorArgs); break;
            default: break;  // the plan destroys its operators
        }
    }
    /// Null, destroyed, or an address.
    void* bad() { return gone.empty() || random.chance(0.3) ? random.chance(0.5) ? memory[1] : nullptr : pick(gone); }

    void destroy_all() {
        objects[op].clear();
        for (int kind = 0; kind < kinds; ++kind)
            while (!objects[kind].empty() &&
                   !(kind == session && objects[kind].size() == 1 && objects[kind][0].handle == living_session)) {
                std::size_t const before = objects[kind].size();
                Kind const of = static_cast<Kind>(kind);
                if (of == session && objects[of].back().handle == static_cast<void*>(living_session))
                    std::swap(objects[of].back(), objects[of].front());
                switch (of) {
                    case session: destroy(of, before - 1, "miopenDestroy", miopenDestroy); break;
                    case tensor:
                        destroy(of, before - 1, "miopenDestroyTensorDescriptor", miopenDestroyTensorDescriptor);
                        break;
                    case convolution:
                        destroy(of, before - 1, "miopenDestroyConvolutionDescriptor",
                                miopenDestroyConvolutionDescriptor);
                        break;
                    case activation:
                        destroy(of, before - 1, "miopenDestroyActivationDescriptor", miopenDestroyActivationDescriptor);
                        break;
                    case plan: destroy(of, before - 1, "miopenDestroyFusionPlan", miopenDestroyFusionPlan); break;
                    default: destroy(of, before - 1, "miopenDestroyOperatorArgs", miopenDestroyOperatorArgs);
                }
            }
        objects[session].clear();
        if (gone.size() > 500) gone.erase(gone.begin(), gone.end() - 100);
    }
};

}  // namespace

int main(int argc, char** argv) {
    long const sequences = argc > 1 ? std::atol(argv[1]) : 1000;
    auto const seed = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
    for (auto& buffer : memory)
        for (std::size_t i = 0; i < buffer_bytes; ++i) buffer[i] = static_cast<unsigned char>(i % 2 ? 0x3c : 0);
    Fuzzer fuzzer(seed);
    for (long i = 0; i < sequences; ++i) fuzzer.sequence();
    fuzzer.print();
    bool const all = fuzzer.has_seen_all();
    std::printf("%ld sequences, seed %llu\n", sequences, static_cast<unsigned long long>(seed));
    return all ? 0 : 1;
}
