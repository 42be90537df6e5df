//! `--build-cache`: a compiler cache changes how long a build takes, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use git_idd::report::Report;
use git_idd::report::Status;
use git_idd::report::json;

use crate::fixture::Fixture;

/// A header that every change touches, so that all is compiled each time; number 6 breaks the test, number 3 the build.
const HISTORY: &str = "
    printf '*.o\\nprog\\n' > .gitignore
    printf 'prog: main.o part.o\\n\\tcc -o prog main.o part.o\\n%%.o: %%.c part.h\\n\\tcc -c $<\\n' > Makefile
    printf '#include \"part.h\"\\nint main(void) { return part() - 1; }\\n' > main.c
    for n in 1 2 3 4 5 6 7 8 9; do
        echo \"int part(void); /* $n */\" > part.h
        echo '#include \"part.h\"' > part.c
        [ $n = 3 ] && echo '#error' >> part.c
        if [ $n -ge 6 ]; then value=2; else value=1; fi
        echo \"int part(void) { return $value; } /* $n */\" >> part.c
        commit \"change $n\"
    done
";
const BUILD: [&str; 6] = ["--no-cache", "--no-port", "--level", "file", "--build", "make -s"];

/// Puts a `ccache` in front of PATH that notes who calls it, and does `then`.
fn with_ccache(fixture: &Fixture, then: &str) -> PathBuf {
    let place = fixture.place().join("bin");
    fs::create_dir_all(&place).unwrap();
    let calls = fixture.place().join("calls");
    let script = format!("#!/bin/sh\necho \"$IDD_WORKTREE $CCACHE_DIR $0\" >> {}\n{then}\n", calls.display());
    fs::write(place.join("ccache"), script).unwrap();
    fs::set_permissions(place.join("ccache"), PermissionsExt::from_mode(0o755)).unwrap();
    calls
}

fn hunt(fixture: &Fixture, options: &[&str], environment: &[(&str, &str)]) -> Report {
    let args: Vec<&str> = ["--json"].iter().chain(&BUILD).chain(options).copied().chain(["./prog"]).collect();
    let mut command = fixture.command(&args);
    let path = format!("{}:{}", fixture.place().join("bin").display(), std::env::var("PATH").unwrap());
    let output = command.env("PATH", path).envs(environment.iter().copied()).output().unwrap();
    let report = json::read(&output.stdout).unwrap();
    assert_eq!(report.status, Status::Found, "{}", String::from_utf8_lossy(&output.stderr));
    report
}

fn finding(report: &Report) -> Report {
    Report { seconds: 0.0, hunt: None, log: None, ..report.clone() }
}

#[test]
fn build_cache_never_and_auto_find_the_same_and_clean_runs_are_compiled() {
    let fixture = Fixture::of(HISTORY);
    let calls = with_ccache(&fixture, "PATH=$CCACHE_PATH exec ${0##*/} \"$@\"");
    let before = fixture.state();
    let never = hunt(&fixture, &["--build-cache", "never"], &[]);
    assert!(!calls.exists());
    let auto = hunt(&fixture, &[], &[]);
    assert_eq!(finding(&auto), finding(&never));
    let said = fs::read_to_string(&calls).unwrap();
    let store = fixture.repo().join(".git/idd/ccache");
    for call in said.lines() {
        assert!(call.contains(store.to_str().unwrap()) && call.ends_with("/compilers/cc"), "{call}");
    }
    // In fresh checkouts the compiler is called directly, also where all are fresh.
    fs::remove_file(&calls).unwrap();
    assert_eq!(finding(&hunt(&fixture, &["--clean"], &[])).first_bad, never.first_bad);
    assert!(!calls.exists());
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.sandboxes_left().len(), 0);
}

#[test]
fn build_cache_that_fails_changes_nothing() {
    let fixture = Fixture::of(HISTORY);
    let never = hunt(&fixture, &["--build-cache", "never"], &[]);
    let calls = with_ccache(&fixture, "echo ccache: error: disk full >&2; exit 1");
    let broken = hunt(&fixture, &[], &[]);
    assert!(calls.exists());
    assert_eq!(finding(&broken), finding(&never));
}

#[test]
fn build_cache_of_the_users_own_is_left_alone() {
    let fixture = Fixture::of(HISTORY);
    let calls = with_ccache(&fixture, "PATH=${CCACHE_PATH:-/usr/bin:/bin} exec ${0##*/} \"$@\"");
    hunt(&fixture, &[], &[("CCACHE_SLOPPINESS", "time_macros")]);
    assert!(!calls.exists());
    fixture.sh("git config idd.buildCache never");
    hunt(&fixture, &[], &[]);
    assert!(!calls.exists());
}

#[test]
fn ccache_itself_keeps_its_store_in_the_git_directory_and_gc_gives_it_back() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let never = hunt(&fixture, &["--build-cache", "never"], &[]);
    let home = fixture.sh("cd \"$PLACE/home\"; find . | sort");
    let auto = hunt(&fixture, &[], &[]);
    assert_eq!(finding(&auto), finding(&never));
    let store = fixture.repo().join(".git/idd/ccache");
    let stored = fixture.sh(&format!("CCACHE_DIR={} ccache --print-stats", store.display()));
    let count = |name: &str| -> u64 {
        let line = stored.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{stored}"));
        line.trim().parse().unwrap()
    };
    assert!(count("preprocessed_cache_hit") > 0 && count("direct_cache_hit") == 0, "{stored}");
    assert_eq!(fixture.sh("cd \"$PLACE/home\"; find . | sort"), home);
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.run(&["gc"]).status.code(), Some(0));
    assert!(!store.exists());
}
