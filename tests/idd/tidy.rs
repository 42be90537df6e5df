//! The rules of the code base that no compiler checks: layers, who may touch what, length.
//!
//! The tables are the law. A new dependency direction is a change to a table, and is reviewed as one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::{Captures, Regex};

use crate::fixture;
use crate::scan;

const VOCABULARY: [&str; 5] = ["outcome", "revision", "search", "plural", "sought"];

/// What the command line and the drivers may name: the drivers not themselves, the command line not the last one.
const BELOW_CLI: [&str; 20] = [
    "session",
    "outcome",
    "revision",
    "search",
    "plural",
    "sought",
    "change",
    "reduce",
    "hunt",
    "shrink",
    "explain",
    "explain::native",
    "explain::java",
    "world",
    "report",
    "instrument",
    "trace",
    "trace::native",
    "trace::java",
    "logic",
];

/// Which top-level module may name which others, beside itself.
///
/// A part of a module that has a row of its own may be named only by those whose row says so.
const LAYERS: [(&str, &[&str]); 22] = [
    ("outcome", &[]),
    ("revision", &[]),
    ("search", &[]),
    ("plural", &[]),
    ("sought", &["outcome"]),
    ("logic", &[]),
    ("syntax", &[]),
    ("trace", &[]),
    ("instrument", &["trace"]),
    ("trace::native", &["logic", "instrument", "trace"]),
    ("trace::java", &["instrument", "trace"]),
    ("change", &["outcome", "revision", "search", "syntax"]),
    ("reduce", &["outcome", "revision", "search", "change"]),
    ("hunt", &["outcome", "revision", "search", "plural", "sought", "change", "reduce"]),
    ("shrink", &["outcome", "search", "syntax"]),
    ("explain", &["logic", "trace"]),
    ("explain::native", &["plural", "logic", "instrument", "trace", "trace::native", "explain"]),
    ("explain::java", &["plural", "logic", "instrument", "trace", "trace::java", "explain"]),
    (
        "world",
        &[
            "outcome",
            "revision",
            "search",
            "plural",
            "sought",
            "syntax",
            "change",
            "instrument",
            "trace",
            "trace::native",
        ],
    ),
    ("report", &VOCABULARY),
    ("session", BELOW_CLI.split_at(1).1),
    ("cli", BELOW_CLI.split_at(19).0),
];

/// A directory, and the module that is there: its files name nothing of the library outside of it.
const CLOSED: [(&str, &str); 1] = [("src/explain/chain", "explain::chain")];

/// A room of the world, and those that its files may not name.
const ROOMS: [(&str, &[&str]); 7] = [
    (
        "src/world/system",
        &["process", "compiler", "jdk", "repo", "run", "record", "cache", "journal", "tools", "files", "spool"],
    ),
    ("src/world/process", &["compiler", "jdk", "repo", "run", "record", "cache", "journal", "tools", "files"]),
    ("src/world/jdk", &["compiler", "repo", "run", "record", "cache", "journal", "tools"]),
    ("src/world/compiler", &["process", "repo", "run", "record", "cache", "journal", "tools", "files"]),
    ("src/world/repo", &["compiler", "run", "record", "cache", "journal", "tools"]),
    ("src/world/run", &["record", "cache", "journal"]),
    ("src/world/record", &["repo", "run", "cache", "journal", "tools"]),
];

