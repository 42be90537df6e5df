#!/bin/sh
# Compiles the classes that the tests of src/instrument/java read: needs JDK 17 and ecj.
set -eu
cd "$(dirname -- "$0")"
javac -nowarn -g --release 17 -encoding UTF-8 Every.java Made.java Text.java
# Before Java 6 there were no frames, and before Java 5 there were subroutines.
ecj -nowarn -g -source 1.5 -target 1.5 -d 5 Made.java
ecj -nowarn -g -source 1.3 -target 1.1 -d . Old.java
