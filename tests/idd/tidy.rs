//! The rules of the code base that no compiler checks: layers, who may touch what, length.
//!
//! The tables are the law. A new dependency direction is a change to a table, and is reviewed as one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::{Captures, Regex};

use crate::{fixture, scan};

/// What a part of a member of the workspace may name beside itself. What a whole member may name stands in its manifest.
///
/// A part that has a row may be named only by those whose row says so, and by members without a row.
const LAYERS: [(&str, &[&str]); 14] = [
    ("change", &["base", "base::difference", "change::syntax"]),
    ("change::syntax", &[]),
    ("change::reduce", &["base", "change", "change::syntax"]),
    ("change::shrink", &["base", "base::difference", "change::syntax"]),
    ("trace", &[]),
    ("trace::logic", &[]),
    ("trace::instrument", &["trace"]),
    ("trace::native", &["trace", "trace::instrument", "trace::logic"]),
    ("trace::java", &["trace", "trace::instrument"]),
    ("base::difference", &[]),
    ("explain", &["base::difference", "trace", "trace::logic"]),
    ("explain::native", &["base", "explain", "trace", "trace::instrument", "trace::logic", "trace::native"]),
    ("explain::java", &["base", "explain", "trace", "trace::instrument", "trace::java"]),
    ("world", &["base", "change", "change::syntax", "trace", "trace::instrument", "trace::native"]),
];

/// A directory, and the module that is there: its files name nothing of the library outside of it.
const CLOSED: [(&str, &str); 1] = [("src/explain/chain", "chain")];

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
    (r"(^|[^:\w])(clap|clap_complete|clap_mangen)::", &["src/app"]),
    (r"(^|[^:\w])rmcp::", &["src/app/mcp"]),
    (r"(^|[^:\w])tokio::", &["src/app/mcp", "src/world/remote"]),
    (r"(^|[^:\w])(bazel_remote_apis|prost|tokio_stream|tonic)::", &["examples", "src/world/remote"]),
    (r"\bbatsat\b", &["src/trace/logic"]),
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
    (r"(^|[^:\w])tree_sitter\w*::", &["src/change/syntax"]),
    (r"\bstd::net\b", &["src/world/remote/address.rs"]),
    (r"\b(println|eprintln|print|eprint|todo|unimplemented|dbg)!", &[]),
];

/// Files of the process table, as literals have them; only Linux has these too.
const PROCESS_TABLE: [&str; 2] = ["\"/proc", "\"/sys/"];

/// What stands nowhere, not even in tests.
const NOWHERE: [(&str, &str); 4] = [
    (r"\bpub use git2\b", "name its types only in their room"),
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
        if !listed.insert((import[1].to_owned(), import[2].to_owned())) {
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

/// A module by its path from the workspace: the member, and the path in it. `None` for a file of no member.
fn module_of(path: &str) -> Option<String> {
    let path = path.strip_prefix("src/").filter(|path| path.contains('/'))?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").or_else(|| path.strip_suffix("/lib")).unwrap_or(path);
    Some(path.replace('/', "::"))
}

/// What the code of a member names in the workspace, each by its path from there, with its place in the code.
fn named<'c>(member: &'c str, code: &'c str) -> impl Iterator<Item = (usize, String)> + 'c {
    compiled(r"\b(?:(crate)|idd_(\w+?))::([\w:]+)")
        .captures_iter(code)
        .map(move |name| {
            let other = name.get(2).map_or(member, |other| other.as_str());
            (name.get(0).unwrap().start(), format!("{other}::{}", &name[3]))
        })
        .collect::<Vec<_>>()
        .into_iter()
}

/// The row of a module: that of the part that it is in.
fn layer(module: &str) -> Option<&'static (&'static str, &'static [&'static str])> {
    let is_part = |name: &str| module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    LAYERS.iter().filter(|(name, _)| is_part(name)).max_by_key(|(name, _)| name.len())
}

