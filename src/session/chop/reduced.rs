//! The failing run on a smaller input.

use crate::chop::subject::RecordedSubject;
use crate::order::{EffortOrder, ShrinkOrder, TestOrder};
use crate::recorded::order::{RecordOrder, ReductionOrder};
use crate::shrink::inputs::Input;
use crate::shrink::{ProgramVersion, Shrunk, ShrunkFile, inputs, places};
use crate::version::TreeVersion;
use crate::{Context, Failure, Interrupt, Talk, certificate, shrink};
use idd_base::{TreeId, count};
use idd_report::{Status, Terminal, Untrusted, chop};
use idd_world::repo::{Location, TreeStore};
use std::ffi::OsString;
use std::sync::Arc;

/// The longest text of a reduced input that is shown.
const MAX_TEXT: usize = 200;

/// Versions with other contents of the inputs.
pub struct ReducedVersions {
    /// The versions.
    pub subject: RecordedSubject,
    /// The names of the inputs as the test knows them.
    pub names: Vec<String>,
    /// What was reduced.
    pub files: Vec<chop::ReducedInput>,
    /// Versions of the failing tree with similar inputs, with which the test passes; the most similar ones first.
    pub passing: Vec<TreeId>,
    /// Why the reduction ended early.
    pub remark: Option<String>,
}

/// Puts input files as they are on disk into the versions.
///
/// - `names`: paths from the current directory.
pub fn place(
    subject: &RecordedSubject,
    names: &[OsString],
    location: &Location,
    context: &Context,
) -> Result<ReducedVersions, Failure> {
    let store = certificate::store(location)?;
    let inputs = settled(subject, names, location, context, &store)?;
    let contents: Vec<&[u8]> = inputs.iter().map(|input| &input.content[..]).collect();
    Ok(ReducedVersions {
        subject: with(subject, &inputs, &contents, &store, context)?,
        names: inputs.iter().map(|input| input.local.to_string_lossy().into_owned()).collect(),
        files: Vec::new(),
        passing: Vec::new(),
        remark: None,
    })
}

/// Reduces input files as far as the test still fails in the same way, or still differs from that of the passing
/// version.
///
/// - `names`: paths from the current directory.
pub fn reduce(
    subject: &RecordedSubject,
    names: &[OsString],
    reduction: &ReductionOrder,
    location: &Location,
    context: &Context,
    interrupt: &Interrupt,
    talk: &mut dyn Talk,
) -> Result<ReducedVersions, Failure> {
    let RecordedSubject { failing, reference, record, .. } = subject;
    let order = ShrinkOrder {
        command: record.command.clone(),
        input: names.to_vec(),
        passing: reduction.passing.clone(),
        args: false,
        env: Vec::new(),
        at: record.at.clone(),
        good: None,
        test: TestOrder { build: record.build.clone(), timeout: record.timeout, ..TestOrder::default() },
        effort: EffortOrder { jobs: reduction.jobs, budget: Some(reduction.budget), ..EffortOrder::default() },
    };
    // As in a recording without the instrumenting compiler.
    let compiler = ("CC".into(), "cc".into());
    let has_compiler = context.variable("CC").is_some();
    let environment = context.environment.iter().cloned().chain((!has_compiler).then_some(compiler)).collect();
    let own = Context { environment, ..context.clone() };
    let shrunk = shrink::of_trees(&order, *failing, *reference, location, &own, Arc::clone(&interrupt.flag), talk)?;
    let remark = match shrunk.stopped {
        Some(Status::Interrupted) => {
            return Err(Failure::new(Status::Interrupted, "stopped while the input was shrunk")
                .with_hint("the same command goes on from here; `--no-shrink` leaves the input as it is"));
        }
        Some(_) => Some(format!(
            "The input is not minimal: {} s were not enough to shrink it to the end (`--budget` sets another limit).",
            reduction.budget.as_secs()
        )),
        None => None,
    };
    let store = certificate::store(location)?;
    let inputs = settled(subject, names, location, context, &store)?;
    for (file, input) in shrunk.files.iter().zip(&inputs) {
        let (name, n_bytes) = (input.local.to_string_lossy(), file.content.len());
        let before = count(file.n_bytes_before, "byte");
        let probes = count(usize::try_from(shrunk.n_run).unwrap_or(usize::MAX), "run");
        let name = Terminal.line(&Untrusted::from(&*name));
        talk.say(&format!("Shrank `{name}` from {before} to {n_bytes}, in {probes} of the test."));
    }
    let contents: Vec<&[u8]> = shrunk.files.iter().map(|file| &file.content[..]).collect();
    let subject = with(subject, &inputs, &contents, &store, context)?;
    let passing = passing(&shrunk, failing.tree, &store)?;
    Ok(ReducedVersions {
        subject,
        names: inputs.iter().map(|input| input.local.to_string_lossy().into_owned()).collect(),
        files: shrunk.files.iter().zip(&inputs).map(|(file, input)| shown(file, input)).collect(),
        passing,
        remark,
    })
}

