#!/bin/sh
# Two and a half kilometres are 2500 metres.
[ "$(./conv 2.5 km m)" = 2500 ] || exit 1
