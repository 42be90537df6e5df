//! The values of options whose types are plain data: their words, and what the help says of each.

use crate::explain::native::invariant::Mode;
use crate::session::order::{Keep, Level, Measure, Side, SignatureMode, Until, Walk};
use crate::sought::Sought;
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A table for each type: variant, word, help.
macro_rules! values {
    ($($type:ident { $($variant:ident $word:literal $help:literal)+ })+) => {$(
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$(Self::$variant),+]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $(Self::$variant => PossibleValue::new($word).help($help),)+
                })
            }
        }
    )+};
}

values! {
    Measure {
        Time "time" "Wall time"
        Cpu "cpu" "Processor time of the command and of the processes that it waits for; best on a busy machine"
        Memory "memory" "Peak of the memory of the largest of these processes"
        Instructions "instructions" "Instructions in user space; needs a counter of the processor"
    }
    Walk {
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
    Keep {
        First "first" "The beginning"
        Last "last" "The end"
    }
    Mode {
        Value "value" "Nothing"
        Address "address" "That a value is read where it was stored"
        Absolute "absolute" "Their numbers"
    }
    Side {
        Culprit "culprit" "The first bad revision"
        Head "head" "The revision that the fix is for"
    }
}

/// One more question has an option of its own, `--perf`.
impl ValueEnum for Sought {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Failure, Self::Fix, Self::Change]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (word, help) = match self {
            Self::Failure => ("failure", "The commit since which the test fails"),
            Self::Fix => ("fix", "The commit since which the test passes again"),
            Self::Change => ("change", "The commit since which the command of `--by` prints what it prints now"),
            Self::Slower => return None,
        };
        Some(PossibleValue::new(word).help(help))
    }
}
