//! A person before a whole terminal: each question fills it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers,
};
use ratatui::crossterm::{event, execute};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cli::debug::draw::LEAST;
use crate::cli::debug::screen::{Action, Mode, Screen};
use crate::cli::debug::shown::Shown;
use crate::cli::debug::text::{Line, at};
use crate::cli::debug::tree;
use crate::report::Status;
use crate::session::debug::reply::{Item, items, reply};
use crate::session::debug::{Person, Question, Reply};
use crate::session::failure::Failure;
use crate::session::interrupt;
use crate::session::interrupt::Interrupt;
use crate::trace::step::Step;
use crate::world::answers::Answers;
use crate::world::process::Watch as _;

/// How long a key is waited for before a signal is looked for.
const PATIENCE: Duration = Duration::from_millis(200);

/// How long the panes may take to end once their terminal is closed.
const MAX_END: Duration = Duration::from_millis(500);

/// The characters of the largest terminal, at most. Each takes memory.
const MOST: u32 = 4_000_000;

/// Whether there is a terminal of a size that the panes can fill; else why not.
pub fn fits() -> Result<(), String> {
    let (columns, lines) = size()?;
    if columns < LEAST.0 || lines < LEAST.1 {
        let (least_columns, least_lines) = LEAST;
        return Err(format!(
            "the terminal has {columns} columns and {lines} lines, and panes need {least_columns} and {least_lines}"
        ));
    }
    Ok(())
}

/// The columns and lines of the terminal; an error says why it is too large, or why they are not known.
fn size() -> Result<(u16, u16), String> {
    let (columns, lines) = ratatui::crossterm::terminal::size().map_err(|error| error.to_string())?;
    if u32::from(columns) * u32::from(lines) > MOST {
        return Err(format!("the terminal has {columns} columns and {lines} lines, which is too much for panes"));
    }
    Ok((columns, lines))
}

/// Waits until there is input or a signal; returns whether the terminal is still open.
///
/// `event::poll` never returns once it is closed, so it is asked only without waiting.
fn is_open(patience: Duration) -> bool {
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
    let is_ready = poll(&mut terminal, Some(&patience)).is_ok_and(|n_ready| n_ready > 0);
    !(is_ready && terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL))
}

/// Waits as [`is_open`] does; a terminal that was closed is an error.
fn check_open(patience: Duration) -> Result<(), Failure> {
    if is_open(patience) { Ok(()) } else { Err(Failure::new(Status::Interrupted, "the terminal was closed")) }
}

/// The reason why the terminal cannot be used. It may have been closed since the last look.
fn unusable(failure: Failure) -> Failure {
    check_open(Duration::ZERO).err().unwrap_or(failure)
}

/// Ends the program with the exit code of an interruption once the terminal is closed.
///
/// Needed because crossterm 0.29 reads forever if the terminal closes while it reads keys; the main thread then sees no
/// signal. Nothing is lost: each answer is written to its file at once.
fn end_with_terminal() -> io::Result<()> {
    let watch = || {
        let stdin = io::stdin();
        loop {
            // Without events it waits only for the end.
            let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
            if poll(&mut terminal, None).is_ok() && !terminal[0].revents().is_empty() {
                thread::sleep(MAX_END);
                interrupt::end(130);
            }
        }
    };
    thread::Builder::new().name("terminal".to_owned()).spawn(watch).map(|_| ())
}

/// Whether keys or other events wait to be read.
fn is_waiting() -> Result<bool, Failure> {
    event::poll(Duration::ZERO).map_err(|error| unusable(Failure::from_error(&error)))
}

/// A person at a terminal.
pub struct Panes<'a> {
    /// `None` until the first question that has no answer yet.
    terminal: Option<DefaultTerminal>,
    line: Line<'a>,
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
    /// Whether the program ends with its terminal.
    is_watched: bool,
    /// What is on the screen during a search.
    searching: Option<Screen>,
    interrupt: Interrupt,
    /// Set by a signal that asks the program to stop until it is continued.
    suspend: Arc<AtomicBool>,
}

impl<'a> Panes<'a> {
    pub fn new(line: Line<'a>, answers: Option<Answers>) -> Result<Self, Failure> {
        let interrupt = Interrupt::register()?;
        let suspend = interrupt::on_suspend()?;
        Ok(Self {
            terminal: None,
            line,
            answers,
            path: Vec::new(),
            recommended: None,
            is_looking: false,
            looked: None,
            followed: None,
            open: BTreeSet::new(),
            is_watched: false,
            searching: None,
            interrupt,
            suspend,
        })
    }

