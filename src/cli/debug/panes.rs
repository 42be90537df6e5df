//! A person before a whole terminal: each question fills it.

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use ratatui::crossterm::event::DisableMouseCapture;
use ratatui::crossterm::event::EnableMouseCapture;
use ratatui::crossterm::execute;

use crate::cli::debug::Line;
use crate::cli::debug::at;
use crate::cli::debug::does;
use crate::cli::debug::presumed;
use crate::cli::debug::safe;
use crate::cli::debug::screen::Action;
use crate::cli::debug::screen::LEAST;
use crate::cli::debug::screen::Screen;
use crate::cli::debug::screen::Shown;
use crate::cli::debug::short;
use crate::cli::debug::titled;
use crate::cli::debug::value;
use crate::explain::native::facts::Facts;
use crate::session::debug::Person;
use crate::session::debug::Question;
use crate::session::debug::Reply;
use crate::session::debug::written::read;
use crate::session::failure::Failure;
use crate::session::interrupt;
use crate::session::interrupt::Interrupt;
use crate::trace::step::Step;
use crate::world::answers::Answers;
use crate::world::process::Watch as _;

/// Lines of the source before and behind that of a step.
const AROUND: u32 = 200;

/// How long a key is waited for before a signal is looked for.
const PATIENCE: Duration = Duration::from_millis(200);

/// Whether there is a terminal that is large enough; else why not.
pub fn fits() -> Result<(), String> {
    let (columns, lines) = ratatui::crossterm::terminal::size().map_err(|error| error.to_string())?;
    if columns < LEAST.0 || lines < LEAST.1 {
        let (least_columns, least_lines) = LEAST;
        return Err(format!(
            "the terminal has {columns} columns and {lines} lines, and panes need {least_columns} and {least_lines}"
        ));
    }
    Ok(())
}

/// A person at a terminal.
pub struct Panes<'a> {
    /// `None` until the first question that has no answer yet.
    terminal: Option<DefaultTerminal>,
    line: Line<'a>,
    answers: Option<Answers>,
    /// The answers so far.
    path: Vec<String>,
    /// The step that is looked at in place of the recommended one.
    looked: Option<u32>,
    interrupt: Interrupt,
}

impl<'a> Panes<'a> {
    pub fn new(line: Line<'a>, answers: Option<Answers>) -> Result<Self, Failure> {
        let interrupt = Interrupt::register()?;
        Ok(Self { terminal: None, line, answers, path: Vec::new(), looked: None, interrupt })
    }

    fn enter(&mut self) -> io::Result<()> {
        if self.terminal.is_none() {
            self.terminal = Some(ratatui::try_init()?);
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        Ok(())
    }

    fn leave(&mut self) {
        if self.terminal.take().is_some() {
            drop(execute!(io::stdout(), DisableMouseCapture));
            ratatui::restore();
        }
    }

    fn screen(&mut self, question: &Question<'_>) -> Screen {
        let Facts { detail, used, .. } = question.facts;
        let place = detail.standing.place.as_ref();
        let mut source = Vec::new();
        if let Some(place) = place {
            for number in place.line.saturating_sub(AROUND).max(1)..=place.line.saturating_add(AROUND) {
                match (self.line)(&place.file, number) {
                    Some(text) => source.push((number, safe(&text.replace('\t', "    ")))),
                    None if number > place.line => break,
                    None => {}
                }
            }
        }
        let maker = |makers: &[Step]| makers.iter().max().map(|step| step.0).filter(|step| *step > 0);
        // The stack has the innermost call first, with the step that called.
        let calls = detail.stack.iter().rev().map(|(caller, name)| format!("{}, to step {}", safe(name), caller.0));
        let (title, why) = titled(question);
        Screen::new(Shown {
            title,
            why,
            step: detail.standing.step.0,
            source,
            line: place.map_or(0, |place| place.line),
            used: (0..)
                .zip(used)
                .map(|(index, used)| (short(&used.name), value(used) + presumed(question, index), maker(&used.makers)))
                .collect(),
            does: does(question.facts),
            calls: calls.chain([safe(&detail.standing.function)]).collect(),
            path: self.path.clone(),
        })
    }

    /// Takes an answer, and keeps it.
    fn keep(&mut self, text: &str, question: &Question<'_>, is_new: bool) -> Result<(), Failure> {
        let facts = question.facts;
        let step = facts.detail.standing.step.0;
        match text {
            "z" => drop(self.path.pop()),
            text if text.starts_with("g ") => {}
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

impl Drop for Panes<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Person for Panes<'_> {
    fn judge(&mut self, question: &Question<'_>) -> Result<Reply, Failure> {
        let used = &question.facts.used;
        while let Some(text) = self.answers.as_mut().and_then(Answers::known) {
            if let Ok(known) = read(&text, used) {
                self.keep(&text, question, false)?;
                return Ok(known);
            }
        }
        self.enter().map_err(|error| Failure::from_error(&error))?;
        let mut screen = self.screen(question);
        loop {
            if let Some(terminal) = &mut self.terminal {
                terminal.draw(|frame| screen.draw(frame)).map_err(|error| Failure::from_error(&error))?;
            }
            while !event::poll(PATIENCE).map_err(|error| Failure::from_error(&error))? {
                if self.interrupt.is_interrupted() {
                    return Ok(Reply::Quit);
                }
            }
            let event = event::read().map_err(|error| Failure::from_error(&error))?;
            match screen.event(&event) {
                None => {}
                Some(Action::Quit) => return Ok(Reply::Quit),
                Some(Action::Suspend) => {
                    self.leave();
                    interrupt::suspend();
                    self.enter().map_err(|error| Failure::from_error(&error))?;
                }
                Some(Action::Look(step)) => {
                    self.looked = Some(step);
                    return Ok(Reply::Jump(Step(step)));
                }
                Some(Action::Answer(text)) => match read(&text, used) {
                    Ok(said) => {
                        self.keep(&text, question, true)?;
                        return Ok(said);
                    }
                    Err(message) => screen.message = Some(message),
                },
            }
        }
    }
}
