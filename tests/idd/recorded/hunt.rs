//! The hunt of a story in this process, answered from its record.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use git_idd::args::{self, Invocation, Request};
use idd_report::Report;
use idd_session::hunt::Task;
use idd_session::order::HuntOrder;
use idd_session::plan::Plan;
use idd_session::{Context, Embedding, Failure, Silent, saved};
use idd_world::files::hex;
use idd_world::repo::{locate, private};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::fixture::{self, Fixture};
use crate::recorded::Recorder;
use crate::recorded::asked::Places;
use crate::recorded::record::Record;
use crate::recorded::tools::Machine;

/// Set to record stories anew.
const VARIABLE: &str = "IDD_RECORD_STORIES";

/// A hunt with a record.
pub struct Hunt<'h> {
    /// The story.
    pub story: &'h str,
    /// The name of the hunt; `None` for that of the story itself.
    pub name: Option<&'h str>,
    /// The arguments of `git idd`.
    pub args: &'h [&'h str],
}

/// What answers the probes of a hunt.
pub enum Answering {
    /// Its record.
    Record(Record),
    /// The machine, which is recorded.
    Machine,
    /// The machine. The record is of other programs, or the hunt is to run another number of probes at once.
    Live,
}

impl Hunt<'_> {
    /// What is to answer the probes, in this run of the tests.
    #[expect(clippy::print_stderr, reason = "a test that does not test what it is called for says so")]
    pub fn answering(&self) -> Answering {
        if std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0") {
            return Answering::Machine;
        }
        if std::env::var("IDD_TEST_JOBS").is_ok_and(|jobs| jobs != "1") {
            return Answering::Live;
        }
        let file = self.file();
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}; {}", file.display(), self.advice()));
        let record = Record::read(&text);
        let record = record.unwrap_or_else(|| panic!("{} has another format; {}", file.display(), self.advice()));
        match machine().difference(&record.programs) {
            None => Answering::Record(record),
            Some(difference) => {
                eprintln!("{} is hunted in live: of the recorded programs, {difference}", self.story);
                Answering::Live
            }
        }
    }

    /// The report of the hunt with the probes of a record. Adds a complaint for each probe that the record lacks, and for
    /// each one that the hunt does not need.
    pub fn replay(&self, fixture: &Fixture, record: Record, complaints: &mut Vec<String>) -> Report {
        if record.history != history(fixture) {
            complaints.push(format!("the history is not the one of the record; {}", self.advice()));
        }
        let recorder = Recorder::new(record, places(fixture));
        let report = in_process(fixture, self.args, &recorder);
        let missing: Vec<String> = recorder.ran().asked().map(|asked| format!("not recorded: {}", asked.run)).collect();
        let unused: Vec<String> =
            recorder.unused().iter().map(|asked| format!("recorded in vain: {}", asked.run)).collect();
        if !missing.is_empty() || !unused.is_empty() {
            complaints.push(format!("the hunt asks for other probes than its record has; {}", self.advice()));
        }
        complaints.extend(missing);
        complaints.extend(unused);
        report
    }

    /// Runs the hunt on this machine, and writes its record. `replayed` is another copy of the history, in which the
    /// record must give the same report.
    pub fn record(&self, fixture: &Fixture, replayed: &Fixture, complaints: &mut Vec<String>) -> Report {
        // The hunt adds refs.
        let history = history(fixture);
        let recorder = Recorder::new(Record::default(), places(fixture));
        let report = in_process(fixture, self.args, &recorder);
        complaints.extend(recorder.obstacles().iter().map(|why| format!("cannot be recorded: {why}")));
        let mut record = recorder.ran();
        record.history = history;
        let of_test = [fixture.place().to_owned(), PathBuf::from(env!("CARGO_BIN_EXE_git-idd"))];
        record.programs = machine().programs(&recorder.programs(), &of_test);
        let text = record.written();
        let read = Record::read(&text).filter(|read| *read == record);
        let read = read.unwrap_or_else(|| panic!("the record is not read as it was written:\n{text}"));
        let again = self.replay(replayed, read, complaints);
        compare((&report, fixture), (&again, replayed), complaints);
        if complaints.is_empty() {
            let file = self.file();
            let written = NamedTempFile::new_in(fixture::story(self.story)).unwrap();
            fs::write(written.path(), text).unwrap();
            fs::set_permissions(written.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
            written.persist(file).unwrap();
        }
        report
    }

    /// Complains if the report of a hunt whose probes ran is not that of its record.
    ///
    /// - `replayed`: another copy of the history.
    pub fn compare(&self, live: (&Report, &Fixture), record: Record, replayed: &Fixture, complaints: &mut Vec<String>) {
        let again = self.replay(replayed, record, complaints);
        compare(live, (&again, replayed), complaints);
    }

    /// The file of its record.
    pub fn file(&self) -> PathBuf {
        let name = self.name.map_or("observations.txt".to_owned(), |name| format!("observations-{name}.txt"));
        fixture::story(self.story).join(name)
    }

    fn advice(&self) -> String {
        let module = self.story.replace('-', "_");
        format!("`{VARIABLE}=1 cargo nextest run -E 'test(/^hunt::{module}::/)'` records it anew")
    }
}