fn layer_complaints(path: &str, product: &str) -> Vec<String> {
    let Some(module) = module_of(path) else { return Vec::new() };
    let member = module.split("::").next().unwrap();
    let names: Vec<(usize, String)> = named(member, product).collect();
    let mut found = Vec::new();
    let mut complain = |at: usize, by: &str, name: &str| {
        let line = product[..at].matches('\n').count() + 1;
        found.push(format!("{path}:{line}: `{by}` may not name `{name}`"));
    };
    if let Some((_, inside)) = CLOSED.iter().find(|(directory, _)| Path::new(path).starts_with(directory)) {
        let inside = format!("{member}::{inside}");
        for (at, name) in names.iter().filter(|(_, name)| !name.starts_with(&inside)) {
            complain(*at, &inside, name);
        }
    }
    if let Some((room, forbidden)) = ROOMS.iter().find(|(room, _)| Path::new(path).starts_with(room)) {
        for (at, name) in &names {
            let other = name.strip_prefix("world::").and_then(|name| name.split("::").next());
            if other.is_some_and(|other| forbidden.contains(&other)) {
                complain(*at, room, name);
            }
        }
    }
    if let Some((part, allowed)) = layer(&module) {
        for (at, name) in &names {
            let other = layer(name).map_or_else(|| name.split("::").next().unwrap(), |(other, _)| other);
            if other != *part && !allowed.contains(&other) {
                complain(*at, part, other);
            }
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
    let test_modules = test_modules(sources);
    let is_test = |path: &str| test_modules.iter().any(|module| Path::new(path).with_extension("").starts_with(module));
    let product: BTreeMap<String, String> = sources
        .iter()
        .filter(|(path, _)| !is_test(path))
        .filter_map(|(path, source)| Some((module_of(path)?, product_of(&scan::code_of(source)))))
        .collect();
    let known = |path: &str| {
        let ends = path.match_indices("::").map(|(end, _)| end).chain([path.len()]);
        let longest = ends.map(|end| &path[..end]).filter(|prefix| product.contains_key(*prefix)).last();
        longest.map(str::to_owned)
    };
    let names = |module: &str, source: &str| -> BTreeSet<String> {
        let member = module.split("::").next().unwrap();
        named(member, source).filter_map(|(_, path)| known(&path)).collect()
    };
    product.iter().map(|(module, source)| (module.clone(), names(module, source))).collect()
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
        file("m/a/mod", "use crate::a::b::Thing; use crate::c::make;"),
        file("m/a/b", "fn f() { crate::c::d::g() }"),
        file("m/c", "#[cfg(test)]\nmod tests { use crate::a; }"),
        file("m/c/d", "use idd_m::a; // crate::e"),
        file("m/e", "use crate::c::d;"),
    ]);
    assert_eq!(cycles(&dependencies(&sources)), [["m::a", "m::a::b", "m::c::d"]]);
}

