//! The hunt on its history: a graph from the root on the left to HEAD on the right, and the outcome of each revision.
//!
//! Shape and colour show the outcome of a revision. The graph is a picture with links; the list below it contains all
//! its information.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::html::chart::SIGN;
use crate::html::markup::Markup;
use crate::phrase::{code, line, words};
use crate::story::{RevisionVerdict, Story, TestedStory, UsedAnswer};
use crate::{Report, Status, Terminal, Untrusted};
use idd_base::{CommitId, Outcome, count};

/// Pixels between nodes of the graph.
const STEP: usize = 54;

/// Pixels between lanes.
const LANE: usize = 64;

/// Space above and below for labels, and at the side for the last one.
const MARGIN: usize = 44;

/// The maximum number of lanes; the last one contains the rest.
const MAX_LANES: usize = 12;

/// The maximum number of runs for a revision; the table of all runs has the rest.
const MAX_RUNS: usize = 12;

/// The look of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RevisionLook {
    Pass,
    Fail,
    RepairedPass,
    RepairedFail,
    Unresolved,
    /// It was not tested: it joins others, or is an end of the range.
    Plain,
}

impl RevisionLook {
    const ALL: [Self; 6] =
        [Self::Pass, Self::Fail, Self::RepairedPass, Self::RepairedFail, Self::Unresolved, Self::Plain];

    fn of(verdict: Option<RevisionVerdict>) -> Self {
        match verdict {
            None => Self::Plain,
            Some(RevisionVerdict { outcome: Outcome::Pass, is_repaired: false, .. }) => Self::Pass,
            Some(RevisionVerdict { outcome: Outcome::Pass, is_repaired: true, .. }) => Self::RepairedPass,
            Some(RevisionVerdict { outcome: Outcome::Fail, is_repaired: false, .. }) => Self::Fail,
            Some(RevisionVerdict { outcome: Outcome::Fail, is_repaired: true, .. }) => Self::RepairedFail,
            Some(RevisionVerdict { outcome: Outcome::Unresolved(_), .. }) => Self::Unresolved,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::RepairedPass => "pass, with a repair",
            Self::RepairedFail => "fail, with a repair",
            Self::Unresolved => "cannot be tested",
            Self::Plain => "not tested",
        }
    }

    /// The mark around a point: round for a pass, angular for a failure, a triangle for unresolved.
    fn draw(self, x: usize, y: usize, page: &mut Markup) {
        let circle = |radius: usize| [("cx", x), ("cy", y), ("r", radius)];
        let square = |by: usize| {
            let (x, y) = (x.saturating_sub(by), y.saturating_sub(by));
            [("x", x), ("y", y), ("width", 2 * by), ("height", 2 * by)]
        };
        match self {
            Self::Pass => page.shape("circle", "pass", &circle(8)),
            Self::RepairedPass => {
                page.shape("circle", "ring", &circle(11));
                page.shape("circle", "pass", &circle(7));
            }
            Self::Plain => page.shape("circle", "plain", &circle(4)),
            Self::Fail => page.shape("rect", "fail", &square(7)),
            Self::RepairedFail => {
                page.shape("rect", "ring", &square(11));
                page.shape("rect", "fail", &square(7));
            }
            Self::Unresolved => {
                let path = format!("M{x} {} L{} {} L{} {} Z", y - 9, x + 9, y + 7, x - 9, y + 7);
                page.path("unresolved", &path);
            }
        }
    }
}

/// Writes the section.
///
/// - `ran`: the commands that run at each revision.
pub fn write(report: &Report, story: &Story, ran: &Markup, shown: &mut LinkTargets, page: &mut Markup) {
    if story.revisions.is_empty() {
        let why = match report.status {
            Status::Running => "No revision has a verdict yet.",
            _ => "The history of this hunt cannot be read here any more.",
        };
        page.leaf("p", &[], why);
        return;
    }
    let n_tested = count(story.n_tested, "revision");
    let numbers = "Numbers below a sign say in which order, numbers on a line how many revisions lie between.";
    page.leaf("p", &[("class", "lead")], format!("{n_tested} tested. {numbers}"));
    legend(story, page);
    page.scroll("History graph", false, |page| graph(report, story, page));
    let n_shown = story.revisions.iter().filter(|revision| revision.verdict.is_some()).count();
    if n_shown < story.n_tested {
        let n_left_out = count(story.n_tested - n_shown, "tested revision");
        let why = "far from the first bad one are not drawn; their runs stand in the table of all answers.";
        page.leaf("p", &[("class", "quiet")], format!("{n_left_out} {why}"));
    }
    page.element("div", &[("class", "revisions"), ("data-items", ".revision > summary")], |page| {
        let mut by_commit: HashMap<CommitId, Vec<&UsedAnswer>> = HashMap::new();
        for answer in &story.answers {
            by_commit.entry(answer.commit).or_default().push(answer);
        }
        for revision in &story.revisions {
            let answers = by_commit.get(&revision.commit.commit).map(Vec::as_slice).unwrap_or_default();
            describe(revision, answers, report, story, ran, shown, page);
        }
    });
}

