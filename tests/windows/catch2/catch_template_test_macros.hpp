// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
