//! Explanations of programs that fork, and of those that close what they do not know.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use crate::plain;
use serde_json::Value;

/// A repository with two versions of `a.c`: in the second one `n` is 3, and not 2.
fn repository(good: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| plain::git(place.path(), words);
    git(&["init", "--quiet", "."]);
    for text in [good, &good.replace("n = 2", "n = 3")] {
        fs::write(place.path().join("a.c"), text).unwrap();
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "Another version"]);
    }
    place
}

fn explain(place: &Path, build: &str, test: &str) -> Command {
    let mut command = plain::program(place);
    command.args(["explain", "--json", "--bad", "HEAD", "--good", "HEAD~1", "--build", build, "--", test]);
    command
}

fn run(place: &Path) -> (String, String, Option<i32>) {
    let output = explain(place, "cc -w -o a a.c", "test \"$(./a)\" = 4").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// The variables of the chain, with their values and those of the reference.
fn chain(source: &str) -> (Vec<(String, String, String)>, Value) {
    let place = repository(source);
    let (said, complaint, code) = run(place.path());
    assert_eq!(code, Some(0), "{said}{complaint}");
    let explanation: Value = serde_json::from_str(&said).unwrap();
    let text = |link: &Value, name: &str| link[name].as_str().unwrap_or_default().to_owned();
    let links = explanation["chain"].as_array().unwrap().iter();
    let links = links.map(|link| (text(link, "variable"), text(link, "value"), text(link, "reference"))).collect();
    (links, explanation)
}

fn link(variable: &str, value: &str, reference: &str) -> (String, String, String) {
    (variable.to_owned(), value.to_owned(), reference.to_owned())
}

#[test]
fn explain_of_a_program_that_closes_all_descriptors_is_the_same() {
    let (links, explanation) = chain(
        r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int n = 2;
    for (int i = 3; i < 1024; i++)
        close(i);
    closefrom(3);
    close_range(3, ~0U, 0);
    for (int i = 3; i < 256; i++)
        if (dup2(1, i) != i || close(i) != 0)
            return 9;
    if (open("/dev/null", O_RDONLY) != 3)
        return 8;
    int twice = n * 2;
    printf("%d\n", twice);
    return 0;
}
"#,
    );
    assert_eq!(links, [link("n", "3", "2"), link("twice", "6", "4")], "{explanation}");
}

const FORKING: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int ends[2], status, n = 2;
    char text[20];
    if (pipe(ends) != 0)
        return 9;
    pid_t child = fork();
    if (child == 0) {
        int length = snprintf(text, sizeof text, "%d", n * 2);
        write(ends[1], text, length + 1);
        _exit(0);
    }
    waitpid(child, &status, 0);
    read(ends[0], text, sizeof text);
    int got = atoi(text);
    printf("%d\n", got);
    return status;
}
"#;

#[test]
fn explain_follows_a_value_through_a_forked_child_and_a_pipe() {
    let (links, explanation) = chain(FORKING);
    let read = link("text[0]", "54 '6'", "52 '4'");
    assert_eq!(links, [link("n", "3", "2"), read, link("got", "6", "4")], "{explanation}");
    let remark = explanation["remarks"][0].as_str().unwrap();
    assert!(remark.contains("number 0 is explained, `./a`; of its child processes, only"), "{remark}");
}

#[test]
fn explain_takes_the_caller_of_a_program_that_is_given_another_word() {
    let (links, explanation) = chain(
        r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int n = 2;
    char line[40];
    if (argc > 1) {
        printf("%d", atoi(argv[1]) * 2 % 6);
        return 0;
    }
    snprintf(line, sizeof line, "./a %d", n);
    FILE *from = popen(line, "r");
    char answer[20];
    fgets(answer, sizeof answer, from);
    int got = atoi(answer);
    pid_t other = fork();
    if (other == 0) {
        close(1);
        open("/dev/null", O_WRONLY);
        execl("./a", "./a", line + 4, NULL);
        _exit(1);
    }
    waitpid(other, NULL, 0);
    printf("%d\n", got);
    return pclose(from);
}
"#,
    );
    assert!(links.contains(&link("got", "0", "4")), "{explanation}");
    assert!(explanation["remarks"][0].as_str().unwrap().contains("number 0 is explained, `./a`"), "{explanation}");
}

#[test]
fn explain_says_at_once_that_a_program_closes_what_answers() {
    let place = repository(
        r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int n = 2;
    printf("%d\n", n * 2);
    fflush(stdout);
    int (*past_us)(unsigned, unsigned, int) = dlsym(RTLD_DEFAULT, "close_range");
    if (getenv("IDD_PARK"))
        past_us(3, ~0U, 0);
    return 0;
}
"#,
    );
    let (said, complaint, code) = run(place.path());
    assert_eq!(code, Some(1), "{said}{complaint}");
    assert!(complaint.contains("error: the program closes inherited descriptors"), "{complaint}");
    assert!(complaint.contains("hint: "), "{complaint}");
}

#[test]
fn an_interrupt_while_the_program_is_asked_ends_explain_as_everywhere() {
    let place = repository(
        r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    int n = 2;
    printf("%d\n", n * 2);
    if (getenv("IDD_PARK"))
        pause();
    return 0;
}
"#,
    );
    let name = format!("waits-{}", std::process::id());
    let build = format!("cc -w -o {name} a.c");
    let mut command = explain(place.path(), &build, &format!("test \"$(./{name})\" = 4"));
    let explaining = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let line = format!("./{name}\0").into_bytes();
    let n_waiting = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes.filter(|process| fs::read(process.path().join("cmdline")).is_ok_and(|words| words == line)).count()
    };
    // One is parked, and the other one its fork.
    while n_waiting() < 2 {
        thread::sleep(Duration::from_millis(5));
    }
    let pid = explaining.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = explaining.wait_with_output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{complaint}");
    assert!(complaint.contains("the explanation was interrupted"), "{complaint}");
}

/// Forks write below the checkout, as the program does in the test; whoever writes elsewhere is told, and not explained by what only forks meet.
#[test]
fn explain_lets_forks_write_files_of_the_checkout_and_refuses_what_ends_otherwise_in_them() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char text[16];
    FILE *file = fopen(PLACE, "w");
    int n = 2;
    fprintf(file, "%d\n", n * 2);
    fclose(file);
    file = fopen(PLACE, "r");
    fgets(text, sizeof text, file);
    printf("%d\n", atoi(text));
    return 0;
}
"#;
    let (links, explanation) = chain(&source.replace("PLACE", "\"log.txt\""));
    assert_eq!(links.first(), Some(&link("n", "3", "2")), "{explanation}");
    assert!(explanation["failure"]["what"].as_str().unwrap().contains(r#""6\n""#), "{explanation}");

    let elsewhere = tempfile::tempdir().unwrap();
    let place = repository(&source.replace("PLACE", &format!("{:?}", elsewhere.path().join("log.txt"))));
    let (said, complaint, code) = run(place.path());
    assert_eq!(code, Some(1), "{said}{complaint}");
    assert!(complaint.contains("it writes outside of its checkout"), "{complaint}");
}
