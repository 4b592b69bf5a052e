# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What tools/demo and tools/test share: progress, packages, builds. Sourced in the root of the repository.

packages=$PWD/build/packages  # holds what only the backports suite has; the CMake presets look here

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# step TEXT: announces the next of $steps steps.
step() {
    step_number=$((${step_number:-0} + 1))
    printf '\n[%d/%d, %d s] %s\n' "$step_number" "${steps:?}" "$SECONDS" "$*"
}

# logged COMMAND...: keeps the output in build/apt.log and shows what is downloaded and what goes wrong.
logged() {
    mkdir -p build
    "$@" </dev/null 2>&1 | tee -a build/apt.log |
        { grep -E '^(Need to get|Fetched|[EW]: |dpkg: error|sudo: )' || true; }
}

apt_get() {
    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "packages are missing: run this as root, or install sudo"
        as_root=(sudo)
    fi
    logged "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 "$@" ||
        fail "apt-get failed: see build/apt.log"
}

# A command by its name, a file by its absolute path.
present() {
    if [[ $1 == /* ]]; then [[ -e $1 ]]; else command -v "$1" >/dev/null; fi
}

# install PACKAGE=NAME...: installs each package whose command or file is not present.
install() {
    local missing=() entry
    for entry in "$@"; do
        present "${entry#*=}" || missing+=("${entry%%=*}")
    done
    if ((${#missing[@]})); then
        command -v apt-get >/dev/null || fail "install these first: ${missing[*]}"
        echo "installing ${missing[*]}"
        apt_get update
        apt_get install --no-install-recommends "${missing[@]}"
    fi
}

# install_known PACKAGE=NAME...: as install, but leaves out what this machine's apt does not know, and all where there
# is no apt: the tests that need it skip.
install_known() {
    local missing=() entry
    command -v apt-get >/dev/null || return 0
    for entry in "$@"; do
        present "${entry#*=}" || missing+=("$entry")
    done
    ((${#missing[@]})) || return 0
    apt_get update
    local known=()
    for entry in "${missing[@]}"; do
        if apt-cache show "${entry%%=*}" >/dev/null 2>&1; then
            known+=("$entry")
        else
            echo "there is no package ${entry%%=*} here: tests that need it skip"
        fi
    done
    ((${#known[@]} == 0)) || install "${known[@]}"
}

has_nvcc() { [[ -x /usr/local/cuda/bin/nvcc ]] || command -v nvcc >/dev/null; }

has_nvidia_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# An AMD GPU, and a compiler for it where the rocm preset looks for one.
has_amd_gpu() {
    local bin
    for bin in /opt/rocm/llvm/bin /usr/lib/llvm-19/bin; do
        [[ -x $bin/clang++ ]] && "$bin/amdgpu-arch" 2>/dev/null | grep -q '^gfx' && return
    done
    return 1
}

# gpu_preset: prints the CMake preset for this machine's GPU; nothing where there is no GPU, or no compiler for it.
gpu_preset() {
    if has_amd_gpu; then
        echo rocm
    elif has_nvidia_gpu && has_nvcc; then
        echo cuda
    fi
}

has_catch2() {
    local prefix prefixes=${CMAKE_PREFIX_PATH:-}
    for prefix in ${prefixes//:/ } "$packages/usr" /usr/local /usr; do
        [[ -e $prefix/include/catch2/catch_test_macros.hpp ]] && return
    done
    return 1
}

# Catch2 of version 3: from the distribution or, on Debian 12, from its backports suite.
install_catch2() {
    has_catch2 && return
    command -v apt-get >/dev/null || fail "install Catch2 of version 3 first; CMAKE_PREFIX_PATH may say where"
    apt_get update
    if [[ $(apt-cache policy libcatch2-dev) =~ Candidate:\ ([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 3)); then
        echo "installing libcatch2-dev"
        apt_get install --no-install-recommends libcatch2-dev
    else
        unpack_backport libcatch2-dev || true
    fi
    has_catch2 || fail "no Catch2 of version 3 was found: see build/apt.log"
}

# unpack_backport PACKAGE: unpacks it into build/packages, from the mirror that this machine uses, through an apt state
# of its own, so that the machine's package sources stay as they are.
unpack_backport() {
    local codename mirror apt=$packages/apt options
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    mirror=$(apt-get indextargets --format "\$(RELEASE) \$(SITE)" | sed -n "s/^$codename //p" | head -n 1)
    echo "unpacking $1 of $codename-backports into build/packages"
    rm -rf "$packages"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    printf 'deb [signed-by=%s] %s %s-backports main\n' /usr/share/keyrings/debian-archive-keyring.gpg \
        "${mirror:-http://deb.debian.org/debian}" "$codename" >"$apt/sources.list"
    options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
    logged apt-get "${options[@]}" update &&
        logged env --chdir="$apt" apt-get "${options[@]}" download "$1" &&
        dpkg -x "$apt/$1"_*.deb "$packages"
}

# As many compilers at a time as there are processors, and gigabytes of free memory for them.
jobs_that_fit() {
    local processors gigabytes
    processors=$(nproc)
    gigabytes=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || echo "$processors")
    echo $((gigabytes < 1 ? 1 : gigabytes < processors ? gigabytes : processors))
}

# build PRESET [TARGET...]
build() {
    cmake --preset "$1" &&
        cmake --build --preset "$1" --parallel "$(jobs_that_fit)" ${2:+--target} "${@:2}"
}
