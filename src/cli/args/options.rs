//! The options of the command line, in groups.
//!
//! The doc comment of an option is its help text, and its entry in the man page.

use std::ffi::OsString;
use std::time::Duration;

use crate::cli::args::share::Flaky;
use crate::cli::args::share::MEASURED;
use crate::cli::args::share::Share;
use crate::cli::args::share::default_confidence;
use crate::cli::args::share::parse_confidence;
use crate::cli::args::share::parse_flaky;
use clap::Args;
use clap::ValueEnum;
use clap::value_parser;
use jiff::fmt::friendly::SpanParser;
use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Where to look")]
pub struct History {
    /// Revision at which the test fails.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,

    /// Revision at which the test passes; may be given more than once. Without it, one is searched.
    #[arg(long, value_name = "REV")]
    pub good: Vec<String>,

    /// Follow only the first parent of a merge.
    #[arg(long)]
    pub first_parent: bool,

    /// How to go through history; `linear` visits every revision, backwards.
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub walk: Walk,

    /// Consider only commits that change this path; may be given more than once.
    #[arg(long, value_name = "PATHSPEC")]
    pub path: Vec<OsString>,
}

impl Default for History {
    fn default() -> Self {
        Self { bad: "HEAD".to_owned(), good: Vec::new(), first_parent: false, walk: Walk::Auto, path: Vec::new() }
    }
}

/// What is run, and what its result means.
#[derive(Debug, Clone, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "What is run")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Test {
    /// Shell line that is run before the test; if it fails, the revision counts as unresolved, never as bad.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    /// Shell line that is run before the build of a candidate; if it fails, the candidate is not built.
    ///
    /// It is for what tells fast that something cannot be built, such as a compiler in its syntax-only mode. Only parts of a
    /// change are checked so, never a revision, and a last pass is made without it: the answer does not rest on it.
    ///
    /// Without this option, if `compile_commands.json` or `build/compile_commands.json` is there and git does not track it, the
    /// compiler that it names looks at the syntax of the C sources that a candidate touches. Of the commands only
    /// `-I`, `-D`, `-U`, `-std`, `-f`, `-m` and `-include` are used, and none that names a plug-in or a program of the repository.
    #[arg(long, value_name = "COMMAND")]
    pub precheck: Option<OsString>,

    /// File or directory that the build makes and that alone the test depends on; may be given more than once. If all of
    /// them are, byte for byte, those of an earlier probe, the test is not run again.
    ///
    /// Needs `--build`. Not for what a finding rests on: those runs are made, in fresh checkouts. A path that is not there, or
    /// is a link, means that the test is run.
    #[arg(long, value_name = "PATH")]
    pub artifact: Vec<OsString>,

    /// Disable prechecks, whatever is configured or found.
    #[arg(long, conflicts_with = "precheck")]
    pub no_precheck: bool,

    /// Time limit of the build and of the test, each; by default it is measured.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// The failure counts only if a line of its output matches.
    #[arg(long = "match", value_name = "REGEX", value_parser = parse_regex)]
    pub match_line: Option<String>,

    /// A pass counts only if a line of its output matches.
    #[arg(long, value_name = "REGEX", value_parser = parse_regex)]
    pub pass_match: Option<String>,

    /// What makes two failures the same failure.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub signature: SignatureMode,

    /// Keep this path as it is now in every revision; may be given more than once. The test script is held by itself.
    #[arg(long, value_name = "PATH", conflicts_with = "no_hold")]
    pub hold: Vec<OsString>,

    /// Hold nothing, not even the test script.
    #[arg(long)]
    pub no_hold: bool,

    /// Patch or directory that is put over every revision.
    #[arg(long, value_name = "PATCH|DIR")]
    pub overlay: Option<OsString>,

    /// Directory with files that old revisions lack today, put over every revision; may be given more than once.
    ///
    /// They are no part of any change: a `sitecustomize.py` that brings back what a newer interpreter took away (with
    /// `PYTHONPATH=.`), a header that a newer system lacks. Later directories stand over earlier ones, and over `--overlay`.
    #[arg(long, value_name = "DIR")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shim: Vec<OsString>,

    /// Run each test at least this often; one failure is a failure.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=1000))]
    pub repeat: u32,

    /// The test fails or passes now and then without a reason, in this share of its runs if given (`0.1`, `10%`); found out by
    /// itself otherwise.
    #[arg(long, value_name = "RATE", num_args = 0..=1, require_equals = true, default_missing_value = MEASURED,
          value_parser = parse_flaky)]
    #[serde(default)]
    pub flaky: Option<Flaky>,

    /// Search until the first bad commit is known with this probability, if runs of one revision disagree.
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = parse_confidence)]
    #[serde(default = "default_confidence")]
    pub confidence: Share,

    /// Shell line with more tests; they choose the fix, and no reversal that makes them fail anew is kept.
    #[arg(long, value_name = "COMMAND")]
    pub suite: Option<OsString>,

    /// Give the test the commit it runs at, in IDD_COMMIT; fewer results can then be shared.
    #[expect(clippy::doc_markdown, reason = "this is help text")]
    #[arg(long)]
    pub expose_commit: bool,

    /// Give each worker a HOME of its own.
    #[arg(long)]
    pub isolate_home: bool,
}

