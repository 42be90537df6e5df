//! Checks of Java candidates by a compiler in memory.
//!
//! The compiler is started when builds of candidates have failed for some time. Before it may reject candidates of a
//! change, both ends of the change are compiled: sources with errors there are not checked.

use crate::Context;
use idd_base::CommitId;
use idd_hunt::ChangeEnds;
use idd_world::files;
use idd_world::jdk::Jdk;
use idd_world::process::CommandWords;
use idd_world::repo::{Location, Repository, graph, source, touched};
use idd_world::run::complaints::java::CompilerOptions;
use idd_world::run::java_check::{Compiler, JavaCheck, root_of, usual_root};
use idd_world::run::sandbox::Commands;
use idd_world::run::{sandbox, toolchain};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The compiler is started when failing builds of candidates have taken this long: about the time that its start takes.
const PAYS_AFTER: Duration = Duration::from_secs(3);

/// The facts for checks of Java that are the same for all changes.
#[derive(Debug)]
pub struct OfJava {
    jdk: Jdk,
    options: CompilerOptions,
    /// A text that differs for another development kit.
    version: String,
}

impl OfJava {
    /// The facts of these commands; `None` if there is no development kit outside of the checkout, or no Java in the
    /// tree of `commit`.
    pub(super) fn new(
        commands: &Commands,
        line: &OsStr,
        location: &Location,
        user: &Repository,
        context: &Context,
        commit: CommitId,
    ) -> Option<Self> {
        let tree = graph::tree_of(user, commit).ok()?;
        source::has(user, tree, &[".java"]).filter(|has| *has)?;
        let jdk = Jdk::find(&context.variable("PATH").unwrap_or_default(), context.variable("JAVA_HOME").as_deref())?;
        let real = files::real(&jdk.javac)?;
        let is_foreign = location.top.as_ref().is_some_and(|top| real.starts_with(top));
        (!is_foreign).then_some(())?;
        let release = real.ancestors().nth(2).map(|home| home.join("release"));
        let mut options = CompilerOptions::of(line);
        options
            .class_paths
            .extend(toolchain::variable(&commands.environment, "CLASSPATH").and_then(|path| path.into_string().ok()));
        let version = release.iter().chain([&real]).filter_map(|path| toolchain::file_digest(path));
        Some(Self { jdk, options, version: version.map(|digest| files::hex(&digest)).collect() })
    }

    /// The check of all sources that differ between `ends`, at one of them; `None` if there are none or too many.
    fn check_all(&self, compiler: &Arc<Compiler>, repository: &Repository, ends: ChangeEnds) -> Option<JavaCheck> {
        /// With more, a check takes as long as a build.
        const MAX_SOURCES: usize = 200;
        /// More archives are more than a class path.
        const MAX_ARCHIVES: usize = 400;
        let ChangeEnds { older, newer } = ends;
        let sides = [(older, newer), (newer, older)];
        let changed = sides.iter().flat_map(|(older, newer)| touched::changed(repository, *older, *newer));
        let is_source = |path: &String| {
            let name = path.rsplit('/').next().unwrap_or_default();
            // These two declare no classes.
            name.strip_suffix(".java").is_some_and(|name| !["module-info", "package-info"].contains(&name))
        };
        let sources = changed.filter_map(|path| String::from_utf8(path).ok()).filter(is_source);
        let sources: BTreeSet<String> = sources.collect();
        (1..=MAX_SOURCES).contains(&sources.len()).then_some(())?;
        let mut roots = Vec::new();
        for tree in [newer, older] {
            let of_source = |path: &String| {
                let (found, text) = source::find_in(repository, tree, path)?;
                (found == *path).then(|| root_of(path, &String::from_utf8_lossy(&text)))
            };
            roots.extend(sources.iter().filter_map(of_source));
            let all = source::paths(repository, tree, &[".java"]);
            roots.extend(all.iter().filter_map(|path| usual_root(path)).map(str::to_owned));
        }
        let mut known = BTreeSet::new();
        roots.retain(|root| known.insert(root.clone()));
        let mut archives = source::paths(repository, newer, &[".jar"]);
        archives.truncate(MAX_ARCHIVES);
        Some(JavaCheck {
            compiler: Arc::clone(compiler),
            sources: sources.into_iter().collect(),
            roots,
            archives,
            options: self.options.clone(),
            version: self.version.clone(),
            is_vetting: true,
        })
    }
}

/// The check of one candidate.
#[derive(Debug, Clone)]
pub struct CandidateCheck {
    /// What is run.
    pub run: sandbox::Precheck,
    /// The digest of the plan for its rejections.
    pub plan: [u8; 32],
}

