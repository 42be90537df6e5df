//! The options of the command line, in groups.
//!
//! The doc comment of an option is its help text, and its entry in the man page.

use std::ffi::OsString;
use std::time::Duration;

use crate::args::values::{value, word};
use clap::{Args, ValueEnum, value_parser};
use idd_base::Sought;
use idd_session::order::{Bound, HistoryWalk, Level, SignatureMode, Until};
use idd_session::service;
use idd_session::share::{Flaky, MEASURED, Share, parse_confidence, parse_flaky};
use idd_world::remote::Address;
use jiff::fmt::friendly::SpanParser;
use regex::Regex;

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "Where to look")]
pub struct HistoryOptions {
    /// What to look for: the commit since which the test fails, the one since which it passes again, or the one since
    /// which the command of `--by` prints another value.
    ///
    /// `fix` turns the two options for revisions: the test passes at `--good` (default: HEAD) and fails at `--bad`
    /// (default: one is searched). `change` looks for the commit since which the command prints what it prints at `--bad`;
    /// at `--good` it prints something else. No fix is made for either.
    #[arg(long, value_parser = value::<Sought>(), value_name = "WHAT", default_value = word(Sought::default()))]
    pub find: Sought,

    /// Revision at which the test fails.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,

    /// Revision at which the test passes; may be given more than once. Without it, `git idd` searches one.
    #[arg(long, value_name = "REV")]
    pub good: Vec<String>,

    /// Take the bad revision and the good ones of the `git bisect` that is under way in this worktree.
    #[arg(long, conflicts_with_all = ["bad", "good"])]
    pub from_bisect: bool,

    /// Follow only the first parent of a merge.
    #[arg(long)]
    pub first_parent: bool,

    /// How to go through history; `linear` visits every revision, backwards.
    #[arg(long, value_parser = value::<HistoryWalk>(), value_name = "HOW", default_value = word(HistoryWalk::default()))]
    pub walk: HistoryWalk,

    /// Consider only commits that change this path; may be given more than once.
    #[arg(long, value_name = "PATHSPEC")]
    pub path: Vec<OsString>,
}

