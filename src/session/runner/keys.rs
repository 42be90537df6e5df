//! The keys under which the results of a probe are stored.

use crate::precheck::java::CandidateCheck;
use crate::runner::Runner;
use crate::runner::job::{ProbeKeys, QueuedJob};
use idd_base::CommitId;
use idd_hunt::Probe;
use idd_world::cache::{Key, KeyParts};
use idd_world::repo::private;

impl Runner<'_> {
    /// The keys of the results of a probe. An artifact is that of a commit, whatever the tree is.
    pub(super) fn keys(&self, probe: &Probe) -> ProbeKeys {
        let key = |exposed_commit, plan| KeyParts { tree: probe.tree, exposed_commit, plan }.digest();
        if let Some(plan) = self.answers.fetch_digest.filter(|_| probe.is_fetched) {
            let key = key(Some(probe.revision), plan);
            return ProbeKeys { alone: key, with_commit: key };
        }
        let [alone, with_commit] =
            [false, true].map(|has_git| key(self.named_commit(probe, has_git), self.answers.plan_digest));
        ProbeKeys { alone, with_commit }
    }

    /// The key of a result of a probe that has just ended.
    ///
    /// - `keys`: those of the probe, from when it was queued.
    pub(super) fn key_of(&self, keys: ProbeKeys) -> Key {
        if self.answers.observations().has_git() { keys.with_commit } else { keys.alone }
    }

    /// The key of a result of a probe that would end now.
    pub fn key(&self, probe: &Probe) -> Key {
        self.key_of(self.keys(probe))
    }

    /// The run of a probe with this number.
    pub(super) fn queued(&self, probe: Probe, nth: u32) -> QueuedJob {
        QueuedJob { probe, keys: self.keys(&probe), nth }
    }

    /// The key of a rejection of the probe's tree by the precheck; `None` if the probe has no precheck.
    pub(super) fn refusal_key(&mut self, probe: &Probe) -> Option<Key> {
        let plan = self.check(probe)?.plan;
        Some(KeyParts { tree: probe.tree, exposed_commit: self.exposed(probe), plan }.digest())
    }

    /// The precheck of the probe's tree; `None` if it has none.
    pub(super) fn check(&mut self, probe: &Probe) -> Option<CandidateCheck> {
        let private = private::private_directory(&self.location.idd_directory());
        self.checks.precheck.as_mut()?.check(|| private::open(&private).ok(), probe.precheck?, probe.tree)
    }

    /// The key of the test result of an equal product; `None` if products are not compared.
    pub(super) fn same_product_key(&self, probe: &Probe) -> Option<Key> {
        let plan = self.answers.product_digest.filter(|_| !self.wants_clean(probe) && !probe.is_fetched)?;
        Some(KeyParts { tree: probe.tree, exposed_commit: self.exposed(probe), plan }.digest())
    }

    /// The commit, if a result can depend on it: the test can read it, or some command has executed git.
    pub(super) fn exposed(&self, probe: &Probe) -> Option<CommitId> {
        let has_git = self.answers.observations().has_git();
        self.named_commit(probe, has_git)
    }

    fn named_commit(&self, probe: &Probe, has_git: bool) -> Option<CommitId> {
        if self.plan.order.test.expose_commit {
            return Some(probe.revision);
        }
        // The result of the bad revision is made before it is known whether git is executed, and answers for no other revision.
        Some(self.head_of(probe)).filter(|head| has_git && *head != self.plan.bad)
    }

    /// The revision that is HEAD, or the parent of HEAD, when this tree is tested: for one tree always the same, because the
    /// engine asks for trees.
    pub(super) fn head_of(&self, probe: &Probe) -> CommitId {
        *self.answers.heads.borrow_mut().entry(probe.tree).or_insert(probe.revision)
    }
}
