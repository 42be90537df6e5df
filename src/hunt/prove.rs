//! Proof: the clean runs behind the finding.

use crate::hunt::Again;
use crate::hunt::Halt;
use crate::hunt::Hunter;
use crate::hunt::Probe;
use crate::hunt::Question;
use crate::hunt::event::Phase;
use crate::hunt::finding::Conclusion;
use crate::hunt::finding::Evidence;
use crate::hunt::finding::Expected;
use crate::hunt::pair::Pair;
use crate::hunt::verdict::Tested;
use crate::outcome::Outcome;
use crate::outcome::Reason;
use crate::revision::CommitId;
use crate::revision::TreeId;

/// Kept units are re-run one by one up to this many; beyond it the first ones are a sample.
const MAX_UNITS: usize = 50;

/// The unit that a claim is about: of the sufficient change or of the necessary one, and its index there.
#[derive(Clone, Copy)]
struct UnitOf {
    is_sufficient: bool,
    index: usize,
}

/// A claim that is to be shown.
struct Claim {
    text: String,
    revision: CommitId,
    tree: TreeId,
    expected: Expected,
    question: Question,
    unit: Option<UnitOf>,
}

impl Hunter<'_> {
    /// Re-runs every claim of the finding in a fresh worktree.
    ///
    /// On a disagreement the hunt starts again with clean probes only; if it had those already, the test itself is not
    /// reproducible and the evidence says so. Cost: six probes, and one for each kept unit up to fifty a change.
    pub(super) async fn prove(&self, pair: &Pair) -> Result<(), Halt> {
        let claims = self.claims(pair)?;
        let n_disagreements = self.show(claims).await;
        self.recall(pair).await;
        if n_disagreements == 0 {
            return Ok(());
        }
        if !self.order.is_clean {
            return Err(Halt::Again(Again::Clean));
        }
        self.note(format!(
            "{n_disagreements} of the clean runs did not show what they should: the test is not reproducible"
        ));
        Err(Halt::Concluded(Conclusion::NotReproducible))
    }

    /// Runs both ends of a pair in fresh worktrees before anything is built on them.
    ///
    /// If one disagrees, old build products led the search astray, and the hunt starts again with clean probes only. If they were
    /// clean already, the test is not reproducible. Cost: two probes that [`prove`](Self::prove) is then spared.
    pub(super) async fn check_ends(&self, pair: &Pair) -> Result<(), Halt> {
        let probe = |end: &Tested| Probe::claim(end.tree, end.revision, Question::Test);
        let seen = self.asker.all(&[probe(&pair.older), probe(&pair.newer)]).await;
        if seen == [Outcome::Pass, Outcome::Fail] {
            return Ok(());
        }
        if !self.order.is_clean {
            return Err(Halt::Again(Again::Clean));
        }
        let (end, at) = if seen[0] == Outcome::Pass { ("fail", pair.newer) } else { ("pass", pair.older) };
        let short = at.revision.short();
        self.note(format!("{short} was seen to {end}, and then not, in two fresh checkouts of the same tree"));
        Err(Halt::Concluded(Conclusion::NotReproducible))
    }

    /// Runs the claims in clean worktrees, writes the evidence down and counts those that do not hold.
    async fn show(&self, claims: Vec<Claim>) -> usize {
        let probe = |claim: &Claim| Probe::claim(claim.tree, claim.revision, claim.question);
        let probes: Vec<Probe> = claims.iter().map(probe).collect();
        let mut seen = self.asker.all(&probes).await;
        for (claim, seen) in claims.iter().zip(&mut seen) {
            if claim.unit.is_some() && !claim.expected.accepts(*seen) {
                *seen = self.shown_beside(probe(claim), *seen).await;
            }
            self.note_shown(claim.unit, *seen);
        }
        let evidence: Vec<Evidence> = claims
            .into_iter()
            .zip(seen)
            .map(|(claim, seen)| Evidence {
                claim: claim.text,
                revision: claim.revision,
                tree: claim.tree,
                expected: claim.expected,
                seen,
            })
            .collect();
        let n_disagreements = evidence.iter().filter(|evidence| !evidence.holds()).count();
        self.board.borrow_mut().finding.evidence = evidence;
        n_disagreements
    }

    /// What a tree shows in which the test shows what is wanted: if the reduction turned it down, why.
    ///
    /// Cost: none, since the reduction has asked.
    async fn shown_beside(&self, probe: Probe, seen: Outcome) -> Outcome {
        let Question::Exact(ends) = probe.question else { return seen };
        let asked = Probe::of(probe.tree, probe.revision, Phase::Reduce);
        match self.is_whole(asked, ends.into(), seen == Outcome::Pass).await {
            [Outcome::Pass, Outcome::Pass] => seen,
            [Outcome::Pass, _] => Outcome::Unresolved(Reason::Suite),
            _ => Outcome::Unresolved(Reason::Complaint),
        }
    }

    fn note_shown(&self, unit: Option<UnitOf>, outcome: Outcome) {
        let Some(UnitOf { is_sufficient, index }) = unit else { return };
        let finding = &mut self.board.borrow_mut().finding;
        let change = if is_sufficient { &mut finding.sufficient } else { &mut finding.necessary };
        if let Some(unit) = change.as_mut().and_then(|change| change.units.get_mut(index)) {
            unit.shown_without = Some(outcome);
        }
    }

    /// Notes what was seen without the units that are too many to be run again: the reduction has asked about each.
    ///
    /// Cost: no run, because only reducers whose last round asks about every unit are trusted with it.
    async fn recall(&self, pair: &Pair) {
        if !self.order.reducer.is_exact() {
            return;
        }
        let mut open = Vec::new();
        let question = Question::Exact(pair.ends());
        {
            let finding = &self.board.borrow().finding;
            for (change, is_sufficient, side) in
                [(&finding.sufficient, true, &pair.older), (&finding.necessary, false, &pair.newer)]
            {
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

    fn claims(&self, pair: &Pair) -> Result<Vec<Claim>, Halt> {
        let mut claims = Vec::new();
        let exact = Question::Exact(pair.ends());
        let mut claim = |text: &str, revision, tree, expected, question| {
            claims.push(Claim { text: text.to_owned(), revision, tree, expected, question, unit: None });
        };
        let (older, newer) = (pair.older, pair.newer);
        let mut n_unverified = 0;
        let finding = self.board.borrow().finding.clone();
        claim("the last good revision passes", older.revision, older.tree, Expected::Pass, Question::Test);
        if let Some(change) = &finding.sufficient {
            claim("with the sufficient change it fails", older.revision, change.newer, Expected::Fail, exact);
        }
        claim("the first bad revision fails", newer.revision, newer.tree, Expected::Fail, Question::Test);
        if let Some(change) = &finding.necessary {
            claim("without the necessary change it passes", newer.revision, change.older, Expected::Pass, exact);
        }
        if let Some(fix) = &finding.fix {
            let bare = self.view(fix.revision)?;
            if bare != newer.tree {
                claim(
                    "the newest revision reached by the fix fails",
                    fix.revision,
                    bare,
                    Expected::Fail,
                    Question::Test,
                );
            }
            claim("with the fix it passes", fix.revision, fix.probed, Expected::Pass, Question::Test);
        }
        let units = [
            (&finding.sufficient, older, ["the sufficient change without", "does not fail"], Expected::NotFail),
            (
                &finding.necessary,
                newer,
                ["the necessary change taken back but for", "does not pass"],
                Expected::NotPass,
            ),
        ];
        for (change, side, [begin, end], expected) in units {
            let Some(change) = change else { continue };
            if !change.is_minimal {
                continue;
            }
            let is_sufficient = expected == Expected::NotFail;
            let units = change.units.iter().enumerate();
            let trees: Vec<(usize, TreeId)> = units.filter_map(|(index, unit)| Some((index, unit.without?))).collect();
            n_unverified += trees.len().saturating_sub(MAX_UNITS);
            for (index, tree) in trees.into_iter().take(MAX_UNITS) {
                let unit = Some(UnitOf { is_sufficient, index });
                let text = format!("{begin} `{}` {end}", change.units[index].title());
                claims.push(Claim { text, revision: side.revision, tree, expected, question: exact, unit });
            }
        }
        self.board.borrow_mut().finding.n_unverified_units = n_unverified;
        Ok(claims)
    }
}