/// The checks of one hunt.
#[derive(Debug)]
pub struct JavaChecks {
    facts: Arc<OfJava>,
    compiler: Arc<Compiler>,
    /// The check of each change; `None` if nothing of it can be checked.
    vetted: HashMap<ChangeEnds, Option<CandidateCheck>>,
    /// The time of builds of candidates that failed.
    lost: Duration,
}

impl JavaChecks {
    /// Checks for which nothing is started yet; `cache` keeps the program.
    pub(super) fn new(facts: &Arc<OfJava>, cache: &Path) -> Self {
        let compiler = Arc::new(Compiler::new(facts.jdk.clone(), cache.to_owned()));
        Self { facts: Arc::clone(facts), compiler, vetted: HashMap::new(), lost: Duration::ZERO }
    }

    /// The check of a change, in either direction.
    pub(super) fn of(&self, ends: ChangeEnds) -> Option<&CandidateCheck> {
        sides(ends, false).iter().find_map(|ends| self.vetted.get(ends)?.as_ref())
    }

    /// Takes note of a build of a candidate that failed.
    pub fn lose(&mut self, duration: Duration) {
        self.lost += duration;
    }

    /// The check for both ends of a change, returned once; `None` if it was, if nothing of the change can be checked,
    /// or if checks do not pay yet.
    pub fn to_vet(&mut self, open: impl FnOnce() -> Option<Repository>, ends: ChangeEnds) -> Option<JavaCheck> {
        if self.lost < PAYS_AFTER || sides(ends, false).iter().any(|ends| self.vetted.contains_key(ends)) {
            return None;
        }
        self.vetted.insert(ends, None);
        self.facts.check_all(&self.compiler, &open()?, ends)
    }

    /// Stores the check of a change.
    pub(super) fn know(&mut self, ends: ChangeEnds, check: Option<CandidateCheck>) {
        self.vetted.insert(ends, check);
    }
}

/// The changes that lead to the ends of a change that can be built.
pub fn sides(ends: ChangeEnds, is_repair: bool) -> Vec<ChangeEnds> {
    let back = ChangeEnds { older: ends.newer, newer: ends.older };
    if is_repair { vec![ends] } else { vec![ends, back] }
}

/// A command that stands for a check in keys.
pub fn words(check: &JavaCheck) -> CommandWords {
    CommandWords::Shell(format!(": java {}", check.digest()).into())
}

#[cfg(test)]
impl OfJava {
    /// The facts of a development kit that is not there.
    pub(crate) fn of_nothing() -> Self {
        Self {
            jdk: Jdk { javac: "/nowhere/javac".into() },
            options: CompilerOptions::default(),
            version: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precheck::{CandidatePrecheck, Checking};
    use crate::testing::{World, order};
    use idd_world::cache::ProbePlan;

    #[test]
    fn without_a_development_kit_java_is_not_checked() {
        let world = World::new(&[&[("A.java", "class A {}\n")]]);
        assert!(world.plan(order()).precheck.is_none());
    }

    #[test]
    fn a_change_is_vetted_once_in_either_direction_and_only_after_builds_have_failed_for_some_time() {
        let with = |text| [("x/A.java", text), ("b.txt", text), ("package-info.java", text), ("l/z.jar", "")];
        let world = World::new(&[&with("package x; class A {}\n"), &with("package x; class A { }\n")]);
        let (older, newer) = (world.trees[0], world.trees[1]);
        let (ends, back) = (ChangeEnds { older, newer }, ChangeEnds { older: newer, newer: older });
        let precheck = CandidatePrecheck::Java(Arc::new(OfJava::of_nothing()));
        let mut checking = Checking::new(precheck, ProbePlan::default(), Path::new("/nowhere"));
        let vet = |checking: &mut Checking, ends| checking.java.as_mut().unwrap().to_vet(|| Some(world.user()), ends);
        checking.java.as_mut().unwrap().lose(PAYS_AFTER / 2);
        assert!(vet(&mut checking, ends).is_none());
        checking.java.as_mut().unwrap().lose(PAYS_AFTER / 2);
        let check = vet(&mut checking, ends).unwrap();
        assert_eq!(
            (&check.sources[..], &check.roots[..], &check.archives[..]),
            (&["x/A.java".to_owned()][..], &[".".to_owned()][..], &["l/z.jar".to_owned()][..])
        );
        assert!(vet(&mut checking, ends).is_none() && vet(&mut checking, back).is_none());
        // Nothing is known of it yet.
        assert!(checking.check(|| None, ends, newer).is_none());
        checking.use_java(ends, check.clone().without("x/B.java: error: z [expected]\n"));
        assert!(checking.check(|| None, ends, newer).is_some() && checking.check(|| None, back, older).is_some());
        checking.use_java(ends, check.without("x/A.java: error: z [expected]\n"));
        assert!(checking.check(|| None, ends, newer).is_none());
    }
}
