//! Answers as lines of text: what a person types, what a file of answers has, and what an editor adds to it.

use crate::explain::feedback::Feedback;
use crate::explain::native::facts::Used;
use crate::report::Status;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::session::debug::Person;
use crate::session::debug::Question;
use crate::session::debug::Reply;
use crate::session::failure::Failure;
use crate::trace::step::Step;
use crate::world::answers::Answers;
use crate::world::answers::AnswersError;
use std::path::Path;

/// Characters of a line that is no answer, in the message about it.
const MAX_SHOWN: usize = 80;

/// What can be answered.
pub const HELP: &str = "\
c          all that the step uses and computes is right
w <value>  a value that the step uses is wrong: its number or its name; several with spaces between
h          here: all that it uses is right, but not what it computes or decides
p          wrong path: the step should not run
m          missing: code is missing before this step
u          unclear: ask me about what is around it
g <step>   judge another step first
z          take the last answer back
q          quit";

fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

/// Whether a line is an answer to some question.
pub fn is_answer(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next();
    match first {
        Some("w" | "wrong") => true,
        Some("g" | "go") => words.next().is_some_and(|word| number(word).is_some()) && words.next().is_none(),
        Some(_) => words.next().is_none() && read(text, &[]).is_ok(),
        None => false,
    }
}

/// Opens a file of answers.
///
/// - `is_restarted`: whether the answers that it has are forgotten.
///
/// Errors: a line is no answer, or it cannot be read or written.
pub fn open(path: &Path, is_restarted: bool) -> Result<Answers, Failure> {
    let opened = if is_restarted { Answers::restart(path, is_answer) } else { Answers::open(path, is_answer) };
    opened.map_err(|error| {
        let name = safe(path.to_string_lossy().as_ref());
        match error {
            AnswersError::NoAnswer { line, text } => {
                let text: String = text.chars().take(MAX_SHOWN).collect();
                let message = format!("`{name}` is no file of answers: line {line} is `{}`", safe(&text));
                let hint = "each line of such a file is one answer, such as `c` or `w 1`";
                Failure::new(Status::Error, message).with_hint(hint)
            }
            AnswersError::Io(error) => {
                Failure::new(Status::Error, format!("the answers in `{name}` cannot be read or added to: {error}"))
            }
        }
    })
}

/// A person whose answers are known: those of a file, until it has no more.
pub struct Known<'a>(pub &'a mut Answers);

impl Person for Known<'_> {
    fn judge(&mut self, question: &Question<'_>) -> Result<Reply, Failure> {
        while let Some(text) = self.0.known() {
            if let Ok(reply) = read(&text, &question.facts.used) {
                return Ok(reply);
            }
        }
        Ok(Reply::Quit)
    }
}

/// The line that says this.
pub fn written(reply: &Reply) -> String {
    match reply {
        Reply::Said(Feedback::Correct) => "c".to_owned(),
        Reply::Said(Feedback::WrongResult) => "h".to_owned(),
        Reply::Said(Feedback::WrongPath) => "p".to_owned(),
        Reply::Said(Feedback::Unclear) => "u".to_owned(),
        Reply::Said(Feedback::WrongValue(wrong)) => {
            wrong.iter().fold("w".to_owned(), |text, index| format!("{text} {}", index + 1))
        }
        Reply::Missing => "m".to_owned(),
        Reply::Undo => "z".to_owned(),
        Reply::Jump(step) => format!("g {}", step.0),
        Reply::Quit => "q".to_owned(),
    }
}

/// The number of a step: `12` or `#12`.
fn number(word: &str) -> Option<Step> {
    word.trim_start_matches('#').parse().ok().map(Step)
}

