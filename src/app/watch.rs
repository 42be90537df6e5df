//! `git idd watch`: follows a hunt, in the panes of a terminal or as a page, and changes nothing about it.

mod draw;

use crate::args::WatchArgs;
use crate::console::{CommandAnswer, CommandScene, Console};
use crate::full_screen::FullScreen;
use crate::{full_screen, status};
use idd_report::course::HuntCourse;
use idd_report::html::watch::WatchPage;
use idd_report::{Untrusted, html};
use idd_session::course::{HuntObserver, HuntState};
use idd_session::kept::KeptHunt;
use idd_session::talk::Talk as _;
use idd_session::{Failure, Interrupt, course, kept, saved, story};
use idd_world::files;
use idd_world::process::CommandWatch as _;
use idd_world::repo::Location;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;
use std::{io, thread};

/// The time between two looks at the journal.
const TICK: Duration = Duration::from_millis(500);

/// The hint for a terminal that is too large.
const PLAIN: &str = "`git idd watch | cat` prints the state once";

/// Follows the named hunt, else the one that runs, else the last one.
pub fn run(args: &WatchArgs, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    if console.is_json {
        return status::run(args.which.hunt.as_deref(), location, console);
    }
    let mut watched = WatchedHunt::new(args.which.hunt.as_deref(), location)?;
    if let Some(file) = &args.html {
        if file == "-" {
            return Ok(CommandAnswer::Text(watched.page()?, 0));
        }
        let file = context.directory.join(file);
        let is_there = file.symlink_metadata().is_ok();
        if is_there && !file.is_file() || !file.parent().is_some_and(Path::is_dir) {
            let name = file.display();
            let why = if is_there { "it is no file" } else { "there is no directory for it" };
            return Err(Failure::error(format!("failed to write the page `{name}`: {why}"))
                .with_hint("`--html -` prints it once"));
        }
        return watched.write_page(&file, console);
    }
    let is_dumb = context.variable("TERM").is_none_or(|term| term == "dumb");
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_terminal && !is_dumb && watched.course.is_running {
        match full_screen::fits(draw::LEAST.0, draw::LEAST.1) {
            Ok(()) => watched.fill_terminal(console)?,
            Err(why) => console.progress().say(&format!("The state is printed once: {why}.")),
        }
    }
    Ok(CommandAnswer::Text(watched.text().into_bytes(), 0))
}

/// A hunt that is watched.
struct WatchedHunt<'l> {
    location: &'l Location,
    observer: HuntObserver,
    kept: KeptHunt,
    /// Whether the person named the hunt.
    is_named: bool,
    /// Whether it ran at the first look.
    was_running: bool,
    /// The size of its journal when it was read.
    n_bytes: u64,
    /// The line of its test.
    test: Untrusted,
    course: HuntCourse,
}

impl<'l> WatchedHunt<'l> {
    fn new(named: Option<&str>, location: &'l Location) -> Result<Self, Failure> {
        let kept = match named {
            Some(_) => kept::newest(location, named)?,
            None => kept::running(location)?,
        };
        let mut observer = HuntObserver::new(location)?;
        let n_bytes = size(&kept, location);
        let state = HuntState::of(&kept, named.is_some(), location)?;
        let course = observer.look(&kept, &state)?;
        let test = saved::plan(&kept.replay).map(|plan| plan.order.command.to_line()).unwrap_or_default();
        let is_named = named.is_some();
        Ok(Self {
            location,
            observer,
            kept,
            is_named,
            was_running: state.is_running,
            n_bytes,
            test: test.into(),
            course,
        })
    }

    /// Reads the journal again if it has grown, or if the hunt has ended; and what the running probe prints. Returns whether
    /// there is anything new.
    fn look(&mut self) -> Result<bool, Failure> {
        let n_bytes = size(&self.kept, self.location);
        if n_bytes == self.n_bytes && saved::is_running(self.location, &self.kept.id)? {
            let now = self.observer.output_now();
            let is_new = now.is_some() && now != self.course.output;
            if is_new {
                self.course.output = now;
            }
            return Ok(is_new);
        }
        self.n_bytes = n_bytes;
        self.kept = kept::newest(self.location, Some(&self.kept.id))?;
        let state = HuntState::of(&self.kept, self.is_named, self.location)?;
        self.course = self.observer.look(&self.kept, &state)?;
        Ok(true)
    }

    /// The state once, as text.
    fn text(&self) -> String {
        let note = match (self.was_running, self.is_named) {
            (true, _) => "",
            (false, true) => "This hunt is not running.\n\n",
            (false, false) => "No hunt is running. This is the last one:\n\n",
        };
        format!("{note}{}", self.course.text(status::now()))
    }

    /// Fills the terminal until the hunt ends, or the person leaves.
    fn fill_terminal(&mut self, console: Console) -> Result<(), Failure> {
        let mut full_screen = FullScreen::new(false)?;
        full_screen.enter()?;
        while self.course.is_running {
            let (test, course) = (&self.test, &self.course);
            full_screen.draw(PLAIN, |frame| draw::draw(test, course, console.out_style, frame))?;
            match full_screen.wait(Some(TICK))? {
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                    match key.code {
                        KeyCode::Char('q') => break,
                        KeyCode::Char('c' | 'd') if is_control => break,
                        KeyCode::Char('z') if is_control => full_screen.suspend(),
                        _ => {}
                    }
                }
                _ => drop(self.look()?),
            }
        }
        Ok(())
    }

    /// Writes the page now, and whenever the journal has grown, until the hunt ends.
    fn write_page(&mut self, file: &Path, console: Console) -> Result<CommandAnswer, Failure> {
        let interrupt = Interrupt::register()?;
        self.write(file)?;
        if self.course.is_running {
            let name = file.display();
            console
                .progress()
                .say(&format!("Writing `{name}` until the hunt ends; Ctrl-C leaves it, the hunt goes on."));
        }
        while self.course.is_running && !interrupt.is_interrupted() {
            thread::sleep(TICK);
            if self.look()? {
                self.write(file)?;
            }
        }
        Ok(CommandAnswer::Text(self.text().into_bytes(), 0))
    }

    fn page(&self) -> Result<Vec<u8>, Failure> {
        let report = course::report(&self.kept, &self.course, "running");
        let story = story::read(self.location, &self.kept.id, &report, &[])?;
        let page = WatchPage { report: &report, story: &story, test: &self.test, course: &self.course };
        let mut bytes = Vec::new();
        html::watch::write(&page, &mut bytes)?;
        Ok(bytes)
    }

    fn write(&self, file: &Path) -> Result<(), Failure> {
        files::replace(file, &self.page()?)
            .map_err(|error| Failure::error(format!("failed to write the page `{}`: {error}", file.display())))
    }
}

/// The size of the journal of a hunt in bytes.
fn size(kept: &KeptHunt, location: &Location) -> u64 {
    saved::segment_path(location, &kept.id).map(|path| files::size(&path)).unwrap_or_default()
}
