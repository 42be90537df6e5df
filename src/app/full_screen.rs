//! A program that fills the terminal of a person until it leaves. The terminal is restored in every case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyCode, KeyEvent,
    KeyModifiers,
};
use ratatui::crossterm::{event, execute};
use ratatui::{DefaultTerminal, Frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use idd_report::Status;
use idd_session::{Failure, Interrupt, interrupt};
use idd_world::process::CommandWatch as _;

/// The longest wait for a key before a signal is looked for.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// How long the program may take to end once its terminal is closed.
const MAX_END: Duration = Duration::from_millis(500);

/// The characters of the largest terminal, at most. Each takes memory.
const MOST: u32 = 4_000_000;

/// Whether there is a terminal of at least so many columns and lines, and not too large; else why not.
pub fn fits(least_columns: u16, least_lines: u16) -> Result<(), String> {
    let (columns, lines) = size()?;
    if columns < least_columns || lines < least_lines {
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
/// signal. Nothing is lost: what has to be kept is written to its file at once.
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
pub fn is_waiting() -> Result<bool, Failure> {
    event::poll(Duration::ZERO).map_err(|error| unusable(Failure::from_error(&error)))
}

/// A terminal that is filled from [`enter`](Self::enter) to the end of the value.
pub struct FullScreen {
    /// `None` before it is entered.
    terminal: Option<DefaultTerminal>,
    /// Whether the mouse and pasted text are events.
    takes_mouse: bool,
    /// Whether the program ends with its terminal.
    is_watched: bool,
    interrupt: Interrupt,
    /// Set by a signal that asks the program to stop until it is continued.
    suspend: Arc<AtomicBool>,
}

impl FullScreen {
    /// - `takes_mouse`: whether the mouse and pasted text are events; else the terminal handles them itself.
    pub fn new(takes_mouse: bool) -> Result<Self, Failure> {
        let interrupt = Interrupt::register()?;
        let suspend = interrupt::on_suspend()?;
        Ok(Self { terminal: None, takes_mouse, is_watched: false, interrupt, suspend })
    }

    /// Fills the terminal from now on.
    pub fn enter(&mut self) -> Result<(), Failure> {
        self.try_enter().map_err(|error| unusable(Failure::from_error(&error)))
    }

    fn try_enter(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_watched, true) {
            end_with_terminal()?;
        }
        if self.terminal.is_none() {
            self.terminal = Some(ratatui::try_init()?);
            if self.takes_mouse {
                execute!(io::stdout(), EnableMouseCapture, EnableBracketedPaste)?;
            }
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
            if self.takes_mouse {
                drop(execute!(io::stdout(), DisableBracketedPaste, DisableMouseCapture));
            }
            ratatui::restore();
        }
    }

    /// Draws a frame, if the terminal is filled.
    ///
    /// Errors: the terminal was closed, cannot be used, or is too large, for which `hint` says what to do.
    pub fn draw(&mut self, hint: &str, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), Failure> {
        let Some(terminal) = &mut self.terminal else { return Ok(()) };
        size().map_err(|why| unusable(Failure::error(why).with_hint(hint)))?;
        let drawn = terminal.draw(draw).map(|_| ());
        check_open(Duration::ZERO)?;
        drawn.map_err(|error| Failure::from_error(&error))
    }

    /// Waits for a key, the mouse, a new size, or a signal; `None` for a signal that stopped the program for a while, and
    /// when the time is over.
    ///
    /// Errors: the terminal was closed, or cannot be used.
    pub fn wait(&mut self, time: Option<Duration>) -> Result<Option<Event>, Failure> {
        let begin = Instant::now();
        loop {
            if self.suspend.swap(false, Ordering::Relaxed) {
                self.leave();
                interrupt::suspend();
                self.enter()?;
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
            let left = time.map(|time| time.saturating_sub(begin.elapsed()));
            if left == Some(Duration::ZERO) {
                return Ok(None);
            }
            check_open(left.map_or(PATIENCE, |left| left.min(PATIENCE)))?;
        }
    }

    /// Stops the program at the next [`wait`](Self::wait) until it is continued.
    pub fn suspend(&self) {
        self.suspend.store(true, Ordering::Relaxed);
    }

    /// Whether a signal or the end of the terminal asks the program to stop what it does.
    #[cfg(feature = "explain")]
    pub fn is_asked_to_stop(&self) -> bool {
        let is_asked = self.interrupt.is_interrupted() || self.suspend.load(Ordering::Relaxed);
        is_asked || self.terminal.is_some() && !is_open(Duration::ZERO)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        self.leave();
    }
}
