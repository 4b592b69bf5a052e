// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "fusekit/error.hpp"

namespace fusekit {

/// The Error of a call that returns errors instead of throwing them; converts to false if there is none:
///     if (fk::Refusal const refusal = run.try_run(stream, x, y)) log(refusal->what());
class Refusal {
public:
    FUSEKIT_H Refusal() = default;
    [[gnu::cold]] FUSEKIT_H Refusal(Error the_error) : error(new Error(std::move(the_error))) {}
    FUSEKIT_H Refusal(Refusal&& other) noexcept : error(config::exchange(other.error, nullptr)) {}
    FUSEKIT_H Refusal& operator=(Refusal&& other) noexcept {
        config::swap(error, other.error);
        return *this;
    }
    FUSEKIT_H ~Refusal() {
        if (error) destroy();
    }

    FUSEKIT_H explicit operator bool() const { return error != nullptr; }
    FUSEKIT_H Error const& operator*() const { return *error; }
    FUSEKIT_H Error const* operator->() const { return error; }

    /// Throws the error, if there is one.
    FUSEKIT_H void raise() const {
        if (error) detail::raise(*error);
    }

private:
    Error* error = nullptr;

    [[gnu::cold, gnu::noinline]] FUSEKIT_H void destroy() { delete error; }
};

namespace detail {

/// std::optional as a class whose member functions have the unit's compiler flags in their mangled names (abi.hpp).
template <class T>
class Maybe {
public:
    FUSEKIT_H Maybe() : none() {}
    FUSEKIT_H Maybe(T value) : has_value(true), held(static_cast<T&&>(value)) {}
    FUSEKIT_H Maybe(Maybe&& other) noexcept : has_value(other.has_value), none() {
        if (has_value) new (&held) T(static_cast<T&&>(other.held));
    }
    FUSEKIT_H ~Maybe() {
        if (has_value) held.~T();
    }

    FUSEKIT_H explicit operator bool() const { return has_value; }
    FUSEKIT_H T const& operator*() const { return held; }
    FUSEKIT_H T& operator*() { return held; }
    FUSEKIT_H T const* operator->() const { return &held; }

private:
    bool has_value = false;
    union {
        char none;
        T held;
    };
};

}  // namespace detail

/// A value or an Error.
template <class T>
class [[nodiscard("it may hold an Error instead of the value")]] Result {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    FUSEKIT_H Result(T const& value) : held(value) {}
    [[gnu::cold]] FUSEKIT_H Result(Error error) : refused(std::move(error)) {}

    FUSEKIT_H Result(Result&&) = default;
    FUSEKIT_H Result& operator=(Result&&) = default;
    FUSEKIT_H ~Result() = default;

    /// True if there is a value.
    FUSEKIT_H explicit operator bool() const { return !refused; }
    FUSEKIT_H T const& operator*() const { return held; }
    FUSEKIT_H T& operator*() { return held; }
    FUSEKIT_H T const* operator->() const { return &held; }

    /// Returns the error. Precondition: there is no value.
    FUSEKIT_H Error const& error() const { return *refused; }

    /// Returns the value. Throws the error if there is none.
    FUSEKIT_H T const& value() const {
        refused.raise();
        return held;
    }

private:
    Refusal refused;
    union {
        T held;
    };
};

}  // namespace fusekit