/// How much work is done, and how.
#[derive(Debug, Clone, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "How much work")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub struct Effort {
    /// How far the culprit is reduced.
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub level: Level,

    /// Algorithm of the reduction; all but the default are for comparison.
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    pub reducer: Reducer,

    /// Reduce with fewer tests, often to a larger change; still nothing in it can be left out.
    #[arg(long, conflicts_with = "reducer")]
    pub fast: bool,

    /// Reduce the culprit a second time, from the other end, and keep the smaller change.
    #[arg(long)]
    pub retry: bool,

    /// File to list the trees in that the reduction turned down without a test; for measuring whether it was right.
    #[arg(long, value_name = "FILE", hide = true)]
    pub audit: Option<OsString>,

    /// Run every test in a freshly written checkout.
    #[arg(long)]
    pub clean: bool,

    /// Use no result of an earlier run.
    ///
    /// Without it a result counts as long as the tree, the commands, the variables that they read (`idd.env` names more) and the programs
    /// that they execute, with the modules of interpreters, are what they were.
    #[arg(long)]
    pub no_cache: bool,

    /// Fetch what a partial or shallow clone lacks, when it is needed; without it nothing is ever fetched.
    ///
    /// Only objects are fetched, with your git and from the remote that they were left with: no ref changes. The history of a
    /// shallow clone is fetched as a whole, and then it is none any more.
    #[arg(long)]
    pub fetch: bool,

    /// What to look for; `git idd resume --until <stage>` goes on from there.
    #[arg(long, value_enum, value_name = "STAGE", default_value_t)]
    #[serde(default)]
    pub until: Until,

    /// How long the reduction may take, all runs of a hunt together: `30m`, or `unlimited`; the smallest change found by then is the
    /// answer (default: 10 times what the search took, at least 5 minutes).
    ///
    /// A candidate whose answer is known costs nothing. What proves the answer, repairs, and the port of the fix are not bounded.
    /// `git idd resume --effort <duration>` reduces further.
    #[arg(id = "effort", long = "effort", value_name = "DURATION", value_parser = parse_bound)]
    #[serde(default)]
    pub reduction: Option<Bound>,

    /// Repair revisions that cannot be tested, whatever it takes.
    ///
    /// Without it a repair takes at most 30 tests, and 3 for each halving of the history, and is then as small as it has come to be. If
    /// every revision that can be tested fails, at most three times as many are spent before the hunt ends.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,

    /// Do not carry the fix to HEAD.
    #[arg(long)]
    pub no_port: bool,

    /// Number of tests that run at once (default: processors, at most 8; 1 if a test keeps several busy).
    #[arg(short, long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub jobs: Option<u32>,

    /// Stop after this time; `git idd resume` goes on.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Stop after this many runs of the test; `git idd resume` goes on.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_probes: Option<u64>,

    /// Shell line to run once the first bad commit is proved, and when the hunt has ended; it reads the finding.
    ///
    /// `IDD_STATUS` (`culprit` the first time), `IDD_COMMIT` (the first bad revision) and `IDD_SUMMARY` (one line) are in its environment.
    /// It runs where `git idd` was started, also after an error, but not if the hunt was interrupted; it does not change the exit code.
    /// The hunt goes on while it runs.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
}

/// What a hunt is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum, Serialize, Deserialize)]
pub enum Until {
    /// The first bad commit, as `git bisect run` does.
    Commit,
    /// The minimal change inside it, too.
    Change,
    /// A fix for HEAD, too.
    #[default]
    Fix,
}

impl Until {
    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Change => "change",
            Self::Fix => "fix",
        }
    }
}

/// How long something may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// This long.
    Within(Duration),
    /// As long as it needs.
    Unlimited,
}

/// What is kept of a run that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// The beginning.
    First,
    /// The end.
    Last,
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is recorded")]
pub struct Record {
    /// Revision that is built and run.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub at: String,

    /// Shell line that is run before the test.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    #[command(flatten)]
    /// What is kept.
    pub holding: Holding,

    /// The program that is meant if the test runs several; by default the last one that failed.
    #[arg(long, value_name = "NAME")]
    pub program: Option<OsString>,

    /// Run the test only once: neither without instrumentation nor again, to see whether it does the same.
    #[arg(long)]
    pub once: bool,