fn legend(story: &Story, page: &mut Markup) {
    let seen: BTreeSet<RevisionLook> =
        story.revisions.iter().map(|revision| RevisionLook::of(revision.verdict)).collect();
    page.element("ul", &[("class", "legend"), ("aria-label", "Signs")], |page| {
        for look in RevisionLook::ALL.into_iter().filter(|look| seen.contains(look)) {
            page.element("li", &[], |page| {
                sign(look, page);
                page.words(look.words());
            });
        }
    });
}

fn sign(look: RevisionLook, page: &mut Markup) {
    let attributes = [&SIGN[..], &[("aria-hidden", "true")]].concat();
    page.element("svg", &attributes, |page| look.draw(12, 12, page));
}

/// The labels of revisions in the graph.
fn labels(report: &Report) -> BTreeMap<CommitId, &'static str> {
    let mut labels = BTreeMap::new();
    let words = report.find.words().labels;
    if let Some(fix) = report.reversal().filter(|fix| fix.complete) {
        labels.insert(fix.commit, "HEAD");
    }
    labels.extend(report.bad.as_ref().map(|bad| (bad.commit, words[1].trim_end_matches(':'))));
    labels.extend(report.last_good.as_ref().map(|good| (good.commit, words[0].trim_end_matches(':'))));
    labels.extend(report.culprits.iter().map(|culprit| (culprit.commit, "culprit")));
    labels.extend(report.first_bad.as_ref().map(|bad| (bad.commit.commit, words[2].trim_end_matches(':'))));
    labels
}

fn graph(report: &Report, story: &Story, page: &mut Markup) {
    let n_nodes = story.revisions.len();
    let lanes = story.revisions.iter().flat_map(|it| it.node.edges.iter().map(|edge| edge.lane).chain([it.node.lane]));
    let n_lanes = lanes.max().unwrap_or(0).min(MAX_LANES - 1) + 1;
    let x = |node: usize| MARGIN + (n_nodes - 1 - node) * STEP;
    let y = |lane: usize| MARGIN + lane.min(MAX_LANES - 1) * LANE;
    let size = [2 * MARGIN + (n_nodes - 1) * STEP, 2 * MARGIN + (n_lanes - 1) * LANE];
    page.picture("graph", size, [("role", "group"), ("aria-label", "Revisions, oldest first")], |page| {
        for (index, revision) in story.revisions.iter().enumerate() {
            for edge in &revision.node.edges {
                let (from_x, from_y, to_x, lane_y) = (x(index), y(revision.node.lane), x(edge.to), y(edge.lane));
                let class = if edge.n_between > 0 { "edge gap" } else { "edge" };
                page.path(class, &way(from_x, from_y, to_x, lane_y, y(story.revisions[edge.to].node.lane)));
                if edge.n_between > 0 {
                    let (x, y) = (usize::midpoint(from_x, to_x), lane_y.saturating_sub(5));
                    text("between", x, y, &edge.n_between.to_string(), page);
                }
            }
        }
        let labels = labels(report);
        for (index, revision) in story.revisions.iter().enumerate().rev() {
            node(revision, x(index), y(revision.node.lane), labels.get(&revision.commit.commit).copied(), page);
        }
    });
}

