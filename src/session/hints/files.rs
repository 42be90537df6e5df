//! Files that the working tree and the checkouts do not share.

use crate::hints::{HintScene, text, typed, words};
use crate::hold;
use crate::plan::Plan;
use crate::python::CompiledModule;
use idd_base::{CommitId, count};
use idd_hunt::test_paths::is_test_path;
use idd_world::files as disk;
use idd_world::place::untracked::UserPath;
use idd_world::process::shell;
use idd_world::repo::{Location, Repository, graph, locate, uncommitted};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// At most this many files are named.
const MAX_NAMES: usize = 3;

/// Scripts with more bytes are not read.
const MAX_SCRIPT: u64 = 1 << 20;

/// Build files, the command that builds with them, and the directory of their products.
const BUILDS: [(&str, &str, &str); 15] = [
    ("package.json", "npm ci", "node_modules"),
    ("Cargo.toml", "cargo build", "target"),
    ("pom.xml", "mvn -q -DskipTests package", "target"),
    ("Makefile", "make", ""),
    ("makefile", "make", ""),
    ("GNUmakefile", "make", ""),
    ("CMakeLists.txt", "cmake -B build && cmake --build build", "build"),
    ("meson.build", "meson setup build && meson compile -C build", "build"),
    ("gradlew", "./gradlew assemble", "build"),
    ("configure", "./configure && make", ""),
    ("configure.ac", "autoreconf -i && ./configure && make", ""),
    ("Cargo.toml", "cargo build", ""),
    ("go.mod", "go build ./...", ""),
    ("build.xml", "ant", ""),
    ("setup.py", "python setup.py -q build_ext -i", ""),
];

/// Directories of installed packages, which no build of the project makes.
const INSTALLED: [&str; 5] = ["node_modules", ".venv", "venv", "env", "vendor"];

/// The hint about a file that output, command or script names, and that only the working tree has.
pub fn missing(scene: &HintScene<'_>) -> Option<String> {
    let script = script(scene.plan, scene.location).map(|(_, script)| script).unwrap_or_default();
    missing_of_output(scene)
        .or_else(|| named_by_command(scene))
        .or_else(|| missing_of(scene, words::of_script(&script), "the script of the test names it"))
}

/// The same for what only the command names.
pub fn named_by_command(scene: &HintScene<'_>) -> Option<String> {
    let command = text(&scene.plan.order.command.to_line());
    missing_of(scene, words::of_script(&command), "the test command names it")
}

/// The same for what only the output names, in a line that reports a missing file.
///
/// Cost: none for an output without such a line.
pub fn missing_of_output(scene: &HintScene<'_>) -> Option<String> {
    const WHY: &str = "the output of the test names it";
    scene.seen.iter().find_map(|seen| missing_of(scene, words::lacking(&seen.output), WHY))
}

fn missing_of(scene: &HintScene<'_>, words: Vec<&str>, why: &str) -> Option<String> {
    let path = words.into_iter().find_map(|word| lacked(scene, word))?;
    if locate::is_ignored(scene.location, &path, &scene.plan.commands.environment) {
        return Some(product(scene.plan, scene.location, scene.repository, &path, why));
    }
    let path = typed(&path, scene.location);
    let (name, hold) = (text(&path), shell::quoted_text(&path));
    Some(format!(
        "`{name}` is in your working tree, but in no checkout, because it is not committed; {why}. `--hold {hold}` puts \
         it into every revision."
    ))
}

/// The hint about a tracked program that is held, and that can be what is tested.
pub fn held_program(scene: &HintScene<'_>) -> Option<String> {
    let is_program = |path: &&Vec<u8>| !is_test_path(path) && graph::has_path(scene.repository, scene.plan.bad, path);
    let path = scene.plan.held.keys().find(is_program)?;
    Some(format!(
        "Every revision is tested with your `{}`, so no change of it is seen. `--no-hold` tests each revision with its own.",
        text(&typed(path, scene.location))
    ))
}

