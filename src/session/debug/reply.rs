//! The language of answers: a letter, and what it is about.

use crate::debug::PersonReply;
use crate::debug::seek::{Seek, SeekTarget};
use idd_explain::facts::StepFacts;
use idd_explain::feedback::Feedback;
use idd_report::{Terminal, Untrusted};
use idd_trace::{Step, TimeDirection};

/// What can be answered.
pub const HELP: &str = "\
c          all that the step uses and computes is right
w <value>  a value that the step uses is wrong: its number or its name; several with spaces between
h          here: all that it uses is right, but not what it computes or decides
p          wrong path: the step should not run
m          missing: code is missing before this step
u          unclear: ask me about what is around it
g <step>   judge another step first: its number, a line (a.c:15) for the next run of it, a function for the next call
/<text>    judge the next step that writes a value or calls a function with this text
n N        the next one, the one before: of the last line, function or text
< <value>  the step that wrote a value before; > <value>: that writes the variable next
[ ]        the iteration or call before, after
z          take the last answer back
q          quit";

/// Characters of a word that is no answer, in the message about it.
const MAX_SHOWN: usize = 80;

fn safe(text: &str) -> String {
    let cut: String = text.chars().take(MAX_SHOWN).collect();
    Terminal.line(&Untrusted::from(if cut.len() < text.len() { cut + "..." } else { cut }))
}

/// A value of a step that an answer can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredItem {
    /// The variable, or the call that returned it.
    pub name: String,
    /// The step that computed it, if the step uses it and some step did.
    pub maker: Option<Step>,
    /// Its address and size, if it is in memory.
    pub range: Option<(u64, u64)>,
    /// Whether the step uses it; else the step writes it.
    pub is_used: bool,
}

/// The values that a step uses, then those that it writes.
pub fn items(facts: &StepFacts) -> Vec<AnsweredItem> {
    let range = |name: &str| {
        let access = facts.detail.reads.iter().find(|access| access.named.name == name);
        access.map(|access| (access.address, access.size))
    };
    let used = facts.used.iter().map(|used| AnsweredItem {
        name: used.name.clone(),
        maker: used.makers.iter().max().copied().filter(|maker| *maker != Step::START),
        range: range(&used.name),
        is_used: true,
    });
    let written = facts.detail.writes.iter().map(|write| AnsweredItem {
        name: write.named.name.clone(),
        maker: None,
        range: Some((write.address, write.size)),
        is_used: false,
    });
    used.chain(written).collect()
}

/// Reads an answer; the error says what is wrong with it.
pub fn reply(text: &str, items: &[AnsweredItem]) -> Result<PersonReply, String> {
    if let Some(text) = text.strip_prefix('/') {
        let target = (!text.is_empty()).then(|| SeekTarget::Text(text.to_owned()));
        return Ok(PersonReply::Seek(Seek { target, time: None }));
    }
    let mut words = text.split_whitespace();
    let said = |feedback| Ok(PersonReply::Said(feedback));
    let found = match words.next() {
        Some("c" | "correct") => said(Feedback::Correct),
        Some("h" | "here") => said(Feedback::WrongResult),
        Some("p" | "path") => said(Feedback::WrongPath),
        Some("u" | "unclear") => said(Feedback::Unclear),
        Some("w" | "wrong") => wrong(words.by_ref(), items),
        Some("m" | "missing") => Ok(PersonReply::Missing),
        Some("z" | "undo") => Ok(PersonReply::Undo),
        Some("q" | "quit") => Ok(PersonReply::Quit),
        Some("g" | "go") => {
            let rest: Vec<&str> = words.by_ref().collect();
            go(&rest.join(" "))
        }
        Some("n") => Ok(PersonReply::Seek(Seek { target: None, time: Some(TimeDirection::Forward) })),
        Some("N") => Ok(PersonReply::Seek(Seek { target: None, time: Some(TimeDirection::Backward) })),
        Some("]") => {
            Ok(PersonReply::Seek(Seek { target: Some(SeekTarget::Beside), time: Some(TimeDirection::Forward) }))
        }
        Some("[") => {
            Ok(PersonReply::Seek(Seek { target: Some(SeekTarget::Beside), time: Some(TimeDirection::Backward) }))
        }
        Some("<") => history(words.next(), items, TimeDirection::Backward),
        Some(">") => history(words.next(), items, TimeDirection::Forward),
        None | Some("?" | "help") => Err(HELP.to_owned()),
        Some(word) => Err(format!("there is no answer {}; ? shows all", safe(word))),
    };
    match (found, words.next()) {
        (Ok(_), Some(more)) => Err(format!("unexpected text after the answer: {}; ? shows all", safe(more))),
        (found, _) => found,
    }
}

