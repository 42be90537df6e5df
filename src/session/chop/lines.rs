//! The lines of a chop: what ranks them, and their values.

use crate::Failure;
use crate::explain::change::LinesByPath;
use crate::recorded::failed;
use crate::slice::SliceLine;
use crate::sources::RecordedSources;
use idd_report::chop::Size;
use idd_report::{Untrusted, chop};
use idd_trace::statements::Initial;
use idd_trace::{Access, Detail, Execution, Place, Step};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// The number of lines whose values are looked up.
const MAX_VALUES: usize = 200;

/// A line of a chop without its source.
pub struct Ranked {
    /// The line.
    pub line: SliceLine,
    /// Whether the change that breaks the test touches it.
    pub is_changed: bool,
    /// The smallest number of dependences from it to the failure.
    pub distance: u32,
    /// The number of compared passing runs that ran it.
    pub n_passing: u32,
    /// The first step of it that the passing version does not do, or does with other values; the greatest number if there is none.
    pub differs: u32,
    /// Variables with their values at the last step: what it wrote, or what it read if it wrote nothing.
    pub values: Vec<String>,
}

impl Ranked {
    /// The key by which lines are sorted, the most suspicious first.
    pub fn rank(&self) -> impl Ord + use<> {
        (!self.is_changed, self.n_passing, self.differs, self.distance, self.line.n_run, Reverse(self.line.last))
    }

    /// Whether it says something: a statement at a closing brace does not.
    pub fn has_text(&self, sources: &mut RecordedSources) -> bool {
        let source = sources.line(&self.line.file, self.line.line);
        source.is_none_or(|source| source.contains(char::is_alphanumeric))
    }

    /// The line for a report.
    pub fn with_source(self, sources: &mut RecordedSources) -> chop::ChopLine {
        let SliceLine { file, line, function, n_steps, n_run, last } = self.line;
        chop::ChopLine {
            source: sources.line(&file, line).map(Untrusted::from),
            file: file.into(),
            line,
            function: function.into(),
            is_changed: self.is_changed,
            distance: Some(self.distance).filter(|distance| *distance != u32::MAX),
            n_passing: self.n_passing,
            n_steps,
            n_run,
            last: last.0,
            values: self.values.into_iter().map(Untrusted::from).collect(),
        }
    }
}

/// All statements of the program.
pub fn program(run: &mut dyn Execution) -> Result<Size, Failure> {
    let statements = run.program().map_err(|error| failed(&error))?;
    let lines: BTreeSet<_> = statements.iter().flatten().map(|place| (&place.file, place.line)).collect();
    Ok(Size { n_statements: statements.len(), n_lines: lines.len(), n_steps: 0 })
}

/// The lines that a change touches, by the files of some places as the compiler was given them.
pub fn changed<'c>(
    places: impl Iterator<Item = &'c Place>,
    lines: &'c LinesByPath,
    sources: &mut RecordedSources,
) -> HashMap<&'c str, &'c BTreeSet<u32>> {
    let files: BTreeSet<&str> = places.map(|place| &*place.file).collect();
    // Of a file of Java only the path below the directory of its packages is known.
    files.into_iter().filter_map(|file| Some((file, lines.get(sources.path(file)?)?))).collect()
}

/// The line of a declaration.
pub fn declared(initial: &Initial, is_changed: &dyn Fn(&SliceLine) -> bool) -> Ranked {
    let Initial { name, place, n_reads, last } = initial;
    let (file, function) = (place.file.to_string(), format!("initial value of {name}"));
    let line = SliceLine { file, line: place.line, function, n_steps: *n_reads, n_run: *n_reads, last: *last };
    Ranked {
        is_changed: is_changed(&line),
        distance: u32::MAX,
        n_passing: 0,
        differs: u32::MAX,
        values: Vec::new(),
        line,
    }
}

/// Whether an access has a value of its own: the contents of an object of a library have none.
fn has_value(access: &Access) -> bool {
    !access.named.name.starts_with("contents of ")
}

/// Looks up the values at the last step of each line.
///
/// Cost: one pass over the trace.
pub fn values(run: &mut dyn Execution, ranked: &mut [Ranked]) -> Result<(), Failure> {
    let mut steps: Vec<Step> = ranked.iter().take(MAX_VALUES).map(|one| one.line.last).collect();
    steps.sort_unstable();
    steps.dedup();
    let details = run.details(&steps, Step(u32::MAX)).map_err(|error| failed(&error))?;
    let details: HashMap<Step, Detail> = details.into_iter().map(|detail| (detail.standing.step, detail)).collect();
    for one in ranked {
        let Some(detail) = details.get(&one.line.last) else { continue };
        let accesses = if detail.writes.iter().any(has_value) { &detail.writes } else { &detail.reads };
        let shown = |access: &Access| Some(format!("{} = {}", access.named.name, access.named.value.as_ref()?));
        // A temporary of the compiler, such as the one for the result, has no name in the source.
        let named =
            accesses.iter().filter(|access| has_value(access) && !access.named.name.starts_with("temporary of "));
        // The object of a method, and the streams of Java, are seldom what is wrong.
        let is_way = |access: &&Access| access.named.name == "this" || access.named.name.starts_with("System.");
        let (ways, others): (Vec<&Access>, Vec<&Access>) = named.partition(is_way);
        one.values = others.into_iter().chain(ways).filter_map(shown).take(3).collect();
        if one.values.is_empty() {
            one.values.extend(detail.returned.as_ref().map(|result| format!("returns {result}")));
        }
    }
    Ok(())
}
