//! Proof: the clean runs that support the finding.

use crate::finding::{CleanRun, Conclusion, Expected, Scope};
use crate::pair::TreePair;
use crate::{Again, Halt, Hunter, Phase, Probe, ProbeQuestion, TestedRevision};
use idd_base::{Outcome, Reason, TreeId};

/// Up to this many units are re-run one by one; if there are more, the first ones are a sample.
const MAX_UNITS: usize = 50;

/// The unit of a claim: of the sufficient change or of the necessary one, with its index there.
#[derive(Clone, Copy)]
struct UnitOf {
    is_sufficient: bool,
    index: usize,
}

/// A claim to prove.
struct ClaimToProve {
    text: String,
    probe: Probe,
    expected: Expected,
    unit: Option<UnitOf>,
}

impl ClaimToProve {
    fn of(text: &str, probe: Probe, expected: Expected) -> Self {
        Self { text: text.to_owned(), probe, expected, unit: None }
    }
}

impl Hunter<'_> {
    /// Re-runs the claims about the two ends and the two changes in fresh worktrees.
    ///
    /// It comes before the search for a fix: whatever ends that search, the change that is shown is proved. On a
    /// disagreement the hunt ends as [`contradicted`](Self::contradicted) says. Cost: four probes, and one for each unit,
    /// up to fifty for each change.
    pub(super) async fn prove_change(&self, pair: &TreePair) -> Result<(), Halt> {
        let claims = self.claims_of_change(pair);
        self.state.borrow_mut().finding.evidence.clear();
        self.prove(claims).await?;
        self.recall(pair).await;
        self.state.borrow_mut().finding.is_proved = true;
        Ok(())
    }

    /// Re-runs the claims about the fix; without one, about the smallest revert that makes the test pass. Cost: two probes.
    pub(super) async fn prove_fix(&self, pair: &TreePair) -> Result<(), Halt> {
        self.prove(self.claims_of_fix(pair)?).await
    }

    async fn prove(&self, claims: Vec<ClaimToProve>) -> Result<(), Halt> {
        let disagreements = self.show(claims).await;
        let Some((claim, seen)) = disagreements.first() else { return Ok(()) };
        if self.order.noisy.is_some() && self.order.is_clean {
            self.note(format!(
                "{} of the clean runs did not show what they should: the test is not reproducible",
                disagreements.len()
            ));
        }
        Err(self.contradicted(*claim, *seen).await)
    }

    /// Decides how a hunt ends or starts again after a clean run that contradicts an earlier run of the same tree.
    ///
    /// If the earlier run was clean as well, or if a second clean run disagrees with the first, the test is noisy.
    /// Otherwise products of earlier builds misled the search. A contradiction in a noisy hunt with clean probes means
    /// that the test is not reproducible.
    ///
    /// - `claim`: the probe of the clean run, with the outcome `seen`.
    ///
    /// Cost: at most one run.
    pub(super) async fn contradicted(&self, claim: Probe, seen: Outcome) -> Halt {
        self.state.borrow_mut().doubt = Some(claim);
        if self.order.noisy.is_some() {
            return if self.order.is_clean {
                Halt::Concluded(Conclusion::NotReproducible)
            } else {
                Halt::Again(Again::Clean)
            };
        }
        let is_noisy = self.order.is_clean || self.asker.one(Probe { run: Some(1), ..claim }).await != seen;
        Halt::Again(if is_noisy { Again::Noisy } else { Again::Clean })
    }

    /// Runs both ends of a pair in fresh worktrees before other results depend on them.
    ///
    /// If the commit broke another test, there are fewer runs: it is likely that it broke this one, too.
    ///
    /// Cost: six probes, or three; two if they are slow. [`prove_change`](Self::prove_change) then needs two fewer. See
    /// [`check`](Self::check).
    pub(super) async fn check_ends(&self, pair: &TreePair) -> Result<(), Halt> {
        if self.order.known.contains(&pair.newer.revision) {
            self.see(&[pair.older, pair.newer], &[None]).await?;
            return if self.has_slow_claim() { Ok(()) } else { self.see(&[pair.older], &[Some(1)]).await };
        }
        self.check(&[pair.older, pair.newer]).await
    }

    /// Runs both ends of a pair once more, because the reversal of the result does not fix the newest revision: there
    /// may be a second culprit, or the pair may be wrong. Cost: two probes.
    pub(super) async fn check_again(&self, pair: &TreePair) -> Result<(), Halt> {
        if self.order.noisy.is_some() {
            return Ok(());
        }
        self.see(&[pair.older, pair.newer], &[Some(3)]).await
    }

    /// Runs revisions three times in fresh worktrees, because a single run says too little about a flaky test; slow ones
    /// once. In a noisy hunt, a verdict has several runs anyway.
    ///
    /// The first run of each revision is made alone: tests that disturb each other can fail in the same way each time
    /// they run side by side.
    ///
    /// If a run does not have the outcome of its revision, the hunt ends as [`contradicted`](Self::contradicted) says.
    ///
    /// Cost: three probes for each revision, or one; [`prove_change`](Self::prove_change) then needs one fewer for each.
    pub(super) async fn check(&self, revisions: &[TestedRevision]) -> Result<(), Halt> {
        if self.order.noisy.is_some() {
            return self.see(revisions, &[None]).await;
        }
        for tested in revisions {
            self.see(&[*tested], &[None]).await?;
        }
        if self.has_slow_claim() { Ok(()) } else { self.see(revisions, &[Some(1), Some(2)]).await }
    }

    fn has_slow_claim(&self) -> bool {
        self.state.borrow().has_slow_claim
    }

    /// Makes these clean runs of these revisions; ends the hunt if one does not have the outcome of its revision.
    async fn see(&self, revisions: &[TestedRevision], runs: &[Option<u32>]) -> Result<(), Halt> {
        let of_run = |run: &Option<u32>| {
            let run = *run;
            revisions.iter().map(move |tested| (Probe { run, ..Probe::again(tested) }, tested.outcome))
        };
        let (probes, expected): (Vec<Probe>, Vec<Outcome>) = runs.iter().flat_map(of_run).unzip();
        let seen = self.asker.all(&probes).await;
        let mut wrong = probes.iter().zip(seen).zip(expected).filter(|((_, seen), expected)| seen != expected);
        match wrong.next() {
            None => Ok(()),
            Some(((claim, seen), _)) if claim.run.is_none() => Err(self.contradicted(*claim, seen).await),
            // The first run had the expected outcome.
            Some(((claim, _), _)) => {
                self.state.borrow_mut().doubt = Some(*claim);
                Err(Halt::Again(Again::Noisy))
            }
        }
    }

    /// Runs the claims in clean worktrees, records the evidence, and returns the claims that do not hold, with their
    /// outcomes.
    async fn show(&self, claims: Vec<ClaimToProve>) -> Vec<(Probe, Outcome)> {
        let probes: Vec<Probe> = claims.iter().map(|claim| claim.probe).collect();
        let mut seen = self.asker.all(&probes).await;
        for (claim, seen) in claims.iter().zip(&mut seen) {
            if claim.unit.is_some() && !claim.expected.accepts(*seen) {
                *seen = self.shown_beside(claim.probe, *seen).await;
            }
            self.note_shown(claim.unit, *seen);
        }
        let evidence: Vec<CleanRun> = claims
            .into_iter()
            .zip(seen)
            .map(|(claim, seen)| CleanRun {
                claim: claim.text,
                revision: claim.probe.revision,
                tree: claim.probe.tree,
                expected: claim.expected,
                seen,
            })
            .collect();
        let shown = probes.into_iter().zip(&evidence).filter(|(_, evidence)| !evidence.holds());
        let disagreements = shown.map(|(probe, evidence)| (probe, evidence.seen)).collect();
        self.state.borrow_mut().finding.evidence.extend(evidence);
        disagreements
    }

    /// The reason why the reduction rejected a tree with the wanted test outcome, or `seen` if it did not.
    ///
    /// Cost: none, since the reduction has asked.
    async fn shown_beside(&self, probe: Probe, seen: Outcome) -> Outcome {
        let ProbeQuestion::Exact(ends) = probe.question else { return seen };
        let asked = Probe::of(probe.tree, probe.revision, Phase::Reduce);
        match self.is_whole(asked, ends.into(), seen == Outcome::Pass).await {
            [Outcome::Pass, Outcome::Pass] => seen,
            [Outcome::Pass, _] => Outcome::Unresolved(Reason::Suite),
            _ => Outcome::Unresolved(Reason::Complaint),
        }
    }

    fn note_shown(&self, unit: Option<UnitOf>, outcome: Outcome) {
        let Some(UnitOf { is_sufficient, index }) = unit else { return };
        let finding = &mut self.state.borrow_mut().finding;
        let change = if is_sufficient { &mut finding.sufficient } else { &mut finding.necessary };
        if let Some(unit) = change.as_mut().and_then(|change| change.units.get_mut(index)) {
            unit.shown_without = Some(outcome);
        }
    }

    /// Records the outcomes without the units that are too many to run again, from the reduction.
    ///
    /// Cost: no run. Only reducers whose last round asks about every unit can be used in this way.
    async fn recall(&self, pair: &TreePair) {
        if !self.order.reducer.is_exact() {
            return;
        }
        let mut open = Vec::new();
        let [of_sufficient, of_necessary] = self.exact(pair);
        {
            let finding = &self.state.borrow().finding;
            for (change, is_sufficient, side, question) in [
                (&finding.sufficient, true, &pair.older, of_sufficient),
                (&finding.necessary, false, &pair.newer, of_necessary),
            ] {
                let units = change.iter().filter(|change| change.is_minimal).flat_map(|change| &change.units);
                for (index, unit) in units.enumerate() {
                    if let (Some(tree), None) = (unit.without, unit.shown_without) {
                        let probe = Probe { question, ..Probe::of(tree, side.revision, Phase::Verify) };
                        open.push((UnitOf { is_sufficient, index }, probe));
                    }
                }
            }
        }
        let probes: Vec<Probe> = open.iter().map(|(_, probe)| *probe).collect();
        let seen = self.asker.all(&probes).await;
        for ((unit, probe), seen) in open.into_iter().zip(seen) {
            let wanted = if unit.is_sufficient { Outcome::Fail } else { Outcome::Pass };
            let seen = if seen == wanted { self.shown_beside(probe, seen).await } else { seen };
            self.note_shown(Some(unit), seen);
        }
    }

    /// The questions for the sufficient and the necessary change: what a run prints is compared with the ends between which
    /// each was reduced.
    fn exact(&self, pair: &TreePair) -> [ProbeQuestion; 2] {
        let of_necessary = self.state.borrow().necessary_ends.unwrap_or(pair.ends());
        [pair.ends(), of_necessary].map(ProbeQuestion::Exact)
    }

    fn claims_of_change(&self, pair: &TreePair) -> Vec<ClaimToProve> {
        let [of_sufficient, of_necessary] = self.exact(pair);
        let mut claims = Vec::new();
        let (older, newer) = (pair.older, pair.newer);
        let mut n_unverified = 0;
        let finding = self.state.borrow().finding.clone();
        let (words, of_unit) = (self.order.sought.words().claims, self.order.sought.words().of_unit);
        claims.push(ClaimToProve::of(words[0], Probe::again(&older), Expected::Pass));
        if let Some(change) = &finding.sufficient {
            claims.push(ClaimToProve::of(
                words[1],
                Probe::claim(change.newer, older.revision, of_sufficient),
                Expected::Fail,
            ));
        }
        claims.push(ClaimToProve::of(words[2], Probe::again(&newer), Expected::Fail));
        if let Some(change) = &finding.necessary {
            claims.push(ClaimToProve::of(
                words[3],
                Probe::claim(change.older, newer.revision, of_necessary),
                Expected::Pass,
            ));
        }
        let units = [
            (&finding.sufficient, older, ["the sufficient change without", of_unit[0]], Expected::NotFail),
            (&finding.necessary, newer, ["the necessary change taken back but for", of_unit[1]], Expected::NotPass),
        ];
        for (change, side, [begin, end], expected) in units {
            let Some(change) = change else { continue };
            if !change.is_minimal {
                continue;
            }
            let is_sufficient = expected == Expected::NotFail;
            let exact = if is_sufficient { of_sufficient } else { of_necessary };
            let units = change.units.iter().enumerate();
            let trees: Vec<(usize, TreeId)> = units.filter_map(|(index, unit)| Some((index, unit.without?))).collect();
            n_unverified += trees.len().saturating_sub(MAX_UNITS);
            for (index, tree) in trees.into_iter().take(MAX_UNITS) {
                let unit = Some(UnitOf { is_sufficient, index });
                let text = format!("{begin} `{}` {end}", change.units[index].title());
                claims.push(ClaimToProve { text, probe: Probe::claim(tree, side.revision, exact), expected, unit });
            }
        }
        self.state.borrow_mut().finding.n_unverified_units = n_unverified;
        claims
    }

    fn claims_of_fix(&self, pair: &TreePair) -> Result<Vec<ClaimToProve>, Halt> {
        let finding = self.state.borrow().finding.clone();
        let reverts = finding.fixes.iter().filter(|fix| fix.is_revert() && fix.is_whole() && fix.is_complete);
        // In the order of `Report::revert`.
        let revert = reverts.min_by_key(|fix| (fix.scope == Scope::Merge, fix.is_code_of_commit(), fix.n_lines));
        let Some(fix) = finding.fix.as_ref().or(revert) else { return Ok(Vec::new()) };
        let newer = pair.newer;
        let mut claims = Vec::new();
        // If the culprit was repaired, the tree without the fix is the repaired tree.
        let bare = if fix.revision == newer.revision { newer.tree } else { self.view(fix.revision)? };
        if bare != newer.tree {
            let text = if fix.is_revert() {
                "the newest revision fails"
            } else {
                "the newest revision reached by the fix fails"
            };
            claims.push(ClaimToProve::of(text, Probe::claim(bare, fix.revision, ProbeQuestion::Test), Expected::Fail));
        }
        let text = if fix.is_revert() { "with the revert it passes" } else { "with the fix it passes" };
        claims.push(ClaimToProve::of(
            text,
            Probe::claim(fix.probed, fix.revision, ProbeQuestion::Test),
            Expected::Pass,
        ));
        Ok(claims)
    }
}