    /// What all traces together may take on disk: `500M`, `4G`.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_room, allow_negative_numbers = true)]
    pub max_trace: u64,

    /// What is kept of a run that would take more than that.
    #[arg(long, value_name = "PART", value_enum, default_value_t = Keep::Last)]
    pub keep: Keep,

    /// What the test may write to one file, so that one that prints without an end does not fill the disk: `100M`, `2G`.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, allow_negative_numbers = true)]
    pub max_output: u64,

    /// Time limit of the build and of the test, each.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
}

/// What a recording or an explanation keeps as it is now; as in a hunt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Holding {
    /// Keep this path as it is now in the revisions that are built; may be given more than once. The test script is held by itself.
    #[arg(long, value_name = "PATH", conflicts_with = "no_hold")]
    pub hold: Vec<OsString>,

    /// Hold nothing, not even the test script.
    #[arg(long)]
    pub no_hold: bool,
}

/// What is explained.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is explained")]
pub struct Explain {
    /// Revision at which the test fails.
    #[arg(long, value_name = "REV")]
    pub bad: Option<String>,

    /// Revision at which the test passes, as close to the other one as there is.
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,

    /// The hunt whose finding is explained, by its id or the beginning of one (default: the newest finding).
    #[arg(long, value_name = "ID", conflicts_with_all = ["bad", "good", "words"])]
    pub hunt: Option<String>,

    /// Compare with the failing run itself, with one decision switched (a condition made false, say) so that the test passes.
    #[arg(long, conflicts_with = "good")]
    pub switch: bool,

    /// How many decisions `--switch` tries at the most, each in a fork of the program: those made last, then those that the failure depends on.
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "switch")]
    pub switch_budget: usize,

    /// Stop after this many causality tests, and print the chain so far.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub max_tests: u64,

    /// Which pair of a hunt: the first bad revision and the same without the necessary change, or HEAD and HEAD with the fix.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    pub at: Side,

    /// Shell line that is run before the test.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    #[command(flatten)]
    /// What is kept.
    pub holding: Holding,

    /// The program that is meant if the test runs several.
    #[arg(long, value_name = "NAME")]
    pub program: Option<OsString>,

    /// How the chain is found.
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    pub algorithm: Algorithm,

    /// Do not ask again whether each step of the chain holds.
    #[arg(long)]
    pub unchecked: bool,

    /// What all traces together may take on disk: `500M`, `4G`.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_room, allow_negative_numbers = true)]
    pub max_trace: u64,

    /// What the test may write to one file, so that one that prints without an end does not fill the disk: `100M`, `2G`.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, allow_negative_numbers = true)]
    pub max_output: u64,

    /// Time limit of the build and of the test, each.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
}

/// Which pair of a hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Side {
    /// The first bad revision.
    #[default]
    Culprit,
    /// The revision that the fix is for.
    Head,
}

/// How a chain is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Algorithm {
    /// By leaps to the definitions.
    #[default]
    Dependence,
    /// By binary search along calls and decisions.
    Hierarchical,
    /// Point by point.
    Linear,
    /// Another chain, to compare with: each link leads to the failure, but not to the next link.
    Global,
}

/// Which hunt is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Hunt {
    /// The hunt, by its id or the beginning of one; `git idd list` lists them.
    #[arg(long, value_name = "ID")]
    pub hunt: Option<String>,
}

/// How much a resumed hunt may do; what is not given stays as it was, whatever the configuration says by now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "How much work")]
pub struct Allowance {
    /// Number of tests that run at once (default: as before).
    #[arg(id = "new_jobs", short = 'j', long = "jobs", value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub jobs: Option<u32>,

    /// Stop after this time (default: as before, counted anew).
    #[arg(id = "new_budget", long = "budget", value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Stop after this many runs of the test (default: as before, counted anew).
    #[arg(id = "new_max_probes", long = "max-probes", value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_probes: Option<u64>,

    /// What to look for (default: as before).
    #[arg(id = "new_until", long = "until", value_enum, value_name = "STAGE")]
    pub until: Option<Until>,

    /// How long the reduction may take, with the time that it took already: `30m`, or `unlimited` (default: as before).
    #[arg(id = "new_effort", long = "effort", value_name = "DURATION", value_parser = parse_bound)]
    pub reduction: Option<Bound>,

    /// Fetch what a partial or shallow clone lacks from now on.
    #[arg(id = "new_fetch", long = "fetch")]
    pub fetch: bool,
}

impl Allowance {
    /// Puts what was given in the place of what `effort` had.
    pub fn replace(self, effort: &mut Effort) {
        effort.jobs = self.jobs.or(effort.jobs);
        effort.budget = self.budget.or(effort.budget);
        effort.max_probes = self.max_probes.or(effort.max_probes);
        effort.until = self.until.unwrap_or(effort.until);
        effort.reduction = self.reduction.or(effort.reduction);
        effort.fetch |= self.fetch;
    }
}