/// What is run, and what its result means.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is run")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct TestOptions {
    /// Shell line that is run before the test; if it fails, the revision counts as unresolved, never as bad.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    /// Shell line that is run before the build of a candidate; if it fails, the candidate is not built.
    ///
    /// Give a command that finds out faster than the build that a candidate cannot be built, such as a compiler in its
    /// syntax-only mode. It runs only for parts of a change, never for a revision. At the end, rejected parts are built
    /// after all, so a wrong check does not change the answer.
    ///
    /// Without this option, `compile_commands.json` or `build/compile_commands.json` is used if it exists and git does
    /// not track it: the compiler that it names checks the syntax of the C sources that a candidate touches. Only the
    /// options `-I`, `-D`, `-U`, `-std`, `-f`, `-m` and `-include` of its commands are used, and no plug-in or program
    /// of the repository.
    #[arg(long, value_name = "COMMAND")]
    pub precheck: Option<OsString>,

    /// Shell line that fetches the built program of a revision, in place of a build: from the artifacts of a continuous
    /// integration, a package registry, an archive.
    ///
    /// It runs in an empty directory. In the line, `{commit}` stands for the id of the revision and `{short}` for the
    /// short one; `IDD_COMMIT` is set, too. The files that it leaves there are put into the top of the checkout before
    /// the test; a file that the revision tracks stays. Any exit code but 0 means that there is no artifact. With
    /// `--build`, revisions that have one are searched first, and the others are built only where that is needed.
    /// Artifacts are kept in the git directory for the next hunt. `git idd minimize` uses none.
    #[arg(long, value_name = "COMMAND")]
    pub from_artifacts: Option<OsString>,

    /// Limit of the disk space of kept artifacts: `500M`, `4G`; those that were not used for the longest time are
    /// removed first.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_room, allow_negative_numbers = true)]
    pub artifacts_size: u64,

    /// File or directory that the build makes and the test reads; may be given more than once. If a build makes the
    /// same bytes as an earlier one, the test is not run again.
    ///
    /// Needs `--build`. Name everything that the test depends on. The runs that prove the finding are always made, in
    /// fresh checkouts. If a path is missing or is a link, the test is run.
    #[arg(long, value_name = "PATH")]
    pub artifact: Vec<OsString>,

    /// Disable prechecks, whatever is configured or found.
    #[arg(long, conflicts_with = "precheck")]
    pub no_precheck: bool,

    /// Time limit of the build and of the test, each (default: measured from the first runs).
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// The failure counts only if a line of its output matches.
    #[arg(long = "match", value_name = "REGEX", value_parser = parse_regex)]
    pub match_line: Option<String>,

    /// A pass counts only if a line of its output matches.
    #[arg(long, value_name = "REGEX", value_parser = parse_regex)]
    pub pass_match: Option<String>,

    /// What makes two failures the same failure.
    #[arg(long, value_parser = value::<SignatureMode>(), value_name = "WHAT", default_value = word(SignatureMode::default()))]
    pub signature: SignatureMode,

    /// Use the present version of this path in every revision; may be given more than once. The test script is held by
    /// default.
    #[arg(long, value_name = "PATH", conflicts_with = "no_hold")]
    pub hold: Vec<OsString>,

    /// Hold nothing, not even the test script.
    #[arg(long)]
    pub no_hold: bool,

    /// Patch or directory that is put over every revision.
    #[arg(long, value_name = "PATCH|DIR")]
    pub overlay: Option<OsString>,

    /// Directory with files that old revisions need today; they are put over every revision. May be given more than
    /// once.
    ///
    /// Examples: a `sitecustomize.py` that restores functions that a newer interpreter removed (with `PYTHONPATH=.`), a
    /// header that a newer system lacks. These files are not part of any change. A later directory wins over an earlier
    /// one and over `--overlay`.
    #[arg(long, value_name = "DIR")]
    pub shim: Vec<OsString>,

    /// Run each test at least this often; one failure is a failure.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=1000))]
    pub repeat: u32,

    /// The test is flaky: it sometimes fails or passes without a reason, in this share of its runs (`0.1`, `10%`).
    /// Without a rate, the rate is measured; without this option, a flaky test is noticed when two runs of one revision
    /// disagree.
    #[arg(long, value_name = "RATE", num_args = 0..=1, require_equals = true, default_missing_value = MEASURED,
          value_parser = parse_flaky)]
    pub flaky: Option<Flaky>,

    /// If runs of one revision disagree: search until the first bad commit is known with this probability.
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = parse_confidence)]
    pub confidence: Share,

    /// Shell line that runs more tests; a reversal that makes one of them fail is rejected, so they also choose the
    /// fix.
    ///
    /// Without this option, the test command is taken without its selection, if it selects tests of a known runner: all
    /// tests of the file or the package. It is used if it takes at most 20 times as long as the test.
    #[arg(long, value_name = "COMMAND")]
    pub suite: Option<OsString>,

    /// Run no other tests than the test command.
    #[arg(long, conflicts_with = "suite")]
    pub no_suite: bool,

    /// Set `IDD_COMMIT` to the tested commit; fewer results can then be shared.
    #[arg(long)]
    pub expose_commit: bool,

    /// Give each probe an empty HOME of its own.
    #[arg(long)]
    pub isolate_home: bool,

    /// Run the tests on this service of the Remote Execution API (`grpcs://<host>[:<port>][/<instance>]`); `none` is this
    /// machine.
    #[arg(long, value_name = "URL", value_parser = parse_remote)]
    pub remote: Option<String>,
}

