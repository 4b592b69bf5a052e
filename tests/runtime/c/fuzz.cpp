// SPDX-License-Identifier: MIT
//
// Random sequences of calls of the C interface, identical in every run: usual ones, and ones with null pointers,
// handles of other kinds, destroyed handles, and extreme numbers. Nothing may crash or leak; an unsuccessful status
// leaves a message, and a successful call writes only its outputs.
//     fuzz [SEQUENCES [SEED]]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "fusekit/runtime/c/fusekit.h"
#include "support/random.hpp"

namespace {

test::Random* source;

std::int64_t draw(std::int64_t low, std::int64_t high) { return source->range(low, high); }
bool once_in(int number) { return draw(1, number) == 1; }

/// Memory of tensors, with margins that must not be written.
constexpr std::size_t arena_size = 1 << 14, margin = 256;
alignas(64) unsigned char arena[margin + arena_size + margin];
/// Memory of x and all arguments that are read. Must not be written.
alignas(64) unsigned char source_memory[arena_size];

std::int64_t extreme() {
    constexpr std::int64_t some[] = {0,
                                     -1,
                                     1,
                                     2,
                                     1 << 16,
                                     std::int64_t{1} << 31,
                                     std::int64_t{1} << 40,
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t{1} << 55,
                                     -(std::int64_t{1} << 62)};
    return some[draw(0, sizeof some / sizeof *some - 1)];
}
std::int32_t small_extreme() { return static_cast<std::int32_t>(extreme()); }

fusekit_tensor tensor(int rank, std::int64_t const* extents, bool written, bool last = false) {
    fusekit_tensor result{};
    result.type = FUSEKIT_FLOAT;
    result.rank = rank;
    std::int64_t step = 1;
    std::int64_t const order[2][4] = {{3, 2, 1, 0}, {1, 3, 2, 0}};
    for (int i = 0; i < rank; ++i) {
        std::int64_t const mode = rank == 4 ? order[last][i] : rank - 1 - i;
        result.extents[mode] = extents[mode];
        result.strides[mode] = step;
        step *= extents[mode];
    }
    unsigned char* const memory = written ? arena + margin : source_memory;
    std::int64_t const room = static_cast<std::int64_t>(arena_size) - step * 4;
    result.data = memory + (room > 0 ? draw(0, room / 4) * 4 : 0);
    // A tensor that does not fit gets no memory: a call that accepted it would be detected.
    if (room < 0) result.data = nullptr;
    return result;
}

/// Makes one thing invalid. Extents and strides change only such that no memory beyond the tensor's own is described,
/// or such that the call must be refused: sizes that overflow, or below 1.
void spoil(fusekit_tensor& of) {
    switch (draw(0, 6)) {
        case 0: of.data = nullptr; break;
        case 1:
            of.type = once_in(2) ? static_cast<fusekit_type>(draw(1, 4)) : small_extreme();
            of.data = nullptr;
            break;
        case 2:
            of.rank = once_in(2) ? static_cast<std::int32_t>(draw(0, 5)) : small_extreme();
            of.data = nullptr;
            break;
        case 3:
            of.extents[draw(0, 4)] = extreme();
            of.data = once_in(2) ? of.data : nullptr;
            if (of.data) of.extents[draw(0, 3)] = -draw(0, 3);
            break;
        case 4:
            of.strides[draw(0, 4)] = extreme();
            of.data = nullptr;
            break;
        case 5: of.data = of.data ? static_cast<char*>(of.data) + 1 : nullptr; break;
        default: of.rank = 0; break;
    }
}

struct Problem {
    std::vector<fusekit_operator> operators;
    std::vector<fusekit_arguments> arguments;
    fusekit_tensor x, y;
};

Problem random_problem() {
    Problem result;
    std::int64_t const n = draw(1, 2), c = draw(1, 4), h = draw(1, 6), w = draw(1, 6), k = draw(1, 5);
    std::int64_t const r = draw(1, 3), pad = draw(0, 1), stride = draw(1, 2);
    bool const last = once_in(2), conv = once_in(2);
    std::int64_t const p = conv ? (h + 2 * pad - r) / stride + 1 : h, q = conv ? (w + 2 * pad - r) / stride + 1 : w;
    std::int64_t const x[] = {n, c, h, w},
                       y[] = {n, conv ? k : c, std::max<std::int64_t>(p, 1), std::max<std::int64_t>(q, 1)};
    result.x = tensor(4, x, false, last);
    result.y = tensor(4, y, true, last);
    auto const add = [&](fusekit_kind kind, std::int32_t mode = 0) -> fusekit_arguments& {
        result.operators.push_back({kind, mode, {}});
        fusekit_arguments_init(&result.arguments.emplace_back());
        return result.arguments.back();
    };
    auto const parameter = [&](bool per_pixel) {
        std::int64_t const extents[] = {1, y[1], per_pixel ? y[2] : 1, per_pixel ? y[3] : 1};
        return tensor(4, extents, false);
    };
    if (conv) {
        std::int64_t const weights[] = {k, c, r, r};
        add(FUSEKIT_CONV).tensors[FUSEKIT_WEIGHTS] = tensor(4, weights, false);
        int const size = static_cast<int>(r), padding = static_cast<int>(pad), step = static_cast<int>(stride);
        result.operators[0].filter = FUSEKIT_FILTER(size, size, padding, step);
    }
    if (conv && once_in(4)) add(FUSEKIT_SCALE).factor = 0.5;
    if (once_in(2)) add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = parameter(false);
    if (conv && once_in(4)) add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = tensor(4, y, false);
    if (once_in(3)) {
        int const mode = static_cast<int>(draw(0, 1));
        bool const training = !conv && once_in(2);
        fusekit_arguments& own = add(training ? FUSEKIT_BATCH_NORM_TRAINING : FUSEKIT_BATCH_NORM_INFERENCE, mode);
        for (int role : {FUSEKIT_NORM_SCALE, FUSEKIT_SHIFT, FUSEKIT_MEAN, FUSEKIT_VARIANCE})
            own.tensors[role] = parameter(mode == FUSEKIT_PER_ACTIVATION);
    }
    if (once_in(2)) add(FUSEKIT_ACTIVATION, static_cast<int>(draw(0, 17))).alpha = 0.5;
    return result;
}

/// Handles that calls returned, and invalid ones.
struct Handles {
    std::vector<void*> live, dead;

