//! Artifacts: how many were fetched, and what people must know about them.

use crate::runner::Runner;
use crate::tally::counted;
use idd_base::{Ending, Stage};
use idd_hunt::{Phase, Probe};
use idd_report::{Terminal, Untrusted};
use idd_world::run::artifacts::ArtifactOrigin;
use idd_world::run::sandbox::Probed;

impl Runner<'_> {
    /// Counts what was done in place of a build, or that a revision was built; returns the word of the counter.
    pub(super) fn count_artifact(&mut self, probe: &Probe, probed: &Probed) -> Option<&'static str> {
        self.answers.fetch_digest?;
        let is_absent = probed.observation.stage == Stage::Fetch;
        let word = match &probed.artifact {
            Some(placed) if placed.origin == ArtifactOrigin::Kept => counted::ARTIFACT_KEPT,
            Some(_) => counted::ARTIFACT_FETCHED,
            None if is_absent => counted::ARTIFACT_ABSENT,
            None if matches!(probe.phase, Phase::Search | Phase::Reproduce) => counted::ARTIFACT_BUILT,
            None => return None,
        };
        *self.effort.tally.artifacts.entry(word).or_default() += 1;
        if is_absent {
            self.say_of_absence(probe, probed);
        }
        if let Some(path) = probed.artifact.as_ref().and_then(|placed| placed.tracked.as_ref()) {
            let path = Terminal.line(&Untrusted::from(path.as_slice()));
            self.say_of_artifacts(
                "is tracked",
                &format!("Artifacts have files that the revision tracks, such as `{path}`; the tracked ones stay."),
            );
        }
        Some(word)
    }

    /// Says once for each ending why an artifact is missing, if the command did not simply say so.
    fn say_of_absence(&mut self, probe: &Probe, probed: &Probed) {
        /// Shells end with this number and that of the signal if a command was killed.
        const SIGNALS: std::ops::RangeInclusive<i32> = 129..=159;
        let seen = &probed.observation;
        let is_strange = match seen.ending {
            Ending::Exit(code) => matches!(code, 126 | 127) || SIGNALS.contains(&code),
            Ending::Signal(_) | Ending::Timeout | Ending::NotRun(_) => true,
        };
        if !is_strange {
            return;
        }
        let last = seen.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let last = Terminal.line(&Untrusted::from(last.trim_start_matches("git-idd: ")));
        let (revision, ending) = (probe.revision.short(), seen.ending);
        let sentence = match (ending, last.is_empty()) {
            (Ending::NotRun(_), _) => format!("{revision}: {last}."),
            (_, true) => format!("`--from-artifacts` at {revision}: {ending}; it counts as having no artifact."),
            (_, false) => {
                format!("`--from-artifacts` at {revision}: {ending}, `{last}`; it counts as having no artifact.")
            }
        };
        self.say_of_artifacts(&ending.to_string(), &sentence);
    }

    /// Says a sentence, and notes it for the report, unless the same was said with this word.
    fn say_of_artifacts(&mut self, word: &str, sentence: &str) {
        if self.noticed.artifacts.iter().any(|said| said.contains(word)) {
            return;
        }
        self.noticed.artifacts.push(sentence.to_owned());
        self.talk.say(sentence);
    }
}
