#!/bin/sh
version=$(./clock --version)
case $version in
'clock v0') echo "FAIL: the program does not know its version"; exit 1 ;;
'clock v'[0-9]*) ;;
*) echo "FAIL: the version is '$version'"; exit 1 ;;
esac
