//! The keys under which the results of a probe are stored.

use crate::precheck::java::CandidateCheck;
use crate::runner::Runner;
use idd_base::CommitId;
use idd_hunt::Probe;
use idd_world::cache::{Key, KeyParts};
use idd_world::repo::private;

impl Runner<'_> {
    /// The key of the results of a probe. An artifact is that of a commit, whatever the tree is.
    pub fn key(&self, probe: &Probe) -> Key {
        let (exposed_commit, plan) = match self.fetch_digest.filter(|_| probe.is_fetched) {
            Some(plan) => (Some(probe.revision), plan),
            None => (self.exposed(probe), self.plan_digest),
        };
        KeyParts { tree: probe.tree, exposed_commit, plan }.digest()
    }

    /// The key of a rejection of the probe's tree by the precheck; `None` if the probe has no precheck.
    pub(super) fn refusal_key(&mut self, probe: &Probe) -> Option<Key> {
        let plan = self.check(probe)?.plan;
        Some(KeyParts { tree: probe.tree, exposed_commit: self.exposed(probe), plan }.digest())
    }

    /// The precheck of the probe's tree; `None` if it has none.
    pub(super) fn check(&mut self, probe: &Probe) -> Option<CandidateCheck> {
        let private = private::private_directory(&self.location.idd_directory());
        self.checking.as_mut()?.check(|| private::open(&private).ok(), probe.precheck?, probe.tree)
    }

    /// The key of the test result of an equal product; `None` if products are not compared.
    pub(super) fn same_product_key(&self, probe: &Probe) -> Option<Key> {
        let plan = self.product_digest.filter(|_| !self.wants_clean(probe) && !probe.is_fetched)?;
        Some(KeyParts { tree: probe.tree, exposed_commit: self.exposed(probe), plan }.digest())
    }

    /// The commit, if a result can depend on it: the test can read it, or some command has executed git.
    pub(super) fn exposed(&self, probe: &Probe) -> Option<CommitId> {
        // That of the bad revision is made before it is known, and answers for no other revision.
        let asks_git = || self.head_of(probe) != self.plan.bad && self.all_observations().has_git();
        if self.plan.order.test.expose_commit {
            return Some(probe.revision);
        }
        asks_git().then(|| self.head_of(probe))
    }

    /// The revision that is HEAD, or the parent of HEAD, when this tree is tested: for one tree always the same, because the
    /// engine asks for trees.
    pub(super) fn head_of(&self, probe: &Probe) -> CommitId {
        *self.heads.borrow_mut().entry(probe.tree).or_insert(probe.revision)
    }
}
