#!/bin/sh
damaged() {
    echo "FAIL: damaged checkout: $1"
    exit 3
}
[ "$(wc -c <data/swatch-1.bin)" -eq 64 ] || damaged 'size of a binary file'
[ "$(tr -dc '\000\r\n' <data/swatch-1.bin | wc -c)" -eq 48 ] || damaged 'bytes of a binary file'
[ -L data/swatch ] && [ "$(wc -c <data/swatch)" -eq 64 ] || damaged 'symlink'
[ -f "$(printf 'menu/caf\351.txt')" ] || damaged 'name that is not UTF-8'
[ "$(wc -l <VERSION)" -eq 0 ] || damaged 'missing final newline'
[ "$(wc -l <src/blend.c)" -eq "$(tr -dc '\r' <src/blend.c | wc -c)" ] || damaged 'line ends'
got=$(./mix 000000 0000c0)
[ "$got" = 000060 ] && exit 0
echo "FAIL: mixed to $got, want 000060"
exit 1
