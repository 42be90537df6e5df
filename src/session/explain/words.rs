//! The failure and the beginning of a chain, in words.

use crate::explain::change::TreeSources;
use crate::explain::model::{Explanation, Limit};
use idd_explain::failure::{RunEnding, RunWrong};
use idd_explain::native::origin::{DifferenceOrigin, UsedVariable};
use idd_explain::native::roots::Missing;
use idd_report::chain::Was;
use idd_trace::native::target::OpenedFile;
use idd_trace::native::value;
use idd_trace::{ObservableCall, RunArgument};

/// What was said: the text, or the call as C would write it.
pub fn said(said: &ObservableCall) -> String {
    if let Some(text) = &said.text {
        return value::quoted(text, '"');
    }
    let texts = said.words.iter().map(|word| match word {
        RunArgument::Text(text) => value::quoted(text, '"'),
        // A number of at most four bytes may be an `int`.
        RunArgument::Number(number) => match u32::try_from(*number) {
            Ok(number) => number.cast_signed().to_string(),
            Err(_) => number.cast_signed().to_string(),
        },
        // What is there is not known.
        RunArgument::Pointer => "...".to_owned(),
    });
    format!("{}({})", said.function, texts.collect::<Vec<_>>().join(", "))
}

/// Whether a text is no text for people.
fn is_binary(text: &[u8]) -> bool {
    let is_shown = |character: char| !character.is_control() || matches!(character, '\n' | '\t' | '\r' | '\x1b');
    std::str::from_utf8(text).map_or(true, |text| !text.chars().all(is_shown))
}

/// Whether what is said is told as bytes, or as what a file holds.
fn is_for_files(wrong: &ObservableCall, target: Option<&OpenedFile>) -> bool {
    wrong.text.as_ref().is_some_and(|text| target.is_some() || is_binary(text))
}

/// What was written to a file, or bytes that are no text: where they begin to differ, counted from 1 as `cmp` does.
fn written(wrong: &ObservableCall, other: Option<&ObservableCall>, target: Option<&OpenedFile>) -> String {
    /// Bytes that are printed.
    const MAX_BYTES: usize = 4;
    let ours = wrong.text.as_deref().unwrap_or_default();
    let theirs = other.and_then(|other| other.text.as_deref());
    let path = target.map(|target| String::from_utf8_lossy(&target.path).into_owned());
    if let (Some(path), false) = (&path, is_binary(ours) || theirs.is_some_and(is_binary)) {
        let reference =
            theirs.map_or_else(|| ": nothing more".to_owned(), |theirs| format!(" {}", value::quoted(theirs, '"')));
        return format!("the program writes {} to {path} (reference{reference})", value::quoted(ours, '"'));
    }
    let theirs = theirs.unwrap_or_default();
    let at = ours.iter().zip(theirs).take_while(|(one, other)| one == other).count();
    let hex = |bytes: &[u8]| {
        let bytes: Vec<String> = bytes.iter().skip(at).take(MAX_BYTES).map(|byte| format!("{byte:02x}")).collect();
        if bytes.is_empty() { "nothing more".to_owned() } else { bytes.join(" ") }
    };
    let place = match (path, target.map(|target| target.offset)) {
        (Some(path), Some(Some(offset))) => format!("{path} differs at byte {}", offset + at as u64 + 1),
        (Some(path), _) => format!("the program writes {} bytes to {path} that differ at byte {}", ours.len(), at + 1),
        (None, _) => format!("the program writes {} bytes that differ at byte {}", ours.len(), at + 1),
    };
    format!("{place}: {} (reference {})", hex(ours), hex(theirs))
}

fn ending(ending: RunEnding) -> String {
    match ending {
        RunEnding::Exit(code) => format!("exits with {code}"),
        RunEnding::Signal(signal) => format!("is killed by signal {signal}"),
        RunEnding::Endless => "does not end".to_owned(),
    }
}

/// The failure in one clause.
pub fn failure(explanation: &Explanation) -> String {
    wrong(&explanation.failure.0, explanation.target.as_ref(), explanation.reason.as_deref())
}

