#!/bin/sh
got=$(node -e '
const { parse } = require("./lib/options.js");
const { show } = require("./lib/show.js");
console.log(show(parse(["-q", "--depth", "9", "a", "-n", "box"])));
') || exit
[ "$got" = 'depth=9 name=box quiet=true' ] && exit 0
echo "FAIL: the options are $got"
exit 1