/// How much work is done, and how.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "How much work")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub struct EffortOptions {
    /// How far the culprit is reduced.
    #[arg(long, value_parser = value::<Level>(), value_name = "LEVEL", default_value = word(Level::default()))]
    pub level: Level,

    /// Reduce with fewer tests, often to a larger change; still no part of it can be left out.
    #[arg(long)]
    pub fast: bool,

    /// Reduce the culprit a second time, from the other end, and keep the smaller change.
    #[arg(long)]
    pub retry: bool,

    /// Run every test in a freshly written checkout.
    #[arg(long)]
    pub clean: bool,

    /// Use no result of an earlier run.
    ///
    /// Without this option, an earlier result counts if all of these are unchanged: the tree, the commands, the
    /// variables that they read (`idd.env` names more), and the programs that they execute, with the modules of
    /// interpreters.
    #[arg(long)]
    pub no_cache: bool,

    /// Fetch objects that a partial or shallow clone lacks, when they are needed; without this option, nothing is
    /// fetched.
    ///
    /// Only objects are fetched, with your git, and from the remote that the clone was made from: no ref changes. The
    /// whole history of a shallow clone is fetched; the clone is then no longer shallow.
    #[arg(long)]
    pub fetch: bool,

    /// What to look for; `git idd resume --until <stage>` goes on from there.
    #[arg(long, value_parser = value::<Until>(), value_name = "STAGE", default_value = word(Until::default()))]
    pub until: Until,

    /// Time limit of the reduction: `30m`, or `unlimited`; the answer is the smallest change that was found in this
    /// time (default: 10 times the time of the search, at least 5 minutes).
    ///
    /// All sessions of a hunt count together. A candidate whose answer is known takes no time. The limit does not hold
    /// for repairs, the proof, and the port of the fix. `git idd resume --effort <duration>` reduces further.
    #[arg(id = "effort", long = "effort", value_name = "DURATION", value_parser = parse_bound)]
    pub reduction: Option<Bound>,

    /// Repair untestable revisions, with no limit on the number of tests.
    ///
    /// Without this option, a repair takes at most 30 tests, and 3 for each halving of the history; it is then used in
    /// the size that was reached. If every revision that can be tested fails, all repairs together take at most three
    /// times as many tests; then the hunt ends.
    #[arg(long)]
    pub repair: bool,

    /// Do not carry the fix to HEAD.
    #[arg(long)]
    pub no_port: bool,

    /// End with exit code 8 if no fix for HEAD is recommended.
    #[arg(long)]
    pub require_fix: bool,

    /// Explain the change when it is found, as `git idd explain` does; the finding then says how it leads to the failure.
    #[arg(long)]
    pub explain: bool,

    /// Number of tests that run at once (default: processors, at most 8; 1 if a test keeps several busy).
    #[arg(short, long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub jobs: Option<u32>,

    /// With `--remote`: how many tests may run on this machine at once (default: 0), if it has the same programs.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(0..=1000))]
    pub local_jobs: Option<u32>,

    /// Stop after this time; `git idd resume` goes on.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Stop after this many runs of the test; `git idd resume` goes on. Fewer tests run at once when the limit
    /// would otherwise be reached before the end.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_probes: Option<u64>,

    /// Stop when all tests together have taken this time, on all workers; `git idd resume` continues. Fewer tests run at once
    /// when the limit would otherwise be reached before the end.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub max_cost: Option<Duration>,

    /// Shell line that runs when the first bad commit is found, and again when the hunt has ended; it reads the
    /// finding from stdin.
    ///
    /// Its environment has `IDD_STATUS` (`culprit` the first time), `IDD_COMMIT` (the first bad revision) and
    /// `IDD_SUMMARY` (one line). It runs in the directory in which `git idd` was started, also after an error, but not
    /// if the hunt was interrupted. It does not change the exit code. The hunt goes on while it runs.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,

    /// Directory that several machines share: if another job makes the same hunt now, this one ends at once with the status
    /// `elsewhere`; if another one has made it, its finding is printed. `--max-cost` counts for all jobs with one directory.
    #[arg(long, value_name = "DIR")]
    pub lease: Option<OsString>,
}

/// What is reduced, and how it is tested.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is reduced")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Shrink {
    /// File that the test reads; may be given more than once. It is not changed.
    ///
    /// A file of the working tree has its place in the checkout in which the test runs. A file from elsewhere is put
    /// into the directory of the test, under its own name; its name in the test command is replaced accordingly.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["args", "env"])]
    pub input: Vec<OsString>,

    /// File with which the test passes: prints the smallest difference between this file and the input that makes the
    /// test fail, in place of the smallest input.
    #[arg(long, value_name = "FILE")]
    pub passing: Option<OsString>,

    /// Reduce the arguments of the test command, too; it must be given as several words.
    #[arg(long)]
    pub args: bool,

    /// Reduce the value of this environment variable, too; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub env: Vec<String>,

    /// Directory for the reduced files; a file that exists there is not overwritten (default: in the git directory).
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<OsString>,

    /// Revision that is built and run.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub at: String,

    /// Revision that is right where `--at` is wrong: a candidate counts as failing if the test behaves differently at
    /// the two revisions.
    ///
    /// The test need not fail: its standard output and its exit code or signal are compared. Both must end with each
    /// candidate as they do with the whole input.
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,

    /// Shell line that is run before the test; if it fails, the candidate does not count as failing.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    /// Time limit of the build and of the test, each (default: measured from the first runs).
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// The failure counts only if a line of its output matches.
    #[arg(long = "match", value_name = "REGEX", value_parser = parse_regex)]
    pub match_line: Option<String>,

    /// What makes two failures the same failure.
    #[arg(long, value_parser = value::<SignatureMode>(), value_name = "WHAT", default_value = word(SignatureMode::default()))]
    pub signature: SignatureMode,

    #[command(flatten)]
    /// What is kept.
    pub holding: HoldingOptions,

    /// Give each probe an empty HOME of its own.
    #[arg(long)]
    pub isolate_home: bool,

    /// Run every test in a freshly written checkout.
    #[arg(long)]
    pub clean: bool,

    /// Use no result of an earlier run.
    #[arg(long)]
    pub no_cache: bool,

    /// Number of tests that run at once (default: processors, at most 8; 1 if a test keeps several busy).
    #[arg(short, long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub jobs: Option<u32>,

    /// Stop after this time, with the smallest input so far; the same command goes on from there.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Stop after this many runs of the test, with the smallest input so far; the same command goes on from there.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_probes: Option<u64>,
}

