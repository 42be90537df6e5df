//! Checks a tree for new warnings: diagnostics of compilers and interpreters that no tree of a baseline has.

use crate::plan::shell_line;
use crate::runner::complaining::CheckedFiles;
use crate::runner::{Runner, RunnerError};
use crate::tally::counted;
use idd_base::{CommitId, Observation, Stage, TreeId};
use idd_hunt::{Phase, Probe};
use idd_world::files;
use idd_world::process::CommandWords;
use idd_world::process::shell::quoted;
use idd_world::repo::{private, touched};
use idd_world::run::complaints::compiles::Compiles;
use idd_world::run::complaints::{Checker, Checks, TreeComplaints, c, compiles, java};
use idd_world::run::sandbox::Commands;
use idd_world::run::{complaints, toolchain};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

/// The maximum number of checked files of one language; the first ones are checked.
const MAX_FILES: usize = 100;

/// A line that runs in place of the test.
struct ReplacementLine {
    build: Option<CommandWords>,
    test: OsString,
    /// Whether it runs in a fresh worktree.
    is_clean: bool,
}

impl Runner<'_> {
    /// The diagnostics of `tree` that no tree of `baseline` has. `None` if interrupted or out of budget.
    ///
    /// - `revision`: for progress and for builds that read it.
    /// - Result: the new warnings, `file: text` without positions, sorted; empty if there are none.
    ///
    /// Files are checked if they differ between `tree` and the nearest of `baseline`. For C and C++, also sources that
    /// include a changed header are checked (by its name without the directory, through any number of headers), at most
    /// 40 in total. Files that cannot be checked are in
    /// [`Complaining::unchecked`](crate::runner::complaining::Complaining::unchecked).
    ///
    /// Cost: none if no file that can be checked differs. Otherwise the tree is built and checked in the worktree of
    /// its last build. If there are warnings, each of `baseline` is checked too, once for each set of files. Once for
    /// each hunt, a clean build shows how C is compiled. None of this counts as a run.
    pub fn complaints(
        &mut self,
        tree: TreeId,
        revision: CommitId,
        baseline: &[TreeId],
    ) -> Result<Option<Vec<String>>, RunnerError> {
        let files = self.files_to_check(tree, baseline);
        if files.is_empty() {
            return Ok(Some(Vec::new()));
        }
        if !files.c.is_empty() && !self.see_compiles(&files, revision, baseline)? {
            return Ok(None);
        }
        let Some(heard) = self.heard(tree, revision, &files)? else { return Ok(None) };
        let mut new = heard.complaints.clone();
        for tree in baseline {
            if new.is_empty() {
                break;
            }
            let Some(known) = self.heard(*tree, revision, &files)? else { return Ok(None) };
            new.retain(|complaint| !known.complaints.contains(complaint) && !known.failed.contains(&complaint.0));
        }
        Ok(Some(new.into_iter().map(|(_, text)| text).collect()))
    }

    fn files_to_check(&mut self, tree: TreeId, baseline: &[TreeId]) -> CheckedFiles {
        let private = private::private_directory(&self.location.idd_directory());
        let Ok(repository) = private::open(&private) else { return CheckedFiles::default() };
        let changed_from = |older: &TreeId| (touched::changed(&repository, *older, tree), *older);
        let nearest = baseline.iter().map(changed_from).min_by_key(|(changed, _)| changed.len());
        let Some((changed, nearest)) = nearest else { return CheckedFiles::default() };
        let changed: BTreeSet<Vec<u8>> = changed.into_iter().collect();
        let sources: BTreeSet<Vec<u8>> = self
            .checks
            .complaining
            .touched
            .sources_up_to(c::MAX_UNITS, &repository, nearest, tree, &c::is_source)
            .into_iter()
            .collect();
        let of = |checker| -> Vec<Vec<u8>> {
            let mine = changed.iter().filter(|path| Checker::of(path) == Some(checker));
            mine.take(MAX_FILES).cloned().collect()
        };
        // Changed ones come first: if there are too many, the last are left out.
        let (mut c, including): (Vec<_>, Vec<_>) = sources.into_iter().partition(|path| changed.contains(path));
        let n_changed_c = c.len();
        c.extend(including);
        let mut files = CheckedFiles {
            c,
            n_changed_c,
            java: of(Checker::Java),
            python: of(Checker::Python),
            has_built: !of(Checker::Build).is_empty() && self.plan.commands.build.is_some(),
        };
        files.java.retain(|path| !path.ends_with(b"module-info.java"));
        for (is_wanted, program, sentence) in [
            (!files.java.is_empty(), "javac", "Java was not checked for new complaints: there is no `javac`."),
            (!files.python.is_empty(), "python3", "Python was not checked for new complaints: there is no `python3`."),
        ] {
            if is_wanted && toolchain::is_missing(&self.plan.commands.environment, program) {
                self.checks.complaining.unchecked.insert(sentence);
                if program == "javac" { &mut files.java } else { &mut files.python }.clear();
            }
        }
        files
    }

    /// Finds out how the sources are compiled, if it is not known; returns whether the hunt goes on.
    fn see_compiles(
        &mut self,
        files: &CheckedFiles,
        revision: CommitId,
        baseline: &[TreeId],
    ) -> Result<bool, RunnerError> {
        let database = self.checks.precheck.as_ref().and_then(|checking| checking.database());
        let is_in_database = |path: &Vec<u8>| database.is_some_and(|database| database.has(path));
        if self.checks.complaining.compiles.is_some() || files.c.iter().all(is_in_database) {
            return Ok(true);
        }
        let Some(tree) = baseline.first() else { return Ok(true) };
        let links = self.root.join("watched-compilers");
        let path = toolchain::variable(&self.commands.environment, "PATH").unwrap_or_default();
        let program = self.checks.complaining.program.clone().map_or_else(files::this_program, Ok);
        if program.and_then(|program| compiles::prepare(&program, &links, &path)).is_err() {
            // As if the build had shown nothing.
            self.checks.complaining.compiles = Some(Arc::default());
            return Ok(true);
        }
        let usual = Arc::clone(&self.commands);
        let builds: Vec<OsString> = usual.build.iter().chain([&usual.test]).map(shell_line).collect();
        let builds: Vec<&OsStr> = builds.iter().map(OsString::as_os_str).collect();
        let mut environment = usual.environment.clone();
        environment.push((compiles::LINKS.into(), links.into()));
        self.commands = Arc::new(Commands { environment, ..(*usual).clone() });
        let executions = self.answers.observations().executions();
        if let Some(executions) = &executions {
            executions.tell(Some(compiles::note_execution));
        }
        let line = ReplacementLine { build: None, test: compiles::line(&builds), is_clean: true };
        let seen = self.observe_line(line, *tree, revision);
        if let Some(executions) = &executions {
            executions.tell(None);
        }
        self.commands = usual;
        let Some(seen) = seen? else { return Ok(false) };
        self.checks.complaining.compiles = Some(Arc::new(Compiles::read(&seen.output).unwrap_or_default()));
        Ok(true)
    }

    /// The result of the checkers for a tree; `None` if interrupted or out of budget.
    fn heard(
        &mut self,
        tree: TreeId,
        revision: CommitId,
        files: &CheckedFiles,
    ) -> Result<Option<Arc<TreeComplaints>>, RunnerError> {
        let known = (tree, files.clone());
        if let Some(heard) = self.checks.complaining.heard.get(&known) {
            return Ok(Some(Arc::clone(heard)));
        }
        let database = self.checks.precheck.as_ref().and_then(|checking| checking.database()).cloned();
        let compiles = self.checks.complaining.compiles.clone();
        let (units, unknown) = c::units(&files.c, files.n_changed_c, database.as_deref(), compiles.as_deref());
        if !unknown.is_empty() {
            self.checks.complaining.unchecked.insert(if self.plan.remote.is_some() {
                "Sources of C or C++ were not checked for new complaints: that is done only if the probes run on this machine."
            } else {
                "Some sources of C or C++ were not checked for new complaints: the build was not seen to compile them."
            });
        }
        let build = self.commands.build.clone();
        let java_options =
            build.as_ref().map(|build| java::CompilerOptions::of(&shell_line(build))).unwrap_or_default();
        let (java, python) = (files.java.clone(), files.python.clone());
        let checks = Checks { units, java, java_options, python, build: None };
        let mut heard = TreeComplaints::default();
        if !checks.is_empty() {
            let line = complaints::line(&checks);
            let Some(seen) = self.heard_after_build(line, tree, revision)? else { return Ok(None) };
            heard = seen;
        }
        if files.has_built {
            let build = build.as_ref().map(shell_line);
            let line = complaints::line(&Checks { build: build.as_deref(), ..Checks::default() });
            let line = ReplacementLine { build: None, test: line, is_clean: true };
            let Some(seen) = self.observe_line(line, tree, revision)? else { return Ok(None) };
            let seen = TreeComplaints::read(&seen.output);
            heard.complaints.extend(seen.complaints);
            heard.failed.extend(seen.failed);
        }
        if !heard.failed.is_empty() {
            self.checks
                .complaining
                .unchecked
                .insert("Some trees were not checked for new complaints: a checker failed.");
        }
        let heard = Arc::new(heard);
        self.checks.complaining.heard.insert(known, Arc::clone(&heard));
        Ok(Some(heard))
    }

    /// The result of the checks of a line in a built tree. If something is missing without a build, the build command
    /// runs before, or the test if there is no build command.
    fn heard_after_build(
        &mut self,
        line: OsString,
        tree: TreeId,
        revision: CommitId,
    ) -> Result<Option<TreeComplaints>, RunnerError> {
        let build = self.commands.build.clone();
        let has_build = build.is_some();
        let first = ReplacementLine { build, test: line.clone(), is_clean: false };
        let Some(seen) = self.observe_line(first, tree, revision)? else { return Ok(None) };
        let heard = TreeComplaints::read(&seen.output);
        let again = if seen.stage != Stage::Test && has_build {
            // It cannot be built, and is checked as far as possible.
            line
        } else if heard.is_lacking && !has_build {
            let mut after_test = b"sh -c ".to_vec();
            after_test.extend(quoted(shell_line(&self.commands.test).as_bytes()));
            after_test.extend(b" >/dev/null 2>&1\n");
            after_test.extend(line.as_bytes());
            OsString::from_vec(after_test)
        } else {
            return Ok(Some(heard));
        };
        let again = ReplacementLine { build: None, test: again, is_clean: false };
        Ok(self.observe_line(again, tree, revision)?.map(|seen| TreeComplaints::read(&seen.output)))
    }

    /// Observes a line in place of the test; counted as a check, not as a run.
    fn observe_line(
        &mut self,
        line: ReplacementLine,
        tree: TreeId,
        revision: CommitId,
    ) -> Result<Option<Observation>, RunnerError> {
        // Running probes are counted, and stored under the keys of products, before these change.
        self.collect_all()?;
        let probe = Probe { is_claim: line.is_clean, ..Probe::of(tree, revision, Phase::Verify) };
        let commands = Commands {
            build: line.build,
            test: CommandWords::Shell(line.test),
            artifacts: Vec::new(),
            ..(*self.commands).clone()
        };
        // Several commands in place of one.
        let limit = self.judging.times.limits.test.saturating_mul(2);
        let (tally, products) = (self.effort.tally.clone(), self.answers.product_digest.take());
        self.effort.counts_as = Some(counted::CHECK);
        let seen = self.observe_commands(commands, limit, probe);
        self.effort.counts_as = None;
        let is_cached = self.effort.tally.n_cached > tally.n_cached;
        (self.effort.tally, self.answers.product_digest) = (tally, products);
        self.effort.tally.n_checks += u64::from(!is_cached);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Said, World, order, probe, words};
    use idd_hunt::drive::ProbeRunner as _;
    use idd_hunt::{Baseline, ProbeQuestion};

    /// The files that are checked of the second of two trees.
    fn files_to_check(older: &[(&str, &str)], newer: &[(&str, &str)]) -> (CheckedFiles, Vec<&'static str>) {
        let world = World::new(&[older, newer]);
        let mut wishes = order();
        wishes.test.build = Some("make".into());
        let plan = world.plan(wishes);
        let mut said = Said::default();
        let mut runner = world.runner(&plan, &[], &mut said);
        let files = runner.files_to_check(world.trees[1], &[world.trees[0]]);
        (files, runner.checks.complaining.unchecked.iter().copied().collect())
    }

    #[test]
    fn changed_sources_and_those_that_include_a_changed_header_are_checked() {
        let older = [("a.c", "#include \"h.h\"\n"), ("b.c", "int b;\n"), ("h.h", "int h;\n"), ("t.txt", "1\n")];
        let mut newer = older;
        newer[3].1 = "2\n";
        assert!(files_to_check(&older, &newer).0.is_empty());
        newer[1].1 = "int b = 1;\n";
        let (files, unchecked) = files_to_check(&older, &newer);
        assert_eq!((files.c, files.n_changed_c, unchecked), (vec![b"b.c".to_vec()], 1, vec![]));
        newer[2].1 = "int h = 1;\n";
        let (files, _) = files_to_check(&older, &newer);
        assert_eq!((files.c, files.n_changed_c), (vec![b"b.c".to_vec(), b"a.c".to_vec()], 1));
    }

    #[test]
    fn files_without_their_checker_are_reported_and_left_out() {
        // No program is in `PATH`.
        let older = [("A.java", "class A {}\n"), ("module-info.java", "module a {}\n"), ("x.py", "x = 1\n")];
        let newer = [("A.java", "class A { }\n"), ("module-info.java", "module a { }\n"), ("x.py", "x = 2\n")];
        let (files, unchecked) = files_to_check(&older, &newer);
        assert!(files.is_empty());
        assert_eq!(unchecked.len(), 2, "{unchecked:?}");
        assert!(files_to_check(&older[1..2], &newer[1..2]).1.is_empty());
    }

    #[test]
    fn a_warning_is_new_if_no_tree_of_the_baseline_has_it_and_each_of_them_was_checked() {
        let heard = |texts: &[&str], failed: &[Checker]| {
            let complaints = texts.iter().map(|text| (Checker::C, (*text).to_owned())).collect();
            Arc::new(TreeComplaints {
                complaints,
                failed: failed.iter().copied().collect(),
                ..TreeComplaints::default()
            })
        };
        let check = |ours: Arc<TreeComplaints>, theirs: [Arc<TreeComplaints>; 2], expected: &[&str]| {
            let world = World::new(&[&[("a.c", "int a;\n")], &[("a.c", "int b;\n")], &[("a.c", "int c;\n")]]);
            let plan = world.plan(order());
            let mut said = Said::default();
            let mut runner = world.runner(&plan, &[], &mut said);
            runner.checks.complaining.compiles = Some(Arc::default());
            let baseline = [world.trees[0], world.trees[1]];
            let files = runner.files_to_check(world.trees[2], &baseline);
            for (tree, heard) in world.trees.iter().zip([&theirs[0], &theirs[1], &ours]) {
                runner.checks.complaining.heard.insert((*tree, files.clone()), Arc::clone(heard));
            }
            let asked = Probe {
                question: ProbeQuestion::Complaints(Baseline { trees: [baseline[0], baseline[1], baseline[1]] }),
                ..probe(&world, 2, Phase::Reduce)
            };
            let reply = words(runner.answer(&[asked]).unwrap());
            assert_eq!(reply, if expected.is_empty() { "pass" } else { "fail" });
            assert_eq!(runner.beside.complaints.get(&world.trees[2]).map(Vec::as_slice).unwrap_or_default(), expected);
        };
        check(heard(&[], &[]), [heard(&["x"], &[]), heard(&[], &[])], &[]);
        check(heard(&["x"], &[]), [heard(&["x"], &[]), heard(&[], &[])], &[]);
        check(heard(&["x", "y"], &[]), [heard(&["x"], &[]), heard(&["z"], &[])], &["y"]);
        // Where the checker failed, nothing is known.
        check(heard(&["x"], &[]), [heard(&[], &[]), heard(&[], &[Checker::C])], &[]);
    }
}