/// A failure in one clause.
///
/// - `target`: the file that the program wrote to.
/// - `reason`: see [`Explanation::reason`].
pub fn wrong(failure: &idd_explain::failure::RunFailure, target: Option<&OpenedFile>, reason: Option<&str>) -> String {
    match &failure.wrong {
        RunWrong::Said(wrong, other) if is_for_files(wrong, target) => written(wrong, other.as_ref(), target),
        RunWrong::Said(wrong, Some(other)) => format!("the program says {} (reference {})", said(wrong), said(other)),
        RunWrong::Said(wrong, None) => format!("the program says {} (reference: nothing more)", said(wrong)),
        RunWrong::Skipped(other, _) => format!("the program does not say {}, as the reference does", said(other)),
        RunWrong::Silent(other) => format!("the program says nothing more (reference {})", said(other)),
        RunWrong::Ended => {
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("the program {}{reason} (reference: {})", ending(failure.ending), ending(failure.reference))
        }
    }
}

/// Faulty variables that the failing statement uses: ` It uses total, 18 (reference 12), given at a.c:11.`
fn used(used: &[UsedVariable], sources: &mut TreeSources) -> String {
    let mut one = |used: &UsedVariable| {
        let place = used.place.as_ref().filter(|place| place.line > 0);
        let place = place.map(|place| format!(", given at {}:{}", sources.path(&place.file), place.line));
        let (ours, theirs) = &used.values;
        format!("{}, {ours} (reference {theirs}){}", used.variable, place.unwrap_or_default())
    };
    match used {
        [] => String::new(),
        all => format!(" It uses {}.", all.iter().map(&mut one).collect::<Vec<_>>().join("; ")),
    }
}

/// Why a chain does not begin with the change.
fn why(missing: Option<&Missing>, sources: &mut TreeSources) -> String {
    match missing {
        None => "No faulty value before it is needed: the change takes part only later.".to_owned(),
        Some(Missing::NotRun) => "No faulty value before it is needed, and no changed line runs in this process: how \
                                  the change leads to it is not known."
            .to_owned(),
        Some(Missing::Independent) => "No faulty value before it is needed, and it uses no value that a changed line \
                                       computed in this process: how the change leads to it is not known."
            .to_owned(),
        Some(Missing::Unproved(place)) => {
            let line = place.as_ref().map(|place| format!(" {}:{}", sources.path(&place.file), place.line));
            format!(
                "It depends on the changed line{}, but no test proved which values lead from there to here.",
                line.unwrap_or_default()
            )
        }
    }
}

