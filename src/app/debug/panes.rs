//! A person before a whole terminal: each question fills it.

use std::collections::BTreeSet;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::debug::question_view::ShownQuestion;
use crate::debug::screen::{KeyAction, QuestionScreen, ScreenMode};
use crate::debug::text::{IndentedLine, at};
use crate::debug::tree;
use crate::full_screen::{FullScreen, PATIENCE, is_waiting};
use idd_session::Failure;
use idd_session::debug::reply::{AnsweredItem, items, reply};
use idd_session::debug::{PersonReply, StepJudge, StepQuestion};
use idd_trace::Step;
use idd_world::answers::Answers;

/// The hint for a terminal that is too large.
const PLAIN: &str = "`--plain` asks by lines";

/// A person at a terminal.
pub struct Panes<'a> {
    /// Entered at the first question that has no answer yet.
    full_screen: FullScreen,
    line: IndentedLine<'a>,
    answers: Option<Answers>,
    /// The answers so far.
    path: Vec<String>,
    /// The step that is recommended, and why.
    recommended: Option<(u32, String)>,
    /// Whether the next question is about a step that the person wants to look at.
    is_looking: bool,
    /// The step that is looked at in place of the recommended one.
    looked: Option<u32>,
    /// The bytes of the variable whose writers are followed.
    followed: Option<(u64, u64)>,
    /// The parts of the tree whose content is shown.
    open: BTreeSet<u32>,
    /// What is on the screen during a search.
    searching: Option<QuestionScreen>,
}

impl<'a> Panes<'a> {
    pub fn new(line: IndentedLine<'a>, answers: Option<Answers>) -> Result<Self, Failure> {
        Ok(Self {
            full_screen: FullScreen::new(true)?,
            line,
            answers,
            path: Vec::new(),
            recommended: None,
            is_looking: false,
            looked: None,
            followed: None,
            open: BTreeSet::new(),
            searching: None,
        })
    }

    fn screen(&mut self, question: &StepQuestion<'_>) -> QuestionScreen {
        let mut shown = ShownQuestion::new(question, &mut self.line);
        let step = shown.step;
        if std::mem::take(&mut self.is_looking) {
            self.looked = Some(step).filter(|_| self.recommended.as_ref().is_none_or(|(known, _)| *known != step));
            match &self.recommended {
                Some((known, why)) if *known == step => shown.why.clone_from(why),
                Some((known, _)) => shown.why = format!("(looked at without an answer; r goes back to step {known})"),
                None => {}
            }
        } else {
            self.recommended = Some((step, shown.why.clone()));
        }
        shown.near = tree::rows(question.calls, Step(step), question.judged, &BTreeSet::new());
        shown.path.clone_from(&self.path);
        let mut screen = QuestionScreen::new(shown);
        screen.message.clone_from(&question.note);
        if let Some((followed, size)) = self.followed.take() {
            let is_followed = |item: &AnsweredItem| {
                let is_apart = |(address, n): (u64, u64)| {
                    followed >= address.saturating_add(n) || address >= followed.saturating_add(size)
                };
                item.range.is_some_and(|range| !is_apart(range))
            };
            screen.selected = items(question.facts).iter().rposition(is_followed).unwrap_or(0);
        }
        screen
    }

    /// Looks for another step, if that is what a text means.
    fn seek(&mut self, text: &str, items: &[AnsweredItem], screen: &mut QuestionScreen) -> Option<PersonReply> {
        match reply(text, items) {
            Ok(reply) => {
                let index = text.strip_prefix(['<', '>']).and_then(|index| index.trim().parse::<usize>().ok());
                let item = index.and_then(|index| items.get(index.checked_sub(1)?));
                self.followed = item.and_then(|item| item.range);
                self.is_looking = true;
                self.searching = Some(screen.clone());
                Some(reply)
            }
            Err(message) => {
                screen.message = Some(message);
                None
            }
        }
    }

