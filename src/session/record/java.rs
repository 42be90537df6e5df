//! The part of a recording that is about Java: an agent in each virtual machine that the test starts.

use crate::recorded::order::RecordOrder;
use crate::{Context, Failure, record, sandboxes};
use idd_base::{Observation, TreeId};
use idd_trace::instrument::java::replace::Replacement;
use idd_trace::instrument::java::sites::RecordedContent;
use idd_trace::{Chunk, ChunkKind, Trace, TraceError};
use idd_world::files;
use idd_world::jdk::Jdk;
use idd_world::process::CommandWords;
use idd_world::record::java::replace::ReplacedPoints;
use idd_world::record::java::trials::{PointNumbers, TrialResult, Trials};
use idd_world::record::java::{AgentOptions, collect, replace, trials};
use idd_world::record::listen::TakenTrace;
use idd_world::record::{RecordError, java, store};
use idd_world::repo::{Location, private, source};
use idd_world::run::sandbox::Commands;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a tree has that has Java classes, or sources of such, in any language for the virtual machine.
const ENDINGS: [&str; 10] =
    [".java", ".class", ".jar", ".kt", ".scala", ".groovy", ".gradle", ".clj", "pom.xml", "build.xml"];

/// Whether the test of a tree may run classes of the checkout: without, the agent need not be compiled.
pub(super) fn may_run(location: &Location, tree: TreeId) -> bool {
    has(location, tree, &ENDINGS)
}

/// Whether the names of some files of a tree end so, as far as it can be read.
pub(super) fn has(location: &Location, tree: TreeId, endings: &[&str]) -> bool {
    let repository = private::open(&private::private_directory(&location.idd_directory()));
    repository.ok().and_then(|repository| source::has(&repository, tree, endings)).unwrap_or(true)
}

/// The kit to record Java programs with, if there is one.
pub(super) fn jdk(context: &Context) -> Option<Jdk> {
    let path = context.variable("PATH").unwrap_or_default();
    Jdk::find(&path, context.variable("JAVA_HOME").as_deref())
}

/// What records the Java programs of a test.
pub(super) struct Recorder {
    agent: PathBuf,
    program: PathBuf,
    base: PathBuf,
    checkout: PathBuf,
    max_bytes: u64,
    content: RecordedContent,
    options: OsString,
}

impl Recorder {
    /// Prepares the agent.
    ///
    /// - `root`: the directory for the sandboxes of this command; what is compiled is kept beside it.
    /// - `checkout`: where the classes are that are recorded.
    pub(super) fn new(
        jdk: &Jdk,
        root: &Path,
        checkout: PathBuf,
        order: &RecordOrder,
        context: &Context,
    ) -> Result<Self, Failure> {
        let base = root.join("java");
        let agent = java::agent(jdk, sandboxes::cache(root))?;
        let options = java::options(&agent, &base, context.variable(java::VARIABLE).as_deref());
        let program = files::this_program()?;
        Ok(Self { agent, program, base, checkout, max_bytes: order.max_trace, content: order.content, options })
    }

    /// Prepares for a run of the test; the result is a variable for it.
    pub(super) fn begin(&self) -> Result<OsString, RecordError> {
        self.begin_with(&self.options)
    }

    /// Prepares for a run of the test in which trials are made.
    pub(super) fn begin_trials(&self) -> Result<OsString, RecordError> {
        self.begin_with(&java::options_of_trials(&self.options))
    }

    fn begin_with(&self, options: &OsStr) -> Result<OsString, RecordError> {
        let Self { agent, program, checkout, max_bytes, content, .. } = self;
        let told = AgentOptions { agent, program, checkout, max_bytes: *max_bytes, content: *content };
        java::prepare(&self.base, told)?;
        Ok(record::variable(java::VARIABLE, options))
    }

    /// Has values replaced in the run of the test that follows; whether that can be told.
    ///
    /// - `is_recorded`: whether the rest is recorded.
    pub(super) fn tell(&self, replacements: &[Replacement], is_recorded: bool) -> bool {
        replace::tell(&self.base, replacements, is_recorded).is_ok()
    }

    /// Has trials made in the run of the test that follows; `None` if they cannot be told.
    pub(super) fn tell_trials(&self, trials: &Trials<'_>) -> Option<PointNumbers> {
        trials::tell(&self.base, trials).ok()
    }

    /// What came of the trials in the last run; `None` if it cannot be told.
    pub(super) fn tried(&self, numbers: &PointNumbers) -> Result<Option<Vec<TrialResult>>, RecordError> {
        let found = trials::tried(&self.base, numbers);
        files::remove(&self.base).map_err(|source| RecordError::Keep { path: self.base.clone(), source })?;
        Ok(found)
    }

    /// What was replaced in the last run.
    pub(super) fn replaced(&self) -> Result<Vec<ReplacedPoints>, RecordError> {
        let found = replace::replaced(&self.base);
        files::remove(&self.base).map_err(|source| RecordError::Keep { path: self.base.clone(), source })?;
        Ok(found)
    }

    /// Adds the traces of the virtual machines that recorded something in the last run; the result is what is missing.
    pub(super) fn take(&self, place: &Path, taken: &mut Vec<TakenTrace>) -> Result<Vec<String>, RecordError> {
        let failed = |source| RecordError::Keep { path: place.to_owned(), source };
        let losses = collect::collect(&self.base, place, taken).map_err(failed)?;
        files::remove(&self.base).map_err(failed)?;
        Ok(losses)
    }
}

/// The output of a test as if nobody had told the virtual machines anything.
pub(super) fn without_notes(seen: &Observation) -> Observation {
    Observation { output: java::without_notes(&seen.output), ..seen.clone() }
}

/// The commands of a run in which only Java is recorded, with `variables` for the test.
pub(super) fn commands(plain: Commands, variables: Vec<OsString>) -> Commands {
    let test = match plain.test {
        CommandWords::Argv(test) => {
            let program: OsString = "/usr/bin/env".into();
            CommandWords::Argv(std::iter::once(program).chain(variables).chain(test).collect())
        }
        line @ CommandWords::Shell(_) => line,
    };
    Commands { test, ..plain }
}

/// Whether two virtual machines wrote the same records, thread by thread.
pub(super) fn is_same(one: &Path, other: &Path) -> Result<bool, TraceError> {
    let records = |trace: &Trace| -> Vec<Chunk> {
        trace.chunks().iter().filter(|chunk| chunk.kind == ChunkKind::Records).copied().collect()
    };
    let (mut one, mut other) = (store::open(one)?, store::open(other)?);
    let (chunks, others) = (records(&one), records(&other));
    let name = |chunk: &Chunk| (chunk.thread, chunk.offset, chunk.length);
    if !chunks.iter().map(name).eq(others.iter().map(name)) {
        return Ok(false);
    }
    for (chunk, its) in chunks.iter().zip(&others) {
        if one.read(chunk)? != other.read(its)? {
            return Ok(false);
        }
    }
    Ok(true)
}
