//! The promises of the reduction, on random inputs and answers.

use crate::shrink::candidate::{InputCandidate, PartForm, ShrinkProgress};
use crate::shrink::{Isolated, isolate, shrink};
use crate::syntax::Language;
use idd_base::{Asking, Outcome, Reason, Search, SearchStep};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

fn candidate(texts: &[&str]) -> InputCandidate {
    InputCandidate { parts: texts.iter().map(|text| Rc::from(text.as_bytes())).collect() }
}

/// Answers a search; returns its result and the candidates whose answers were used.
fn driven<F: Clone>(
    mut search: Asking<'_, InputCandidate, Outcome, F>,
    width: usize,
    answer: &dyn Fn(&InputCandidate) -> Outcome,
) -> (F, Vec<InputCandidate>) {
    let mut used = Vec::new();
    for round in 0.. {
        match search.ask(width) {
            SearchStep::Found(found) => return (found, used),
            SearchStep::Probe(mut candidates) if round % 3 == 0 && candidates.len() > 1 => {
                let last = candidates.pop().unwrap();
                let outcome = answer(&last);
                search.overhear(last, outcome);
            }
            SearchStep::Probe(candidates) => {
                let outcomes: Vec<Outcome> = candidates.iter().map(answer).collect();
                let n_used = search.tell(&outcomes);
                used.extend(candidates.into_iter().take(n_used));
            }
        }
    }
    unreachable!("a search ends")
}

fn shrunk(
    start: &InputCandidate,
    forms: &[PartForm],
    width: usize,
    fails: &dyn Fn(&InputCandidate) -> bool,
) -> (InputCandidate, Vec<InputCandidate>) {
    let progress = Rc::new(RefCell::new(ShrinkProgress { current: start.clone(), units: "" }));
    let (start, forms, shared) = (start.clone(), forms.to_vec(), Rc::clone(&progress));
    let search = Asking::new(|asker| async move { shrink(asker, start, forms, shared).await });
    let answer = |candidate: &InputCandidate| if fails(candidate) { Outcome::Fail } else { Outcome::Pass };
    let (found, used) = driven(search, width, &answer);
    assert_eq!(progress.borrow().current, found);
    (found, used)
}

/// Every candidate that lacks one byte of this one.
fn without_a_byte(candidate: &InputCandidate) -> Vec<InputCandidate> {
    let parts = candidate.parts.iter().enumerate();
    let without = |(index, part): (usize, &Rc<[u8]>)| {
        let part = Rc::clone(part);
        let without = move |at: usize| [&part[..at], &part[at + 1..]].concat();
        (0..candidate.parts[index].len()).map(without).map(|made| candidate.with(index, made)).collect::<Vec<_>>()
    };
    parts.flat_map(without).collect()
}

