#!/bin/sh
# Words are counted: one commit changes two methods, a function and a match, and one arm of the match breaks the count.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/words
END
put src/main.rs <<'END'
//! Counts words: `words <text>...`.

use std::collections::BTreeMap;

/// How often each word stands in a text.
#[derive(Debug, Default)]
struct Count {
    words: BTreeMap<String, u32>,
}

impl Count {
    /// Takes a text in.
    fn add(&mut self, text: &str) {
        let mut word = String::new();
        for letter in text.chars() {
            match letter {
                'a'..='z' => word.push(letter),
                'A'..='Z' => word.push(letter.to_ascii_lowercase()),
                _ => self.end(&mut word),
            }
        }
        self.end(&mut word);
    }

    fn end(&mut self, word: &mut String) {
        if word.is_empty() {
            return;
        }
        *self.words.entry(word.clone()).or_default() += 1;
        word.clear();
    }

    #[must_use]
    fn shown(&self) -> String {
        let mut shown = String::new();
        for (word, n) in &self.words {
            shown += &format!("{word}={n} ");
        }
        shown
    }
}

fn main() {
    let mut count = Count::default();
    for text in std::env::args().skip(1) {
        count.add(&text);
    }
    println!("{}", count.shown());
}
END
put_test
commit ada 0 'Count words'
news bob 'Announce the first version'
for topic in languages colours; do news dee "Collect wishes about $topic"; done

after src/main.rs 'words: BTreeMap<String, u32>,' <<'END'
    /// All words together.
    n_words: u32,
END
after src/main.rs "'A'..='Z' => word.push" <<'END'
                '0'..='9' if !word.is_empty() => word.push(letter),
                '-' => word.push(letter),
END
after src/main.rs '*self.words.entry(word.clone())' <<'END'
        self.n_words += 1;
END
replace src/main.rs 'let mut shown = String::new();' <<'END'
        if self.n_words == 0 {
            return String::from("nothing");
        }
        let mut shown = String::with_capacity(8 * self.words.len());
END
swap src/main.rs 'println!("{}", count.shown());' 'println!("{}", count.shown().trim_end());'
next cho 'Let words have digits'
news eli 'Greet the meeting in Oslo'
news bob 'Thank the contributors'
finish
