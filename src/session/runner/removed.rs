//! The message about products that are removed after each probe.

use crate::runner::Runner;
use idd_report::{Terminal, Untrusted};

impl Runner<'_> {
    /// Says once that products of the build are removed after each probe.
    pub(super) fn say_removed(&mut self, removed: &[Vec<u8>]) {
        if removed.is_empty() || !self.noticed.removed.is_empty() {
            return;
        }
        removed.clone_into(&mut self.noticed.removed);
        self.talk.say(&Terminal.line(&Untrusted::from(removed_products(removed))));
    }
}

/// The message about products that no rule ignores.
fn removed_products(removed: &[Vec<u8>]) -> String {
    const MAX_NAMES: usize = 3;
    let names: Vec<_> =
        removed.iter().take(MAX_NAMES).map(|path| format!("`{}`", String::from_utf8_lossy(path))).collect();
    let more = if removed.len() > MAX_NAMES { " and others" } else { "" };
    format!(
        "Probes leave {}{more}, which no `.gitignore` of the revision covers. They are removed after each probe, so \
         each probe builds everything; a `.gitignore` that covers them, with `--hold .gitignore`, saves this time.",
        names.join(", ")
    )
}
