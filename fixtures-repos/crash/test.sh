#!/bin/sh
# The long name of a unit works too. The shell is replaced, so that a signal is not turned into an exit code.
exec ./conv 5 foot metre
