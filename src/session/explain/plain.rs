//! A chain as plain data: what is printed, stored and reported.

use crate::explain::change::{LinesByPath, ReferenceLines, TreeSources};
use crate::explain::model::Explanation;
use crate::explain::{model, words};
use idd_explain::chain::ChainEnd;
use idd_explain::failure::RunEnding;
use idd_explain::link::{self, Did, Instance};
use idd_report::chain::{
    EffectKind, InstanceChoice, Other, ReportChain, ReportLink, Set, Switched, VisibleFailure, Was, WrittenText,
};
use idd_report::{Untrusted, chain};
use idd_trace::{Place, Step};

/// The chain of an explanation.
pub fn chain(explanation: &Explanation, sources: &mut TreeSources, replaced: &ReferenceLines) -> ReportChain {
    let Explanation { links, sets, failure: (failure, shown), pair, figures, switched, remarks, .. } = explanation;
    let (bad, good) = &pair.names;
    let changed = &explanation.changed;
    let at = StepPlace::new(shown.place.as_ref(), shown.instance, changed, sources);
    let was = if links.is_empty() { at.was(replaced) } else { None };
    let what = words::failure(explanation);
    let what = match was.as_ref().map(|was| was.clause(&|text| String::from_utf8_lossy(text.as_bytes()).into_owned())) {
        Some(clause) => format!("{what}; {clause}"),
        None => what,
    };
    let failure = VisibleFailure {
        what: what.into(),
        file: at.file,
        line: at.line,
        step: failure.step.0,
        in_change: at.in_change,
        which: at.which,
    };
    let mut chain = ReportChain {
        summary: None,
        bad: text(bad),
        good: text(good),
        switched: switched.as_ref().map(|switched| of_switched(switched, explanation, sources)),
        links: links
            .iter()
            .map(|link| of_link(link, StepPlace::new(link.place.as_ref(), link.instance, changed, sources), replaced))
            .collect(),
        sets: sets.iter().map(set).collect(),
        end: match explanation.chain.end {
            ChainEnd::Benign => chain::ChainBeginning::Benign,
            ChainEnd::Start => chain::ChainBeginning::Start,
            ChainEnd::Stuck => chain::ChainBeginning::Stuck,
            ChainEnd::Unfinished => chain::ChainBeginning::Unfinished,
        },
        beginning: Some(words::beginning(explanation, was.as_ref(), sources).into()),
        failure,
        figures: chain::Figures {
            n_steps: figures.n_steps.0,
            n_reference_steps: figures.n_steps.1,
            n_aligned: figures.n_aligned,
            n_tests: figures.n_tests,
            n_forks: figures.n_forks,
            n_trials: 0,
            trial_seconds: 0.0,
            n_states: figures.n_states,
            build_seconds: figures.seconds.0,
            seconds: figures.seconds.1,
        },
        remarks: remarks.iter().map(|remark| text(remark)).collect(),
    };
    if explanation.failure.0.ending == RunEnding::Endless {
        // How often the rest would run is not known.
        chain.links.iter_mut().for_each(|link| link.which.of = link.which.of.filter(|of| *of == 1));
    }
    chain.summary = chain.clone().joined().in_short().map(Untrusted::from);
    chain
}

fn text(text: &str) -> Untrusted {
    text.into()
}

fn set((step, variables): &(Step, Vec<String>)) -> Set {
    Set { before_step: step.0, variables: variables.iter().map(|name| text(name)).collect() }
}

/// Where a step stands in the sources.
pub(super) struct StepPlace {
    pub(super) file: Option<Untrusted>,
    pub(super) line: Option<u64>,
    pub(super) in_change: bool,
    pub(super) which: InstanceChoice,
}

impl StepPlace {
    pub(super) fn new(
        place: Option<&Place>,
        instance: Option<Instance>,
        changed: &LinesByPath,
        sources: &mut TreeSources,
    ) -> Self {
        let path = place.map(|place| sources.path(&place.file));
        let is_changed =
            |(path, place): (&String, &Place)| changed.get(path).is_some_and(|lines| lines.contains(&place.line));
        Self {
            in_change: path.as_ref().zip(place).is_some_and(is_changed),
            file: path.map(Untrusted::from),
            line: place.map(|place| place.line.into()),
            which: InstanceChoice {
                part: place.and_then(|place| sources.part(&place.file, place.line, place.column)),
                instance: instance.map(|instance| instance.nth.into()),
                of: instance.map(|instance| instance.of.into()),
            },
        }
    }
}

