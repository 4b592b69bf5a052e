// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The command line was wrong; what() says how. A program ends with exit code 2.
struct UsageError : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Long options with one value each, "--batch 8" or "--batch=8", and --help.
class CommandLine {
public:
    CommandLine(std::string program, std::string summary) : program(std::move(program)), summary(std::move(summary)) {}

    CommandLine& integer(char const* name, int& value, int least, int most, std::string const& help) {
        return add(name, "N", fmt::format("{} (default {})", help, value), [=, &value](std::string_view given) {
            auto const [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
            if (error != std::errc{} || end != given.data() + given.size() || value < least || value > most)
                throw UsageError(fmt::format("{} takes a number from {} to {}, got '{}'", name, least, most, given));
        });
    }

    CommandLine& text(char const* name, char const* placeholder, std::string& value, std::string const& help) {
        return add(name, placeholder, fmt::format("{} (default {})", help, value),
                   [name, &value](std::string_view given) {
                       if (given.empty()) throw UsageError(fmt::format("{} takes a value", name));
                       value = given;
                   });
    }

    CommandLine& choice(char const* name, std::string& value, std::vector<std::string> const& choices,
                        std::string const& help) {
        std::string const all = fmt::format("{}", fmt::join(choices, "|"));
        return add(name, all, fmt::format("{} (default {})", help, value), [=, &value](std::string_view given) {
            for (std::string const& each : choices)
                if (each == given) return void(value = each);
            throw UsageError(fmt::format("{} takes {}, got '{}'", name, fmt::join(choices, ", "), given));
        });
    }

    /// False where --help was asked for and printed. Throws UsageError.
    bool parse(int argc, char const* const* argv) const {
        for (int i = 1; i < argc; ++i) {
            std::string_view const given = argv[i];
            if (given == "--help" || given == "-h") return help(), false;
            std::size_t const equals = given.find('=');
            Option const& option = find(given.substr(0, equals));
            if (equals != given.npos) option.set(given.substr(equals + 1));
            else if (++i < argc) option.set(argv[i]);
            else throw UsageError(fmt::format("{} takes a value", option.name));
        }
        return true;
    }

private:
    struct Option {
        std::string name, placeholder, help;
        std::function<void(std::string_view)> set;
    };
    std::string program, summary;
    std::vector<Option> options;

    CommandLine& add(std::string name, std::string placeholder, std::string help,
                     std::function<void(std::string_view)> set) {
        options.push_back({std::move(name), std::move(placeholder), std::move(help), std::move(set)});
        return *this;
    }

    Option const& find(std::string_view name) const {
        for (Option const& option : options)
            if (option.name == name) return option;
        throw UsageError(fmt::format("there is no option '{}'", name));
    }

    void help() const {
        fmt::print("{}: {}\n\nUsage: {} [option value]...\n\n", program, summary, program);
        for (Option const& option : options)
            fmt::print("  {:<32}{}\n", option.name + " " + option.placeholder, option.help);
        fmt::print("  {:<32}this text\n", "--help");
    }
};

/// Runs `body` as the whole of main: prints what it throws, and gives the exit code.
template <class Body>
int run_program(char const* program, Body const& body) {
    try {
        return body();
    } catch (UsageError const& error) {
        fmt::print(stderr, "{}: {}; --help lists the options\n", program, error.what());
        return 2;
    } catch (std::exception const& error) {
        fmt::print(stderr, "{}: {}\n", program, error.what());
        return 1;
    }
}

}  // namespace bench