fn wrong<'w>(words: impl Iterator<Item = &'w str>, items: &[AnsweredItem]) -> Result<PersonReply, String> {
    let n_used = items.iter().filter(|item| item.is_used).count();
    let mut wrong = Vec::new();
    for word in words {
        wrong.push(index(word, &items[..n_used], "uses")?);
    }
    match (wrong.is_empty(), n_used) {
        (false, _) => Ok(PersonReply::Said(Feedback::WrongValue(wrong))),
        (true, 1) => Ok(PersonReply::Said(Feedback::WrongValue(vec![0]))),
        (true, 0) => Err("the step uses no value; `h` says that what it computes is wrong".to_owned()),
        (true, _) => Err("which value is wrong? `w 1` is the first one".to_owned()),
    }
}

/// The value of a number from 1, or of a name that only one has.
fn index(word: &str, items: &[AnsweredItem], does: &str) -> Result<usize, String> {
    let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(number) = number.filter(|number| *number < items.len()) {
        return Ok(number);
    }
    // A variable that the step uses and changes is meant as it was before.
    let called = |is_used| (0..items.len()).filter(move |at| items[*at].name == word && items[*at].is_used == is_used);
    let used: Vec<usize> = called(true).collect();
    let named = if used.is_empty() { called(false).collect() } else { used };
    match named[..] {
        [only] => Ok(only),
        [] => Err(format!("the step {does} no value {}", safe(word))),
        _ => {
            let numbers: Vec<String> = named.iter().map(|index| (index + 1).to_string()).collect();
            Err(format!("several values are called {}: give a number, {}", safe(word), numbers.join(" or ")))
        }
    }
}

/// Where `g` goes: `36`, `a.c:15`, `larger`.
fn go(text: &str) -> Result<PersonReply, String> {
    if let Ok(step) = text.trim_start_matches('#').parse() {
        return Ok(PersonReply::Jump(Step(step)));
    }
    let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let target = match line {
        Some((file, line)) if !file.is_empty() => SeekTarget::Line(file.trim_start_matches("./").to_owned(), line),
        _ if !text.is_empty() && !text.starts_with(|first: char| first.is_ascii_digit() || first == '-') => {
            SeekTarget::Function(text.trim_end_matches("()").to_owned())
        }
        _ => return Err("which step? `g 12` goes to step 12, `g a.c:15` to a line, `g main` to a function".to_owned()),
    };
    Ok(PersonReply::Seek(Seek { target: Some(target), time: None }))
}