/// The hint about a file that command or script names, and that the bad revision has, but not this older one.
pub fn absent_at(scene: &HintScene<'_>, older: CommitId) -> Option<String> {
    let command = text(&scene.plan.order.command.to_line());
    let script = script(scene.plan, scene.location).map(|(_, script)| script).unwrap_or_default();
    let mut words = words::of_script(&command).into_iter().chain(words::of_script(&script));
    let path = words.find_map(|word| {
        let path = hold::inside(OsStr::new(word), scene.location).filter(|path| !path.is_empty())?;
        let is_in = |revision| graph::has_path(scene.repository, revision, &path);
        let is_absent = !scene.plan.held.contains_key(&path) && is_in(scene.plan.bad) && !is_in(older);
        is_absent.then_some(path)
    })?;
    let path = typed(&path, scene.location);
    let (name, hold, older) = (text(&path), shell::quoted_text(&path), older.short());
    Some(format!(
        "The test names `{name}`, which {older} does not have: it can fail there for want of it. `--hold {hold}` puts \
         your copy into every revision."
    ))
}

/// The file for want of which a failure has this line, if git ignores it and no build is given, and where it comes from: two
/// sentences without a period.
pub fn lacked_product(scene: &HintScene<'_>, line: &str) -> Option<[String; 2]> {
    let path = words::lacking(line).into_iter().find_map(|word| lacked(scene, word))?;
    let is_ignored = || locate::is_ignored(scene.location, &path, &scene.plan.commands.environment);
    let is_lacked = scene.plan.commands.build.is_none() && is_ignored();
    is_lacked.then(|| {
        let name = text(&typed(&path, scene.location));
        let message = format!(
            "the test fails for want of `{name}`, which is in your working tree, but in no checkout, because git ignores it"
        );
        [message, source_of_product(scene.plan, scene.location, scene.repository, &path)]
    })
}

/// The path that a word names, if the working tree has it, and neither the bad revision nor a checkout.
fn lacked(scene: &HintScene<'_>, word: &str) -> Option<Vec<u8>> {
    let top = scene.location.top.as_ref()?;
    let path = hold::inside(OsStr::new(word), scene.location).filter(|path| !path.is_empty())?;
    // A resumed hunt may have none yet, and knows nothing about products then.
    if scene.checkouts.is_empty() {
        return None;
    }
    let is_in = |directory: &Path| directory.join(OsStr::from_bytes(&path)).symlink_metadata().is_ok();
    let is_lacked = is_in(top)
        && !scene.plan.held.contains_key(&path)
        && !scene.removed.contains(&path)
        && !scene.checkouts.iter().any(|checkout| is_in(checkout))
        && !path.starts_with(b".git/")
        && path != b".git"
        && !graph::has_path(scene.repository, scene.plan.bad, &path);
    is_lacked.then_some(path)
}

/// The hint about a file that git ignores, and that only the working tree has.
pub fn product(plan: &Plan, location: &Location, repository: &Repository, path: &[u8], why: &str) -> String {
    let here = typed(path, location);
    let lack = format!("`{}` is in your working tree, but in no checkout, because git ignores it; {why}", text(&here));
    if plan.commands.build.is_some() {
        return format!("{lack}. The build that was given did not make it.");
    }
    format!("{lack}. {}.", source_of_product(plan, location, repository, path))
}

fn source_of_product(plan: &Plan, location: &Location, repository: &Repository, path: &[u8]) -> String {
    let here = typed(path, location);
    let (build, hold) = (build_argument(plan, location, repository, &here), shell::quoted_text(&here));
    format!(
        "`--build {build}` builds it in each. If no source makes it, `--hold {hold}` puts your copy into every revision, so \
         that all of them are tested with it"
    )
}

/// The hint about an ignored file or directory that every revision has as it is now: a build may make it.
pub fn same_product(scene: &HintScene<'_>) -> Option<String> {
    let ignored = || scene.environment.iter().filter(|candidate| candidate.is_ignored());
    let is_installed = |candidate: &Arc<UserPath>| {
        let name = candidate.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        INSTALLED.iter().any(|installed| name == installed.as_bytes())
    };
    let is_module =
        |candidate: &&Arc<UserPath>| CompiledModule::of(candidate, scene.repository, scene.plan.bad).is_some();
    let shown = ignored().find(is_module).or_else(|| ignored().find(|candidate| !is_installed(candidate)));
    let shown = shown.or_else(|| ignored().next())?;
    let path = typed(&shown.path, scene.location);
    let build = build_argument(scene.plan, scene.location, scene.repository, &path);
    Some(format!(
        "Every revision is tested with your `{}`, which git ignores. If a build makes it, `--build {build}` makes it for each revision.",
        text(&path)
    ))
}

