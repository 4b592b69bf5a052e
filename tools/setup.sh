# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by tools/demo and tools/test: progress, packages, builds. Sourced in the root of the repository.

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

# interruptible: ^C ends the script with a message and exit code 130.
interruptible() {
    trap 'interrupted=true; printf "\n%s: interrupted after %d s\n" "${0##*/}" "$SECONDS" >&2; exit 130' INT TERM
}

# Restores our ownership of the build folders, which sudo leaves to root.
own_build() {
    local folder
    for folder in build build/*/; do
        [[ ! -e $folder || -w $folder ]] ||
            fail "${folder%/} cannot be written to: it belongs to $(stat -c %U "$folder"); remove it, or run this as that user"
    done
}

# logged COMMAND...: writes the output to build/apt.log and prints downloads and errors.
logged() {
    mkdir -p build
    "$@" </dev/null 2>&1 | tee -a build/apt.log |
        { grep -E '^(Need to get|Fetched|[EW]: |dpkg: error|sudo: )' || true; }
}

is_root() { (($(id -u) == 0)); }

# True if packages can be installed here: as root, or with sudo, which asks for a password once.
can_install() {
    if [[ ! ${installs:-} ]]; then
        installs=false
        if command -v apt-get >/dev/null && { is_root || { command -v sudo >/dev/null && sudo -v; }; }; then
            installs=true
        fi
    fi
    $installs
}

as_root() {
    if is_root; then logged "$@"; else logged sudo "$@"; fi
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 "$@"; }

# Once per run: repairs an interrupted dpkg, and updates the package lists.
refresh_packages() {
    [[ ! ${packages_are_fresh:-} ]] || return 0
    as_root dpkg --configure -a || fail "dpkg was interrupted and is not repaired: see build/apt.log"
    apt_get update || fail "apt-get update failed: see build/apt.log"
    packages_are_fresh=true
}

# A command by its name, a file by its absolute path.
present() {
    if [[ $1 == /* ]]; then [[ -e $1 ]]; else command -v "$1" >/dev/null; fi
}

# missing_of PACKAGE=NAME...: prints the packages whose command or file is not present.
missing_of() {
    local entry
    for entry in "$@"; do
        present "${entry#*=}" || echo "${entry%%=*}"
    done
}

# need PACKAGE=NAME...: installs each package whose command or file is not present; exits on failure.
need() {
    local missing
    mapfile -t missing < <(missing_of "$@")
    ((${#missing[@]})) || return 0
    can_install || fail "what only root can install is missing; on Debian: apt-get install ${missing[*]}"
    refresh_packages
    echo "installing ${missing[*]}"
    apt_get install --no-install-recommends "${missing[@]}" ||
        fail "apt-get failed: see build/apt.log. This needs ${missing[*]}"
}

# want PACKAGE=NAME...: as need, but on failure prints that the tests that need the package are skipped.
want() {
    local missing known=() package
    mapfile -t missing < <(missing_of "$@")
    ((${#missing[@]})) || return 0
    if ! can_install; then
        echo "not here, so that tests that need them skip: ${missing[*]}"
        return
    fi
    refresh_packages
    for package in "${missing[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            known+=("$package")
        else
            echo "there is no package $package here: tests that need it skip"
        fi
    done
    ((${#known[@]})) || return 0
    echo "installing ${known[*]}"
    apt_get install --no-install-recommends "${known[@]}" || fail "apt-get failed: see build/apt.log"
}

has_nvcc() { [[ -x /usr/local/cuda/bin/nvcc ]] || command -v nvcc >/dev/null; }

has_nvidia_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# amd_compilers: prints the folders with a clang++ that the rocm preset searches.
amd_compilers() {
    local bin
    for bin in /opt/rocm/llvm/bin /usr/lib/llvm-19/bin; do
        [[ ! -x $bin/clang++ ]] || echo "$bin"
    done
}

# An AMD GPU, and a compiler for it.
has_amd_gpu() {
    local bin
    for bin in $(amd_compilers); do
        "$bin/amdgpu-arch" 2>/dev/null | grep -q '^gfx' && return
    done
    return 1
}

# gpu_preset: prints the CMake preset for this machine's GPU; nothing without a GPU or a compiler for it.
gpu_preset() {
    if has_amd_gpu; then
        echo rocm
    elif has_nvidia_gpu && has_nvcc; then
        echo cuda
    fi
}

# gpus_not_found: prints which GPUs and compilers were searched for and not found.
gpus_not_found() {
    if [[ ! $(amd_compilers) ]]; then
        echo "AMD: no clang++ in /opt/rocm/llvm/bin or /usr/lib/llvm-19/bin"
    elif ! has_amd_gpu; then
        echo "AMD: amdgpu-arch in $(amd_compilers | paste -sd ' ') finds no GPU"
    fi
    if ! command -v nvidia-smi >/dev/null; then
        echo "NVIDIA: no nvidia-smi"
    elif ! has_nvidia_gpu; then
        echo "NVIDIA: nvidia-smi finds no GPU"
    elif ! has_nvcc; then
        echo "NVIDIA: a GPU, but no nvcc in /usr/local/cuda/bin or PATH"
    fi
}

has_catch2() {
    local prefix prefixes=${CMAKE_PREFIX_PATH:-}
    for prefix in ${prefixes//:/ } "$packages/usr" /usr/local /usr; do
        [[ -e $prefix/include/catch2/catch_test_macros.hpp ]] && return
    done
    return 1
}

# Catch2 3: from the distribution or, on Debian 12, from its backports suite, without root.
need_catch2() {
    has_catch2 && return
    command -v apt-get >/dev/null || fail "install Catch2 of version 3 first; CMAKE_PREFIX_PATH may say where"
    ! can_install || refresh_packages
    if [[ $(apt-cache policy libcatch2-dev) =~ Candidate:\ ([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 3)); then
        need libcatch2-dev=/usr/include/catch2/catch_test_macros.hpp
    else
        unpack_backport libcatch2-dev || true
    fi
    has_catch2 || fail "no Catch2 of version 3 was found: see build/apt.log"
}

# unpack_backport PACKAGE: unpacks it into build/packages from this machine's mirror, with a separate apt state, so that
# the machine's package sources are unchanged.
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

# One compiler per processor, limited by the free memory in GB.
jobs_that_fit() {
    local processors gigabytes
    processors=$(nproc)
    gigabytes=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || echo "$processors")
    echo $((gigabytes < 1 ? 1 : gigabytes < processors ? gigabytes : processors))
}

# build PRESET [CMAKE_OPTION...]
build() {
    cmake --preset "$1" "${@:2}" && cmake --build --preset "$1" --parallel "$(jobs_that_fit)"
}