    /// Takes an answer, and keeps it.
    fn keep(&mut self, text: &str, question: &StepQuestion<'_>, is_new: bool) -> Result<(), Failure> {
        let facts = question.facts;
        let step = facts.detail.standing.step.0;
        match text {
            "z" => drop(self.path.pop()),
            text if text.starts_with(['g', 'n', 'N', '/', '<', '>', '[', ']']) => {}
            text => self.path.push(format!("step {step}, {}: {text}", at(facts))),
        }
        let Some(answers) = self.answers.as_mut().filter(|_| is_new) else { return Ok(()) };
        // A step that was only looked at is kept once it is judged.
        let looked = self.looked.take().filter(|_| text != "z");
        if let Some(looked) = looked {
            answers.add(&format!("g {looked}")).map_err(|error| Failure::from_error(&error))?;
        }
        answers.add(text).map_err(|error| Failure::from_error(&error))
    }
}

impl StepJudge for Panes<'_> {
    fn judge(&mut self, question: &StepQuestion<'_>) -> Result<PersonReply, Failure> {
        let items = items(question.facts);
        while let Some(text) = self.answers.as_mut().and_then(Answers::known) {
            if let Ok(known) = reply(&text, &items) {
                self.keep(&text, question, false)?;
                return Ok(known);
            }
        }
        self.searching = None;
        self.full_screen.enter()?;
        let mut screen = self.screen(question);
        let mut is_drawn = false;
        loop {
            // After a burst of keys, only the last state is drawn.
            let is_late = is_drawn && is_waiting()?;
            if !is_late {
                is_drawn = true;
                self.full_screen.draw(PLAIN, |frame| screen.draw(frame))?;
            }
            let Some(event) = self.full_screen.wait(None)? else { continue };
            match screen.event(&event) {
                None => {}
                Some(KeyAction::Quit) => return Ok(PersonReply::Quit),
                Some(KeyAction::Suspend) => self.full_screen.suspend(),
                Some(KeyAction::Look(step)) => {
                    self.is_looking = true;
                    return Ok(PersonReply::Jump(Step(step)));
                }
                Some(KeyAction::Return) => match &self.recommended {
                    Some((step, _)) if *step != screen.shown.step => {
                        self.is_looking = true;
                        return Ok(PersonReply::Jump(Step(*step)));
                    }
                    _ => screen.message = Some("this is the step that is asked about".to_owned()),
                },
                Some(KeyAction::Tree) => {
                    let step = Step(screen.shown.step);
                    screen.shown.tree = tree::rows(question.calls, step, question.judged, &self.open);
                    screen.show_tree();
                }
                Some(KeyAction::Open(part)) => {
                    if !self.open.remove(&part) {
                        self.open.insert(part);
                    }
                    let step = Step(screen.shown.step);
                    screen.shown.tree = tree::rows(question.calls, step, question.judged, &self.open);
                    let row = screen.shown.tree.iter().position(|row| row.step == part);
                    screen.mode = ScreenMode::Tree(row.unwrap_or(0));
                }
                Some(KeyAction::Seek(text)) => {
                    if let Some(reply) = self.seek(&text, &items, &mut screen) {
                        return Ok(reply);
                    }
                }
                Some(KeyAction::Answer(text)) => match reply(&text, &items) {
                    Ok(said) => {
                        self.keep(&text, question, true)?;
                        return Ok(said);
                    }
                    Err(message) => screen.message = Some(message),
                },
            }
        }
    }

    /// Any key stops a search; before that its progress is shown.
    fn stops(&mut self, at: Step, elapsed: Duration) -> bool {
        if let Some(screen) = &mut self.searching
            && elapsed > PATIENCE
        {
            screen.message = Some(format!("searching, at step {}; any key stops", at.0));
            // The search goes on without its progress if that cannot be shown.
            drop(self.full_screen.draw(PLAIN, |frame| screen.draw(frame)));
        }
        let mut is_stopped = self.full_screen.is_asked_to_stop();
        while !is_stopped && event::poll(Duration::ZERO).unwrap_or(false) {
            is_stopped = matches!(event::read(), Ok(Event::Key(key)) if key.kind != KeyEventKind::Release);
        }
        is_stopped
    }
}