#[test]
fn planted_violations_are_found() {
    #[track_caller]
    fn check(path: &str, source: &str, expected: &str) {
        let found = complaints(path, source, false).join("\n");
        assert!(found.contains(expected), "{path}: {source:?} gave {found:?}");
    }
    check(
        "src/change/unit.rs",
        "\nuse crate::reduce::plan;\n",
        "src/change/unit.rs:2: `change` may not name `change::reduce`",
    );
    check("src/change/syntax/tree.rs", "use idd_base::plural;", "`change::syntax` may not name `base`");
    check("src/world/run/kept_executor.rs", "use idd_trace::java::Player;", "`world` may not name `trace::java`");
    check(
        "src/explain/chain/linear.rs",
        "use idd_trace::step::Step;",
        "`explain::chain` may not name `trace::step::Step`",
    );
    check("src/trace/run.rs", "use crate::native::machine::Machine;", "`trace` may not name `trace::native`");
    check("src/trace/step.rs", "use crate::instrument::debug::Debug;", "`trace` may not name `trace::instrument`");
    check("src/explain/align/way.rs", "crate::native::story::tell();", "may not name `explain::native`");
    check("src/explain/switch.rs", "use idd_trace::native::play::Player;", "`explain` may not name `trace::native`");
    check("src/explain/switch.rs", "use idd_base::Outcome;", "`explain` may not name `base`");
    check("src/world/repo/graph.rs", "use crate::run::classify;", "may not name `world::run");
    check("src/session/context.rs", "use git2::Repository;", "only in [\"src/world/repo\"]");
    check("src/world/repo/tree.rs", "use sled::Db;", "sled.rs");
    check("src/world/run/sandbox.rs", "let c = std::process::Command::new(x);", "command.rs");
    check("src/world/run/sandbox.rs", "use std::process::{Child, Command};", "command.rs");
    check("src/world/process/command.rs", "rustix::process::pidfd_open(pid)", "src/world/system/linux");
    check("src/world/repo/tree.rs", "#[cfg(target_os = \"linux\")]", "src/world/system/mod.rs");
    check("src/world/spool.rs", "\nfn a() { read(\"/proc/meminfo\") }", ":2: the process table");
    check("src/world/system/mod.rs", "use crate::process::run;", "may not name `world::process");
    check("src/world/run/sandbox.rs", "use std::process;\nlet c = process::Command::new(x);", "command.rs");
    check("src/report/text.rs", "use clap::Parser;", "only in [\"src/app\"]");
    check("src/app/hunt.rs", "use std::fs;", "only in [\"src/world\"]");
    check("src/app/hunt.rs", "use std::{fs, io};", "only in [\"src/world\"]");
    check("src/app/hunt.rs", "std::env::var(x)", "src/session/context.rs");
    check("src/world/repo/mod.rs", "pub use git2::Repository;", "only in their room");
    check(
        "src/hunt/walk.rs",
        "use idd_change::{\n    a,\n};\nuse crate::walk::{b, c};\nuse idd_change::d;",
        ":5: `idd_change` is",
    );
    check("src/change/set.rs", "use crate::unit;\nuse crate::subset;", ":2: `crate` is named by an import before");
    check("src/trace/run.rs", "use crate::{native, step};", "`trace` may not name `trace::native`");
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
    check("src/change/lib.rs", "//! See [`crate::reduce`].\n");
    check("src/change/unit.rs", "fn a() { let text = \"use crate::{x} .unwrap() git2::x\"; }");
    check("src/change/unit.rs", "#[cfg(test)]\nmod tests {\n use std::fs;\n fn a() { b.unwrap(); }\n}\n");
    check("src/world/repo/mod.rs", "use git2::Repository;\nuse idd_change::ChangeSet;");
    check("src/world/cache/mod.rs", "mod sled;\nuse crate::cache::sled::SledCache;");
    check("src/session/context.rs", "use std::env;\nuse idd_hunt::Finding;");
    check("src/trace/native/machine.rs", "use crate::step::Step;\nuse crate::instrument::segment::Kind;");
    check("src/world/process/command.rs", "use std::process::Command;");
    check("src/world/spool.rs", "// \"/proc\"\n#[cfg(test)]\nmod tests {\n fn a() { read(\"/proc/meminfo\") }\n}\n");
    check("src/change/unit.rs", "use std::fmt;\nuse std::fmt::Write;\n#[cfg(test)]\nuse std::fmt::Debug;");
    check("src/change/unit.rs", "use crate::{set, unit};\nfn a() {\n    use A::{B};\n}\nfn b() {\n    use A::C;\n}");
    check("src/app/lib.rs", "use std::process::ExitCode;\nconst V: &str = env!(\"CARGO_PKG_VERSION\");");
}

#[test]
fn every_fixture_has_its_four_files() {
    for name in fixture::names() {
        for file in ["make.sh", "test.sh", "README.md", "expect.toml"] {
            assert!(fixture::story(&name).join(file).is_file(), "{name} has no {file}");
        }
    }
}
