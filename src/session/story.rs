//! The course of a hunt, read from its journal and from the repository, for a report.

use crate::{Failure, certificate, saved};
use idd_base::{CommitId, Ending, Observation, Outcome, Revision, Stage, TreeId};
use idd_report::story::{FilePart, ProbeRun, ReductionStory, RevisionVerdict, Story, UsedAnswer};
use idd_report::{Commit, Explained, Explanation, Report, Untrusted, lineage, story};
use idd_world::cache::{Key, Observations};
use idd_world::journal::{AnswerRecord, Record};
use idd_world::repo::{HeldFiles, Location, Repository, TreeStore, graph, private, source};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The maximum number of tested revisions in the picture, those nearest to the first bad one.
const MAX_REVISIONS: usize = 600;

/// The maximum number of revisions that are read.
const MAX_HISTORY: usize = 400_000;

/// The maximum size of a stored output in bytes: its beginning, and (larger) its end.
const MAX_OUTPUT: (usize, usize) = (1 << 10, 3 << 10);

/// The maximum size of all stored outputs together, in bytes.
const MAX_OUTPUTS: usize = 6 << 20;

/// The maximum number of looked-up answers from earlier hunts.
const MAX_LOOKUPS: usize = 5_000;

/// Lines of a source around each that an explanation names.
const N_AROUND: u64 = 8;

/// The maximum length of a source line, in bytes.
const MAX_SOURCE_LINE: usize = 400;

/// Reads the course of the hunt `id`. Unreadable parts are left out, and the report says so.
pub fn read(location: &Location, id: &str, report: &Report, explanations: &[Explained]) -> Result<Story, Failure> {
    let user = private::open(&location.git_directory)?;
    let mut told = Journal::default();
    saved::each_record(location, id, &mut |record| told.take_in(record))?;
    let answers = told.answers(location, report);
    // `git idd gc` removes candidates; commits can be read without them.
    let store = certificate::store(location).ok().or_else(|| of_user(location));
    Ok(Story {
        revisions: revisions(&user, report, &told.verdicts),
        n_tested: told.verdicts.len(),
        answers,
        outputs: told.outputs.texts,
        reductions: told.reductions,
        culprit: store.as_ref().and_then(|store| culprit(&user, store, report)),
        sources: explanations.iter().flat_map(|explained| sources(&user, store.as_ref(), explained)).collect(),
    })
}

/// The trees of the user's own repository.
pub fn of_user(location: &Location) -> Option<TreeStore> {
    TreeStore::new(private::open(&location.git_directory).ok()?, HeldFiles::default(), Vec::new()).ok()
}

/// The content of a journal, in its order.
#[derive(Default)]
struct Journal {
    /// By number of the probe and by key; the last observation of each.
    by_sequence: HashMap<u64, ProbeRun>,
    by_key: HashMap<String, ProbeRun>,
    /// The runs that reproduced the failure: the first ones, all of the same tree.
    reproduced: Vec<(String, ProbeRun)>,
    has_answers: bool,
    used: Vec<AnswerRecord>,
    reductions: Vec<ReductionStory>,
    verdicts: Vec<(CommitId, Outcome, bool)>,
    outputs: StoryOutputs,
}

impl Journal {
    fn take_in(&mut self, record: Record) {
        match record {
            // A resumed hunt takes the whole path again, and records everything again.
            Record::Process { .. } => {
                self.used.clear();
                self.reductions.clear();
            }
            Record::Observed { sequence, key, observation, .. } => {
                let seen = seen(&observation, &mut self.outputs);
                if !self.has_answers && self.reproduced.first().is_none_or(|(first, _)| *first == key) {
                    self.reproduced.push((key.clone(), seen.clone()));
                }
                self.by_sequence.insert(sequence, seen.clone());
                self.by_key.insert(key, seen);
            }
            Record::Tested { revision, outcome, is_repaired } => {
                self.verdicts.retain(|(known, ..)| *known != revision);
                self.verdicts.extend(outcome.parse().map(|outcome| (revision, outcome, is_repaired)));
            }
            Record::Answer(answer) => {
                self.has_answers = true;
                self.used.push(answer);
            }
            Record::Reduced { what, revision, before, after } => {
                self.reductions.push(ReductionStory { what: what.into(), commit: revision, before, after });
            }
            _ => {}
        }
    }

