//! `git idd report --html`, `--open`, and the explanation that reports take in.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use idd_report::json;
use serde_json::Value;

use crate::fixture::Fixture;

const HISTORY: &str = "
    printf '#include <stdio.h>\\nint main(void)\\n{\\n    int n = 2;\\n    int m = n * 2;\\n    printf(\"%%d\\\\n\", m);\\n    return 0;\\n}\\n' > a.c
    echo a > .gitignore; commit init
    for n in 1 2 3 4 5; do
        echo $n >> log; if [ $n = 3 ]; then sed -i 's/n = 2/n = 3/' a.c; fi; commit \"change $n\"
    done
";

const HUNT: [&str; 3] = ["--build", "cc -o a a.c", "test $(./a) = 4"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn explanation(fixture: &Fixture) -> PathBuf {
    let entries = fs::read_dir(fixture.repo().join(".git/idd/segments")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths.find(|path| path.to_str().unwrap().ends_with(".explanation.json")).unwrap()
}

#[test]
fn what_explain_found_is_kept_with_its_hunt_and_stands_in_every_report_until_it_is_removed() {
    let fixture = Fixture::of(HISTORY);
    fixture.report(&HUNT);
    assert!(!fixture.said(&["report"], 0).0.contains("Why it fails"));
    // Two revisions that are named are no hunt.
    let named = ["explain", "--bad", "HEAD", "--good", "HEAD~5", "--build", "cc -o a a.c", "--", "test $(./a) = 4"];
    fixture.said(&named, 0);
    assert!(!fixture.said(&["report"], 0).0.contains("Why it fails"));
    fixture.said(&["explain"], 0);
    let (markdown, _) = fixture.said(&["report"], 0);
    assert!(markdown.contains("1. **in the change**, `a.c:4`: `n` is given `3` (reference `2`)\n"), "{markdown}");
    assert!(markdown.contains("`a.c:5`: `m` is given `6` (reference `4`)\n"), "{markdown}");
    let sarif: Value = serde_json::from_str(&fixture.said(&["report", "--format", "sarif"], 0).0).unwrap();
    let locations = &sarif["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(locations[0]["location"]["physicalLocation"]["region"]["startLine"], 4);
    assert_eq!(locations[0]["state"]["n"]["text"], "3");
    let (page, _) = fixture.said(&["report", "--html", "-"], 0);
    assert!(page.contains("id=\"step-1\"") && page.contains("    int n = 3;"), "{page}");
    assert!(page.contains("see it in the diff"), "{page}");
    // A chop of the hunt is stored, too; one of a test command is not.
    fixture.said(&["chop", "--once", "--expected", "log", "--build", "cc -o a a.c", "--", "test $(./a) = 4"], 0);
    assert_eq!(fixture.said(&["report", "--html", "-"], 0).0, page);
    fixture.said(&["chop", "--once"], 0);
    let (markdown, _) = fixture.said(&["report"], 0);
    assert!(markdown.contains("**What leads to the failure**: `byte 0 of standard output"), "{markdown}");
    assert!(
        markdown.contains("1. **in the change**, depends on no input, `a.c:4` in `main`: `int n = 3;`"),
        "{markdown}"
    );
    let (page, _) = fixture.said(&["report", "--html", "-"], 0);
    assert!(page.contains("★ <code>int n = 3;</code>") && page.contains("id=\"step-1\""), "{page}");
    // So are error invariants.
    fixture.said(&["invariants", "--hunt", "--once"], 0);
    let (markdown, _) = fixture.said(&["report"], 0);
    assert!(markdown.contains("**What has to hold for the failure**: `byte 0 of standard output"), "{markdown}");
    assert!(markdown.contains("\n1. **in the change**, `a.c:4` in `main`: `int n = 3;`"), "{markdown}");
    assert!(markdown.contains("`printf(\"%d\\n\", m);` if `m != 4`\n"), "{markdown}");
    let (page, _) = fixture.said(&["report", "--html", "-"], 0);
    assert!(page.contains("id=\"statement-1\"") && page.contains("<code>m != 4</code>"), "{page}");
    assert!(page.contains("★ <code>int n = 3;</code>") && page.contains("id=\"step-1\""), "{page}");
    let sarif: Value = serde_json::from_str(&fixture.said(&["report", "--format", "sarif"], 0).0).unwrap();
    let flows = sarif["runs"][0]["results"][0]["codeFlows"].as_array().unwrap();
    let locations = flows.last().unwrap()["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(locations.last().unwrap()["state"]["m"]["text"], "6", "{sarif}");
    // What gc removes is not needed for it.
    fixture.said(&["gc"], 0);
    let (_, said) = fixture.said(&["explain"], 1);
    assert!(said.contains("no longer exist\n\nhint: `git idd gc` removes such trees"), "{said}");
    assert_eq!(fixture.said(&["report", "--html", "-"], 0).0, page);
    let (finding, _) = fixture.said(&["show"], 0);
    assert!(!finding.contains("Why it fails"));

    // What is damaged is left out, with a word.
    let path = explanation(&fixture);
    let bytes = fs::read(&path).unwrap();
    for damaged in [&bytes[..bytes.len() / 2], b"", b"{\"schema\":\"another\"}"] {
        fs::write(&path, damaged).unwrap();
        let (markdown, complaint) = fixture.said(&["report"], 0);
        assert!(markdown.contains("Fixes: ") && !markdown.contains("Why it fails"), "{markdown}");
        assert!(complaint.contains("is left out: it cannot be understood"), "{complaint}");
        assert!(fixture.said(&["report", "--html", "-"], 0).1.contains("is left out"));
    }
    fs::write(&path, &bytes).unwrap();
    assert!(fixture.said(&["report"], 0).0.contains("Why it fails"));
    // Another hunt has another explanation.
    fixture.report(&["--build", "cc -o a a.c", "--no-port", "test $(./a) = 4"]);
    assert!(!fixture.said(&["report"], 0).0.contains("Why it fails"));
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn sarif_has_the_lines_of_one_revision() {
    let history = format!(
        "{HISTORY}
         sed -i 's/^    printf/    puts(\"\");\\n    printf/; 1i // first' a.c; echo 'int more;' >> a.c; commit 'more lines'"
    );
    let fixture = Fixture::of(&history);
    let test = "test $(./a | tail -n 1) = 4";
    fixture.report(&["--build", "cc -o a a.c", test]);
    fixture.said(&["explain"], 0);
    let sarif: Value = serde_json::from_str(&fixture.said(&["report", "--format", "sarif"], 0).0).unwrap();
    let run = &sarif["runs"][0];
    let id = |name: &str| text(&fixture.git(&["rev-parse", name])).trim().to_owned();
    let (head, culprit) = (id("HEAD"), id(":/change 3"));
    assert_eq!(run["properties"]["commit"], head, "{sarif}");
    let result = &run["results"][0];
    let place = |of: &Value| of["physicalLocation"]["region"]["startLine"].as_u64();
    assert_eq!(place(&result["locations"][0]), Some(5), "{sarif}");
    let flow = &result["codeFlows"][0];
    assert_eq!((&flow["properties"]["commit"], &flow["properties"]["explained"]), (&head.into(), &culprit.into()));
    let locations = flow["threadFlows"][0]["locations"].as_array().unwrap();
    let lines: Vec<Option<u64>> = locations.iter().map(|it| place(&it["location"])).collect();
    let source = fs::read_to_string(fixture.repo().join("a.c")).unwrap();
    let at = |what: &str| source.lines().position(|line| line.contains(what)).map(|line| line as u64 + 1);
    assert_eq!((lines[0], lines[1], lines[lines.len() - 1]), (at("n = 3"), at("m = n * 2"), at("%d")), "{sarif}");
}

#[test]
fn html_writes_a_file_or_to_stdout_and_open_shows_it_in_the_browser_of_the_user() {
    let fixture = Fixture::of(HISTORY);
    fixture.report(&HUNT);
    for (place, said) in [("missing/page.html", "no directory"), (".", "is a directory")] {
        let (_, err) = fixture.said(&["report", "--html", place], 1);
        assert!(err.contains(said) && err.contains("\nhint: "), "{err}");
    }
    assert!(!fixture.repo().join("missing").exists());
    let before = fixture.state();
    let (page, _) = fixture.said(&["report", "--html", "-"], 0);
    assert!(page.starts_with("<!doctype html>") && page.contains("Content-Security-Policy"), "{page}");
    assert_eq!(fixture.state(), before);
    let (said, _) = fixture.said(&["report", "--html", "../page.html"], 0);
    let file = fixture.place().join("repo/../page.html");
    assert_eq!(said, format!("Wrote {}\n", file.display()));
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
    let json = fixture.said(&["report", "--json", "--html", "../page.html"], 0).0;
    assert!(json::read(json.as_bytes()).is_ok());
    for wrong in [&["report", "--html", "-", "--open"] as &[&str], &["report", "--html", "x", "--format", "sarif"]] {
        assert!(fixture.said(wrong, 129).1.contains("hint: "));
    }
    let (_, said) = fixture.said(&["report", "--html", "/proc/none/page.html"], 1);
    assert!(said.contains("failed to write the report") && said.contains("hint: "), "{said}");

    // Whatever could open it fails; then the user has a browser, and the repository another one.
    let bin = fixture.place().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("xdg-open");
    fs::write(&program, "#!/bin/sh\necho 'no method available' >&2\nexit 3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let open = |args: &[&str]| {
        let output = fixture.command(args).env("PATH", &path).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let outputs = |args: &[&str]| {
        let output = fixture.command(args).env("PATH", &path).output().unwrap();
        (text(&output.stdout), text(&output.stderr))
    };
    let config = |name: &str, value: &str| {
        fixture.git(&["config", "--file", fixture.place().join("gitconfig").to_str().unwrap(), name, value]);
    };
    config("web.browser", "mine");
    config("browser.mine.cmd", "false");
    let (code, said) = open(&["report", "--html", "../page.html", "--open"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let (answer, said) = outputs(&["report", "--html", "../page.html", "--open"]);
    let line = format!("No browser could be opened. The page is {}\n", file.display());
    assert_eq!((answer, said.as_str()), (line.clone(), ""));
    let (answer, said) = outputs(&["report", "--json", "--html", "../page.html", "--open"]);
    assert!(json::read(answer.as_bytes()).is_ok(), "{answer}");
    assert_eq!(said, line);
    let opened = fixture.place().join("opened");
    config("browser.mine.cmd", &format!("echo >>{}", opened.display()));
    let touched = fixture.place().join("touched");
    fixture.git(&["config", "web.browser", "theirs"]);
    fixture.git(&["config", "browser.theirs.cmd", &format!("touch {}; false", touched.display())]);
    fs::write(fixture.repo().join("xdg-open"), format!("#!/bin/sh\ntouch {}\n", touched.display())).unwrap();
    assert_eq!(open(&["report", "--html", "../page.html", "--open"]).0, Some(0));
    assert_eq!(fs::read_to_string(&opened).unwrap().trim(), file.to_str().unwrap());
    // Without a name it is written into the git directory.
    assert_eq!(open(&["report", "--open"]).0, Some(0));
    assert!(fs::read_to_string(&opened).unwrap().contains(".git/idd/report.html"));
    let own = fixture.repo().join(".git/idd/report.html");
    assert!(own.exists());
    fixture.said(&["reset"], 0);
    assert!(!own.exists() && file.exists());
    assert!(!touched.exists());
}