/// How this machine finds programs.
fn machine() -> Machine {
    let path = std::env::var_os("PATH").unwrap();
    let known = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Machine { path: std::env::split_paths(&path).collect(), rustup: fixture::rustup(), home, known }
}

/// The digest of the revisions and the refs of a repository.
fn history(fixture: &Fixture) -> String {
    let refs = [&["rev-parse", "HEAD"][..], &["for-each-ref"]].map(|words| fixture.git(words));
    hex(&Sha256::digest(refs.concat())[..8])
}

fn places(fixture: &Fixture) -> Places {
    Places::new(fixture.place(), &fixture::scratch_place())
}

/// Hunts with the library, as the command line does.
fn in_process(fixture: &Fixture, args: &[&str], recorder: &Recorder) -> Report {
    let context = Context {
        directory: fixture.repo(),
        environment: fixture.environment(),
        configuration: Vec::new(),
        interrupt: None,
        kept_executor: None,
        embedding: Embedding {
            program: Some(env!("CARGO_BIN_EXE_git-idd").into()),
            around: Some(Arc::new(recorder.clone())),
        },
    }
    .with_configuration();
    let words = ["git-idd"].iter().chain(args).map(Into::into).collect();
    let Ok(Invocation { request, .. }) = args::parse(words, &context.configuration) else {
        panic!("not the arguments of a hunt: {args:?}");
    };
    let interrupt = Arc::new(AtomicBool::new(false));
    let report = match request {
        Request::Hunt(order) => idd_session::hunt(order, &context, interrupt, &mut Silent),
        Request::Minimize { good, bad, hunt } => minimize(hunt, (&good, &bad), &context, interrupt),
        _ => panic!("not the arguments of a hunt: {args:?}"),
    };
    report.unwrap_or_else(|failure| panic!("{args:?}: {}", String::from_utf8_lossy(failure.message.as_bytes())))
}

/// Reduces the difference of two revisions.
fn minimize(
    order: HuntOrder,
    pair: (&str, &str),
    context: &Context,
    interrupt: Arc<AtomicBool>,
) -> Result<Report, Failure> {
    let location = locate::locate(&context.directory, &context.environment)?;
    let user = private::open(&location.git_directory)?;
    let plan = Plan::new(order, Some(pair), &location, &user, context)?;
    let saved = saved::open(&plan, &location, None, false)?;
    let task = Task { plan: &plan, location: &location, context, saved, interrupt, talk: &mut Silent };
    idd_session::hunt::run(task, &user)
}

/// Complains if two reports differ in more than their times.
fn compare(live: (&Report, &Fixture), replayed: (&Report, &Fixture), complaints: &mut Vec<String>) {
    let (live, replayed) = (comparable(live.0, live.1), comparable(replayed.0, replayed.1));
    if live != replayed {
        complaints.push(format!("the report of the record differs:\n{}", difference(&live, &replayed)));
    }
}

/// A report without times and without what differs between two copies of a history.
fn comparable(report: &Report, fixture: &Fixture) -> Value {
    let text = places(fixture).masked(&serde_json::to_string(report).unwrap());
    let mut value: Value = serde_json::from_str(&text).unwrap();
    strip(&mut value);
    value
}

/// The names of fields with times, and with names that each hunt has for itself. A compiler of Java in memory checks
/// candidates before their builds if these take long, and an end of the pair is proved once in place of three times if
/// its run takes two seconds, so their counts depend on times, too.
const OF_ONE_RUN: [&str; 8] = ["seconds", "log", "hunt", "cached", "prechecked", "precheck_refused", "run", "verify"];

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !OF_ONE_RUN.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The lines in which two reports differ.
fn difference(live: &Value, replayed: &Value) -> String {
    let [live, replayed] = [live, replayed].map(|value| serde_json::to_string_pretty(value).unwrap());
    let only = |text: &str, other: &str, sign: &str| -> Vec<String> {
        let is_new = |line: &&str| !other.lines().any(|it| it == *line);
        text.lines().filter(is_new).map(|line| format!("{sign}{line}")).collect()
    };
    [only(&live, &replayed, "-"), only(&replayed, &live, "+")].concat().join("\n")
}