/// The line from a child to its parent: into the lane between them, along it, and into the lane of the parent.
fn way(x: usize, y: usize, to_x: usize, lane_y: usize, to_y: usize) -> String {
    let half = STEP / 2;
    let begin = if lane_y == y {
        String::new()
    } else {
        format!(" C{} {y} {} {lane_y} {} {lane_y}", x - half, x - half, x - STEP)
    };
    let end = if lane_y == to_y {
        format!(" L{to_x} {to_y}")
    } else {
        format!(" L{} {lane_y} C{} {lane_y} {} {to_y} {to_x} {to_y}", to_x + STEP, to_x + half, to_x + half)
    };
    format!("M{x} {y}{begin}{end}")
}

fn node(revision: &TestedStory, x: usize, y: usize, label: Option<&str>, page: &mut Markup) {
    let look = RevisionLook::of(revision.verdict);
    let nth = revision.verdict.map(|verdict| format!(", tested as number {}", verdict.nth)).unwrap_or_default();
    let name = format!("{}: {}{nth}", named(revision), look.words());
    let name = label.map_or(name.clone(), |label| format!("{label}, {name}"));
    let target = format!("#{}", anchor(revision.commit.commit));
    page.element("a", &[("href", &target), ("aria-label", &name)], |page| {
        page.leaf("title", &[], name.as_str());
        // An area to click on that is larger than the mark.
        page.shape("circle", "hit", &[("cx", x), ("cy", y), ("r", 16)]);
        look.draw(x, y, page);
    });
    // The name of the link already contains the label.
    if let Some(label) = label {
        let at = if label.starts_with("last ") { y + 38 } else { y - 18 };
        text("label", x, at, label, page);
    }
    if let Some(verdict) = revision.verdict {
        text("nth", x, y + 23, &verdict.nth.to_string(), page);
    }
}

fn text(class: &str, x: usize, y: usize, words: &str, page: &mut Markup) {
    let (x, y) = (x.to_string(), y.to_string());
    let attributes = [("class", class), ("x", &*x), ("y", &*y), ("text-anchor", "middle"), ("aria-hidden", "true")];
    page.leaf("text", &attributes, words);
}

/// `1234567890ab Subject`, for one line.
fn named(revision: &TestedStory) -> String {
    format!("{} {}", revision.commit.commit.short(), Terminal.line(&revision.commit.subject))
}

/// The id of a revision on the page.
pub fn anchor(commit: CommitId) -> String {
    format!("r-{}", commit.short())
}

/// The parts of the page that can be targets of links.
#[derive(Debug)]
pub struct LinkTargets {
    outputs: HashSet<usize>,
    revisions: HashSet<CommitId>,
}

impl LinkTargets {
    /// No outputs yet, and all revisions of the story.
    pub fn new(story: &Story) -> Self {
        let revisions = story.revisions.iter().map(|revision| revision.commit.commit).collect();
        Self { outputs: HashSet::new(), revisions }
    }

    /// Writes a commit, with a link to its revision if it is described on the page.
    pub fn commit(&self, commit: CommitId, page: &mut Markup) {
        let short = |page: &mut Markup| page.leaf("code", &[], commit.short());
        if self.revisions.contains(&commit) {
            page.element("a", &[("href", &format!("#{}", anchor(commit)))], short);
        } else {
            short(page);
        }
    }

    /// Writes an output at its first use, and later a link to it.
    pub fn output(&mut self, output: usize, story: &Story, page: &mut Markup) {
        let id = output_anchor(output);
        if !self.outputs.insert(output) {
            let target = format!("#{id}");
            page.element("p", &[], |page| page.leaf("a", &[("href", &target)], "the same output as before"));
            return;
        }
        let Some(text) = story.outputs.get(output) else { return };
        page.element("details", &[("class", "sub output"), ("id", &id)], |page| {
            let first = text.as_bytes().split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
            let first = first.unwrap_or_default();
            let first = Untrusted::from(&first[..first.len().min(90)]);
            page.element("summary", &[], |page| page.phrase(&[words("Output: "), code(&first)]));
            page.element("pre", &[("tabindex", "0")], |page| page.block(text));
        });
    }

    /// Whether an output was written already.
    pub fn has_output(&self, output: usize) -> bool {
        self.outputs.contains(&output)
    }
}

/// The id of an output on the page.
pub fn output_anchor(output: usize) -> String {
    format!("o-{output}")
}

