//! A hunt on a terminal of 80 by 24.

use crate::fixture::Fixture;
use crate::terminal::{self, Terminal};

/// Forty commits; the 20th breaks the test. A line of the source and a subject are longer than a terminal.
const HISTORY: &str = r#"
    printf 'grep -q "limit = 1;" source || { echo "the limit is wrong"; exit 1; }\n' > test.sh
    for n in $(seq 40); do
        limit=$([ "$n" -lt 20 ] && echo 1 || echo 2)
        { printf 'int limit = %s; /* %s */\n' "$limit" "$(printf 'very %.0s' $(seq 40))"; echo "int n = $n;"; } > source
        commit "change $n $(printf 'and more %.0s' $(seq 20))"
    done
"#;

/// The text between escape sequences.
fn plain(shown: &str) -> String {
    let mut parts = shown.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
        text + &part[end..]
    })
}

fn width(row: &str) -> usize {
    row.chars().count()
}

#[test]
fn a_hunt_on_a_terminal_shows_a_moving_status_line_and_a_finding_of_one_screen() {
    let fixture = Fixture::of(HISTORY);
    let (out, err) = (Terminal::new(80, 24), Terminal::new(80, 24));
    let mut command = fixture.command(&["--", "sleep 0.2; sh test.sh"]);
    command.env("TERM", "xterm").env_remove("NO_COLOR").stdout(out.open()).stderr(err.open());
    let (said, told) = (terminal::read_all(&out.host), terminal::read_all(&err.host));
    let mut child = command.spawn().unwrap();
    drop(command);
    assert!(child.wait().unwrap().code().is_some_and(|code| [0, 8].contains(&code)));
    drop((out, err));
    let said = String::from_utf8(said.join().unwrap()).unwrap();
    let told = String::from_utf8(told.join().unwrap()).unwrap();

    let text = plain(&said);
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows.len() <= 30, "{} rows:\n{text}", rows.len());
    assert!(rows.iter().all(|row| width(row) <= 80), "{text}");
    assert!(said.contains('\x1b') && text.contains("is the first bad commit"), "{said}");
    assert!(text.contains("…") && text.contains("- int limit = 1;"), "{text}");
    assert!(rows.last().unwrap().contains("git idd show --full"), "{text}");
    assert!(!text.contains(".git/idd"), "{text}");

    // Each drawing of the status line begins at the left border.
    let drawn = plain(&told);
    let drawn: Vec<&str> = drawn.split(['\r', '\n']).filter(|row| row.contains(" in all")).collect();
    assert!(drawn.iter().any(|row| row.starts_with("Bisecting, ") && row.contains(" 0:00/")), "{told}");
    assert!(drawn.iter().all(|row| width(row.trim_end()) < 80), "{drawn:?}");
    let kept: Vec<String> = plain(&told).lines().map(|row| row.trim_start_matches('\r').to_owned()).collect();
    let tested = kept.iter().filter(|row| row.contains(" pass  change ") || row.contains(" fail  change ")).count();
    assert!((5..20).contains(&tested), "{kept:?}");
}

#[test]
fn without_a_terminal_nothing_is_cut_and_nothing_moves() {
    let fixture = Fixture::of(HISTORY);
    let output = fixture.run(&["--", "sh test.sh"]);
    let (said, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(!said.contains('…') && !said.contains('\x1b') && said.lines().count() <= 30, "{said}");
    assert!(!told.contains(['\r', '\x1b']) && !told.contains(" in all"), "{told}");
    // A line for each revision, at most.
    let mut revisions: Vec<&str> = told.lines().filter_map(|row| row.strip_prefix("  ")?.get(..12)).collect();
    let n_lines = revisions.len();
    revisions.sort_unstable();
    revisions.dedup();
    assert!(n_lines == revisions.len() && n_lines >= 5, "{told}");
    let full = fixture.run(&["show", "--full"]);
    let full = String::from_utf8(full.stdout).unwrap();
    assert!(full.contains("\nEvidence:\n") && full.contains("\n@@ -1"), "{full}");
}
