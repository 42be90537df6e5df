//! The page of a report in a browser: Chromium, driven by a script.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

use idd_base::{Ending, Observation, Stage};
use idd_report::Status;
use idd_world::journal::{AnswerRecord, JournalSegment, Record, Replay};

use crate::fixture::{self, Fixture};

/// `change 4` breaks it, in one of several lines.
const PROGRAM: &str = r#"
    cat > a.c <<'END'
#include <stdio.h>

static int twice(int x)
{
    return x << 1;
}

int main(void)
{
    int start, doubled, sum;
    start = 0;
    doubled = twice(start);
    sum = doubled << 1;
    puts(sum > 0 ? "True" : "False");
    return 0;
}
END
    echo a > .gitignore; commit init
    for n in 1 2 3 4 5 6 7; do
        echo "$n" >> log
        if [ $n = 4 ]; then sed -i 's/start = 0;/start = 1;/; s/int start, /int start, unused, /' a.c; seq 1 60 > notes; fi
        commit "change $n"
    done
"#;

/// Tags and quotes wherever a repository or a test can put them. `the <b>fourth</b>` breaks it.
const HOSTILE: &str = r#"
    evil='</pre></code></script><script>window.__pwned=1</script><img src=x onerror=window.__pwned=1>"'"'"'><svg onload=window.__pwned=1>'
    mkdir -p 'd"><'; odd='d"></script><script>window.__pwned=1<'; mkdir -p "$odd"
    export GIT_AUTHOR_NAME="\"' onmouseover=window.__pwned=1 &lt;script&gt;"
    seq 1 9 > "$odd/script>.txt"; echo "$evil" > "onload=1 \"x'.txt"; commit "$evil"
    for n in 1 2 3 4 5 6; do
        echo "$evil $n" >> 'log<!--'
        if [ $n = 4 ]; then
            sed -i 's/^3$/three/' "$odd/script>.txt"; echo "$evil" >> "onload=1 \"x'.txt"
            sed -i "1s/^/$(printf '\342\200\250\342\200\251\342\200\256<!--')/" "onload=1 \"x'.txt"
        fi
        commit "change $n ]]> $evil"
    done
"#;

const HOSTILE_TEST: &str = r#"cat onload*; printf '\033[31m\342\200\250</pre><script>window.__pwned=1</script>FAIL: "<b>"\n'; grep -qx 3 d*/*/script*"#;

/// Makes a history, and hunts in it.
type Make = fn() -> Fixture;

/// Writes the page of a fixture's hunt.
fn write_page(fixture: &Fixture, name: &str) -> PathBuf {
    let file = fixture.place().join(format!("{name}.html"));
    let output = fixture.run(&["report", "--html", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
    file
}

fn hunted(fixture: Fixture, arguments: &[&str]) -> Fixture {
    let report = fixture.report(arguments);
    assert_eq!(report.status, Status::Found, "{report:?}");
    fixture
}

fn explained() -> Fixture {
    let fixture = hunted(Fixture::of(PROGRAM), &["--build", "cc -o a a.c", "test \"$(./a)\" = False"]);
    let output = fixture.run(&["explain"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fixture
}

/// A hunt with ten thousand answers more than it had.
fn many() -> Fixture {
    const N_ANSWERS: u64 = 10_000;
    let fixture = hunted(
        Fixture::of("for n in 1 2 3 4 5 6; do echo $n > value; commit \"change $n\"; done"),
        &["grep -q [123] value"],
    );
    let segments = fixture.repo().join(".git/idd/segments");
    let mut segments = fs::read_dir(segments).unwrap().map(|entry| entry.unwrap().path());
    let path = segments.find(|path| path.extension().is_some_and(|it| it == "log")).unwrap();
    let replay = Replay::read(&path).unwrap();
    let commit = String::from_utf8(fixture.git(&["rev-parse", "HEAD"])).unwrap();
    let (mut segment, _) = JournalSegment::reopen(&path).unwrap();
    for nth in 0..N_ANSWERS {
        let (sequence, key) = (replay.next_sequence + nth, format!("{nth:064x}"));
        let outcome = ["pass", "fail", "unresolved(build)"][usize::try_from(nth % 3).unwrap()];
        let answer = Record::Answer(AnswerRecord {
            phase: if nth % 3 == 0 { "reduce" } else { "repair" }.to_owned(),
            revision: commit.trim().parse().unwrap(),
            tree: "1".repeat(40).parse().unwrap(),
            key: key.clone(),
            sequence: Some(sequence),
            outcome: outcome.to_owned(),
        });
        let observation = Observation {
            stage: Stage::Test,
            ending: Ending::Exit(1),
            duration: Duration::from_millis(nth),
            limit: Duration::from_secs(20),
            output: format!("needle-{nth}\n"),
            reported: String::new(),
            is_clean: false,
            is_tampered: false,
            place: None,
        };
        let observed = Record::Observed { sequence, key, nth: 0, product: None, toolset: None, observation };
        segment.append(&observed).unwrap();
        segment.append(&answer).unwrap();
    }
    segment.append_durable(&Record::Ended { status: "found".to_owned() }).unwrap();
    fixture
}

/// Chromium, of any name.
fn chromium() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places = std::env::split_paths(&path).flat_map(|place| names.map(|name| place.join(name)));
    let mut found = places.filter(|place| place.is_file());
    found.next().unwrap_or_else(|| panic!("chromium is not there: install the package chromium (`.ci/run` does)"))
}

fn modules() -> PathBuf {
    let place = fixture::root().join("tests/browser");
    for name in ["playwright-core", "axe-core"] {
        assert!(
            place.join("node_modules").join(name).is_dir(),
            "{name} is not there: run `npm ci` in tests/browser (`.ci/run` does)"
        );
    }
    place
}

#[test]
fn the_page_of_a_report_can_be_used_by_everybody_and_does_nothing_else() {
    let (chromium, modules) = (chromium(), modules());
    let merge = || hunted(Fixture::make("merge-culprit"), &["--build", "make", "--", "./test.sh"]);
    let hostile = || hunted(Fixture::of(HOSTILE), &[HOSTILE_TEST]);
    let stories: [(Make, &str); 4] = [(explained, "explained"), (merge, "merge"), (hostile, "hostile"), (many, "many")];
    let fixtures = stories.map(|(make, name)| (thread::spawn(make), name));
    let fixtures = fixtures.map(|(fixture, name)| (fixture.join().unwrap(), name));
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    fs::create_dir_all(&shots).unwrap();
    let mut command = Command::new("node");
    command.arg("check.mjs").arg(chromium).arg(&shots).current_dir(modules);
    for (fixture, name) in &fixtures {
        let file = write_page(fixture, name);
        assert!(fs::metadata(&file).unwrap().len() < 16 << 20, "{name} can be sent");
        command.arg(file);
    }
    let output =
        command.output().unwrap_or_else(|error| panic!("node: {error}; install the package nodejs (`.ci/run` does)"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("as it should be").count(), fixtures.len(), "{said}");
}
