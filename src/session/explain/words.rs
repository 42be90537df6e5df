//! The failure and the beginning of a chain, in words.

use crate::explain::failure::Ending;
use crate::explain::failure::Wrong;
use crate::explain::native::origin::Origin;
use crate::explain::native::origin::Used;
use crate::explain::native::roots::Missing;
use crate::session::explain::change::Sources;
use crate::session::explain::model::Explanation;
use crate::session::explain::model::Limit;
use crate::trace::native::value;
use crate::trace::run::Said;
use crate::trace::run::Word;

/// What was said: the text, or the call as C would write it.
pub fn said(said: &Said) -> String {
    if let Some(text) = &said.text {
        return value::quoted(text, '"');
    }
    let texts = said.words.iter().map(|word| match word {
        Word::Text(text) => value::quoted(text, '"'),
        // A number of at most four bytes may be an `int`.
        Word::Number(number) => match u32::try_from(*number) {
            Ok(number) => number.cast_signed().to_string(),
            Err(_) => number.cast_signed().to_string(),
        },
        // What is there is not known.
        Word::Pointer => "...".to_owned(),
    });
    format!("{}({})", said.function, texts.collect::<Vec<_>>().join(", "))
}

fn ending(ending: Ending) -> String {
    match ending {
        Ending::Exit(code) => format!("exits with {code}"),
        Ending::Signal(signal) => format!("is killed by signal {signal}"),
        Ending::Endless => "does not end".to_owned(),
    }
}

/// The failure in one clause.
pub fn failure(explanation: &Explanation) -> String {
    let (failure, _) = &explanation.failure;
    match &failure.wrong {
        Wrong::Said(wrong, Some(other)) => format!("the program says {} (reference {})", said(wrong), said(other)),
        Wrong::Said(wrong, None) => format!("the program says {} (reference: nothing more)", said(wrong)),
        Wrong::Skipped(other, _) => format!("the program does not say {}, as the reference does", said(other)),
        Wrong::Silent(other) => format!("the program says nothing more (reference {})", said(other)),
        Wrong::Ended => {
            let null = explanation.null.as_ref().map(|name| format!(": {name} is NULL")).unwrap_or_default();
            format!("the program {}{null} (reference: {})", ending(failure.ending), ending(failure.reference))
        }
    }
}

/// Faulty variables that the failing statement uses: ` It uses total, 18 (reference 12), given at a.c:11.`
fn used(used: &[Used], sources: &mut Sources) -> String {
    let mut one = |used: &Used| {
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
fn why(missing: Option<&Missing>, sources: &mut Sources) -> String {
    match missing {
        None => "No faulty value before it is needed: the change takes part only later.".to_owned(),
        Some(Missing::NotRun) => "No faulty value before it is needed, and no changed line runs in this process: how \
                                  the change leads to it is not recorded."
            .to_owned(),
        Some(Missing::Independent) => "No faulty value before it is needed, and it uses no value that a changed line \
                                       computed in this process: the change leads to it in a way that is not recorded."
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
pub fn beginning(explanation: &Explanation, sources: &mut Sources) -> String {
    let is_empty = explanation.links.is_empty();
    match &explanation.origin {
        Origin::Change if is_empty => {
            "The changed statement itself causes the failure: nothing before it is needed.".to_owned()
        }
        Origin::Change => {
            "It begins with the change: the values that the change uses are the same in both runs.".to_owned()
        }
        Origin::Initial => {
            "It begins with the change, in a value that exists from the start of the program.".to_owned()
        }
        Origin::Arguments(ours, theirs) => format!(
            "It comes from outside of this process, which was started as `{}` (reference `{}`).",
            ours.join(" "),
            theirs.join(" ")
        ),
        Origin::Input(function) => {
            format!("It comes from outside of this process: `{function}` read it.")
        }
        Origin::Threads(all) => format!(
            "The program has several threads, and experiments run only the first one: where the difference comes from \
             is not proved.{}",
            used(all, sources)
        ),
        Origin::Start => {
            "It begins with a value that exists from the start: an input, or something that only the reference does."
                .to_owned()
        }
        Origin::Unfinished => {
            let limit = match explanation.limit {
                Some(Limit::Budget) => "the time of `--budget` was over",
                Some(Limit::Interrupt) => "the search was interrupted",
                Some(Limit::MaxTests) | None => "`--max-tests` was reached",
            };
            let what = if is_empty { "Nothing of it is found yet" } else { "This is only its end" };
            format!("{what}: {limit} before its beginning was found.")
        }
        Origin::Stuck => "No earlier state causes it by itself, so it may begin too late.".to_owned(),
        Origin::Same => "Nothing before it is needed: the values that it uses are the same in both runs.".to_owned(),
        Origin::Unknown(all, missing) => format!("{}{}", why(missing.as_ref(), sources), used(all, sources)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::step::Step;
    use std::sync::Arc;

    fn of(function: &str, words: Vec<Word>, text: Option<&str>) -> Said {
        let text = text.map(|text| text.as_bytes().to_vec());
        Said { step: Step(1), time: 1, function: Arc::from(function), words, text }
    }

    #[test]
    fn what_was_said_is_its_text_else_the_call() {
        assert_eq!(said(&of("printf", vec![Word::Number(1)], Some("a \"b\"\n"))), r#""a \"b\"\n""#);
        let words = vec![Word::Text(b"%d".to_vec()), Word::Number(7), Word::Pointer];
        assert_eq!(said(&of("printf", words, None)), "printf(\"%d\", 7, ...)");
        assert_eq!(said(&of("abort", vec![], None)), "abort()");
    }

    #[test]
    fn a_number_of_four_bytes_may_be_an_int_and_a_longer_one_is_signed() {
        let number = |number| said(&of("exit", vec![Word::Number(number)], None));
        assert_eq!(number(0x7fff_ffff), "exit(2147483647)");
        assert_eq!(number(0xffff_ffff), "exit(-1)");
        assert_eq!(number(0x8000_0000), "exit(-2147483648)");
        assert_eq!(number(0x1_0000_0000), "exit(4294967296)");
        assert_eq!(number(u64::MAX), "exit(-1)");
    }

    #[test]
    fn an_ending_is_a_verb() {
        assert_eq!(ending(Ending::Exit(3)), "exits with 3");
        assert_eq!(ending(Ending::Signal(11)), "is killed by signal 11");
        assert_eq!(ending(Ending::Endless), "does not end");
    }
}
