#!/usr/bin/env bash
# Installs what the tests need and the machine lacks, on Debian and its derivatives. Prints what it installs, and nothing if nothing is missing.
#
# usage: scripts/setup.sh [--dependencies]
#
# `--dependencies` also gets what checks the dependencies: cargo-deny, and the copy of the advisories that they are held against, if it can be fetched.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

say() {
    printf '==> install %s\n' "$*" >&2
}

packages=()
need() { # need <command> <package>
    command -v "$1" >/dev/null 2>&1 || packages+=("$2")
}
command -v cc >/dev/null 2>&1 || packages+=(gcc libc6-dev)
need c++ g++
need make make
need git git
need javac default-jdk-headless
need python3 python3
need xmllint libxml2-utils
need ctags universal-ctags
need z3 z3
need zsh zsh
need fish fish
need node nodejs
need npm npm
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || packages+=(chromium)

# Recording needs a clang of version 16 or newer; what plain `clang` is differs between releases.
has_clang() {
    for name in clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    clang --version 2>/dev/null | grep -Eq 'version (1[6-9]|2[0-9])\.'
}

wants_clang=0
has_clang || wants_clang=1

if [ "$((${#packages[@]} + wants_clang))" -gt 0 ]; then
    if command -v apt-get >/dev/null 2>&1; then
        as_root=()
        if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null 2>&1; then
            as_root=(sudo)
        fi
        "${as_root[@]}" apt-get update
        if [ "$wants_clang" -eq 1 ]; then
            for name in clang-19 clang-18 clang-20 clang-17 clang-16 clang-21 clang-22; do
                if apt-cache show "$name" >/dev/null 2>&1; then
                    packages+=("$name")
                    break
                fi
            done
        fi
        say "with apt-get: ${packages[*]}"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${packages[@]}"
    else
        [ "$wants_clang" -eq 0 ] || packages+=('clang (16 or newer)')
        printf '==> missing, and there is no apt-get: %s\n' "${packages[*]}" >&2
    fi
fi

if command -v rustup >/dev/null 2>&1; then
    for component in rustfmt clippy; do
        if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1; then
            say "with rustup: $component"
            rustup component add "$component"
        fi
    done
fi

# What drives the browser in tests/idd/browser.rs, and the debugger in tests/idd/dap.rs, and the assistant in tests/idd/mcp.rs; the versions are those of the lock files.
for place in tests/browser tests/dap-client tests/mcp-client; do
    if command -v npm >/dev/null 2>&1 && [ ! "$place/node_modules" -nt "$place/package-lock.json" ]; then
        say "with npm: what $place/package-lock.json names"
        (cd "$place" && npm ci --ignore-scripts --no-audit --no-fund)
    fi
done

# The advisories of a fixed revision: a check says the same each time. A release takes a newer one. ADVISORY_DB names another place to fetch it from.
advisories=2e25d9665f10de885c81a9fb9d51a289f625b05f
copy=target/advisories/advisory-db-3157b0e258782691 # where cargo-deny looks for them
if [ "${1-}" = --dependencies ]; then
    if [ "$(git -C "$copy" rev-parse -q --verify HEAD 2>/dev/null)" != "$advisories" ]; then
        say "with git: the advisories of $advisories"
        git init -q -b main "$copy"
        git -C "$copy" fetch -q --depth 1 "${ADVISORY_DB:-https://github.com/rustsec/advisory-db}" "$advisories"
        git -C "$copy" checkout -q --detach FETCH_HEAD
    fi
    if ! cargo deny --version >/dev/null 2>&1; then
        say 'with cargo: cargo-deny'
        cargo install --locked cargo-deny@0.20.2
    fi
    cargo fetch --locked
fi