    /// The answers, with their observations; from earlier hunts, too.
    fn answers(&mut self, location: &Location, report: &Report) -> Vec<UsedAnswer> {
        let mut earlier: Option<Observations> = None;
        let mut n_lookups = 0;
        let mut answers = Vec::new();
        if let Some(bad) = report.bad.as_ref().filter(|_| self.has_answers) {
            let reproduced = std::mem::take(&mut self.reproduced).into_iter();
            answers.extend(reproduced.map(|(_, seen)| UsedAnswer {
                phase: "reproduce".into(),
                commit: bad.commit,
                outcome: None,
                is_known: false,
                seen: Some(seen),
            }));
        }
        for AnswerRecord { phase, revision, key, sequence, outcome, .. } in std::mem::take(&mut self.used) {
            let own = sequence.and_then(|sequence| self.by_sequence.get(&sequence)).or_else(|| self.by_key.get(&key));
            let mut seen = own.cloned();
            let is_known = seen.is_none();
            if seen.is_none() && n_lookups < MAX_LOOKUPS {
                n_lookups += 1;
                if earlier.is_none() {
                    earlier = Observations::open(&location.idd_directory()).ok().map(|(observations, _)| observations);
                }
                // With any limit: it is the answer that the hunt used.
                let found = earlier.as_mut().zip(key.parse::<Key>().ok());
                let found = found.and_then(|(earlier, key)| earlier.lookup_any(&key));
                seen = found.map(|observation| self::seen(&observation, &mut self.outputs));
            }
            answers.push(UsedAnswer {
                phase: phase.into(),
                commit: revision,
                outcome: outcome.parse().ok(),
                is_known,
                seen,
            });
        }
        answers
    }
}

/// Outputs, each once.
#[derive(Default)]
struct StoryOutputs {
    texts: Vec<Untrusted>,
    places: HashMap<Untrusted, usize>,
    n_bytes: usize,
}

impl StoryOutputs {
    fn keep(&mut self, output: &str) -> Option<usize> {
        if output.trim().is_empty() {
            return None;
        }
        let text = Untrusted::from(shortened(output));
        if let Some(place) = self.places.get(&text) {
            return Some(*place);
        }
        self.n_bytes += text.as_bytes().len();
        if self.n_bytes > MAX_OUTPUTS {
            return None;
        }
        self.texts.push(text.clone());
        self.places.insert(text, self.texts.len() - 1);
        Some(self.texts.len() - 1)
    }
}

fn shortened(output: &str) -> String {
    let (begin, end) = MAX_OUTPUT;
    if output.len() <= begin + end {
        return output.to_owned();
    }
    let boundary = |at: usize| (0..=at).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    let (begin, end) = (boundary(begin), boundary(output.len() - end));
    format!("{}\n[... {} bytes left out here ...]\n{}", &output[..begin], end - begin, &output[end..])
}

fn seen(observation: &Observation, outputs: &mut StoryOutputs) -> ProbeRun {
    ProbeRun {
        ending: ending(observation),
        seconds: observation.duration.as_secs_f64(),
        is_clean: observation.is_clean,
        output: outputs.keep(&observation.output),
    }
}

/// The revisions of the picture. Empty if the history cannot be read.
fn revisions(user: &Repository, report: &Report, verdicts: &[(CommitId, Outcome, bool)]) -> Vec<story::TestedStory> {
    let known: HashMap<CommitId, RevisionVerdict> = verdicts
        .iter()
        .enumerate()
        .map(|(index, (commit, outcome, is_repaired))| {
            (*commit, RevisionVerdict { outcome: *outcome, is_repaired: *is_repaired, nth: index + 1 })
        })
        .collect();
    let mut named: BTreeSet<CommitId> = report.culprits.iter().map(|commit| commit.commit).collect();
    let candidates = report.range.iter().flat_map(|range| &range.candidates).take(MAX_REVISIONS);
    named.extend(candidates.chain(&report.bad).chain(&report.last_good).map(|commit| commit.commit));
    named.extend(report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit));
    named.extend(report.fix.as_ref().map(|fix| fix.commit));
    let tips: Vec<CommitId> = named.iter().chain(known.keys()).copied().collect();
    let history = graph::back_to(user, &tips, MAX_HISTORY);
    let history: Vec<Revision> = history.rows().map(|row| history.revision(row)).collect();
    let place = |id: Option<CommitId>| id.and_then(|id| history.iter().position(|revision| revision.id == id));
    let center =
        place(report.first_bad.as_ref().map(|it| it.commit.commit)).or(place(report.bad.as_ref().map(|it| it.commit)));
    let mut tested: Vec<(usize, CommitId)> = history
        .iter()
        .enumerate()
        .filter(|(_, revision)| known.contains_key(&revision.id))
        .map(|(index, revision)| (index.abs_diff(center.unwrap_or(0)), revision.id))
        .collect();
    tested.sort_unstable();
    let wanted = tested.into_iter().take(MAX_REVISIONS).map(|(_, id)| id).chain(named).collect();
    let nodes = lineage::cut_down(&history, &wanted);
    nodes
        .into_iter()
        .map(|(index, node)| {
            let revision = &history[index];
            story::TestedStory { commit: Commit::from(revision), node, verdict: known.get(&revision.id).copied() }
        })
        .collect()
}

