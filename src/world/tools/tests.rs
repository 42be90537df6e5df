use super::*;

use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// A directory with programs in `bin`, and the sets of hunts in `sets`.
struct Bench {
    directory: TempDir,
}

fn execute(tools: &HuntTools, programs: &[&Path]) {
    for program in programs {
        tools.executions().take_in(program.to_path_buf(), false);
    }
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["bin", "checkouts"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn environment(&self, path: &str) -> Vec<(OsString, OsString)> {
        let path = path.replace('~', &self.directory.path().display().to_string());
        vec![("PATH".into(), path.into()), ("HOME".into(), self.path("home").into())]
    }

    fn tools(&self, path: &str) -> HuntTools {
        HuntTools::new(ToolContext {
            directory: self.path("sets"),
            environment: self.environment(path),
            root: self.path("checkouts"),
            place: None,
            started: SystemTime::now(),
            audited: vec!["sh".to_owned()],
            earlier: None,
        })
    }

    /// The set of a hunt that executed these programs.
    fn set(&self, path: &str, programs: &[&Path]) -> String {
        let mut tools = self.tools(path);
        execute(&tools, programs);
        tools.current().unwrap()
    }

    /// The result for a set in a later hunt that executed these programs.
    fn said(&self, id: &str, path: &str, programs: &[&Path]) -> Option<String> {
        let mut tools = self.tools(path);
        execute(&tools, programs);
        tools.current().unwrap();
        let said = tools.change(id).map(|change| change.to_string());
        assert_eq!(tools.change(id).map(|change| change.to_string()), said, "the second answer is the first");
        said.map(|said| said.replace(&self.directory.path().display().to_string(), "~"))
    }

    #[track_caller]
    fn check(&self, id: &str, path: &str, expected: Option<&str>) {
        assert_eq!(self.said(id, path, &[]).as_deref(), expected);
    }
}

#[test]
fn a_program_that_changed_is_named_and_the_text_of_path_does_not_count() {
    let bench = Bench::new();
    let nodule = bench.program("bin/nodule", "#!/bin/sh\nexit 0\n");
    let id = bench.set("~/bin:/usr/bin:/bin", &[&nodule]);
    for path in ["~/bin:/usr/bin:/bin", "~/no/such:~/checkouts:~/bin:/bin"] {
        bench.check(&id, path, None);
    }
    bench.check(&id, "/usr/bin:/bin", Some("nodule (~/bin/nodule) is gone"));
    bench.program("other/nodule", "#!/bin/sh\nexit 0\n");
    bench.check(&id, "~/other:~/bin:/bin", Some("nodule (~/bin/nodule) is now ~/other/nodule"));
    fs::set_permissions(bench.path("other/nodule"), fs::Permissions::from_mode(0o644)).unwrap();
    bench.check(&id, "~/other:~/bin:/bin", None);
    bench.program("bin/nodule", "#!/bin/sh\nexit 11\n");
    bench.check(&id, "~/bin:/bin", Some("nodule (~/bin/nodule) changed"));
}

#[test]
fn a_program_that_is_executed_by_its_place_is_looked_for_there() {
    let bench = Bench::new();
    let tool = bench.program("opt/tool", "1");
    let id = bench.set("/bin", &[&tool]);
    bench.check(&id, "~/bin", None);
    bench.program("bin/tool", "2");
    bench.check(&id, "~/bin", None);
    bench.program("opt/tool", "22");
    bench.check(&id, "~/bin", Some("tool (~/opt/tool) changed"));
}

#[test]
fn a_version_that_a_wrapper_chooses_is_another_program() {
    let bench = Bench::new();
    let wrapper = bench.program("bin/python", "#!/bin/sh\n");
    let older = bench.program("versions/3.11/bin/python3.11", "11");
    let newer = bench.program("versions/3.12/bin/python3.12", "12");
    let id = bench.set("~/bin", &[&wrapper, &older]);
    assert_eq!(bench.said(&id, "~/bin", &[&wrapper, &older]), None);
    let expected = "python3.11 (~/versions/3.11/bin/python3.11) is now ~/versions/3.12/bin/python3.12";
    assert_eq!(bench.said(&id, "~/bin", &[&wrapper, &newer]).as_deref(), Some(expected));
    // An additional program is no replacement.
    assert_eq!(bench.said(&id, "~/bin", &[&wrapper, &older, &newer]), None);
    let both = bench.set("~/bin", &[&wrapper, &older, &newer]);
    assert_eq!(bench.said(&both, "~/bin", &[&wrapper, &newer]), None);
}

#[test]
fn a_package_of_an_interpreter_counts_and_what_it_compiles_does_not() {
    let bench = Bench::new();
    let python = bench.program("bin/python3.9", "python");
    let packages = bench.path("lib/python3.9/site-packages");
    fs::create_dir_all(packages.join("attrs-1.dist-info")).unwrap();
    let id = bench.set("~/bin", &[&python]);
    fs::create_dir_all(packages.join("attrs/__pycache__")).unwrap();
    bench.check(&id, "~/bin", Some("the modules of python3.9 (~/bin/python3.9) changed"));
    let id = bench.set("~/bin", &[&python]);
    fs::write(packages.join("attrs/__pycache__/a.pyc"), "").unwrap();
    bench.check(&id, "~/bin", None);
    fs::write(packages.join("attrs/a.py"), "").unwrap();
    bench.check(&id, "~/bin", Some("the modules of python3.9 (~/bin/python3.9) changed"));
}

#[test]
fn an_environment_of_python_is_known_by_the_link_in_it() {
    let bench = Bench::new();
    bench.program("usr/bin/python3", "python");
    fs::create_dir_all(bench.path("venv/bin")).unwrap();
    fs::create_dir_all(bench.path("venv/lib/python3.9/site-packages")).unwrap();
    std::os::unix::fs::symlink(bench.path("usr/bin/python3"), bench.path("venv/bin/python")).unwrap();
    let id = bench.set("~/venv/bin:~/usr/bin", &[&bench.path("venv/bin/python")]);
    bench.check(&id, "~/venv/bin", None);
    fs::write(bench.path("venv/lib/python3.9/site-packages/six.py"), "").unwrap();
    bench.check(&id, "~/venv/bin", Some("the modules of python (~/venv/bin/python) changed"));
}

#[test]
fn what_a_hunt_makes_and_what_is_in_its_checkouts_is_no_tool() {
    let bench = Bench::new();
    let tool = bench.program("bin/tool", "1");
    let inside = bench.program("checkouts/tree/run", "1");
    let linked = bench.path("checkouts/cc");
    std::os::unix::fs::symlink(&tool, &linked).unwrap();
    let mut tools = bench.tools("~/bin");
    std::thread::sleep(Duration::from_millis(20));
    let made = bench.program("made", "1");
    for program in [&inside, &made, &linked] {
        tools.executions().take_in(program.clone(), false);
    }
    let id = tools.current().unwrap();
    let places: Vec<PathBuf> = tools.toolset.programs.iter().map(Program::place).map(Path::to_owned).collect();
    assert_eq!(places, [fs::canonicalize(&tool).unwrap()]);
    assert_eq!(bench.set("~/bin", &[&tool]), id);
}

#[test]
fn a_set_grows_and_a_resumed_hunt_goes_on_with_it() {
    let bench = Bench::new();
    let [one, other] = ["one", "other"].map(|name| bench.program(&format!("bin/{name}"), name));
    let mut tools = bench.tools("~/bin");
    let empty = tools.current().unwrap();
    tools.executions().take_in(one.clone(), false);
    let first = tools.current().unwrap();
    tools.executions().take_in(other.clone(), false);
    let both = tools.current().unwrap();
    assert!(empty != first && first != both && Some(&both) == tools.current().as_ref());
    let setting = ToolContext { earlier: Some(first.clone()), ..tools.setting.clone() };
    let mut resumed = HuntTools::new(setting);
    assert_eq!(resumed.current(), Some(first.clone()));
    resumed.executions().take_in(other, false);
    assert_eq!(resumed.current(), Some(both.clone()));
    bench.program("bin/other", "changed");
    assert_eq!((tools.change(&first), bench.said(&first, "~/bin", &[])), (None, None));
    assert!(bench.said(&both, "~/bin", &[]).is_some());
    assert_eq!(change(&bench.path("sets"), &first, &bench.environment("~/bin")), None);
    assert!(change(&bench.path("sets"), &both, &bench.environment("~/bin")).is_some());
}

#[test]
fn a_set_that_is_lost_or_damaged_counts_as_changed() {
    let bench = Bench::new();
    let id = bench.set("~/bin", &[]);
    bench.check(&id, "~/bin", None);
    for name in ["", "../bin/x", &"0".repeat(64)] {
        bench.check(name, "~/bin", Some("their programs are not known"));
    }
    let file = bench.path("sets").join(format!("{id}.json"));
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, [&bytes[..], b" "].concat()).unwrap();
    bench.check(&id, "~/bin", Some("their programs are not known"));
}

#[test]
fn where_not_all_is_seen_common_tools_are_in_the_set() {
    let bench = Bench::new();
    bench.program("bin/sh", "a shell");
    let mut tools = bench.tools("~/bin");
    let seen = tools.current();
    bench.program("bin/setuid", "");
    fs::set_permissions(bench.path("bin/setuid"), fs::Permissions::from_mode(0o4755)).unwrap();
    tools.executions().take_in(bench.path("bin/setuid"), true);
    let guessed = tools.current();
    assert!(guessed != seen && tools.toolset.is_guessed);
    assert!(tools.toolset.programs.iter().any(|program| program.place() == bench.path("bin/sh")));
}
