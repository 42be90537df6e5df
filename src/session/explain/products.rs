//! The failing version, built once: its products are kept, and put back into the worktree before each later run.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::Failure;
use crate::explain::model::Explainer;
use idd_base::TreeId;
use idd_world::files;
use idd_world::process::CommandWords;
use idd_world::record::build::BuildDirectory;
use idd_world::run::sandbox::{Commands, ProbeJob};

/// Builds, and keeps what the build wrote and the numbers that were given out for it. What was written is known by the time of its last change, which nobody can set.
const BUILD_AND_KEEP: &str = r#"
set -e
cd -- "$IDD_WORKTREE"
find . -name .git -prune -o -print0 | sort -z > "$2.sources"
touch -- "$2.stamp"
sleep 0.05
cd -- "$OLDPWD"
/bin/sh -c "$1"
mkdir -- "$2.part"
cd -- "$IDD_WORKTREE"
find . -name .git -prune -o \( ! -type d -o -empty \) -cnewer "$2.stamp" -print0 | xargs -0 -r cp -a --parents -t "$2.part" --
cp -- "$IDD_BUILD/next" "$2.next"
mv -- "$2.part" "$2"
"#;

/// Removes what the test of an earlier run has left behind, and puts both back.
const PUT_BACK: &str = r#"
set -e
cd -- "$IDD_WORKTREE"
find . -name .git -prune -o -print0 | sort -z | comm -z -23 - "$1.sources" | xargs -0 -r rm -rf --
cp -a -f -- "$1/." .
cp -- "$1.next" "$IDD_BUILD/next"
"#;

fn kept(explainer: &Explainer<'_>) -> PathBuf {
    explainer.root.join("built")
}

/// The failing version, built once.
pub(super) struct Products {
    pub(super) build: BuildDirectory,
    kept: PathBuf,
}

impl Products {
    pub(super) fn new(explainer: &Explainer<'_>) -> Result<Self, Failure> {
        let build = explainer.build("bad")?;
        Ok(Self { build, kept: kept(explainer) })
    }

    /// Removes what a build has made that could not be used.
    pub(super) fn forget(explainer: &Explainer<'_>) -> io::Result<()> {
        files::remove(&kept(explainer))
    }

    /// A run. Where the products are put back, the sources stay as they are, so that they are no newer than what was made of them.
    pub(super) fn job(&self, tree: TreeId, limit: Duration) -> ProbeJob {
        ProbeJob { is_clean: !self.kept.exists(), ..ProbeJob::fresh(tree, limit) }
    }

    /// Build and test for the next run. A test that compiles gets the same numbers for the same sources each time.
    pub(super) fn commands(
        &self,
        explainer: &Explainer<'_>,
        variables: Vec<(OsString, OsString)>,
    ) -> io::Result<Commands> {
        let mut commands = explainer.commands(&self.build, variables);
        let words = |script: &str, words: &[OsString]| {
            let shell = ["/bin/sh", "-c", script, "sh"].map(OsString::from);
            CommandWords::Argv(shell.into_iter().chain(words.iter().cloned()).collect())
        };
        let kept = self.kept.clone().into_os_string();
        commands.build = match commands.build.take() {
            Some(CommandWords::Shell(_)) if self.kept.exists() => Some(words(PUT_BACK, &[kept])),
            Some(CommandWords::Shell(line)) => Some(words(BUILD_AND_KEEP, &[line, kept])),
            other => other,
        };
        self.build.renumber()?;
        Ok(commands)
    }
}
