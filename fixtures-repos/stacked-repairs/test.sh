#!/bin/sh
got=$(printf banane | ./letters --vowels) || { echo 'the program knows no vowels'; exit 64; }
[ "$got" = 3 ] && exit 0
echo "FAIL: counted $got vowels, want 3"
exit 1
