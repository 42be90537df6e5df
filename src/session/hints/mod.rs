//! Hints: what was seen of a hunt that went wrong, and the next step that follows from it.
//!
//! Each hint names what was seen, and is given only then. [`of`] looks after a hunt without a finding; [`program`] at a
//! command that cannot be run; [`reproduced`] at the output of the reproduced failure. The texts hold names of the
//! repository, and are not escaped. In a hunt that goes well, only the output of one run is looked at.

pub mod files;
pub mod near;
pub mod output;
pub mod program;
pub mod runners;
pub mod words;

use crate::order::{HuntOrder, TestCommand};
use crate::plan::Plan;
use idd_base::{CommitId, Observation, Stage};
use idd_hunt::finding::Conclusion;
use idd_world::place::untracked::UserPath;
use idd_world::process::shell;
use idd_world::repo::{Location, Repository, graph, private};
use idd_world::run::classify::is_build_failure;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a hint is looked for.
pub struct HintScene<'s> {
    /// The plan.
    pub plan: &'s Plan,
    /// The user's repository.
    pub location: &'s Location,
    /// A repository with the bad revision.
    pub repository: &'s Repository,
    /// The checkouts, as the last probes left them.
    pub checkouts: Vec<PathBuf>,
    /// What every revision has of what only the user's working tree has.
    pub environment: &'s [Arc<UserPath>],
    /// The files that were removed from them after probes, relative to the top.
    pub removed: &'s [Vec<u8>],
    /// The runs at the bad revision.
    pub seen: &'s [Observation],
}

/// The hints for a hunt that ended without a finding, as sentences; the most likely cause first.
///
/// Cost: reads the test's script; for each file that output, command or script names, looks into the working tree and
/// the bad revision. Runs git if the bad revision passes or is not built, and for files that only the working tree has.
pub fn of(scene: &HintScene<'_>, conclusion: Conclusion) -> Vec<String> {
    let mut hints = Vec::new();
    match conclusion {
        Conclusion::BadPasses => {
            if let Some(said) = swapped(scene) {
                return vec![said];
            }
            hints.extend(files::uncommitted(scene, "If the test fails only with them, they are the cause"));
            match scene.seen.iter().find_map(|seen| output::ran_nothing(&seen.output)) {
                Some(said) => hints.push(said),
                None if scene.plan.order.test.flaky.is_none() => {
                    hints.push("If it fails only now and then, `--flaky` runs it more often.".to_owned());
                }
                None => {}
            }
        }
        Conclusion::NeverPassed | Conclusion::GoodFails => {
            hints.extend(files::missing(scene).or_else(|| files::same_product(scene)));
            hints.extend(files::held_program(scene));
            hints.extend(files::uncommitted(scene, "The test may pass only with them"));
            hints.extend(output::hints(scene.seen, true));
            hints.extend(question(scene));
        }
        Conclusion::NothingTestable => {
            // What no run has tried to read is not what is missing.
            let has_tested = scene.seen.iter().any(|seen| seen.stage == Stage::Test);
            hints.extend(if has_tested { files::missing(scene) } else { files::missing_of_output(scene) });
            if scene.seen.iter().any(is_build_failure) {
                hints.extend(files::uncommitted(scene, "If it builds only with them, commit them"));
            }
            hints.extend(output::hints(scene.seen, true));
        }
        Conclusion::NotReproducible => hints.extend(output::hints(scene.seen, true)),
        _ => {}
    }
    hints
}

/// The hint about a script of the command that asks its user.
fn question(scene: &HintScene<'_>) -> Option<String> {
    let (name, content) = files::script(scene.plan, scene.location)?;
    output::question(&name, &content, &text(&scene.plan.order.command.to_line()))
}

/// The hint about a bad revision that is older than a good one: perhaps each was given for the other.
fn swapped(scene: &HintScene<'_>) -> Option<String> {
    let Plan { order, bad, goods, is_minimize: false, .. } = scene.plan else { return None };
    let user = private::open(&scene.location.git_directory).ok()?;
    let is_newer = |(good, _): &(&CommitId, &String)| graph::is_ancestor(&user, *bad, **good);
    let (_, good) = goods.iter().zip(&order.history.good).find(is_newer)?;
    let bad = &order.history.bad;
    let test = match &order.command {
        TestCommand::Shell(line) => shell::quoted(line.as_bytes()),
        command @ TestCommand::Argv(_) => command.to_line(),
    };
    let revision =
        |name: &str| if name.bytes().all(is_plain) { name.to_owned() } else { text(&shell::quoted(name.as_bytes())) };
    Some(format!(
        "The bad revision `{bad}` is an ancestor of the good revision `{good}`; perhaps they are swapped: `--good` \
         names one at which the test passes. Run `git idd --good {} --bad {} {}-- {}`.",
        revision(bad),
        revision(good),
        options(order),
        text(&test)
    ))
}

/// The options of a hunt that another hunt in the same checkouts needs, too, with a space after each.
pub fn options(order: &HuntOrder) -> String {
    let option = |name: &str, value: &OsString| format!("{name} {} ", text(&shell::quoted(value.as_bytes())));
    let build = order.test.build.iter().map(|line| option("--build", line));
    build.chain(order.test.hold.iter().map(|path| option("--hold", path))).collect()
}

/// Whether no shell reads a byte of the name of a revision otherwise.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./~@:+-=^".contains(&byte)
}

/// What the output of the reproduced failure shows, as sentences: a failing test among others, a file that only the
/// working tree has, and causes outside of the revision; and that a script of the command asks its user.
pub fn reproduced(scene: &HintScene<'_>) -> Vec<String> {
    let order = &scene.plan.order;
    let of_runner = scene
        .seen
        .iter()
        .find_map(|seen| runners::hint(seen, &order.command, &options(order), &scene.plan.commands.environment));
    let missing = files::missing_of_output(scene);
    of_runner.into_iter().chain(missing).chain(output::hints(scene.seen, false)).chain(question(scene)).collect()
}

/// A path of the tree as it is typed in the current directory.
fn typed(path: &[u8], location: &Location) -> Vec<u8> {
    let prefix = location.prefix.as_os_str().as_bytes();
    let prefix = prefix.strip_suffix(b"/").unwrap_or(prefix);
    if prefix.is_empty() {
        return path.to_vec();
    }
    if let Some(rest) = path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix(b"/")) {
        return rest.to_vec();
    }
    let n_up = prefix.split(|byte| *byte == b'/').count();
    [b"../".repeat(n_up), path.to_vec()].concat()
}

/// Bytes of the repository for a sentence.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_it_is_typed() {
        let location = |prefix: &str| Location {
            git_directory: "/r/.git".into(),
            common_directory: "/r/.git".into(),
            top: Some("/r".into()),
            prefix: prefix.into(),
        };
        assert_eq!(typed(b"a/t.sh", &location("")), b"a/t.sh");
        assert_eq!(typed(b"a/b/t.sh", &location("a/")), b"b/t.sh");
        assert_eq!(typed(b"t.sh", &location("a/b")), b"../../t.sh");
    }
}