/// The inputs as they are on disk, with places that all versions can have.
fn settled(
    subject: &RecordedSubject,
    names: &[OsString],
    location: &Location,
    context: &Context,
    store: &TreeStore,
) -> Result<Vec<Input>, Failure> {
    let mut inputs = inputs::read_all(names, location, context)?;
    let version = |name: &str, tree| ProgramVersion { name: name.to_owned(), tree };
    let failing = version("the failing version", subject.failing.tree);
    let reference = subject.reference.map(|tree| version("the passing version", tree));
    let versions: Vec<&ProgramVersion> = std::iter::once(&failing).chain(&reference).collect();
    places::settle(&mut inputs, &versions, store, location, &context.directory)?;
    Ok(inputs)
}

/// The versions with these contents of the inputs, and the test with their names.
fn with(
    subject: &RecordedSubject,
    inputs: &[Input],
    contents: &[&[u8]],
    store: &TreeStore,
    context: &Context,
) -> Result<RecordedSubject, Failure> {
    let place = |tree: TreeId| {
        let files = inputs.iter().zip(contents);
        let files = files.map(|(input, content)| (&input.path[..], input.mode, *content));
        store.with_files(tree, files)?.ok_or_else(|| {
            let name = inputs[0].name.to_string_lossy().into_owned();
            Failure::usage(format!("the input `{name}` cannot be put into the checkout"))
                .with_hint("a directory or a file of the revision is in its place; rename it")
        })
    };
    let command = inputs::localised(&subject.record.command, inputs, context);
    Ok(RecordedSubject {
        failing: TreeVersion { tree: place(subject.failing.tree)?, ..subject.failing },
        reference: subject.reference.map(place).transpose()?,
        record: RecordOrder { command, ..subject.record.clone() },
        changed: subject.changed.clone(),
        hunt: subject.hunt.clone(),
    })
}

/// The trees with which the test passes.
fn passing(shrunk: &Shrunk, failing: TreeId, store: &TreeStore) -> Result<Vec<TreeId>, Failure> {
    let isolated = shrunk.passing.iter().map(|content| vec![&content[..]]);
    let candidates = shrunk.passing_candidates.iter().rev();
    let candidates = candidates.map(|contents| contents.iter().map(|content| &content[..]).collect::<Vec<_>>());
    let mut trees = Vec::new();
    for contents in isolated.chain(candidates) {
        let files = shrunk.files.iter().zip(contents);
        let files = files.map(|(file, content)| (&file.path[..], file.mode, content));
        let tree = store.with_files(failing, files)?;
        trees.extend(tree.filter(|tree| !trees.contains(tree)));
    }
    Ok(trees)
}

fn shown(file: &ShrunkFile, input: &Input) -> chop::ReducedInput {
    let text = std::str::from_utf8(&file.content).ok().filter(|text| text.len() <= MAX_TEXT && !text.contains('\0'));
    chop::ReducedInput {
        name: input.local.to_string_lossy().into_owned().into(),
        n_bytes_before: file.n_bytes_before,
        n_bytes: file.content.len(),
        text: text.map(Into::into),
    }
}