    fn enter(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_watched, true) {
            end_with_terminal()?;
        }
        if self.terminal.is_none() {
            self.terminal = Some(ratatui::try_init()?);
            execute!(io::stdout(), EnableMouseCapture, EnableBracketedPaste)?;
        }
        Ok(())
    }

    fn leave(&mut self) {
        if let Some(terminal) = self.terminal.take() {
            if !is_open(Duration::ZERO) {
                // Nothing can be restored, and a complaint about that would have no reader.
                std::mem::forget(terminal);
                return;
            }
            drop(execute!(io::stdout(), DisableBracketedPaste, DisableMouseCapture));
            ratatui::restore();
        }
    }

    fn screen(&mut self, question: &Question<'_>) -> Screen {
        let mut shown = Shown::new(question, &mut self.line);
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
        let mut screen = Screen::new(shown);
        screen.message.clone_from(&question.note);
        if let Some((followed, size)) = self.followed.take() {
            let is_followed = |item: &Item| {
                let is_apart = |(address, n): (u64, u64)| {
                    followed >= address.saturating_add(n) || address >= followed.saturating_add(size)
                };
                item.range.is_some_and(|range| !is_apart(range))
            };
            screen.selected = items(question.facts).iter().rposition(is_followed).unwrap_or(0);
        }
        screen
    }

    /// Waits for a key, the mouse, a new size, or a signal; `None` for a signal that stopped the program for a while.
    ///
    /// Errors: the terminal was closed, or cannot be used.
    fn wait(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if self.suspend.swap(false, Ordering::Relaxed) {
                self.leave();
                interrupt::suspend();
                self.enter().map_err(|error| unusable(Failure::from_error(&error)))?;
                return Ok(None);
            }
            // A terminal that closes sends a signal, too.
            check_open(Duration::ZERO)?;
            if self.interrupt.is_interrupted() {
                return Ok(Some(Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL))));
            }
            // One read takes all waiting bytes, so the next events may be buffered and the terminal silent.
            if is_waiting()? {
                return event::read().map(Some).map_err(|error| unusable(Failure::from_error(&error)));
            }
            check_open(PATIENCE)?;
        }
    }

    /// Looks for another step, if that is what a text means.
    fn seek(&mut self, text: &str, items: &[Item], screen: &mut Screen) -> Option<Reply> {
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
    fn keep(&mut self, text: &str, question: &Question<'_>, is_new: bool) -> Result<(), Failure> {
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

impl Drop for Panes<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Person for Panes<'_> {
    fn judge(&mut self, question: &Question<'_>) -> Result<Reply, Failure> {
        let items = items(question.facts);
        while let Some(text) = self.answers.as_mut().and_then(Answers::known) {
            if let Ok(known) = reply(&text, &items) {
                self.keep(&text, question, false)?;
                return Ok(known);
            }
        }
        self.searching = None;
        self.enter().map_err(|error| unusable(Failure::from_error(&error)))?;
        let mut screen = self.screen(question);
        let mut is_drawn = false;
        loop {
            // After a burst of keys, only the last state is drawn.
            let is_late = is_drawn && is_waiting()?;
            if let Some(terminal) = self.terminal.as_mut().filter(|_| !is_late) {
                let is_fitting =
                    size().map_err(|why| Failure::new(Status::Error, why).with_hint("`--plain` asks by lines"));
                is_fitting.map_err(unusable)?;
                is_drawn = true;
                let drawn = terminal.draw(|frame| screen.draw(frame)).map(|_| ());
                check_open(Duration::ZERO)?;
                drawn.map_err(|error| Failure::from_error(&error))?;
            }
            let Some(event) = self.wait()? else { continue };
            match screen.event(&event) {
                None => {}
                Some(Action::Quit) => return Ok(Reply::Quit),
                Some(Action::Suspend) => self.suspend.store(true, Ordering::Relaxed),
                Some(Action::Look(step)) => {
                    self.is_looking = true;
                    return Ok(Reply::Jump(Step(step)));
                }
                Some(Action::Return) => match &self.recommended {
                    Some((step, _)) if *step != screen.shown.step => {
                        self.is_looking = true;
                        return Ok(Reply::Jump(Step(*step)));
                    }
                    _ => screen.message = Some("this is the step that is asked about".to_owned()),
                },
                Some(Action::Tree) => {
                    let step = Step(screen.shown.step);
                    screen.shown.tree = tree::rows(question.calls, step, question.judged, &self.open);
                    screen.show_tree();
                }
                Some(Action::Open(part)) => {
                    if !self.open.remove(&part) {
                        self.open.insert(part);
                    }
                    let step = Step(screen.shown.step);
                    screen.shown.tree = tree::rows(question.calls, step, question.judged, &self.open);
                    let row = screen.shown.tree.iter().position(|row| row.step == part);
                    screen.mode = Mode::Tree(row.unwrap_or(0));
                }
                Some(Action::Seek(text)) => {
                    if let Some(reply) = self.seek(&text, &items, &mut screen) {
                        return Ok(reply);
                    }
                }
                Some(Action::Answer(text)) => match reply(&text, &items) {
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
        if let (Some(terminal), Some(screen)) = (&mut self.terminal, &mut self.searching)
            && elapsed > PATIENCE
        {
            screen.message = Some(format!("searching, at step {}; any key stops", at.0));
            // The search goes on without its progress if that cannot be shown.
            drop(terminal.draw(|frame| screen.draw(frame)));
        }
        let is_asked = self.interrupt.is_interrupted() || self.suspend.load(Ordering::Relaxed);
        let mut is_stopped = is_asked || self.terminal.is_some() && !is_open(Duration::ZERO);
        while !is_stopped && event::poll(Duration::ZERO).unwrap_or(false) {
            is_stopped = matches!(event::read(), Ok(Event::Key(key)) if key.kind != KeyEventKind::Release);
        }
        is_stopped
    }
}