/// The command of npm, if the package has a script that builds it.
fn script_that_builds(plan: &Plan, location: &Location) -> Option<&'static str> {
    let package = location.top.as_ref()?.join(&plan.commands.directory).join("package.json");
    let package = disk::plain_up_to(&package, MAX_SCRIPT).ok().flatten()?;
    String::from_utf8_lossy(&package).contains("\"build\":").then_some("npm run build")
}

/// The argument of `--build` that probably makes a product (a path from the current directory).
pub fn build_argument(plan: &Plan, location: &Location, repository: &Repository, path: &[u8]) -> String {
    let directory = text(path.split(|byte| *byte == b'/').next().unwrap_or_default());
    let has = |file: &str| {
        let path = plan.commands.directory.join(file);
        graph::has_path(repository, plan.bad, path.as_os_str().as_bytes())
    };
    let of_directory = BUILDS.iter().find(|(file, _, products)| *products == directory && has(file));
    let any = || BUILDS.iter().find(|(file, _, products)| *products != "node_modules" && has(file));
    let command = of_directory.or_else(any).map(|(_, command, _)| *command);
    match command.or_else(|| script_that_builds(plan, location)) {
        Some(command) => shell::quoted_text(command.as_bytes()),
        None => "<command>".to_owned(),
    }
}

/// The hint about uncommitted changes of tracked files; `None` if there are none.
pub fn uncommitted(scene: &HintScene<'_>, advice: &str) -> Option<String> {
    let names = changed(scene.plan, scene.location, scene.environment)?;
    Some(format!(
        "Uncommitted changes are in your working tree, but in no checkout: {names}. {advice}; `git diff HEAD` \
         shows them. `--hold` with the path of a test tests every revision with it; a test in a source file needs a file of its own."
    ))
}

/// The message about uncommitted changes before a hunt; `None` if there are none but those of tests, with which the first
/// run is made.
pub fn not_tested(plan: &Plan, location: &Location, tests: &[Arc<UserPath>]) -> Option<String> {
    Some(format!("Not tested: your uncommitted changes in {}.", changed(plan, location, tests)?))
}

/// The tracked files with uncommitted changes that are neither held nor among these, named.
fn changed(plan: &Plan, location: &Location, tested: &[Arc<UserPath>]) -> Option<String> {
    let changed = uncommitted::changed(location);
    let is_tested = |path: &Vec<u8>| plan.held.contains_key(path) || tested.iter().any(|tested| tested.path == *path);
    let changed: Vec<&[u8]> = changed.iter().filter(|path| !is_tested(path)).map(Vec::as_slice).collect();
    Some(listed(&changed, location)).filter(|names| !names.is_empty())
}

/// The first of these paths, as they are written from the current directory, and the number of the others.
pub fn listed(paths: &[&[u8]], location: &Location) -> String {
    let names = paths.iter().take(MAX_NAMES).map(|path| format!("`{}`", text(&typed(path, location))));
    let names = names.collect::<Vec<_>>().join(", ");
    match paths.len().checked_sub(MAX_NAMES) {
        Some(n_more @ 1..) => format!("{names} and {}", count(n_more, "more file")),
        _ => names,
    }
}

/// The script of the test as it is written in the command, and its text.
pub fn script(plan: &Plan, location: &Location) -> Option<(String, String)> {
    let script = hold::script(&plan.order.command)?;
    let place = match hold::inside(&script, location) {
        Some(path) => location.top.as_ref()?.join(OsStr::from_bytes(&path)),
        None => Path::new(&script).to_owned(),
    };
    // Reading a pipe would not end.
    let bytes = place
        .is_file()
        .then(|| disk::bytes_up_to(&place, MAX_SCRIPT).ok())
        .flatten()
        .filter(|bytes| !bytes.contains(&0))?;
    Some((script.to_string_lossy().into_owned(), text(&bytes)))
}
