#!/usr/bin/env bash
# Checks that the program compiles for macOS, where it refuses to run tests. Only `src/world/system/elsewhere.rs` is for it.
# Needs `rustup target add aarch64-apple-darwin`; without that it prints a sentence and succeeds.
#
# Nothing is linked, so a program that writes an empty file is enough in place of the C compiler for macOS.
#
# usage: scripts/macos.sh
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

target=aarch64-apple-darwin
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    echo "not checked for macOS: the target $target is not installed" >&2
    exit
fi
tools=$(mktemp -d)
trap 'rm -rf -- "$tools"' EXIT
cat >"$tools/cc" <<'EOF'
#!/bin/sh
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || : >"$2"
    shift
done
EOF
cat >"$tools/ar" <<'EOF'
#!/bin/sh
for word; do
    case $word in *.a) : >"$word" ;; esac
done
EOF
chmod +x "$tools/cc" "$tools/ar"
SDKROOT=$tools CC_aarch64_apple_darwin=$tools/cc AR_aarch64_apple_darwin=$tools/ar RUSTFLAGS='-D warnings' \
    cargo check --locked --target "$target"
