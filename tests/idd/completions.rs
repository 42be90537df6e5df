//! Completions, asked of the shells themselves.

use std::fs;

use crate::fixture::Fixture;

/// A repository with a branch `topic`, a tag `v1` and a hunt `0-1`, and the completions for each shell beside it.
fn fixture() -> Fixture {
    let fixture = Fixture::of("echo > value; commit init; git branch topic; git tag v1");
    for shell in ["bash", "zsh", "fish"] {
        let output = fixture.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        fs::write(fixture.place().join(shell), output.stdout).unwrap();
    }
    let hunt = fixture.report(&["--until", "commit", "false"]).hunt.unwrap();
    let segments = fixture.repo().join(".git/idd/segments");
    fs::rename(segments.join(format!("{hunt}.log")), segments.join("0-1.log")).unwrap();
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

/// What zsh adds as candidates at the end of each line, typed into a terminal.
fn in_zsh(fixture: &Fixture, lines: &[&str]) -> Vec<Vec<String>> {
    const SESSION: &str = r#"
        zmodload zsh/zpty
        zpty -b z zsh -f -i
        ask() { zpty -w -n z "$1"; zpty -r z screen '*DO''NE*' }
        ask "$(<"$PLACE/start")"$'\nprint DO""NE\n'
        while IFS= read -r line; do
            print -r -- "$line" >>"$PLACE/offered"
            ask "$line"$'\t\x15print DO""NE\n'
        done <"$PLACE/lines"
        zpty -d z
    "#;
    const START: &str = r#"
        PROMPT= PROMPT2= RPROMPT=; bindkey -e; bindkey '^I' complete-word; unsetopt beep
        fpath=("$PLACE/site" $fpath); autoload -Uz compinit; compinit -u -D
        compadd() {
            [[ " ${@[1,(i)(-|--)]} " == *' -'[OAD]' '* ]] && { builtin compadd "$@"; return }
            local -a hits; builtin compadd -A hits "$@"
            (( $#hits )) && print -rl -- '>'$^hits >>"$PLACE/offered"
            builtin compadd "$@"
        }
    "#;
    let site = fixture.place().join("site");
    fs::create_dir_all(&site).unwrap();
    fs::copy(fixture.place().join("zsh"), site.join("_git-idd")).unwrap();
    fs::write(fixture.place().join("start"), START).unwrap();
    fs::write(fixture.place().join("lines"), lines.join("\n") + "\n").unwrap();
    fs::write(fixture.place().join("session"), SESSION).unwrap();
    fs::write(fixture.place().join("offered"), "").unwrap();
    let output = fixture.shell("timeout 60 zsh -f \"$PLACE/session\"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(fixture.place().join("offered")).unwrap();
    let mut all: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('>') {
            Some(candidate) => all.last_mut().unwrap().push(candidate.to_owned()),
            None => all.push(Vec::new()),
        }
    }
    assert_eq!(all.len(), lines.len());
    all
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
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn bash_completes_options_values_revisions_and_subcommands() {
    let fixture = fixture();
    check(&in_bash(&fixture, &["git", "idd", "st"]), &["status"]);
    check(&in_bash(&fixture, &["git", "idd", "--g"]), &["--good"]);
    check(&in_bash(&fixture, &["git", "idd", "--good", ""]), &["topic", "v1", "HEAD"]);
    check(&in_bash(&fixture, &["git", "idd", "--level", ""]), &["file", "unit", "hunk", "line"]);
    check(&in_bash(&fixture, &["git", "idd", "minimize", "t"]), &["topic"]);
    check(&in_bash(&fixture, &["git", "idd", "log", "--f"]), &["--format"]);
    check(&in_bash(&fixture, &["git", "idd", "log", "--format", "b"]), &["bisect"]);
    check(&in_bash(&fixture, &["git", "idd", "log", "t"]), &["topic"]);
    check(&in_bash(&fixture, &["git", "idd", "show", "--hunt", "0"]), &["0-1"]);
    check(&in_bash(&fixture, &["git", "idd", "trace", "st"]), &["stat", "step"]);
    check(&in_bash(&fixture, &["git", "idd", "record", "--at", "t"]), &["topic"]);
    check(&in_bash(&fixture, &["git", "idd", "explain", "--at", "c"]), &["culprit"]);
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
    check(&in_fish(&fixture, "git idd trace st"), &["stat", "step"]);
    check(&in_fish(&fixture, "git idd explain --at c"), &["culprit"]);
    check(&in_fish(&fixture, "git idd --hold v"), &["value"]);
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn zsh_completes_options_values_revisions_and_subcommands() {
    let fixture = fixture();
    let asked: [(&str, &[&str]); 12] = [
        ("git id", &["idd"]),
        ("git idd st", &["status"]),
        ("git idd --goo", &["--good"]),
        ("git idd --good t", &["topic"]),
        ("git idd --level ", &["file", "unit", "hunk", "line"]),
        ("git idd minimize v", &["v1"]),
        ("git idd log v", &["v1"]),
        ("git idd show --hunt ", &["0-1"]),
        ("git idd --hold v", &["value"]),
        ("git idd ./v", &["value"]),
        ("git idd gre", &["grep"]),
        ("git idd trace st", &["stat", "step"]),
    ];
    let lines = asked.map(|(line, _)| line);
    let has_all = |offered: &[Vec<String>]| {
        let mut pairs = asked.iter().zip(offered);
        pairs.all(|((_, expected), offered)| expected.iter().all(|word| offered.iter().any(|offer| offer == word)))
    };
    let mut offered = in_zsh(&fixture, &lines);
    // A busy machine may be too slow for the keys that are typed.
    for _ in 0..2 {
        if !has_all(&offered) {
            offered = in_zsh(&fixture, &lines);
        }
    }
    for ((_, expected), offered) in asked.iter().zip(&offered) {
        check(offered, expected);
    }
}