/// Reads an answer; the error says what is wrong with it.
///
/// - `used`: the values that the step uses.
pub fn read(text: &str, used: &[Used]) -> Result<Reply, String> {
    let mut words = text.split_whitespace();
    let said = |feedback| Ok(Reply::Said(feedback));
    match words.next() {
        Some("c" | "correct") => said(Feedback::Correct),
        Some("h" | "here") => said(Feedback::WrongResult),
        Some("p" | "path") => said(Feedback::WrongPath),
        Some("u" | "unclear") => said(Feedback::Unclear),
        Some("w" | "wrong") => {
            let mut wrong = Vec::new();
            for word in words {
                let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let number = number.filter(|number| *number < used.len());
                let named = || used.iter().position(|used| used.name == word);
                let index = number.or_else(named).ok_or_else(|| format!("the step uses no value {}", safe(word)))?;
                wrong.push(index);
            }
            match (wrong.is_empty(), used.len()) {
                (false, _) => said(Feedback::WrongValue(wrong)),
                (true, 1) => said(Feedback::WrongValue(vec![0])),
                (true, 0) => Err("the step uses no value; `h` says that what it computes is wrong".to_owned()),
                (true, _) => Err("which value is wrong? `w 1` is the first one".to_owned()),
            }
        }
        Some("m" | "missing") => Ok(Reply::Missing),
        Some("z" | "undo") => Ok(Reply::Undo),
        Some("q" | "quit") => Ok(Reply::Quit),
        Some("g" | "go") => match words.next().and_then(number) {
            Some(step) => Ok(Reply::Jump(step)),
            None => Err("which step? `g 12` goes to step 12".to_owned()),
        },
        _ => Err(HELP.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(names: &[&str]) -> Vec<Used> {
        let one = |name: &&str| Used { name: (*name).to_owned(), value: None, makers: vec![], origin: None };
        names.iter().map(one).collect()
    }

    #[test]
    fn answers_are_letters_and_values_are_numbers_or_names() {
        let names = used(&["n", "p->x", "f()"]);
        let said = |text: &str| read(text, &names).unwrap();
        assert_eq!(said("c"), Reply::Said(Feedback::Correct));
        assert_eq!(said("h"), Reply::Said(Feedback::WrongResult));
        assert_eq!(said("w 2 f()"), Reply::Said(Feedback::WrongValue(vec![1, 2])));
        assert_eq!(said("w p->x"), Reply::Said(Feedback::WrongValue(vec![1])));
        assert_eq!(said("g #12"), Reply::Jump(Step(12)));
        assert_eq!(said("undo"), Reply::Undo);
        assert_eq!(read("w", &used(&["n"])), Ok(Reply::Said(Feedback::WrongValue(vec![0]))));
    }

    #[test]
    fn an_answer_that_is_written_is_read_again() {
        let names = used(&["n", "m"]);
        for text in ["c", "h", "p", "u", "m", "z", "q", "w 1 2", "g 12"] {
            assert_eq!(written(&read(text, &names).unwrap()), text);
            assert!(is_answer(text), "{text}");
        }
    }

    #[test]
    fn lines_of_other_texts_are_no_answers() {
        for text in ["", "int main(void)", "here is a text", "go on", "g", "g 1 2", "correctly", "u 3", "#include"] {
            assert!(!is_answer(text), "{text}");
        }
        assert!(is_answer("w p->x f()") && is_answer(" correct "));
    }

    #[test]
    fn what_cannot_be_understood_is_explained() {
        let names = used(&["n", "m"]);
        assert_eq!(read("w x", &names), Err("the step uses no value x".to_owned()));
        assert_eq!(read("w 3", &names), Err("the step uses no value 3".to_owned()));
        assert_eq!(read("w", &names), Err("which value is wrong? `w 1` is the first one".to_owned()));
        assert_eq!(read("w", &[]), Err("the step uses no value; `h` says that what it computes is wrong".to_owned()));
        assert_eq!(read("g", &names), Err("which step? `g 12` goes to step 12".to_owned()));
        assert_eq!(read("", &names), Err(HELP.to_owned()));
    }
}