    void* any(void* usual) {
        if (!once_in(8)) return usual;
        switch (draw(0, 4)) {
            case 0: return nullptr;
            case 1: return dead.empty() ? nullptr : dead[static_cast<std::size_t>(draw(0, std::ssize(dead) - 1))];
            case 2: return live.empty() ? nullptr : live[static_cast<std::size_t>(draw(0, std::ssize(live) - 1))];
            case 3: return arena;
            default: return reinterpret_cast<void*>(static_cast<std::uintptr_t>(extreme()));
        }
    }
};

long wrong = 0;
long statuses[FUSEKIT_INTERNAL + 1] = {};

fusekit_status seen(char const* call, fusekit_status status) {
    bool const known = status >= FUSEKIT_SUCCESS && status < FUSEKIT_INTERNAL;
    bool const says = status == FUSEKIT_SUCCESS || fusekit_last_message()[0] != 0;
    if (known) ++statuses[status];
    if (known && says) return status;
    ++wrong;
    std::printf("%s: status %d, message '%s'\n", call, status, fusekit_last_message());
    return status;
}

void sequence(fusekit_device device) {
    Handles handles;
    Problem problem = random_problem();
    if (once_in(3)) {  // with one invalid thing
        switch (draw(0, 4)) {
            case 0: spoil(problem.x); break;
            case 1: spoil(problem.y); break;
            case 2:
                if (!problem.operators.empty()) {
                    auto& of = problem.operators[static_cast<std::size_t>(draw(0, std::ssize(problem.operators) - 1))];
                    if (once_in(2)) of.kind = static_cast<fusekit_kind>(draw(-2, 20));
                    else if (once_in(2)) of.mode = small_extreme();
                    else of.filter.size[draw(0, 1)] = of.filter.pad_after[draw(0, 1)] = small_extreme();
                    if (once_in(3)) of.filter.groups = small_extreme();
                }
                break;
            case 3:
                if (!problem.arguments.empty()) {
                    auto& of = problem.arguments[static_cast<std::size_t>(draw(0, std::ssize(problem.arguments) - 1))];
                    spoil(of.tensors[draw(0, FUSEKIT_ROLES - 1)]);
                    for (auto& each : of.tensors)
                        if (each.rank != 0 && once_in(4)) spoil(each);
                    of.epsilon = once_in(2) ? -1 : 1e300;
                }
                break;
            default:
                if (problem.operators.size() > 1) std::swap(problem.operators.front(), problem.operators.back());
        }
    }
    std::memset(arena, 0x5a, sizeof arena);
    fusekit_types types{};
    if (once_in(16)) types.y = once_in(2) ? static_cast<fusekit_type>(draw(-1, 5)) : small_extreme();
    auto const count = static_cast<std::int32_t>(problem.operators.size());
    std::int32_t const given = once_in(16) ? static_cast<std::int32_t>(draw(-1, count)) : count;
    fusekit_backend const backend = once_in(32) ? static_cast<fusekit_backend>(draw(-1, 3)) : FUSEKIT_HOST;
    fusekit_operator const* const operators = once_in(32) ? nullptr : problem.operators.data();
    fusekit_arguments const* const arguments = once_in(32) ? nullptr : problem.arguments.data();
    fusekit_tensor const *const x = once_in(32) ? nullptr : &problem.x, *const y = once_in(32) ? nullptr : &problem.y;

    fusekit_explanation why;
    if (once_in(4))
        seen("explain",
             fusekit_explain(backend, operators, given, once_in(2) ? &types : nullptr, once_in(8) ? nullptr : &why));
    fusekit_plan plan = nullptr;
    fusekit_run run = nullptr;
    if (seen("find", fusekit_find(backend, operators, given, &types, once_in(32) ? nullptr : &plan)) == FUSEKIT_SUCCESS)
        handles.live.push_back(plan);
    handles.live.push_back(device);
    auto const any_plan = [&] { return static_cast<fusekit_plan>(handles.any(plan)); };
    auto const any_run = [&] { return static_cast<fusekit_run>(handles.any(run)); };
    auto const any_device = [&] { return static_cast<fusekit_device>(handles.any(device)); };

    alignas(64) static unsigned char workspace[1 << 16];
    for (std::int64_t calls = draw(1, 6); calls > 0; --calls) {
        bool const lends = once_in(2);
        void* const lent = lends ? workspace + (once_in(16) ? 4 : 0) : nullptr;
        std::size_t const bytes = lends ? (once_in(16) ? 8 : sizeof workspace - 64) : 0;
        switch (draw(0, 8)) {
            case 0: {
                char name[80];
                std::size_t needed;
                seen("plan_name",
                     fusekit_plan_name(any_plan(), once_in(16) ? nullptr : name,
                                       static_cast<std::size_t>(draw(0, sizeof name)), once_in(2) ? &needed : nullptr));
                break;
            }
            case 1: {
                std::int64_t extents[5];
                seen("output_shape",
                     fusekit_output_shape(any_plan(), arguments, given, x, once_in(16) ? nullptr : extents));
                break;
            }
            case 2: {
                std::size_t size;
                seen("workspace_bytes", fusekit_workspace_bytes(any_plan(), any_device(), arguments, given, x, y,
                                                                once_in(16) ? nullptr : &size));
                break;
            }
            case 3:
            case 4:
                seen("execute", fusekit_execute(any_plan(), any_device(), once_in(2) ? nullptr : FUSEKIT_OWN_STREAM,
                                                arguments, given, x, y, lent, bytes));
                break;
            case 5: {
                if (run) break;
                std::int32_t const alignment = once_in(8) ? small_extreme() : 4;
                if (seen("prepare", fusekit_prepare(any_plan(), any_device(), arguments, given, x, y, alignment,
                                                    &run)) == FUSEKIT_SUCCESS)
                    handles.live.push_back(run);
                break;
            }
            case 6:
                seen("run_execute",
                     fusekit_run_execute(any_run(), any_device(), nullptr, once_in(16) ? nullptr : problem.x.data,
                                         once_in(16) ? nullptr : problem.y.data, lent, bytes));
                break;
            case 7: {
                std::size_t size;
                seen("run_workspace_bytes", fusekit_run_workspace_bytes(any_run(), once_in(8) ? nullptr : &size));
                seen("synchronize", fusekit_device_synchronize(any_device()));
                break;
            }
            default: {
                // Destroys a handle that the test made, of the right kind or not.
                void* const handle = handles.any(run);
                if (handle != device && fusekit_run_destroy(static_cast<fusekit_run>(handle)) == FUSEKIT_SUCCESS) {
                    handles.dead.push_back(handle);
                    std::erase(handles.live, handle);
                    run = nullptr;
                }
                break;
            }
        }
    }
    std::int32_t size = 0;
    char name[8];
    if (once_in(64) && fusekit_set_size(FUSEKIT_HOST, &size) == FUSEKIT_SUCCESS)
        seen("set_plan", fusekit_set_plan(FUSEKIT_HOST, static_cast<std::int32_t>(draw(-1, size)), name, sizeof name,
                                          nullptr, &types));
    if (once_in(256)) {
        fusekit_device other = nullptr;
        if (seen("create", fusekit_device_create_host(once_in(4) ? small_extreme() | static_cast<int>(0x80000000) : 1,
                                                      &other)) == FUSEKIT_SUCCESS) {
            seen("destroy", fusekit_device_destroy(other));
            if (fusekit_device_destroy(other) != FUSEKIT_INVALID_HANDLE) ++wrong;
        }
        seen("create_gpu", fusekit_device_create_gpu(0, nullptr));
    }
    if (run && seen("run_destroy", fusekit_run_destroy(run)) != FUSEKIT_SUCCESS) ++wrong;
    if (plan && seen("plan_destroy", fusekit_plan_destroy(plan)) != FUSEKIT_SUCCESS) ++wrong;
    if (plan && fusekit_plan_destroy(plan) != FUSEKIT_INVALID_HANDLE) ++wrong;
    for (std::size_t i = 0; i < margin; ++i)
        if (arena[i] != 0x5a || arena[margin + arena_size + i] != 0x5a) {
            ++wrong;
            std::printf("a margin was written to\n");
            return;
        }
}

}  // namespace

int main(int argc, char** argv) {
    long const sequences = argc > 1 ? std::atol(argv[1]) : 20000;
    test::Random random(argc > 2 ? static_cast<std::uint64_t>(std::atoll(argv[2])) : 1);
    source = &random;
    for (std::size_t i = 0; i < arena_size; i += 4) {
        float const value = static_cast<float>(draw(1, 9));
        std::memcpy(source_memory + i, &value, sizeof value);
    }
    fusekit_device device = nullptr;
    if (fusekit_device_create_host(1, &device) != FUSEKIT_SUCCESS) return 1;
    for (long i = 0; i < sequences && wrong < 20; ++i) sequence(device);
    fusekit_device_destroy(device);
    std::printf("%ld sequences", sequences);
    for (int status = 0; status <= FUSEKIT_INTERNAL; ++status)
        std::printf(", %s %ld", fusekit_status_name(status), statuses[status]);
    std::printf("; %ld wrong\n", wrong);
    bool const all =
        statuses[FUSEKIT_SUCCESS] > sequences / 4 && statuses[FUSEKIT_REFUSED] > 0 && statuses[FUSEKIT_NO_PLAN] > 0;
    return wrong == 0 && all ? 0 : 1;
}