/// Where the chain begins, in a sentence.
///
/// - `was`: what the reference has at the failing statement, if no link is before it.
pub fn beginning(explanation: &Explanation, was: Option<&Was>, sources: &mut TreeSources) -> String {
    let is_empty = explanation.links.is_empty();
    match &explanation.origin {
        DifferenceOrigin::Change if matches!(was, Some(Was::More(_))) => {
            "No faulty value before it is needed: the failing version lacks code that the reference has.".to_owned()
        }
        DifferenceOrigin::Change if is_empty => {
            "The changed statement itself causes the failure: nothing before it is needed.".to_owned()
        }
        DifferenceOrigin::Change => {
            "It begins with the change: the values that the change uses are the same in both runs.".to_owned()
        }
        DifferenceOrigin::Initial => {
            "It begins with the change, in a value that exists from the start of the program.".to_owned()
        }
        DifferenceOrigin::Arguments(ours, theirs) => format!(
            "It comes from outside of this process, which was started as `{}` (reference `{}`).",
            ours.join(" "),
            theirs.join(" ")
        ),
        DifferenceOrigin::Input(function) => {
            format!("It comes from outside of this process: `{function}` read it.")
        }
        DifferenceOrigin::Threads(all) => format!(
            "The program has several threads, and experiments run only the first one: where the difference comes from \
             is not proved.{}",
            used(all, sources)
        ),
        DifferenceOrigin::Start => {
            "It begins with a value that exists from the start: an input, or something that only the reference does."
                .to_owned()
        }
        DifferenceOrigin::Unfinished => {
            let limit = match explanation.limit {
                Some(Limit::Budget) => "the time of `--budget` was over",
                Some(Limit::Interrupt) => "the search was interrupted",
                Some(Limit::MaxTests) | None => "`--max-tests` was reached",
            };
            let what = if is_empty { "Nothing of it is found yet" } else { "This is only its end" };
            format!("{what}: {limit} before its beginning was found.")
        }
        DifferenceOrigin::Stuck => "No earlier state causes it by itself, so it may begin too late.".to_owned(),
        DifferenceOrigin::Replaced => {
            "What comes before the switched decision is the same in both runs. The links before it were \
                             found by replacing one value at a time: with it, the program does the same as with the \
                             decision switched."
                .to_owned()
        }
        DifferenceOrigin::Same => {
            "Nothing before it is needed: the values that it uses are the same in both runs.".to_owned()
        }
        DifferenceOrigin::Unknown(all, missing) => format!("{}{}", why(missing.as_ref(), sources), used(all, sources)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_trace::Step;
    use std::sync::Arc;

    fn of(function: &str, words: Vec<RunArgument>, text: Option<&str>) -> ObservableCall {
        let text = text.map(|text| text.as_bytes().to_vec());
        ObservableCall { step: Step(1), time: 1, function: Arc::from(function), words, text }
    }

    #[test]
    fn what_was_said_is_its_text_else_the_call() {
        assert_eq!(said(&of("printf", vec![RunArgument::Number(1)], Some("a \"b\"\n"))), r#""a \"b\"\n""#);
        let words = vec![RunArgument::Text(b"%d".to_vec()), RunArgument::Number(7), RunArgument::Pointer];
        assert_eq!(said(&of("printf", words, None)), "printf(\"%d\", 7, ...)");
        assert_eq!(said(&of("abort", vec![], None)), "abort()");
    }

    #[test]
    fn a_number_of_four_bytes_may_be_an_int_and_a_longer_one_is_signed() {
        let number = |number| said(&of("exit", vec![RunArgument::Number(number)], None));
        assert_eq!(number(0x7fff_ffff), "exit(2147483647)");
        assert_eq!(number(0xffff_ffff), "exit(-1)");
        assert_eq!(number(0x8000_0000), "exit(-2147483648)");
        assert_eq!(number(0x1_0000_0000), "exit(4294967296)");
        assert_eq!(number(u64::MAX), "exit(-1)");
    }

    #[test]
    fn what_is_no_text_differs_at_a_byte_and_what_is_written_to_a_file_is_of_the_file() {
        let bytes = |bytes: &[u8]| ObservableCall { text: Some(bytes.to_vec()), ..of("fwrite", vec![], None) };
        let (ours, theirs) = (bytes(b"\x7fELF\x01\x02\x03"), bytes(b"\x7fELF\x09"));
        let target = |offset| OpenedFile { path: b"out.o".to_vec(), offset };
        assert!(is_for_files(&ours, None) && !is_for_files(&bytes("h\u{e9}\n".as_bytes()), None));
        let plain = "the program writes 7 bytes that differ at byte 5: 01 02 03 (reference 09)";
        assert_eq!(written(&ours, Some(&theirs), None), plain);
        let known = written(&ours, Some(&theirs), Some(&target(Some(60))));
        assert_eq!(known, "out.o differs at byte 65: 01 02 03 (reference 09)");
        let moved = written(&ours, None, Some(&target(None)));
        assert_eq!(
            moved,
            "the program writes 7 bytes to out.o that differ at byte 1: 7f 45 4c 46 (reference nothing more)"
        );
        let text = written(&bytes(b"a\n"), Some(&bytes(b"b\n")), Some(&target(Some(0))));
        assert_eq!(text, r#"the program writes "a\n" to out.o (reference "b\n")"#);
    }

    #[test]
    fn an_ending_is_a_verb() {
        assert_eq!(ending(RunEnding::Exit(3)), "exits with 3");
        assert_eq!(ending(RunEnding::Signal(11)), "is killed by signal 11");
        assert_eq!(ending(RunEnding::Endless), "does not end");
    }
}