/// A pattern, and the files or directories that alone may hold it.
const OWNERS: [(&str, &[&str]); 18] = [
    (r"(^|[^:\w])git2::", &["src/world/repo"]),
    (r"(^|[^:\w])diffy::", &["src/world/repo/binary_patch.rs", "src/world/repo/patch.rs"]),
    (r"(^|[^:\w])(::)?sled::", &["src/world/cache/sled.rs", "src/world/cache/stored_map.rs"]),
    (r"(^|[^:\w])(clap|clap_complete|clap_mangen)::", &["src/cli"]),
    (r"(^|[^:\w])rmcp::", &["src/cli/mcp"]),
    (r"(^|[^:\w])tokio::", &["src/cli/mcp", "src/world/remote"]),
    (r"(^|[^:\w])(bazel_remote_apis|prost|tokio_stream|tonic)::", &["examples", "src/world/remote"]),
    (r"\bbatsat\b", &["src/logic"]),
    (r"\bstd::process::Command\b", &["src/world/process/command.rs"]),
    (r"\buse std::process;", &["src/world/process/command.rs"]),
    (r"\bstd::fs\b", &["src/world"]),
    (r"\bstd::env\b", &["src/main.rs", "src/session/context.rs", "src/world/system/elsewhere.rs", "examples"]),
    (r"\bgit_idd::", &["src/main.rs", "examples"]),
    // Only Linux has these.
    (
        r"\b(ptrace|prctl|seccomp|pidfd_open|PidfdFlags|memfd_create|MemfdFlags|process_vm_readv|socket_peercred|pipe_with|PipeFlags|openat2|fallocate|FallocateFlags|NOSIGNAL|CMSG_CLOEXEC|LIBBAD|set_child_subreaper|set_parent_process_death_signal|(PTRACE|PR|SYS|SECCOMP|CLONE|BPF)_[A-Z]\w*)\b",
        &["src/world/system/linux"],
    ),
    (r"\btarget_os\b", &["src/world/system/mod.rs"]),
    (r"(^|[^:\w])tree_sitter\w*::", &["src/syntax"]),
    (r"\bstd::net\b", &["src/world/remote/address.rs"]),
    (r"\b(println|eprintln|print|eprint|todo|unimplemented|dbg)!", &[]),
];

/// Files of the process table, as literals have them; only Linux has these too.
const PROCESS_TABLE: [&str; 2] = ["\"/proc", "\"/sys/"];

/// What stands nowhere, not even in tests.
const NOWHERE: [(&str, &str); 5] = [
    (r"\bpub use git2\b", "name its types only in their room"),
    (r"\buse crate::\{", "name each module in an import of its own"),
    (r"\bsuper::super\b", "name the path from the crate"),
    (r"#!?\[allow\(", "say #[expect(lint, reason = \"...\")]"),
    (r"#\[(ignore|should_panic)\b", "a known limitation is a passing test"),
];

/// What stands only in tests.
const ONLY_IN_TESTS: [(&str, &str); 1] = [(r"\.unwrap\(\)", "say with expect() why it cannot fail")];

const MAX_LINES: usize = 800;

/// Tables of data, which may be longer.
const LONG_TABLES: [&str; 0] = [];

/// `src/main.rs` is shorter than this.
const MAX_LINES_OF_MAIN: usize = 15;

/// The pattern, in which `^` is the beginning of a line; compiled once, which takes longer than to look for it in a file.
fn compiled(pattern: &'static str) -> Regex {
    thread_local!(static COMPILED: RefCell<BTreeMap<&'static str, Regex>> = const { RefCell::new(BTreeMap::new()) });
    let compile = || Regex::new(&format!("(?m){pattern}")).unwrap();
    COMPILED.with_borrow_mut(|known| known.entry(pattern).or_insert_with(compile).clone())
}

/// The complaints about one file. `path` is relative to the package.
fn complaints(path: &str, source: &str, is_test: bool) -> Vec<String> {
    let code = scan::code_of(source);
    let product = if is_test { String::new() } else { product_of(&code) };
    let mut found = split_imports(path, &code);
    let mut complain = |text: &str, pattern: &'static str, reason: &str| {
        for hit in compiled(pattern).find_iter(text) {
            let line = text[..hit.start()].matches('\n').count() + 1;
            found.push(format!("{path}:{line}: `{}`: {reason}", hit.as_str().trim()));
        }
    };
    for (pattern, reason) in NOWHERE {
        complain(&code, pattern, reason);
    }
    for (pattern, reason) in ONLY_IN_TESTS {
        complain(&product, pattern, reason);
    }
    for (pattern, owners) in OWNERS {
        if !owners.iter().any(|owner| Path::new(path).starts_with(owner)) {
            complain(&product, pattern, &format!("only in {owners:?}"));
        }
    }
    if path.starts_with("src/") && !is_test && !path.starts_with("src/world/system/linux/") {
        found.extend(table_complaints(path, source, &product));
    }
    found.extend(layer_complaints(path, &product));
    let n_lines = source.lines().count();
    if n_lines > MAX_LINES && !LONG_TABLES.contains(&path) {
        found.push(format!("{path}: {n_lines} lines, at most {MAX_LINES}"));
    }
    if path == "src/main.rs" && n_lines >= MAX_LINES_OF_MAIN {
        found.push(format!("{path}: {n_lines} lines, fewer than {MAX_LINES_OF_MAIN} are allowed"));
    }
    found
}

