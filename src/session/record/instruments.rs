//! What records the programs of a test: the instrumenting compiler for C, an agent for Java.

use crate::record::java::Recorder;
use crate::record::{Observe, java, missed};
use crate::recorded::order::{KeepOrder, RecordOrder};
use crate::{Context, Failure, Talk, record, sandboxes};
use idd_base::{Observation, TreeId};
use idd_trace::instrument::SegmentGrain;
use idd_trace::instrument::java::replace::Replacement;
use idd_world::files;
use idd_world::jdk::Jdk;
use idd_world::place::surroundings::Surroundings;
use idd_world::record::build::BuildDirectory;
use idd_world::record::java::replace::ReplacedPoints;
use idd_world::record::java::trials::{TrialResult, Trials};
use idd_world::record::listen::{KeptPart, TakenTrace, TraceListener};
use idd_world::record::store::UnitRange;
use idd_world::record::{RecordError, listen, store, witness};
use idd_world::repo::Location;
use idd_world::run::sandbox::{Commands, ProbeJob};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The tools of this machine that a tree needs.
pub(crate) struct RecordingTools {
    clang: Option<PathBuf>,
    jdk: Option<Jdk>,
}

/// What a tree has that has sources of C and C++, or of what is translated to them.
const OF_C: [&str; 14] =
    [".c", ".C", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".l", ".ll", ".y", ".pyx"];

impl RecordingTools {
    /// Those for Java alone; `None` if there is no JDK, or the tree has nothing for it.
    pub(crate) fn of_java(location: &Location, context: &Context, tree: TreeId) -> Option<Self> {
        let jdk = java::jdk(context).filter(|_| java::may_run(location, tree))?;
        Some(Self { clang: None, jdk: Some(jdk) })
    }

    /// Finds them.
    ///
    /// Errors: the tree has nothing that can be recorded; there is no clang, and no JDK that could make up for it.
    pub(crate) fn find(location: &Location, context: &Context, tree: TreeId) -> Result<Self, Failure> {
        if !java::may_run(location, tree) && !java::has(location, tree, &OF_C) {
            return Err(Failure::error("this revision has no source in C, C++ or Java, and only these are recorded")
                .with_hint("`git idd show` has the change that breaks the test, in any language"));
        }
        let jdk = java::jdk(context).filter(|_| java::may_run(location, tree));
        let clang = match record::clang(context) {
            Err(_) if jdk.is_some() && context.variable("IDD_CLANG").is_none() => None,
            clang => Some(clang?),
        };
        Ok(Self { clang, jdk })
    }
}

/// What a recording is for, and where.
#[derive(Clone, Copy)]
pub(crate) struct RecordingPlace<'p> {
    /// The order of the user.
    pub(crate) order: &'p RecordOrder,
    /// The repository.
    pub(crate) location: &'p Location,
    /// The environment.
    pub(crate) context: &'p Context,
    /// The directory for the sandboxes of this command.
    pub(crate) root: &'p Path,
    /// Where the commands see the checkout.
    pub(crate) surroundings: &'p Surroundings,
}

/// A run of the test under them.
pub(crate) struct RecordedRun {
    /// What it did.
    pub(crate) seen: Observation,
    /// The traces of its programs.
    pub(crate) taken: Vec<TakenTrace>,
    /// Why records of Java programs are missing.
    pub(crate) losses: Vec<String>,
}

/// What records the programs of a test.
pub(crate) struct Instruments<'p> {
    place: RecordingPlace<'p>,
    /// The instrumenting compiler, if there is a clang.
    pub(crate) build: Option<BuildDirectory>,
    /// The agent, if there is a JDK and the tree has a Java file.
    recorder: Option<Recorder>,
}

/// What cannot be kept in a directory.
pub(crate) fn kept(path: &Path) -> impl Fn(io::Error) -> Failure {
    let path = path.to_owned();
    move |source| Failure::from_error(&RecordError::Keep { path: path.clone(), source })
}

impl<'p> Instruments<'p> {
    /// Prepares them.
    ///
    /// - `checkout`: the checkout with the classes that are recorded.
    pub(crate) fn create(
        tools: RecordingTools,
        place: RecordingPlace<'p>,
        checkout: &Path,
        talk: &mut dyn Talk,
    ) -> Result<Self, Failure> {
        let RecordingPlace { order, context, root, surroundings, .. } = place;
        let checkout = surroundings.seen(checkout).to_owned();
        let program = files::this_program()?;
        let create = |clang: &Path| -> Result<BuildDirectory, Failure> {
            let build = BuildDirectory::create(
                &root.join("build"),
                clang,
                &program,
                sandboxes::cache(root),
                SegmentGrain::Straight,
                None,
            )?;
            build.link_versions(&context.variable("PATH").unwrap_or_default(), &program)?;
            Ok(build)
        };
        let build = tools.clang.as_deref().map(create).transpose()?;
        let recorder = tools.jdk.map(|jdk| Recorder::new(&jdk, root, checkout, order, context)).transpose();
        let recorder = match recorder {
            Err(failure) if build.is_some() => {
                let why = missed::shown(&String::from_utf8_lossy(failure.message.as_bytes()));
                talk.say(&format!("Java programs are not recorded: {why}"));
                None
            }
            recorder => recorder?,
        };
        Ok(Self { place, build, recorder })
    }

