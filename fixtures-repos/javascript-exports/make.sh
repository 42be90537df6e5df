#!/bin/sh
# A parser of options: one commit changes a class, two exported functions and a table, and one entry breaks the test.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put package.json <<'END'
{ "name": "options", "private": true, "type": "commonjs" }
END
put lib/options.js <<'END'
'use strict';

/** What is known of each option. */
const OPTIONS = {
  depth: { short: 'd', value: Number },
  name: { short: 'n', value: String },
  quiet: { short: 'q', flag: true },
};

class Reader {
  constructor(words) {
    this.words = words;
    this.at = 0;
  }

  next() {
    return this.words[this.at++];
  }

  get isAtEnd() {
    return this.at === this.words.length;
  }
}

const find = (name) =>
  Object.entries(OPTIONS).find(([long, option]) => name === `--${long}` || name === `-${option.short}`);

exports.parse = function (words) {
  const reader = new Reader(words);
  const found = { rest: [] };
  while (!reader.isAtEnd) {
    const word = reader.next();
    const known = find(word);
    if (!known) {
      found.rest.push(word);
      continue;
    }
    const [long, option] = known;
    found[long] = option.flag ? true : option.value(reader.next());
  }
  return found;
};
END
put lib/show.js <<'END'
'use strict';

exports.show = function (found) {
  const names = Object.keys(found).filter((name) => name !== 'rest');
  return names.sort().map((name) => `${name}=${found[name]}`).join(' ');
};
END
put_test
commit ada 0 'Parse options'
news bob 'Announce the first version'
for topic in colours commands; do news dee "Collect wishes about $topic"; done

after lib/options.js "name: { short: 'n', value: String }," <<'END'
  level: { short: 'l', value: (text) => parseInt(text, 10) },
END
swap lib/options.js "depth: { short: 'd', value: Number }," "depth: { short: 'd', value: (text) => Math.min(Number(text), 4) },"
after lib/options.js 'get isAtEnd() {' <<'END'
    if (this.at > this.words.length) {
      throw new Error(`no value after ${this.words[this.words.length - 1]}`);
    }
END
after lib/options.js 'const word = reader.next();' <<'END'
    if (word === '--') {
      found.rest.push(...reader.words.slice(reader.at));
      break;
    }
END
swap lib/show.js "name !== 'rest'" "name !== 'rest' && found[name] !== undefined"
next cho 'End the options with two dashes'
news eli 'Greet the meeting in Oslo'
news bob 'Thank the contributors'
finish