/// The code of the product in what [`scan::code_of`] gave, with an import of its own for each name, on the same lines.
fn product_of(code: &str) -> String {
    let split = |import: &Captures| {
        let names = import[2].split(',').map(str::trim).filter(|name| !name.is_empty());
        let imports: Vec<String> = names.map(|name| format!("use {}::{name};", &import[1])).collect();
        imports.concat() + &"\n".repeat(import[0].matches('\n').count())
    };
    compiled(r"\buse ([\w:]+)::\{([^{};]*)\};").replace_all(&scan::without_tests(code).0, split).into_owned()
}

/// The imports from a module that the same list of imports names already. Those with an attribute and `*` stand alone.
fn split_imports(path: &str, code: &str) -> Vec<String> {
    const IMPORT: &str = r"^( *(?:pub(?:\([\w: ]+\))? )?)use ([\w:]+)::(?:\{[^;]*|\w+(?: as \w+)?);";
    let mut found = Vec::new();
    let mut listed = BTreeSet::new();
    let mut end = 0;
    for import in compiled(IMPORT).captures_iter(code) {
        let whole = import.get(0).unwrap();
        let between = compiled(r"\b(pub )?mod \w+;").replace_all(&code[end..whole.start()], "").trim().to_owned();
        end = whole.end();
        if between.ends_with(']') {
            continue;
        }
        if !between.is_empty() {
            listed.clear();
        }
        if &import[2] != "crate" && !listed.insert((import[1].to_owned(), import[2].to_owned())) {
            let line = code[..whole.start()].matches('\n').count() + 1;
            found.push(format!("{path}:{line}: `{}` is named by an import before: join them", &import[2]));
        }
    }
    found
}

/// The lines of the product that name a file of the process table.
fn table_complaints(path: &str, source: &str, product: &str) -> Vec<String> {
    let lines = source.lines().zip(product.lines()).enumerate();
    // A line of a comment or of a test is empty in the product.
    let named = lines
        .filter(|(_, (line, code))| !code.trim().is_empty() && PROCESS_TABLE.iter().any(|name| line.contains(name)));
    named
        .map(|(at, _)| format!("{path}:{}: the process table is read in src/world/system/linux only", at + 1))
        .collect()
}

/// The row of a module: that of the part that it is in, if that has one, else that of the top-level module.
fn layer(module: &str) -> Option<&'static (&'static str, &'static [&'static str])> {
    let is_part = |name: &str| module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    LAYERS.iter().filter(|(name, _)| is_part(name)).max_by_key(|(name, _)| name.len())
}