    /// Whether Java programs are recorded.
    pub(crate) fn has_agent(&self) -> bool {
        self.recorder.is_some()
    }

    /// Build and test under them, with `variables` for the test.
    pub(crate) fn commands(&self, variables: Vec<OsString>) -> Commands {
        let RecordingPlace { order, location, context, surroundings, .. } = self.place;
        let commands = match &self.build {
            Some(build) => record::commands(order, location, context, build, variables),
            None => java::commands(record::plain_commands(order, location, context), variables),
        };
        Commands { surroundings: surroundings.clone(), ..commands }
    }

    /// Builds if `is_built`, runs the test, and puts the traces of its programs into `place`.
    pub(crate) fn run(
        &self,
        job: &ProbeJob,
        place: &Path,
        is_built: bool,
        observe: &mut Observe<'_>,
    ) -> Result<RecordedRun, Failure> {
        self.run_with(&[], job, place, is_built, observe)
    }

    /// Builds, runs the test, and puts the traces of its programs into `place`. If nothing is recorded, builds again with each
    /// compiler that the build calls replaced.
    pub(crate) fn run_with_any_compiler(
        &self,
        job: &ProbeJob,
        place: &Path,
        observe: &mut Observe<'_>,
        talk: &mut dyn Talk,
    ) -> Result<RecordedRun, Failure> {
        let recorded = self.run(job, place, true, observe)?;
        let Some(build) = &self.build else { return Ok(recorded) };
        if !missed::is_bypassed(&recorded.seen, &build.logged(), &recorded.taken) {
            return Ok(recorded);
        }
        talk.say("Nothing was recorded: building again, with each compiler that the build calls replaced by the instrumenting one.");
        witness::load(build)?;
        let n_before = missed::n_instrumented(build);
        let again = self.run(job, place, true, observe)?;
        // Where no compiler was replaced, this is another run of the same programs.
        Ok(if missed::n_instrumented(build) > 2 * n_before { again } else { recorded })
    }

    /// The same with other values in the place of some in Java programs.
    pub(crate) fn run_with(
        &self,
        replacements: &[Replacement],
        job: &ProbeJob,
        place: &Path,
        is_built: bool,
        observe: &mut Observe<'_>,
    ) -> Result<RecordedRun, Failure> {
        let RecordingPlace { order, root, .. } = self.place;
        let socket = root.join("trace");
        let mut variables = vec![record::variable(listen::VARIABLE, &socket)];
        if let Some(recorder) = &self.recorder {
            variables.push(recorder.begin()?);
            if !replacements.is_empty() && !recorder.tell(replacements, true) {
                return Err(Failure::error("a name in the program cannot be told to it"));
            }
        }
        let mut commands = self.commands(variables);
        commands.build = commands.build.filter(|_| is_built);
        let keep = match order.keep {
            Some(KeepOrder::First) => KeptPart::First,
            Some(KeepOrder::Last) | None => KeptPart::Last,
        };
        let listener = TraceListener::start(&socket, place, order.max_trace, keep)?;
        let seen = observe(job, &commands, Some(&listener));
        let taken = listener.finish().into_iter().collect::<io::Result<Vec<_>>>();
        let (seen, mut taken) = (seen?, taken.map_err(kept(place))?);
        let losses = self.recorder.as_ref().map(|recorder| recorder.take(place, &mut taken)).transpose()?;
        Ok(RecordedRun { seen, taken, losses: losses.unwrap_or_default() })
    }

    /// Runs the test on what the last build made, without recording, and with other values in the place of some in its Java
    /// programs; `None` if that cannot be told to them.
    pub(crate) fn replace(
        &self,
        job: &ProbeJob,
        replacements: &[Replacement],
        observe: &mut Observe<'_>,
    ) -> Result<Option<(Observation, Vec<ReplacedPoints>)>, Failure> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        let variables = vec![recorder.begin()?];
        if !recorder.tell(replacements, false) {
            return Ok(None);
        }
        let commands = Commands { build: None, ..self.commands(variables) };
        let seen = observe(job, &commands, None)?;
        Ok(Some((seen, recorder.replaced()?)))
    }

    /// Runs the test on what the last build made, and has a virtual machine make trials in place of its program; `None` if
    /// it made none.
    pub(crate) fn try_out(
        &self,
        job: &ProbeJob,
        trials: &Trials<'_>,
        observe: &mut Observe<'_>,
    ) -> Result<Option<Vec<TrialResult>>, Failure> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        let variables = vec![recorder.begin_trials()?];
        let Some(numbers) = recorder.tell_trials(trials) else { return Ok(None) };
        let commands = Commands { build: None, ..self.commands(variables) };
        observe(job, &commands, None)?;
        Ok(recorder.tried(&numbers)?)
    }

    /// Copies the maps of the C units to a recording.
    pub(crate) fn take_maps(&self, place: &Path) -> Result<Vec<UnitRange>, Failure> {
        match &self.build {
            Some(build) => store::take_maps(&build.path, place).map_err(kept(place)),
            None => Ok(Vec::new()),
        }
    }
}
