//! A finding in a few lines, for forms with little space.

use crate::views::views;
use crate::{Report, Terminal, Untrusted};
use idd_base::count;

/// One line: the failing test and its first bad commit, or the result of the hunt.
pub fn title(report: &Report, test: &Untrusted) -> Untrusted {
    let end = match &report.first_bad {
        Some(first_bad) => {
            let commit = &first_bad.commit;
            [
                format!(" {} {} (", report.find.words().since, commit.commit.short()).as_bytes(),
                commit.subject.as_bytes(),
                if report.proved { b")" } else { b", not proved)" },
            ]
            .concat()
        }
        None => format!(": {}", report.status.word().replace('_', " ")).into_bytes(),
    };
    [test.as_bytes(), &end].concat().into()
}

/// The known facts, the change, and the fix or the revert.
pub fn message(report: &Report) -> Untrusted {
    let sentence = report.error.as_ref().map_or(&report.sentence, |error| &error.message);
    let mut text = sentence.as_bytes().to_vec();
    let views = views(report);
    let changes =
        views.iter().map(|view| (format!("{} ({}):\n{}", view.title, view.size, view.claim), &view.change.patch));
    let fix = report.reversal().map(|fix| {
        let label = if fix.is_revert() { "The revert, tested:" } else { "The fix, tested:" };
        (label.to_owned(), &fix.patch)
    });
    for (label, patch) in changes.chain(fix) {
        text.extend_from_slice(format!("\n\n{label}\n").as_bytes());
        text.extend_from_slice(patch.as_bytes().trim_ascii_end());
    }
    text.into()
}

/// What the finding cost: `23 runs of the test, 12 s`.
pub fn cost(report: &Report) -> String {
    format!("{} of the test, {:.0} s", count(report.probes.run, "run"), report.seconds)
}

/// How many claims held, and those that did not; `None` if nothing was claimed.
pub fn evidence(report: &Report) -> Option<String> {
    let claims = &report.evidence;
    let is_wrong = claims.iter().filter(|claim| !claim.holds());
    let wrong: Vec<String> = is_wrong.map(|claim| Terminal.line(&claim.claim)).collect();
    let all = count(claims.len(), "claim");
    match (claims.len(), wrong.as_slice()) {
        (0, _) => None,
        (_, []) => Some(format!("all {all} held")),
        (n_claims, wrong) => Some(format!("{} of {all} held, not: {}", n_claims - wrong.len(), wrong.join("; "))),
    }
}