/// How to talk to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub struct Output {
    /// Print one JSON object to stdout.
    #[arg(long)]
    pub json: bool,

    /// Print no progress; the last of -q and -v wins.
    #[arg(short, long, overrides_with = "verbose")]
    pub quiet: bool,

    /// Print every probe, and what the test shows without each unit of a change.
    #[arg(short, long, overrides_with = "quiet")]
    pub verbose: bool,

    /// When to use colour.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,

    /// Exit with 0 whatever is found, unless the hunt breaks down or is interrupted.
    #[arg(long)]
    pub exit_zero: bool,
}

/// How to go through history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
pub enum Walk {
    /// Gallop back, then bisect.
    #[default]
    Auto,
    /// Every revision, backwards.
    Linear,
}

/// What makes two failures the same failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
pub enum SignatureMode {
    /// Exit code and failure line, if that is stable.
    #[default]
    Auto,
    /// The exit code or signal only.
    Exit,
    /// The line that `--match` describes.
    Regex,
}

/// How much of the culprit a fix takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rung {
    /// The lines that the test needs.
    Lines,
    /// The runs of changed lines that these are in.
    Statements,
    /// All that the culprit changed in the declarations that these are in.
    Declarations,
    /// All that the culprit changed in its files.
    Files,
    /// The whole commit.
    Revert,
}

/// How far the culprit is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
pub enum Level {
    /// To whole files.
    File,
    /// To declarations; to hunks where the language is not known.
    Unit,
    /// To hunks.
    Hunk,
    /// To single statements and lines; a replaced one counts as one.
    #[default]
    Line,
    /// To lines, and a replaced line to its two halves: the smallest change, which may be code that nobody wrote.
    HalfLine,
}

/// Algorithm of the reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
pub enum Reducer {
    /// From files down to lines, each rung to its end before the next; what cannot be compiled is not tried.
    #[default]
    Default,
    /// Minimizing delta debugging on lines.
    Ddmin,
    /// As in Artho's tool, hierarchical.
    Artho,
    /// As in Artho's tool, without levels.
    ArthoFlat,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For `git bisect replay`.
    Bisect,
}

/// A shell that completes words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// For `~/.local/share/bash-completion/completions/git-idd`, or to be evaluated.
    Bash,
    /// For a directory of `fpath`, as `_git-idd`.
    Zsh,
    /// For `~/.config/fish/conf.d/git-idd.fish`.
    Fish,
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ReportFormat {
    /// For an issue, a mail or the summary of a job.
    #[default]
    Markdown,
    /// For code scanning and editors; version 2.1.0.
    Sarif,
    /// Annotations: lines that GitHub Actions reads from a job's output.
    Github,
    /// Code quality report of GitLab.
    Gitlab,
    /// Test report as Jenkins and others read it.
    Junit,
    /// What proves the finding, for `git idd verify` in another clone.
    Certificate,
    /// As `git idd show`.
    Text,
    /// As `git idd show --json`.
    Json,
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let shift = match text[digits.len()..].trim_end_matches(['i', 'B', 'b']) {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("a size is a number and K, M, G or T".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "a size is a number and K, M, G or T".to_owned())?;
    number.checked_shl(shift).filter(|size| size >> shift == number).ok_or_else(|| "it is too large".to_owned())
}

/// What traces may take: not less than one chunk of records.
fn parse_room(text: &str) -> Result<u64, String> {
    let size = parse_size(text)?;
    if size < 1 << 20 { Err("no trace is smaller than 1M".to_owned()) } else { Ok(size) }
}

/// The number of a step.
pub fn parse_step(text: &str) -> Result<u32, String> {
    let step = text.parse().ok().filter(|step| *step > 0);
    step.ok_or_else(|| "steps are numbered from 1; `git idd trace tree` shows where they are".to_owned())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    static PARSER: SpanParser = SpanParser::new();
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => PARSER
            .parse_unsigned_duration(text)
            .map_err(|_| "a duration is written as `90s`, `5m`, `1h30m`, or as a number of seconds".to_owned())?,
    };
    if duration.is_zero() { Err("the duration is zero".to_owned()) } else { Ok(duration) }
}

fn parse_bound(text: &str) -> Result<Bound, String> {
    if text == "unlimited" { Ok(Bound::Unlimited) } else { parse_duration(text).map(Bound::Within) }
}

fn parse_regex(text: &str) -> Result<String, String> {
    match Regex::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(reason_of(&error)),
    }
}

/// The last line of the error says what is wrong, those before it draw a picture.
fn reason_of(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
