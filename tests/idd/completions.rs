//! Completions, asked of the shells themselves.

use std::fs;

use git_idd::cli::args;

use crate::fixture::Fixture;
use crate::fixture::root;

/// A repository with a branch `topic`, a tag `v1` and a hunt `0-1`, and the completions for each shell beside it.
fn fixture() -> Fixture {
    let fixture = Fixture::of("echo > value; commit init; git branch topic; git tag v1");
    for shell in ["bash", "zsh", "fish"] {
        let output = fixture.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        fs::write(fixture.place().join(shell), output.stdout).unwrap();
    }
    let segments = fixture.repo().join(".git/idd/segments");
    fs::create_dir_all(&segments).unwrap();
    fs::copy(root().join("tests/idd/journals/found.log"), segments.join("0-1.log")).unwrap();
    fixture.git(&["config", "alias.idd", &format!("!{}", env!("CARGO_BIN_EXE_git-idd"))]);
    fixture
}

/// What bash offers for the last of these words.
fn in_bash(fixture: &Fixture, words: &[&str]) -> Vec<String> {
    let line = words.join(" ");
    let script = format!(
        "source /usr/share/bash-completion/completions/git; source \"$PLACE/bash\"
         COMP_WORDS=({}); COMP_CWORD={}; COMP_LINE='{line}'; COMP_POINT={}
         __git_wrap__git_main; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words.len() - 1,
        line.len()
    );
    offered(&fixture.shell(&format!("bash --norc -c '{}'", script.replace('\'', "'\\''"))).stdout)
}

/// What fish offers at the end of a line.
fn in_fish(fixture: &Fixture, line: &str) -> Vec<String> {
    let output = fixture.shell(&format!("fish -c 'source $PLACE/fish; complete -C \"{line}\"'"));
    offered(&output.stdout).into_iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn offered(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[track_caller]
fn check(offered: &[String], expected: &[&str]) {
    for word in expected {
        assert!(offered.iter().any(|offer| offer == word), "{word} is not in {offered:?}");
    }
}

#[test]
fn bash_completes_options_values_revisions_and_subcommands() {
    let fixture = fixture();
    check(&in_bash(&fixture, &["git", "idd", "st"]), &["status"]);
    check(&in_bash(&fixture, &["git", "idd", "--g"]), &["--good="]);
    check(&in_bash(&fixture, &["git", "idd", "--good", ""]), &["topic", "v1", "HEAD"]);
    check(&in_bash(&fixture, &["git", "idd", "--level", ""]), &["file", "unit", "hunk", "line"]);
    check(&in_bash(&fixture, &["git", "idd", "minimize", "t"]), &["topic"]);
    check(&in_bash(&fixture, &["git", "idd", "log", "--f"]), &["--format="]);
    check(&in_bash(&fixture, &["git", "idd", "log", "--format", "b"]), &["bisect"]);
    check(&in_bash(&fixture, &["git", "idd", "log", "t"]), &["topic"]);
    check(&in_bash(&fixture, &["git", "idd", "show", "--hunt", "0"]), &["0-1"]);
}

#[test]
fn fish_completes_options_values_revisions_and_subcommands() {
    let fixture = fixture();
    check(&in_fish(&fixture, "git id"), &["idd"]);
    check(&in_fish(&fixture, "git idd st"), &["status"]);
    check(&in_fish(&fixture, "git idd --goo"), &["--good"]);
    check(&in_fish(&fixture, "git idd --good t"), &["topic"]);
    check(&in_fish(&fixture, "git idd --level "), &["file", "unit", "hunk", "line"]);
    check(&in_fish(&fixture, "git idd minimize v"), &["v1"]);
    check(&in_fish(&fixture, "git idd report --format s"), &["sarif"]);
    check(&in_fish(&fixture, "git idd log v"), &["v1"]);
    check(&in_fish(&fixture, "git idd show --hunt "), &["0-1"]);
}

/// What zsh offers can only be seen on its screen; here the file is read, and compared with the options.
#[test]
fn zsh_reads_the_file_and_every_option_is_in_it() {
    let fixture = fixture();
    let output = fixture.shell("zsh -f -n \"$PLACE/zsh\"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(fixture.place().join("zsh")).unwrap();
    for option in args::command().get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_long()) {
        if !["help", "version"].contains(&option) {
            assert!(text.contains(&format!("'--{option}=[")) || text.contains(&format!("'--{option}[")), "{option}");
        }
    }
}