fn layer_complaints(path: &str, product: &str) -> Vec<String> {
    let Some(module) = path.strip_prefix("src/").and_then(|path| path.strip_suffix(".rs")) else {
        return Vec::new();
    };
    if module == "main" || module == "lib" {
        return Vec::new();
    }
    let Some((module, allowed)) = layer(&module.replace('/', "::")) else {
        return vec![format!("{path}: the module `{module}` is in no layer")];
    };
    let mut found = Vec::new();
    if let Some((_, inside)) = CLOSED.iter().find(|(directory, _)| Path::new(path).starts_with(directory)) {
        for name in compiled(r"\bcrate::([\w:]+)").captures_iter(product) {
            if !name[1].starts_with(inside) {
                found.push(format!("{path}: `{inside}` may not name `{}`", &name[1]));
            }
        }
    }
    if let Some((room, forbidden)) = ROOMS.iter().find(|(room, _)| Path::new(path).starts_with(room)) {
        for name in compiled(r"\bcrate::world::(\w+)").captures_iter(product) {
            if forbidden.contains(&&name[1]) {
                found.push(format!("{path}: `{room}` may not name `world::{}`", &name[1]));
            }
        }
    }
    for name in compiled(r"\bcrate::(\w+(?:::\w+)*)").captures_iter(product) {
        let whole = name.get(0).unwrap();
        let name = layer(&name[1]).map_or(&name[1], |(name, _)| name);
        if name != *module && !allowed.contains(&name) {
            let line = product[..whole.start()].matches('\n').count() + 1;
            found.push(format!("{path}:{line}: `{module}` may not name `{name}`"));
        }
    }
    found
}

/// All Rust files of the package, by path from its root.
pub fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    let mut directories = vec![PathBuf::from("src"), PathBuf::from("tests"), PathBuf::from("examples")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(fixture::root().join(&directory)).unwrap() {
            let path = directory.join(entry.unwrap().file_name());
            if fixture::root().join(&path).is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(fixture::root().join(&path)).unwrap();
                sources.insert(path.to_str().unwrap().to_owned(), source);
            }
        }
    }
    sources
}

/// The modules under `#[cfg(test)]` that are files of their own: their paths without `.rs`, or `/mod.rs` and its neighbours.
pub fn test_modules(sources: &BTreeMap<String, String>) -> BTreeSet<PathBuf> {
    let mut modules = BTreeSet::new();
    for (path, source) in sources {
        let path = Path::new(path);
        let is_root = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| path.ends_with(name));
        let directory = if is_root { path.parent().unwrap().to_owned() } else { path.with_extension("") };
        modules.extend(scan::without_tests(&scan::code_of(source)).1.iter().map(|module| directory.join(module)));
    }
    modules
}

