//! The judgement of a fix that somebody proposes, as plain data: JSON, and text with one line for each check.

use crate::{Terminal, Untrusted};
use idd_base::{CommitId, count};
use serde::{Serialize, Serializer};
use std::fmt::Write as _;

/// The name of this form.
pub const SCHEMA: &str = "git-idd/try/1";

/// The judgement of a fix. In JSON, `schema` and `accepted` are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixTrial {
    /// The hunt whose finding the fix is for.
    pub hunt: String,
    /// Its test.
    pub test: Untrusted,
    /// The commit that the fix is for: HEAD.
    pub head: CommitId,
    /// The fix.
    pub fix: Proposed,
    /// All checks, in the order of [`CheckName::ALL`].
    pub checks: Vec<FixCheck>,
    /// What limits the judgement, as sentences.
    pub remarks: Vec<Untrusted>,
    /// Runs of the test, without those of the suite and of the checks for warnings.
    pub n_runs: u64,
}

/// A fix as it was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposed {
    /// The file or the revision as the user named it; `-` is standard input.
    pub name: Untrusted,
    /// The commit, if a revision was named.
    pub commit: Option<CommitId>,
    /// Whether its change was merged into HEAD; `None` for a patch.
    pub merged: Option<bool>,
    /// The change of HEAD; `None` if there is none, because the fix does not apply.
    pub patch: Option<Untrusted>,
    /// Added and removed lines of the patch.
    pub lines: Option<u64>,
    /// The files that it changes.
    pub files: Vec<Untrusted>,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckName {
    /// It applies to HEAD.
    Applies,
    /// The test passes with it.
    TestPasses,
    /// The test passes because the failure is mended, and not because less is tested.
    NoVacuousPass,
    /// Compilers and interpreters print no new warning.
    NoNewWarning,
    /// The suite has no new failure.
    Suite,
    /// The tests of the first bad commit stay.
    OwnTests,
}

impl CheckName {
    /// All checks, in their order.
    pub const ALL: [Self; 6] =
        [Self::Applies, Self::TestPasses, Self::NoVacuousPass, Self::NoNewWarning, Self::Suite, Self::OwnTests];

    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::TestPasses => "test passes",
            Self::NoVacuousPass => "no vacuous pass",
            Self::NoNewWarning => "no new warning",
            Self::Suite => "suite not worse",
            Self::OwnTests => "culprit's own tests",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// It was made, and cannot be decided.
    Unknown,
    /// It was not made.
    NotRun,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixCheck {
    /// What is checked.
    pub check: CheckName,
    /// Its result.
    pub result: CheckResult,
    /// Why, in one line.
    pub why: Untrusted,
    /// The paths, warnings or lines that it is about.
    pub about: Vec<Untrusted>,
}

impl FixCheck {
    /// A check that is about nothing in particular.
    pub fn new(check: CheckName, result: CheckResult, why: impl Into<Untrusted>) -> Self {
        Self { check, result, why: why.into(), about: Vec::new() }
    }

    /// The same, about these paths, warnings or lines.
    #[must_use]
    pub fn about(self, about: impl IntoIterator<Item = impl Into<Untrusted>>) -> Self {
        Self { about: about.into_iter().map(Into::into).collect(), ..self }
    }
}

impl Serialize for FixTrial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Printed<'t> {
            schema: &'static str,
            accepted: bool,
            hunt: &'t str,
            test: &'t Untrusted,
            head: CommitId,
            fix: &'t Proposed,
            checks: &'t [FixCheck],
            remarks: &'t [Untrusted],
            runs: u64,
        }
        let Self { hunt, test, head, fix, checks, remarks, n_runs } = self;
        let (head, runs) = (*head, *n_runs);
        Printed { schema: SCHEMA, accepted: self.is_accepted(), hunt, test, head, fix, checks, remarks, runs }
            .serialize(serializer)
    }
}

impl FixTrial {
    /// Whether all checks that were made hold.
    pub fn is_accepted(&self) -> bool {
        self.refusals().next().is_none()
    }

    fn refusals(&self) -> impl Iterator<Item = &FixCheck> {
        self.checks.iter().filter(|check| matches!(check.result, CheckResult::Fails | CheckResult::Unknown))
    }

    /// For people.
    pub fn text(&self) -> String {
        let line = |text: &Untrusted| Terminal.line(text);
        let size = match self.fix.lines {
            Some(lines) => {
                let files = count(self.fix.files.len(), "file");
                format!(" ({} in {files})", count(usize::try_from(lines).unwrap_or(usize::MAX), "line"))
            }
            None => String::new(),
        };
        let at = self.fix.commit.map(|commit| format!(", {}", commit.short())).unwrap_or_default();
        let mut text = format!(
            "fix:  {}{at}{size}, for HEAD {}\nhunt: {}, of the test {}\n\n",
            line(&self.fix.name),
            self.head.short(),
            self.hunt,
            line(&self.test)
        );
        for check in &self.checks {
            let mark = match check.result {
                CheckResult::Holds => '✓',
                CheckResult::Fails => '✗',
                CheckResult::Unknown => '?',
                CheckResult::NotRun => '-',
            };
            let _ = writeln!(text, "{mark} {}: {}", check.check.words(), line(&check.why));
        }
        text.push('\n');
        for remark in &self.remarks {
            let _ = writeln!(text, "{}", line(remark));
        }
        let refusals: Vec<&str> = self.refusals().map(|check| check.check.words()).collect();
        if refusals.is_empty() {
            text.push_str("The fix is accepted.\n");
        } else {
            let _ = writeln!(text, "The fix is refused ({}).", refusals.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(result: CheckResult) -> FixTrial {
        let check = |name| FixCheck::new(name, CheckResult::Holds, "yes");
        let mut checks: Vec<FixCheck> = CheckName::ALL.map(check).into();
        checks[2] = FixCheck::new(CheckName::NoVacuousPass, result, "\u{1b}[2Jwhy").about(["a\nb"]);
        let (patch, name) = (Some("--- a\n".into()), "x\u{7}.patch".into());
        let fix = Proposed { name, commit: None, merged: None, patch, lines: Some(1), files: vec!["a".into()] };
        let head = "1".repeat(40).parse().unwrap();
        FixTrial { hunt: "h".into(), test: "./t".into(), head, fix, checks, remarks: vec!["Note.".into()], n_runs: 3 }
    }

    #[test]
    fn a_fix_is_accepted_only_if_nothing_fails_or_stays_unknown() {
        for (result, expected) in [
            (CheckResult::Holds, true),
            (CheckResult::NotRun, true),
            (CheckResult::Unknown, false),
            (CheckResult::Fails, false),
        ] {
            assert_eq!(trial(result).is_accepted(), expected, "{result:?}");
        }
    }

    #[test]
    fn the_text_has_a_line_for_each_check_and_escapes_what_is_not_its_own() {
        let text = trial(CheckResult::Fails).text();
        insta::assert_snapshot!(text, @r"
        fix:  x\x07.patch (1 line in 1 file), for HEAD 111111111111
        hunt: h, of the test ./t

        ✓ applies: yes
        ✓ test passes: yes
        ✗ no vacuous pass: \x1b[2Jwhy
        ✓ no new warning: yes
        ✓ suite not worse: yes
        ✓ culprit's own tests: yes

        Note.
        The fix is refused (no vacuous pass).
        ");
        assert_eq!(text.matches('✓').count(), 5);
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
}
