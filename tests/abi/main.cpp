// SPDX-License-Identifier: MIT
//
// Two units of one program, compiled with different flags: each computes its own plans and the other's, and uses
// objects that the other made. Prints nothing, or the difference.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "unit.hpp"

extern abi::Unit const first, second;

namespace {

using namespace abi;

int failures = 0;

void expect(bool holds, char const* what, Unit const& maker, Unit const& user) {
    if (holds) return;
    ++failures;
    std::printf("%s: made by %s, used by %s\n", what, maker.flags, user.flags);
}

void poison(Images& y) {
    for (std::int64_t i = 0; i < y.size(); ++i) y.data()[i] = NAN;
}

/// Convolution by its definition, in integers.
std::vector<float> expected_of(Operands const& of, Images const& y) {
    std::vector<float> result(static_cast<std::size_t>(y.size()));
    auto const at = [](auto const& t, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
        auto const& s = t.layout().stride;
        return n * s[0] + c * s[1] + h * s[2] + w * s[3];
    };
    for (int n = 0; n < 2; ++n)
        for (int k = 0; k < 21; ++k)
            for (int p = 0; p < 9; ++p)
                for (int q = 0; q < 7; ++q) {
                    long sum = std::lround(of.bias.data()[k]);
                    for (int c = 0; c < 19; ++c)
                        for (int r = 0; r < 3; ++r)
                            for (int s = 0; s < 3; ++s) {
                                int const h = p + r - 1, w = q + s - 1;
                                if (h < 0 || h >= 9 || w < 0 || w >= 7) continue;
                                sum += std::lround(of.x.data()[at(of.x, n, c, h, w)]) *
                                       std::lround(of.weights.data()[at(of.weights, k, c, r, s)]);
                            }
                    result[static_cast<std::size_t>(at(y, n, k, p, q))] = static_cast<float>(sum > 0 ? sum : 0);
                }
    return result;
}

bool equal(Images const& y, std::vector<float> const& expected) {
    for (std::int64_t i = 0; i < y.size(); ++i)
        if (!(y.data()[i] == expected[static_cast<std::size_t>(i)])) return false;
    return true;
}

/// `user` uses tensors, runs and layers that `maker` makes.
void check(Unit const& maker, Unit const& user) {
    Device* const device = maker.device(3);
    for (bool const last : {false, true}) {
        Operands const of = maker.make(*device, last);
        Images y(*device, last ? fk::nhwc(2, 9, 7, 21) : fk::nchw(2, 21, 9, 7));
        auto const expected = expected_of(of, y);
        auto const compare = [&](char const* what, auto const& run) {
            poison(y);
            run();
            expect(equal(y, expected), what, maker, user);
        };
        compare("a plan's call", [&] { user.run(*device, of, y); });
        compare("a view", [&] { user.run_view(*device, of.x.const_view(), of, y.view()); });
        compare("a bound plan", [&] { user.run_bound(maker.bind(of), *device, of, y); });
        compare("a prepared run", [&] { user.run_prepared(maker.prepare(*device, of, y), *device, of, y); });
        compare("a layer", [&] { user.run_layer(maker.layer(of), *device, of, y); });
        compare("a handle", [&] { user.run_handle(maker.handle(), *device, of, y); });
        expect(user.second_step(maker.describe(of)) == "BiasPlan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>",
               "a description", maker, user);
        compare("a plan's call, again", [&] { maker.run(*device, of, y); });

        Channels one(*device, fk::channels(19)), zero(*device, fk::channels(19)), mean(*device, fk::channels(19));
        for (int c = 0; c < 19; ++c) one.data()[c] = 1, zero.data()[c] = 0, mean.data()[c] = NAN;
        Images normal(*device, of.x.layout());
        user.norm(*device, of.x, one, zero, mean, normal);
        double sum = 0;
        for (std::int64_t i = 0; i < of.x.size(); ++i) sum += static_cast<double>(of.x.data()[i]);
        for (int c = 0; c < 19; ++c) sum -= 2.0 * 63 * static_cast<double>(mean.data()[c]);
        expect(std::fabs(sum) < 1e-2, "a batch norm", maker, user);

        expect(user.refusal(*device, of) && maker.refusal(*device, of)->argument == "weights", "a refusal", maker,
               user);
        if (maker.throws && user.throws) expect(user.catches(maker.refuse, *device, of), "an error", maker, user);
    }
    Halves x(*device, fk::nchw(1, 5, 3, 7)), y(*device, fk::nchw(1, 5, 3, 7));
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = fk::half(static_cast<float>(i % 17 - 8));
    user.curve(*device, x, y);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        double const exact = 1 / (1 + std::exp(-0.5 * static_cast<double>(i % 17 - 8)));
        expect(std::fabs(static_cast<double>(static_cast<float>(y.data()[i])) - exact) <= exact * 0x1p-10, "a half",
               maker, user);
    }
    delete device;
}

/// A child process inherits no threads of a Device: it still runs plans and exits.
void check_fork(Unit const& maker, Unit const& user) {
    Device* const device = maker.device(4);
    Operands const of = maker.make(*device, false);
    Images y(*device, fk::nchw(2, 21, 9, 7));
    user.run(*device, of, y);
    pid_t const child = fork();
    if (child == 0) {
        poison(y);
        user.run(*device, of, y);
        bool const right = equal(y, expected_of(of, y));
        delete device;
        std::_Exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a fork", maker, user);
    delete device;
}

/// An error that cannot be thrown aborts the program.
void check_abort(Unit const& maker, Unit const& user) {
    Device* const device = maker.device(1);
    Operands const of = maker.make(*device, false);
    pid_t const child = fork();
    if (child == 0) {
        std::fclose(stderr);
        user.catches(maker.refuse, *device, of);
        std::_Exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "an abort", maker, user);
    delete device;
}

}  // namespace

/// Runs every pair of units, or only the unit that an argument names.
int main(int count, char** arguments) {
    std::vector<Unit const*> units{&first, &second};
    if (count > 1) units = {std::strcmp(arguments[1], "first") == 0 ? &first : &second};
    for (Unit const* maker : units)
        for (Unit const* user : units) {
            check(*maker, *user);
            if (user->throws && !maker->throws) check_abort(*maker, *user);
        }
    check_fork(*units.front(), *units.back());
    return failures != 0;
}
