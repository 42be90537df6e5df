//! The values of options whose types are plain data: their words, and what the help says of each.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use idd_base::Sought;
use idd_session::order::{HistoryWalk, Level, Measure, SignatureMode, Until};

/// A type whose values are words on the command line.
pub trait ValueTable: Copy + PartialEq + Send + Sync + 'static {
    /// Each value with its word, and what the help says of it.
    const ALL: &'static [(Self, &'static str, &'static str)];
}

/// Reads a word as the value that it names.
pub fn value<T: ValueTable>() -> impl TypedValueParser<Value = T> {
    let words = T::ALL.iter().map(|(_, word, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).map(|given| {
        let named = T::ALL.iter().find(|(_, word, _)| *word == given);
        named.expect("the parser takes only words of the table").0
    })
}

/// The word for a value; empty for one that no word names.
pub fn word<T: ValueTable>(value: T) -> &'static str {
    T::ALL.iter().find(|(known, ..)| *known == value).map_or("", |(_, word, _)| word)
}

/// A table for each type: variant, word, help.
macro_rules! values {
    ($($type:ident { $($variant:ident $word:literal $help:literal)+ })+) => {$(
        impl $crate::args::values::ValueTable for $type {
            const ALL: &'static [(Self, &'static str, &'static str)] = &[$((Self::$variant, $word, $help)),+];
        }
    )+};
}

#[cfg(feature = "explain")]
pub(super) use values;

values! {
    Measure {
        Time "time" "Wall time"
        Cpu "cpu" "Processor time of the command and of the processes that it waits for; best on a busy machine"
        Memory "memory" "Peak of the memory of the largest of these processes"
        Instructions "instructions" "Instructions in user space; needs a counter of the processor"
    }
    HistoryWalk {
        Auto "auto" "Gallop back, then bisect"
        Linear "linear" "Every revision, backwards"
    }
    SignatureMode {
        Auto "auto" "Exit code and failure line, if that is stable"
        Exit "exit" "The exit code or signal only"
        Regex "regex" "The line that `--match` describes"
    }
    Level {
        File "file" "To whole files"
        Unit "unit" "To declarations, or to hunks if the language is not known"
        Hunk "hunk" "To hunks"
        Line "line" "To single statements and lines; a replaced one counts as one"
        HalfLine "half-line" "To lines, and a replaced line to its two halves: the smallest change, which may be code that nobody wrote"
    }
    Until {
        Found "found" "The first bad commit as `git bisect run` names it, without a proof"
        Commit "commit" "The first bad commit, proved"
        Change "change" "The minimal change inside it, too"
        Fix "fix" "A fix for HEAD, too"
    }
    // One more question has an option of its own, `--perf`.
    Sought {
        Failure "failure" "The commit since which the test fails"
        Fix "fix" "The commit since which the test passes again"
        Change "change" "The commit since which the command of `--by` prints what it prints now"
    }
}
