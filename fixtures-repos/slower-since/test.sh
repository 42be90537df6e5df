#!/bin/sh
# Runs the program; it is no test.
exec ./words