/// What a recording or an explanation keeps as it is now; as in a hunt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct HoldingOptions {
    /// Use the present version of this path in the revisions that are built; may be given more than once. The test
    /// script is held by default.
    #[arg(long, value_name = "PATH", conflicts_with = "no_hold")]
    pub hold: Vec<OsString>,

    /// Hold nothing, not even the test script.
    #[arg(long)]
    pub no_hold: bool,
}

/// Which hunt is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct HuntChoice {
    /// The hunt, by its id or the beginning of one; `git idd list` lists them.
    #[arg(long, value_name = "ID")]
    pub hunt: Option<String>,
}

/// How much a resumed hunt may do; what is not given stays as it was, whatever the configuration says by now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "How much work")]
pub struct AllowanceOptions {
    /// Number of tests that run at once (default: that of the hunt).
    #[arg(id = "new_jobs", short = 'j', long = "jobs", value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub jobs: Option<u32>,

    /// Stop after this time (default: that of the hunt, counted anew).
    #[arg(id = "new_budget", long = "budget", value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Stop after this many runs of the test (default: that of the hunt, counted anew).
    #[arg(id = "new_max_probes", long = "max-probes", value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_probes: Option<u64>,

    /// Stop when all tests together have taken this time, counted from now.
    #[arg(id = "new_max_cost", long = "max-cost", value_name = "DURATION", value_parser = parse_duration)]
    pub max_cost: Option<Duration>,

    /// What to look for (default: that of the hunt).
    #[arg(id = "new_until", long = "until", value_parser = value::<Until>(), value_name = "STAGE")]
    pub until: Option<Until>,

    /// Time limit of the reduction, including the time that it has taken so far: `30m`, or `unlimited` (default:
    /// that of the hunt).
    #[arg(id = "new_effort", long = "effort", value_name = "DURATION", value_parser = parse_bound)]
    pub reduction: Option<Bound>,

    /// From now on, fetch objects that a partial or shallow clone lacks.
    #[arg(id = "new_fetch", long = "fetch")]
    pub fetch: bool,
}

/// How to talk to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub struct OutputOptions {
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

    /// Exit with 0 whatever is found, unless the hunt fails with an error or is interrupted.
    #[arg(long)]
    pub exit_zero: bool,
}

/// Which of the tested reversals is applied, if not the recommended one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Args)]
pub struct Choice {
    /// Apply this one of the tested fixes, recommended or not.
    #[arg(long, value_enum, value_name = "NAME")]
    pub rung: Option<RungOption>,

    /// Apply the revert of the whole commit, or of the merge that brought it.
    #[arg(long, conflicts_with = "rung")]
    pub revert: bool,
}

/// How much of the culprit a fix takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RungOption {
    /// The necessary lines.
    Lines,
    /// The runs of changed lines around them.
    Statements,
    /// Everything that the culprit changed in the same declarations.
    Declarations,
    /// Everything that the culprit changed in the same files.
    Files,
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
    /// A mail with the fix attached, for `sendmail` or `git am`.
    Mail,
    /// For code scanning and editors; version 2.1.0.
    Sarif,
    /// Annotations: lines that GitHub Actions reads from a job's output.
    Github,
    /// Code quality report of GitLab.
    Gitlab,
    /// Test report as Jenkins and others read it.
    Junit,
    /// Everything that `git idd verify` needs to prove the finding in another clone.
    Certificate,
    /// As `git idd show`.
    Text,
    /// As `git idd show --json`.
    Json,
}

/// A number of bytes: `500M`, `4G`.
pub fn parse_size(text: &str) -> Result<u64, String> {
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
pub fn parse_room(text: &str) -> Result<u64, String> {
    let size = parse_size(text)?;
    if size < 1 << 20 { Err("the smallest limit is 1M".to_owned()) } else { Ok(size) }
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    static PARSER: SpanParser = SpanParser::new();
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => PARSER
            .parse_unsigned_duration(text)
            .map_err(|_| "a duration is written as `90s`, `5m`, `1h30m`, or as a number of seconds".to_owned())?,
    };
    if duration.is_zero() { Err("the duration is zero".to_owned()) } else { Ok(duration) }
}

fn parse_remote(text: &str) -> Result<String, String> {
    if text != service::HERE {
        Address::parse(text)?;
    }
    Ok(text.to_owned())
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