/// The whole change of the first bad commit, compared with its first parent.
fn culprit(user: &Repository, store: &TreeStore, report: &Report) -> Option<Untrusted> {
    let commit = report.first_bad.as_ref()?.commit.commit;
    let revision = graph::revision_of(user, commit).ok()?;
    let parent = graph::tree_of(user, *revision.parents.first()?).ok()?;
    Some(store.patch(parent, revision.tree).ok()?.0.into())
}

/// The sources around the lines that an explanation names: from the tree that was run, else from its commit.
fn sources(user: &Repository, store: Option<&TreeStore>, explained: &Explained) -> Vec<FilePart> {
    let places: Vec<(&Option<Untrusted>, Option<u64>)> = match &explained.explanation {
        Explanation::Chain(chain) => {
            let links = chain.links.iter().map(|link| (&link.file, link.line));
            links.chain([(&chain.failure.file, chain.failure.line)]).collect()
        }
        Explanation::Invariants(found) => found.shown().map(|one| (&one.file, one.line.map(u64::from))).collect(),
        Explanation::Chop(_) | Explanation::Walk(_) => Vec::new(),
    };
    let mut wanted: BTreeMap<&Untrusted, BTreeSet<u64>> = BTreeMap::new();
    for (file, line) in places.into_iter().filter_map(|(file, line)| Some((file.as_ref()?, line?))) {
        let context = line.saturating_sub(N_AROUND).max(1)..=line.saturating_add(N_AROUND);
        wanted.entry(file).or_default().extend(context);
    }
    wanted
        .into_iter()
        .filter_map(|(file, numbers)| {
            let (_, content) = found(user, store?, explained, file)?;
            let all: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
            let line = |number: u64| {
                let text = all.get(usize::try_from(number).ok()? - 1)?;
                Some((number, Untrusted::from(&text[..text.len().min(MAX_SOURCE_LINE)])))
            };
            Some(FilePart { file: file.clone(), lines: numbers.into_iter().filter_map(line).collect() })
        })
        .collect()
}

/// The path and the content of a file of the explained version: from the tree that was run, else from its commit.
///
/// - `file`: as the explanation names it.
pub fn found(
    user: &Repository,
    store: &TreeStore,
    explained: &Explained,
    file: &Untrusted,
) -> Option<(Untrusted, Vec<u8>)> {
    // Statements have the name that the compiler was given.
    let named = |tree| {
        let (path, content) = source::find_in(store.repository(), tree, &String::from_utf8_lossy(file.as_bytes()))?;
        Some((Untrusted::from(path), content))
    };
    let of = |tree: TreeId| {
        let content = store.file(tree, file.as_bytes()).ok().flatten().map(|(_, content)| content);
        content.map(|content| (file.clone(), content)).or_else(|| named(tree))
    };
    of(explained.tree).or_else(|| of(graph::tree_of(user, explained.commit).ok()?))
}

/// The command that ended it, and its ending: `test: exit code 1`.
pub fn ending(observation: &Observation) -> String {
    let stage = match observation.stage {
        Stage::Fetch => "artifact",
        Stage::Precheck => "check",
        Stage::Build => "build",
        Stage::Test => "test",
    };
    match observation.ending {
        ending @ Ending::NotRun(_) => ending.to_string(),
        ending => format!("{stage}: {ending}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_kept_once_and_cut_in_its_middle() {
        let mut outputs = StoryOutputs::default();
        assert_eq!(
            [outputs.keep("a\n"), outputs.keep(" \n"), outputs.keep("b"), outputs.keep("a\n")],
            [Some(0), None, Some(1), Some(0)]
        );
        let long = format!("begin{}é{}end", "x".repeat(1018), "y".repeat(9000));
        let cut = shortened(&long);
        assert!(cut.starts_with("begin") && cut.ends_with("end") && cut.contains("bytes left out here"), "{cut}");
        assert!(cut.len() < 4200);
    }
}
