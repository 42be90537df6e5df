//! One question of a walk at a time, for a client that comes back with the answer.
//!
//! Between two questions, the file of the answers is all that is kept; the walk is played again to where it ended.

use crate::console::Console;
use crate::debug::{AskedPerson, ended, opened};
use idd_report::Style;
use idd_report::escape::safe;
use idd_session::debug::reply::{items, reply};
use idd_session::debug::{DebugOrder, PersonReply, StepJudge, StepQuestion, WalkEnd, begin, explained};
use idd_session::{Failure, Silent};
use idd_world::answers::Answers;
use idd_world::repo::Location;

/// Plays a walk over a recording with the known answers and `answer`; returns the next question, or the result.
///
/// Errors: it is no answer to the question.
pub fn ask(order: &DebugOrder, answer: Option<&str>, location: &Location) -> Result<String, Failure> {
    let (mut walk, mut sources, kept) = begin::of_recording(order, location)?;
    let answers = opened(&kept, order.is_restarted)?;
    let mut line = |file: &str, number: u32| sources.indented(file, number);
    let asked =
        AskedPerson { line: &mut line, answers, style: Style::PLAIN, is_json: false, is_over: false, is_sought: false };
    let mut once = Once { asked, answer: answer.map(str::to_owned), text: String::new(), wrong: None };
    let end = walk.ask(&mut once, false)?;
    if let Some(wrong) = once.wrong {
        return Err(Failure::usage(wrong));
    }
    if end == WalkEnd::Left {
        return Ok(once.text);
    }
    let text = ended(&mut walk, &end, once.asked.line, Console::plain())?;
    explained::keep_beside(&walk, &kept, &mut Silent);
    explained::keep(&walk, location, &mut Silent);
    Ok(text)
}

/// Gives the known answers, then one, and leaves at the question after it.
struct Once<'a> {
    asked: AskedPerson<'a>,
    answer: Option<String>,
    text: String,
    wrong: Option<String>,
}

impl StepJudge for Once<'_> {
    fn judge(&mut self, question: &StepQuestion<'_>) -> Result<PersonReply, Failure> {
        let items = items(question.facts);
        while let Some(known) = self.asked.answers.as_mut().and_then(Answers::known) {
            if let Ok(reply) = reply(&known, &items) {
                return Ok(reply);
            }
        }
        let Some(answer) = self.answer.take() else {
            self.text = self.asked.shown(question);
            if let Some(note) = &question.note {
                self.text = format!("{}\n{}", safe(note), self.text);
            }
            return Ok(PersonReply::Quit);
        };
        match reply(answer.trim(), &items) {
            Ok(PersonReply::Quit) => Ok(PersonReply::Quit),
            Ok(reply) => {
                self.asked.keep(answer.trim(), &reply, question.facts.detail.standing.step)?;
                Ok(reply)
            }
            Err(wrong) => {
                self.wrong = Some(wrong);
                Ok(PersonReply::Quit)
            }
        }
    }
}
