//! Answers as lines of text: what a person types, what a file of answers has, and what an editor adds to it.

use crate::Failure;
use crate::debug::reply::{items, reply};
use crate::debug::{PersonReply, StepJudge, StepQuestion};
use idd_explain::feedback::Feedback;
use idd_report::{Terminal, Untrusted};
use idd_world::answers::{Answers, AnswersError};
use std::path::Path;

/// Characters of a line that is no answer, in the message about it.
const MAX_SHOWN: usize = 80;

fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

/// Whether a line is an answer to some question, or goes to another step.
pub fn is_answer(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_place =
        |word: &str| word.starts_with(|first: char| first.is_ascii_digit() || first == '#') || word.contains(':');
    match words[..] {
        ["w" | "wrong" | "<" | ">", ..] => true,
        ["go", place] if !is_place(place) => false,
        ["g" | "go", _] | [_] => reply(text, &[]).is_ok(),
        [first, ..] => first.starts_with('/'),
        [] => false,
    }
}

/// Whether an answer judges nothing, and only goes to another step.
pub fn is_jump(text: &str) -> bool {
    matches!(text.split_whitespace().next(), Some("g" | "go"))
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
                Failure::error(message).with_hint(hint)
            }
            AnswersError::Busy => {
                let message = format!("another session is in the same walk, and adds its answers to `{name}`");
                let hint = "end that session, or keep the answers of this one in another file: `--answers <file>`";
                Failure::error(message).with_hint(hint)
            }
            AnswersError::Io(error) => {
                Failure::error(format!("the answers in `{name}` cannot be read or added to: {error}"))
            }
        }
    })
}

/// A person whose answers are known: those of a file, until it has no more.
pub struct WrittenAnswers<'a>(pub &'a mut Answers);

impl StepJudge for WrittenAnswers<'_> {
    fn judge(&mut self, question: &StepQuestion<'_>) -> Result<PersonReply, Failure> {
        while let Some(text) = self.0.known() {
            if let Ok(reply) = reply(&text, &items(question.facts)) {
                return Ok(reply);
            }
        }
        Ok(PersonReply::Quit)
    }
}

/// The line that says this; `None` for a search, of which only the step that it led to is kept.
pub fn written(reply: &PersonReply) -> Option<String> {
    Some(match reply {
        PersonReply::Seek(_) => return None,
        PersonReply::Said(Feedback::Correct) => "c".to_owned(),
        PersonReply::Said(Feedback::WrongResult) => "h".to_owned(),
        PersonReply::Said(Feedback::WrongPath) => "p".to_owned(),
        PersonReply::Said(Feedback::Unclear) => "u".to_owned(),
        PersonReply::Said(Feedback::WrongValue(wrong)) => {
            wrong.iter().fold("w".to_owned(), |text, index| format!("{text} {}", index + 1))
        }
        PersonReply::Missing => "m".to_owned(),
        PersonReply::Undo => "z".to_owned(),
        PersonReply::Jump(step) => format!("g {}", step.0),
        PersonReply::Quit => "q".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::reply::AnsweredItem;

    #[test]
    fn an_answer_that_is_written_is_read_again() {
        let one = |name: &str| AnsweredItem { name: name.to_owned(), maker: None, range: None, is_used: true };
        for text in ["c", "h", "p", "u", "m", "z", "q", "w 1 2", "g 12"] {
            assert_eq!(written(&reply(text, &[one("n"), one("m")]).unwrap()).as_deref(), Some(text));
            assert!(is_answer(text), "{text}");
        }
    }

    #[test]
    fn lines_of_other_texts_are_no_answers() {
        for text in ["", "int main(void)", "here is a text", "go on", "g", "g 1 2", "correctly", "u 3", "#include"] {
            assert!(!is_answer(text), "{text}");
        }
        for text in ["w p->x f()", " correct ", "g a.c:15", "go a.c:15", "g larger", "/n = 3", "n", "[", "< n"] {
            assert!(is_answer(text), "{text}");
        }
    }
}
