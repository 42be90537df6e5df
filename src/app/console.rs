//! The answer of a command, and how it is printed.

use crate::args::options::{Color, OutputOptions};
use crate::columns;
use crate::notify::NotifyCommand;
use crate::progress::{ProgressPrinter, Volume};
use idd_base::CommitId;
use idd_report::text::{DetailLevel, TextLook};
use idd_report::{Explained, Report, Status, Style};
use idd_session::Context;
use idd_world::repo::Location;
use std::io;

/// The answer of a command on stdout.
pub enum CommandAnswer {
    /// A report, as text or JSON, and its explanations; the command of `--notify`; and the commit that was printed before.
    /// The exit code is that of its status.
    Report(Box<Report>, Vec<Explained>, Option<NotifyCommand>, Option<CommitId>),
    /// A report that is printed again with the stored explanations, and whether it is not about the newest hunt; the exit
    /// code is 0.
    Shown(Box<Report>, Vec<Explained>, bool),
    /// Raw bytes, and the exit code.
    Text(Vec<u8>, u8),
    /// Sentences for people, `{"message": ...}` under `--json`, and the exit code.
    Done(String, u8),
    /// Raw bytes for the pager.
    Page(Vec<u8>),
}

impl CommandAnswer {
    /// A report without explanations, of which nothing was printed before.
    pub fn report(report: Report) -> Self {
        Self::Report(Box::new(report), Vec::new(), None, None)
    }
}

/// Where a command works, and how it talks to the user.
#[derive(Clone, Copy)]
pub struct CommandScene<'a> {
    /// The repository and the working tree.
    pub location: &'a Location,
    /// The directory, the environment and the configuration of the user.
    pub context: &'a Context,
    /// The output.
    pub console: Console,
}

/// The output of the program.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub struct Console {
    /// One JSON object on stdout.
    pub is_json: bool,
    /// Every result of a hunt except an error or an interrupt has exit code 0.
    pub is_exit_zero: bool,
    /// The amount of progress.
    pub volume: Volume,
    /// Colours on stdout.
    pub out_style: Style,
    /// Colours on stderr.
    pub err_style: Style,
    /// Whether stdout is a terminal.
    pub is_terminal: bool,
    /// Whether stderr is a terminal.
    pub is_err_terminal: bool,
    /// Whether a finding is printed in full.
    pub is_full: bool,
}

impl Console {
    /// Plain text, for errors before the options are known.
    pub fn plain() -> Self {
        Self {
            is_json: false,
            is_exit_zero: false,
            volume: Volume::Normal,
            out_style: Style::PLAIN,
            err_style: Style::PLAIN,
            is_terminal: false,
            is_err_terminal: false,
            is_full: false,
        }
    }

    /// According to the options, the environment (`NO_COLOR`, `TERM=dumb`) and the terminals; output through a pager
    /// counts as output to a terminal.
    pub fn new(output: OutputOptions, context: &Context, is_terminal: bool, is_err_terminal: bool) -> Self {
        let is_dumb = context.variable("TERM").is_none_or(|term| term == "dumb");
        let is_plain = is_dumb || context.variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = |is_terminal: bool| match output.color {
            Color::Always => Style::COLOURED,
            Color::Auto if is_terminal && !is_plain => Style::COLOURED,
            Color::Auto | Color::Never => Style::PLAIN,
        };
        let volume = match (output.quiet, output.verbose) {
            (true, _) => Volume::Quiet,
            (false, true) => Volume::Verbose,
            (false, false) => Volume::Normal,
        };
        let (out_style, err_style) = (style(is_terminal), style(is_err_terminal));
        // Without cursor movements, no temporary text can be shown.
        let is_err_terminal = is_err_terminal && !is_dumb;
        Self {
            is_json: output.json,
            is_exit_zero: output.exit_zero,
            volume,
            out_style,
            err_style,
            is_terminal,
            is_err_terminal,
            is_full: false,
        }
    }

    /// Progress on stderr.
    pub fn progress(self) -> ProgressPrinter {
        ProgressPrinter::new(Box::new(io::stderr()), self.err_style, self.volume, self.is_err_terminal)
    }

    /// The look of text on stdout.
    pub fn look(self) -> TextLook {
        let detail = match self.volume {
            Volume::Verbose => DetailLevel::Verbose,
            _ if self.is_full => DetailLevel::Full,
            _ => DetailLevel::Screen,
        };
        let columns = self.is_terminal.then(|| columns::of(io::stdout()));
        TextLook { style: self.out_style, is_raw: !self.is_terminal, detail, columns, is_older: false }
    }

    /// The exit code for a hunt with this status.
    pub fn code(self, status: Status) -> u8 {
        let is_broken = matches!(status, Status::Error | Status::Usage | Status::Interrupted);
        if self.is_exit_zero && !is_broken { 0 } else { status.code() }
    }
}