fn describe(
    revision: &TestedStory,
    answers: &[&UsedAnswer],
    report: &Report,
    story: &Story,
    ran: &Markup,
    shown: &mut LinkTargets,
    page: &mut Markup,
) {
    let look = RevisionLook::of(revision.verdict);
    let commit = &revision.commit;
    page.element("details", &[("class", "revision"), ("id", &anchor(commit.commit))], |page| {
        page.element("summary", &[], |page| {
            sign(look, page);
            page.leaf("code", &[("class", "id")], commit.commit.short());
            page.leaf("span", &[("class", "subject")], commit.subject.clone());
            if let Some(label) = labels(report).get(&commit.commit) {
                page.leaf("span", &[("class", "tag")], *label);
            }
            let words = match revision.verdict {
                Some(RevisionVerdict { outcome: Outcome::Unresolved(reason), .. }) => {
                    format!("cannot be tested: {reason}")
                }
                _ => look.words().to_owned(),
            };
            page.leaf("span", &[("class", "quiet")], words);
        });
        page.element("div", &[("class", "inside")], |page| {
            let id = commit.commit.to_string().into();
            let date = words(format!(", {}", commit.date));
            page.paragraph("quiet", &[code(&id), words(" by "), line(&commit.author), date]);
            for repair in report.repairs.iter().filter(|repair| repair.commit == commit.commit) {
                page.element("details", &[("class", "sub")], |page| {
                    let lines = count(repair.lines, "line");
                    page.leaf("summary", &[], format!("Repaired with {lines} of {}", repair.source.short()));
                    page.element("pre", &[("tabindex", "0")], |page| page.block(&repair.patch));
                });
            }
            page.part(ran);
            runs(answers, story, shown, page);
        });
    });
    page.newline();
}

/// The runs at a revision that were about itself, not about candidates of a reduction.
fn runs(answers: &[&UsedAnswer], story: &Story, shown: &mut LinkTargets, page: &mut Markup) {
    let is_about_itself = |answer: &&&UsedAnswer| [&b"search"[..], b"reproduce"].contains(&answer.phase.as_bytes());
    let about: Vec<&&UsedAnswer> = answers.iter().filter(is_about_itself).collect();
    let n_others = answers.len() - about.len();
    for answer in about.iter().take(MAX_RUNS) {
        page.element("div", &[("class", "run")], |page| {
            page.element("p", &[], |page| {
                outcome(answer.outcome, page);
                page.words(&format!(" {}", told(answer)));
            });
            if let Some(output) = answer.seen.as_ref().and_then(|seen| seen.output) {
                shown.output(output, story, page);
            }
        });
    }
    let n_more = n_others + about.len().saturating_sub(MAX_RUNS);
    if n_more > 0 {
        page.element("p", &[("class", "quiet")], |page| {
            page.words(&format!("{} about it and what is derived from it stand among ", count(n_more, "more answer")));
            page.leaf("a", &[("href", "#all")], "all answers");
            page.words(".");
        });
    }
}

/// An outcome as a word with its sign.
pub fn outcome(outcome: Option<Outcome>, page: &mut Markup) {
    let (class, words) = match outcome {
        Some(Outcome::Pass) => ("outcome pass", "pass".to_owned()),
        Some(Outcome::Fail) => ("outcome fail", "fail".to_owned()),
        Some(Outcome::Unresolved(reason)) => ("outcome unresolved", reason.to_string()),
        None => ("outcome", "seen".to_owned()),
    };
    page.leaf("span", &[("class", class)], words);
}

/// The ending of an answer, in words: `test: exit code 1, 0.31 s, clean checkout`.
fn told(answer: &UsedAnswer) -> String {
    let phase = String::from_utf8_lossy(answer.phase.as_bytes()).into_owned();
    let Some(seen) = &answer.seen else { return format!("({phase}; what was seen is not known any more)") };
    let clean = if seen.is_clean { ", clean checkout" } else { "" };
    let known = if answer.is_known { ", known from an earlier hunt" } else { "" };
    format!("{}, {:.2} s{clean}{known} ({phase})", seen.ending, seen.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_leaves_its_lane_only_near_its_ends() {
        assert_eq!(way(200, 44, 100, 44, 44), "M200 44 L100 44");
        assert_eq!(way(200, 84, 100, 84, 44), "M200 84 L154 84 C127 84 127 44 100 44");
        assert_eq!(way(200, 44, 100, 84, 84), "M200 44 C173 44 173 84 146 84 L100 84");
    }
}
