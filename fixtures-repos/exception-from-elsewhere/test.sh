#!/bin/sh
# Times may have a unit.
java -Xshare:auto -XX:TieredStopAtLevel=1 -cp out Settings retry=5s timeout=30s