/// The step that wrote a value, or that writes it next.
fn history(word: Option<&str>, items: &[AnsweredItem], time: TimeDirection) -> Result<PersonReply, String> {
    let found = match word {
        Some(word) => index(word, items, "uses and gives")?,
        None if items.len() == 1 => 0,
        None => return Err("which value? `< 1` goes to the step that wrote the first one".to_owned()),
    };
    let item = &items[found];
    match (item.maker, item.range) {
        (Some(maker), _) if time == TimeDirection::Backward => Ok(PersonReply::Jump(maker)),
        (_, Some((address, size))) => {
            let target = Some(SeekTarget::Write(item.name.clone(), address, size));
            Ok(PersonReply::Seek(Seek { target, time: Some(time) }))
        }
        _ => Err(format!("{} is in no variable that could be followed", safe(&item.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_after_an_answer_without_a_value_is_refused() {
        let message = Err("unexpected text after the answer: 2; ? shows all".to_owned());
        for answer in ["c", "h", "p", "u", "m", "z", "q", "n", "]"] {
            let items = items(&["n"]);
            assert_eq!(reply(&format!("{answer} 2 is right"), &items), message, "{answer}");
            assert!(reply(answer, &items).is_ok(), "{answer}");
        }
    }

    #[test]
    fn of_a_long_word_only_the_beginning_is_repeated() {
        let message = reply(&"x".repeat(1 << 20), &[]).unwrap_err();
        assert_eq!(message, format!("there is no answer {}...; ? shows all", "x".repeat(80)));
    }

    fn items(names: &[&str]) -> Vec<AnsweredItem> {
        let one = |name: &&str| AnsweredItem { name: (*name).to_owned(), maker: None, range: None, is_used: true };
        names.iter().map(one).collect()
    }

    #[test]
    fn answers_are_letters_and_values_are_numbers_or_names() {
        let names = items(&["n", "p->x", "f()"]);
        let said = |text: &str| reply(text, &names).unwrap();
        assert_eq!(said("c"), PersonReply::Said(Feedback::Correct));
        assert_eq!(said("h"), PersonReply::Said(Feedback::WrongResult));
        assert_eq!(said("w 2 f()"), PersonReply::Said(Feedback::WrongValue(vec![1, 2])));
        assert_eq!(said("w p->x"), PersonReply::Said(Feedback::WrongValue(vec![1])));
        assert_eq!(said("g #12"), PersonReply::Jump(Step(12)));
        assert_eq!(said("undo"), PersonReply::Undo);
        let twice = Err("several values are called f(): give a number, 1 or 3".to_owned());
        assert_eq!(reply("w f()", &items(&["f()", "n", "f()"])), twice);
        assert_eq!(reply("x", &names), Err("there is no answer x; ? shows all".to_owned()));
        assert_eq!(reply("w", &items(&["n"])), Ok(PersonReply::Said(Feedback::WrongValue(vec![0]))));
    }

    #[test]
    fn lines_functions_and_texts_are_gone_to() {
        let seek = |text: &str| match reply(text, &[]).unwrap() {
            PersonReply::Seek(Seek { target, time }) => (target, time),
            other => panic!("{other:?}"),
        };
        assert_eq!(seek("g ./src/a.c:15"), (Some(SeekTarget::Line("src/a.c".to_owned(), 15)), None));
        assert_eq!(seek("g larger()"), (Some(SeekTarget::Function("larger".to_owned())), None));
        assert_eq!(seek("g List::add"), (Some(SeekTarget::Function("List::add".to_owned())), None));
        assert_eq!(seek("/n = 3"), (Some(SeekTarget::Text("n = 3".to_owned())), None));
        assert_eq!(seek("n"), (None, Some(TimeDirection::Forward)));
        assert_eq!(seek("N"), (None, Some(TimeDirection::Backward)));
        assert_eq!(seek("["), (Some(SeekTarget::Beside), Some(TimeDirection::Backward)));
    }

    #[test]
    fn a_value_is_followed_to_the_steps_that_write_it() {
        let mut items = items(&["n", "f()"]);
        items[0] = AnsweredItem { maker: Some(Step(7)), range: Some((64, 4)), ..items[0].clone() };
        items.push(AnsweredItem { name: "m".to_owned(), maker: None, range: Some((80, 8)), is_used: false });
        assert_eq!(reply("< n", &items), Ok(PersonReply::Jump(Step(7))));
        let seek = |name: &str, address, size, time| {
            let target = Some(SeekTarget::Write(name.to_owned(), address, size));
            Ok(PersonReply::Seek(Seek { target, time: Some(time) }))
        };
        assert_eq!(reply("> 1", &items), seek("n", 64, 4, TimeDirection::Forward));
        assert_eq!(reply("< m", &items), seek("m", 80, 8, TimeDirection::Backward));
        assert_eq!(reply("< f()", &items), Err("f() is in no variable that could be followed".to_owned()));
        assert_eq!(reply("<", &items), Err("which value? `< 1` goes to the step that wrote the first one".to_owned()));
        assert_eq!(reply("> x", &items), Err("the step uses and gives no value x".to_owned()));
        assert_eq!(reply("w m", &items), Err("the step uses no value m".to_owned()), "it writes it");
    }

    #[test]
    fn what_cannot_be_understood_is_explained() {
        let names = items(&["n", "m"]);
        assert_eq!(reply("w x", &names), Err("the step uses no value x".to_owned()));
        assert_eq!(reply("w 3", &names), Err("the step uses no value 3".to_owned()));
        assert_eq!(reply("w", &names), Err("which value is wrong? `w 1` is the first one".to_owned()));
        assert_eq!(reply("w", &[]), Err("the step uses no value; `h` says that what it computes is wrong".to_owned()));
        let which = "which step? `g 12` goes to step 12, `g a.c:15` to a line, `g main` to a function";
        assert_eq!(reply("g", &names), Err(which.to_owned()));
        assert_eq!(reply("g 99999999999", &names), Err(which.to_owned()));
        assert_eq!(reply("", &names), Err(HELP.to_owned()));
    }
}