#[test]
fn the_source_keeps_the_law() {
    let sources = sources();
    let test_modules = test_modules(&sources);
    let is_test = |path: &Path| {
        path.starts_with("tests") || test_modules.iter().any(|module| path.with_extension("").starts_with(module))
    };
    let found: Vec<String> =
        sources.iter().flat_map(|(path, source)| complaints(path, source, is_test(Path::new(path)))).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// More modules than this must not depend on each other in a circle.
const MAX_CYCLE: usize = 3;

/// The names of the modules that each module names, without tests; a path that leads into a module counts for that module.
fn dependencies(sources: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let name = |path: &str| {
        let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
        Some(path.strip_suffix("/mod").unwrap_or(path).replace('/', "::"))
    };
    let test_modules = test_modules(sources);
    let is_test = |path: &str| test_modules.iter().any(|module| Path::new(path).with_extension("").starts_with(module));
    let product: BTreeMap<String, String> = sources
        .iter()
        .filter(|(path, _)| !is_test(path))
        .filter_map(|(path, source)| Some((name(path)?, product_of(&scan::code_of(source)))))
        .collect();
    let module_of = |path: &str| {
        let ends = path.match_indices("::").map(|(end, _)| end).chain([path.len()]);
        let longest = ends.map(|end| &path[..end]).filter(|prefix| product.contains_key(*prefix)).last();
        longest.map(str::to_owned)
    };
    let named = |source: &str| -> BTreeSet<String> {
        compiled(r"\bcrate::([\w:]+)").captures_iter(source).filter_map(|path| module_of(&path[1])).collect()
    };
    product.iter().map(|(module, source)| (module.clone(), named(source))).collect()
}

/// All modules that can be reached from `start`.
fn reached<'d>(dependencies: &'d BTreeMap<String, BTreeSet<String>>, start: &'d str) -> BTreeSet<&'d str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for next in &dependencies[module] {
            if reached.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    reached
}

/// The circles of modules, each with all that depend on each other in it; one module is none.
fn cycles(dependencies: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, _> =
        dependencies.keys().map(|module| (module.as_str(), reached(dependencies, module))).collect();
    let circle = |module: &str| -> Vec<&str> {
        reached[module].iter().copied().filter(|other| reached[other].contains(module)).collect()
    };
    let circles: BTreeSet<Vec<&str>> = reached.keys().map(|module| circle(module)).collect();
    circles.into_iter().filter(|circle| circle.len() > 1).collect()
}

#[test]
fn modules_do_not_depend_on_each_other_in_large_circles() {
    let sources = sources();
    let dependencies = dependencies(&sources);
    let large: Vec<_> = cycles(&dependencies).into_iter().filter(|circle| circle.len() > MAX_CYCLE).collect();
    assert!(large.is_empty(), "{large:#?}");
}

#[test]
fn a_circle_of_modules_is_seen() {
    let file = |path: &str, source: &str| (format!("src/{path}.rs"), source.to_owned());
    let sources = BTreeMap::from([
        file("a/mod", "use crate::a::b::Thing; use crate::c::make;"),
        file("a/b", "fn f() { crate::c::d::g() }"),
        file("c", "#[cfg(test)]\nmod tests { use crate::a; }"),
        file("c/d", "use crate::a; // crate::e"),
        file("e", "use crate::c::d;"),
    ]);
    assert_eq!(cycles(&dependencies(&sources)), [["a", "a::b", "c::d"]]);
}

#[test]
fn every_module_of_the_library_has_a_layer() {
    let library = fs::read_to_string(fixture::root().join("src/lib.rs")).unwrap();
    let modules: BTreeSet<_> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let layers: BTreeSet<_> = LAYERS.iter().map(|(name, _)| *name).filter(|name| !name.contains("::")).collect();
    assert_eq!(modules, layers);
}

#[test]
fn planted_violations_are_found() {
    #[track_caller]
    fn check(path: &str, source: &str, expected: &str) {
        let found = complaints(path, source, false).join("\n");
        assert!(found.contains(expected), "{path}: {source:?} gave {found:?}");
    }
    check("src/hunt/walk.rs", "use crate::world::run;\n", "src/hunt/walk.rs:1: `hunt` may not name `world`");
    check("src/world/journal.rs", "\nuse crate::hunt::Finding;", ":2: `world` may not name `hunt`");
    check("src/outcome.rs", "use crate::revision::TreeId;", "`outcome` may not name `revision`");
    check(
        "src/explain/chain/linear.rs",
        "use crate::trace::step::Step;",
        "`explain::chain` may not name `trace::step::Step`",
    );
    check("src/trace/run.rs", "use crate::trace::native::machine::Machine;", "`trace` may not name `trace::native`");
    check("src/trace/step.rs", "use crate::instrument::debug::Debug;", "`trace` may not name `instrument`");
    check("src/explain/align/way.rs", "crate::explain::native::story::tell();", "may not name `explain::native`");
    check("src/explain/switch.rs", "use crate::trace::native::play::Player;", "`explain` may not name `trace::native`");
    check("src/world/repo/graph.rs", "use crate::world::run::classify;", "may not name `world::run`");
    check("src/report/json.rs", "fn a() { crate::cli::main() }", "`report` may not name `cli`");
    check("src/magic/mod.rs", "", "is in no layer");
    check("src/session/context.rs", "use git2::Repository;", "only in [\"src/world/repo\"]");
    check("src/world/repo/tree.rs", "use sled::Db;", "sled.rs");
    check("src/world/run/sandbox.rs", "let c = std::process::Command::new(x);", "command.rs");
    check("src/world/run/sandbox.rs", "use std::process::{Child, Command};", "command.rs");
    check("src/world/process/command.rs", "rustix::process::pidfd_open(pid)", "src/world/system/linux");
    check("src/world/repo/tree.rs", "#[cfg(target_os = \"linux\")]", "src/world/system/mod.rs");
    check("src/world/spool.rs", "\nfn a() { read(\"/proc/meminfo\") }", ":2: the process table");
    check("src/world/system/mod.rs", "use crate::world::process::run;", "may not name `world::process`");
    check("src/world/run/sandbox.rs", "use std::process;\nlet c = process::Command::new(x);", "command.rs");
    check("src/report/text.rs", "use clap::Parser;", "only in [\"src/cli\"]");
    check("src/cli/hunt.rs", "use std::fs;", "only in [\"src/world\"]");
    check("src/cli/hunt.rs", "use std::{fs, io};", "only in [\"src/world\"]");
    check("src/cli/hunt.rs", "std::env::var(x)", "src/session/context.rs");
    check("src/world/repo/mod.rs", "pub use git2::Repository;", "only in their room");
    check("src/cli/hunt.rs", "use crate::{hunt, world};", "of its own");
    check(
        "src/hunt/walk.rs",
        "use crate::change::{\n    a,\n};\nuse crate::hunt::{b, c};\nuse crate::change::d;",
        ":5: `crate::change` is",
    );
    check("src/hunt/walk.rs", "\nuse crate::world::{run, repo};", ":2: `hunt` may not name `world`");
    check("src/trace/run.rs", "use crate::trace::{step, native};", "`trace` may not name `trace::native`");
    check("src/change/unit.rs", "use super::super::outcome;", "from the crate");
    check("src/change/unit.rs", "fn a() { b.unwrap() }", "expect()");
    check("src/change/unit.rs", "#[allow(dead_code)]\nfn a() {}", "expect(lint");
    check("src/change/unit.rs", "fn a() { println!(x) }", "println");
    check("src/change/unit.rs", &"\n".repeat(MAX_LINES + 1), "801 lines");
    check("src/main.rs", &"\n".repeat(15), "fewer than 15");
}

#[test]
fn what_is_allowed_is_not_found() {
    #[track_caller]
    fn check(path: &str, source: &str) {
        assert_eq!(complaints(path, source, false), Vec::<String>::new(), "{path}: {source:?}");
    }
    check("src/outcome.rs", "//! See [`crate::world::run::classify`].\n");
    check("src/change/unit.rs", "fn a() { let text = \"use crate::{x} .unwrap() git2::x\"; }");
    check("src/change/unit.rs", "#[cfg(test)]\nmod tests {\n use std::fs;\n fn a() { b.unwrap(); }\n}\n");
    check("src/world/repo/mod.rs", "use git2::Repository;\nuse crate::change::ChangeSet;");
    check("src/world/cache/mod.rs", "mod sled;\nuse crate::world::cache::sled::SledCache;");
    check("src/session/context.rs", "use std::env;\nuse crate::hunt::Finding;");
    check("src/trace/native/machine.rs", "use crate::trace::step::Step;\nuse crate::instrument::segment::Kind;");
    check("src/world/process/command.rs", "use std::process::Command;");
    check("src/world/spool.rs", "// \"/proc\"\n#[cfg(test)]\nmod tests {\n fn a() { read(\"/proc/meminfo\") }\n}\n");
    check("src/change/unit.rs", "use std::fmt;\nuse std::fmt::Write;\n#[cfg(test)]\nuse std::fmt::Debug;");
    check(
        "src/change/unit.rs",
        "use crate::outcome;\nuse crate::revision;\nfn a() {\n    use A::{B};\n}\nfn b() {\n    use A::C;\n}",
    );
    check("src/cli/mod.rs", "use std::process::ExitCode;\nconst V: &str = env!(\"CARGO_PKG_VERSION\");");
}

#[test]
fn every_fixture_has_its_four_files() {
    for name in fixture::names() {
        for file in ["make.sh", "test.sh", "README.md", "expect.toml"] {
            assert!(fixture::story(&name).join(file).is_file(), "{name} has no {file}");
        }
    }
}