impl StepPlace {
    /// What the reference has there, if the change touches the line.
    fn was(&self, replaced: &ReferenceLines) -> Option<Was> {
        let (file, line) = self.file.as_ref().zip(self.line).filter(|_| self.in_change)?;
        replaced.at(&String::from_utf8_lossy(file.as_bytes()), u32::try_from(line).ok()?)
    }
}

/// The switched decision, and how doubtful it is.
fn of_switched(switched: &model::Switched, explanation: &Explanation, sources: &mut TreeSources) -> Switched {
    let (failure, _) = &explanation.failure;
    let mut at = |place: Option<&Place>, instance| {
        let StepPlace { file, line, which, .. } = StepPlace::new(place, instance, &explanation.changed, sources);
        (file, line, which)
    };
    let (file, line, which) = at(switched.place.as_ref(), switched.instance);
    let other = |other: &model::Other| {
        let (file, line, which) = at(other.place.as_ref(), other.instance);
        Other { file, line, which, step: other.step.0, n_links: other.n_links }
    };
    Switched {
        file,
        line,
        which,
        step: switched.step.0,
        outcome: switched.outcome.as_deref().map(Untrusted::from),
        reference: switched.reference.as_deref().map(Untrusted::from),
        n_forks: switched.n_tried.0,
        n_runs: switched.n_tried.1,
        n_passing: switched.n_passing,
        distance: failure.step.0.saturating_sub(switched.step.0),
        is_prefix: switched.is_prefix,
        others: switched.others.iter().map(other).collect(),
    }
}

pub(super) fn of_link(link: &link::Link, at: StepPlace, replaced: &ReferenceLines) -> ReportLink {
    let (kind, variable, value, reference) = match &link.did {
        Did::Gave { variable, value, reference, .. } => {
            (EffectKind::Value, Some(variable.as_str()), value.as_str(), reference.as_str())
        }
        Did::Holds { variable, what, reference } => {
            (EffectKind::Contents, Some(variable.as_str()), what.as_str(), reference.as_str())
        }
        Did::Returned { function, value, reference } => {
            (EffectKind::Return, Some(&**function), value.as_str(), reference.as_str())
        }
        Did::Replaced { what, value, instead } => {
            let (kind, variable) = match what {
                link::LinkSubject::Variable(variable) => (EffectKind::Value, Some(variable.as_str())),
                link::LinkSubject::Call(function) => (EffectKind::Return, Some(&**function)),
                link::LinkSubject::Decision => (EffectKind::Decision, None),
            };
            (kind, variable, value.as_str(), instead.as_str())
        }
        Did::Decided { outcome, reference } => (EffectKind::Decision, None, outcome.as_str(), reference.as_str()),
        Did::Differs(Some((ours, theirs))) => (EffectKind::Change, None, ours.as_str(), theirs.as_str()),
        Did::Used(path) => (EffectKind::Change, Some(&**path), "that of the failing version", "that of the reference"),
        Did::Differs(None) => (EffectKind::Change, None, "that of the failing version", "that of the reference"),
    };
    ReportLink {
        kind,
        was: at.was(replaced),
        file: at.file,
        line: at.line,
        function: link.function.as_deref().map(text),
        variable: variable.map(text),
        value: text(value),
        reference: text(reference),
        step: link.step.0,
        reference_step: link.reference.map(|step| step.0),
        in_change: at.in_change,
        tested: None,
        replaced: matches!(link.did, Did::Replaced { .. }),
        kept: matches!(link.did, Did::Gave { is_kept: true, .. }),
        which: at.which,
        text: link.text.as_ref().map(|found| WrittenText {
            variable: text(&found.variable),
            value: text(&found.value),
            reference: text(&found.reference),
        }),
    }
}