#[track_caller]
fn check(text: &str, language: Option<&str>, fails: &dyn Fn(&str) -> bool, expected: &str) {
    let language = language.map(|name| Language::named(name).unwrap());
    let fails = |candidate: &InputCandidate| std::str::from_utf8(&candidate.parts[0]).is_ok_and(fails);
    let (found, _) = shrunk(&candidate(&[text]), &[PartForm::File(language)], 1, &fails);
    assert_eq!(String::from_utf8_lossy(&found.parts[0]), expected);
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

#[test]
fn json_stays_json_and_loses_everything_around_the_cause() {
    let text =
        "{\n  \"a\": [1, 2, {\"deep\": {\"price\": -12, \"name\": \"x, y\"}}],\n  \"b\": {\"c\": [true, null]}\n}\n";
    check(text, None, &|text| is_json(text) && text.contains("\"price\":"), "{\"price\":0}");
    check(text, None, &|text| is_json(text) && text.contains("null"), "{\"\":null}");
    check("[1, 2, 3]", None, &|text| is_json(text) && text.starts_with('['), "[]");
}

#[test]
fn elements_of_a_page_go_with_both_tags() {
    let text = "<html><body><p class=\"a b\">one</p><div><b id='x'>two</b><br/></div></body></html>";
    let is_balanced = |text: &str| text.matches("<b").count() >= text.matches("</b>").count();
    check(text, None, &|text| is_balanced(text) && text.contains("<b") && text.contains("</b>"), "<b</b>");
}

#[test]
fn a_node_of_the_syntax_is_replaced_by_a_node_inside_it() {
    let text = "int f(int a) {\n  if (a > 3) {\n    while (a) { g(a, 77); }\n  }\n  return 0;\n}\n";
    let c = Language::named("c").unwrap();
    let fails = |text: &str| c.n_errors(text.as_bytes()) == Some(0) && text.contains("while");
    check(text, Some("c"), &fails, "while(a){}");
}

#[test]
fn a_long_name_becomes_short_everywhere_at_once() {
    let same = |text: &str| {
        let names: Vec<&str> = text.split(' ').collect();
        names.len() == 3 && names.iter().all(|name| *name == names[0] && !name.is_empty())
    };
    check("counter counter counter", None, &same, "a a a");
}

#[test]
fn two_parts_are_reduced_together() {
    let fails = |candidate: &InputCandidate| candidate.parts[0].contains(&b'x') && candidate.parts[1].ends_with(b"y\0");
    let start = candidate(&["ab\nxc\n", "-o\0zy\0"]);
    let (found, _) = shrunk(&start, &[PartForm::File(None), PartForm::Words], 1, &fails);
    assert_eq!(found, candidate(&["x", "y\0"]));
}

/// Answers without any order: each candidate fails by its digest, and the start always.
fn by_digest(seed: u64, start: &InputCandidate) -> impl Fn(&InputCandidate) -> bool {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let start = start.clone();
    move |candidate| {
        let mut hasher = DefaultHasher::new();
        (seed, candidate).hash(&mut hasher);
        *candidate == start || hasher.finish().is_multiple_of(5)
    }
}

/// Texts with all that views look for.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        ",",
        ";",
        "\n",
        "\n\n",
        "  ",
        "<a>",
        "</a>",
        "<b c='d'/>",
        "word",
        "word2",
        "17",
        "=",
        "\u{e9}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_result_fails_and_no_byte_can_be_left_out(
        text in text(), other in text(), seed in any::<u64>(), needed in "[a-d(]{0,3}", width in 1usize..5,
    ) {
        let start = candidate(&[&text, &other]);
        let forms = [PartForm::File(Language::named("python")), PartForm::Words];
        let random = by_digest(seed, &start);
        let has = |candidate: &InputCandidate| needed.bytes().all(|byte| candidate.parts.iter().any(|part| part.contains(&byte)));
        for fails in [&random as &dyn Fn(&InputCandidate) -> bool, &has] {
            if !fails(&start) {
                continue;
            }
            let (found, used) = shrunk(&start, &forms, 1, fails);
            prop_assert!(fails(&found));
            prop_assert!(without_a_byte(&found).iter().all(|smaller| !fails(smaller)));
            prop_assert_eq!(used.iter().collect::<HashSet<_>>().len(), used.len(), "asked twice");
            prop_assert_eq!(shrunk(&start, &forms, width, fails), (found, used));
        }
    }

    #[test]
    fn isolated_inputs_differ_in_what_matters(older in text(), newer in text(), needed in "[a-d(]{1,2}", width in 1usize..4) {
        let (passing, failing) = (candidate(&[&older]), candidate(&[&newer]));
        let answer = |candidate: &InputCandidate| match needed.bytes().all(|byte| candidate.parts[0].contains(&byte)) {
            true if candidate.parts[0].len() % 7 == 3 => Outcome::Unresolved(Reason::Other),
            true => Outcome::Fail,
            false => Outcome::Pass,
        };
        prop_assume!(answer(&passing) == Outcome::Pass && answer(&failing) == Outcome::Fail);
        let progress = Rc::new(RefCell::new(ShrinkProgress { current: failing.clone(), units: "" }));
        let run = |width| {
            let (older, newer, shared) = (passing.clone(), failing.clone(), Rc::clone(&progress));
            driven(Asking::new(|asker| async move { isolate(asker, older, newer, shared).await }), width, &answer)
        };
        let (Isolated { passing, failing }, _) = run(1);
        prop_assert_eq!(answer(&passing), Outcome::Pass);
        prop_assert_eq!(answer(&failing), Outcome::Fail);
        prop_assert_eq!(run(width).0, Isolated { passing, failing });
    }
}

#[test]
fn the_difference_of_two_lines_is_one_character() {
    let answer = |candidate: &InputCandidate| {
        if candidate.parts[0].contains(&b'!') { Outcome::Fail } else { Outcome::Pass }
    };
    let (older, newer) = (candidate(&["one\ntwo three\nfour\n"]), candidate(&["0\ntwo t!ree\nfour\nfive\n"]));
    let progress = Rc::new(RefCell::new(ShrinkProgress { current: newer.clone(), units: "" }));
    let search = Asking::new(|asker| async move { isolate(asker, older, newer, progress).await });
    let (found, used) = driven(search, 1, &answer);
    let texts = [&found.passing, &found.failing].map(|end| String::from_utf8_lossy(&end.parts[0]).into_owned());
    assert_eq!(texts[1].replace('!', ""), texts[0]);
    assert!(used.len() < 12, "{} probes", used.len());
}
