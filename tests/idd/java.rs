//! Recordings of Java programs: the real binary over a real JDK.

use crate::plain::{self, git};
use idd_trace::Trace;
use idd_trace::java::{JavaPlayer, Nobody};
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

pub const TORTURE: &str = include_str!("java/Main.java");
pub const MODERN: &str = include_str!("java/Modern.java");

/// The version of the Java compiler; if there is none, this is said.
#[expect(clippy::print_stderr, reason = "a test that does not test what it is called for says so")]
pub fn version() -> Option<u32> {
    let said = Command::new("javac").arg("-version").output().ok();
    let said = said.map(|output| String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned());
    let version = said.as_deref().and_then(|said| said.trim().strip_prefix("javac "));
    let version = version.and_then(|version| version.trim_start_matches("1.").split(['.', '-']).next()?.parse().ok());
    if version.is_none() {
        eprintln!("there is no `javac`: recordings of Java programs are not tested");
    }
    version
}

/// A repository with these files, all committed.
pub fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(place.path().join(name), content).unwrap();
    }
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    git(place.path(), &["add", "."]);
    git(place.path(), &["commit", "--quiet", "-m", "All"]);
    place
}

pub const BUILD: &str = "javac -g -d out *.java";

/// Records a test; the result is what was said, and the description of the recording.
#[track_caller]
pub fn record(place: &Path, words: &[&str], test: &str) -> (String, serde_json::Value) {
    let words: Vec<&str> = ["record", "--build", BUILD].iter().chain(words).chain(&["--", test]).copied().collect();
    let (said, progress, code) = plain::idd(place, &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    let recording = fs::read(place.join(".git/idd/recordings/0001/recording.json")).unwrap();
    (said, serde_json::from_slice(&recording).unwrap())
}

/// The files of the torture programs that the Java compiler knows, and the test that runs them; `None` if there is none.
pub fn torture() -> Option<(Vec<(&'static str, &'static str)>, String)> {
    let mut files = vec![("Main.java", TORTURE)];
    let mut test = "java -Xss400k -cp out Main".to_owned();
    if version()? >= 17 {
        files.push(("Modern.java", MODERN));
        test = format!("java -cp out Modern && {test}");
    }
    Some((files, test))
}

#[test]
fn record_of_java_does_not_change_what_the_torture_program_does() {
    let Some((files, test)) = torture() else { return };
    let place = repository(&files);
    let (said, _) = record(place.path(), &[], &test);
    check_torture(place.path(), &said, files.len());
}

/// The last recording is one of the torture program, the last of so many virtual machines, and whole.
#[track_caller]
pub fn check_torture(place: &Path, said: &str, n_processes: usize) {
    let place = place.join(".git/idd/recordings/0001");
    let recording: serde_json::Value =
        serde_json::from_slice(&fs::read(place.join("recording.json")).unwrap()).unwrap();
    assert_eq!(recording["ending"], "exit code 3", "{said}");
    assert_eq!(recording["is_same_output"], true, "{said}");
    let processes = recording["processes"].as_array().unwrap();
    assert_eq!(processes.len(), n_processes, "{said}");
    let is_whole = |process: &serde_json::Value| process["is_lost"] == false && process["is_cut"] == false;
    assert!(processes.iter().all(is_whole), "{said}");
    assert_eq!(recording["chosen"], processes.len() - 1, "{said}");
    for process in processes {
        let file = place.join(process["file"].as_str().unwrap());
        let trace = Trace::open(Box::new(BufReader::new(File::open(file).unwrap()))).unwrap();
        let mut player = JavaPlayer::new(trace).unwrap();
        player.replay(&mut Nobody).unwrap();
        // What was recorded is what the interpretation leads to: ways of decisions, arguments, values of fields.
        let machine = &player.machine;
        assert!(machine.n_derived > 20 && machine.n_reads > 5, "{} {}", machine.n_derived, machine.n_reads);
        assert_eq!(machine.n_wrong, 0, "{}", machine.n_derived);
        // Where the stack overflows, the `finally` of each of the deepest calls overflows again: its store may have run or not.
        assert!(machine.n_other <= 8, "{} of {}", machine.n_other, machine.n_reads);
    }
}

const SUM: &str = "public class Main {
    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 100000; i++) {
            sum += new int[] {i}.length;
        }
        System.out.println(sum);
        System.exit(sum == 100000 ? 1 : 0);
    }
}
";

#[test]
fn record_of_java_needs_no_clang_and_is_repeatable() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", SUM)]);
    let bin = place.path().join(".git/bin");
    fs::create_dir(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in ["java", "javac", "git", "sh", "setarch"] {
        let found = std::env::split_paths(&path).map(|directory| directory.join(name)).find(|place| place.exists());
        symlink(fs::canonicalize(found.unwrap()).unwrap(), bin.join(name)).unwrap();
    }
    // A compiler is a virtual machine, too, but has no class of the checkout.
    let words = ["record", "--build", BUILD, "--", "javac -version; java -cp out Main"];
    let output = plain::program(place.path()).args(words).env("PATH", &bin).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("the test ended with exit code 1\n* 0: java -cp out Main ("), "{said}");
    assert!(!said.contains("warning") && !said.contains("note"), "{said}");
    let none = ["record", "--build", BUILD, "--", "javac -version"];
    let output = plain::program(place.path()).args(none).env("PATH", &bin).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: the test ran no Java class of the checkout, and ended with exit code 0"), "{said}");
}

#[test]
fn record_of_java_ends_at_max_trace_and_the_program_goes_on() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", SUM)]);
    let (said, recording) = record(place.path(), &["--max-trace", "1M"], "java -cp out Main");
    assert_eq!(recording["ending"], "exit code 1", "{said}");
    let left_out = "warning: the end of the run was left out: the trace reached its limit, and of a Java program the beginning is kept";
    assert!(said.contains(left_out), "{said}");
    let n_bytes = recording["processes"][0]["n_bytes"].as_u64().unwrap();
    assert!((200_000..1 << 20).contains(&n_bytes), "{n_bytes}");
    // Whoever asks for the end learns that there is none.
    let note = "`--keep last` has no effect on Java programs";
    let test = ["--build", BUILD, "--", "java -cp out Main"];
    for (keep, is_noted) in [("last", true), ("first", false)] {
        let words = [&["record", "--once", "--max-trace", "1M", "--keep", keep], &test[..]].concat();
        let (said, progress, code) = plain::idd(place.path(), &words);
        assert_eq!((code, progress.contains(note)), (Some(0), is_noted), "{said}{progress}");
    }
}

/// The recorder keeps its files beside the limit of the program to its own.
#[test]
fn record_of_java_is_not_limited_by_max_output() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", SUM)]);
    let (said, recording) = record(place.path(), &["--max-output", "64K"], "java -cp out Main");
    assert_eq!(recording["is_repeatable"], true, "{said}");
    assert!(recording["processes"][0]["n_bytes"].as_u64().unwrap() > 1_000_000, "{said}");
    // Where it cannot have longer files either, as on a full disk, it ends, and the program goes on.
    let (said, _, code) = plain::idd(
        place.path(),
        &["record", "--once", "--build", BUILD, "--", "ulimit -f 600; exec java -cp out Main"],
    );
    assert_eq!(code, Some(0), "{said}");
    let left_out = "warning: the end of the run was left out: a Java program could not write more records, for example because the disk was full";
    assert!(said.contains("the test ended with exit code 1") && said.contains(left_out), "{said}");
    assert!(!said.contains("--max-trace"), "{said}");
}

const ODD: &str = r#"import java.util.ArrayList;
import java.util.List;

public class Main {
    private int total;
    private final List<Integer> seen = new ArrayList<>();

    void add(int value) {
        if (value > 2 && value % 2 == 1) {
            value = scale(value);
        }
        seen.add(value);
        total += value;
    }

    static int scale(int value) {
        return value * 10;
    }

    public static void main(String[] args) {
        Main sum = new Main();
        int[] values = {1, 2, 3, 4};
        int unused = args.length;
        for (int i = 0; i < values.length; i++) {
            sum.add(values[i]);
        }
        if (sum.total != 10) {
            throw new IllegalStateException("wrong: " + sum.total);
        }
    }
}
"#;

/// What a command says about the last recording.
#[track_caller]
pub fn asked(place: &Path, words: &[&str]) -> String {
    let (said, progress, code) = plain::idd(place, words);
    assert_eq!(code, Some(0), "{words:?}: {said}{progress}");
    said
}

#[test]
fn trace_and_slice_read_recordings_of_java() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", ODD)]);
    record(place.path(), &["--once"], "java -cp out Main");
    let tree = asked(place.path(), &["trace", "tree"]);
    let scaled = "    iteration 3\n      Main.add(this=Main#";
    assert!(tree.starts_with("Main.main(args=String[0]#") && tree.contains("(never returned)"), "{tree}");
    assert!(tree.contains("loop, 4 times") && tree.contains(scaled), "{tree}");
    assert!(tree.contains("        Main.scale(value=3) = 30  Main.java:17 #"), "{tree}");
    let slice = asked(place.path(), &["slice", "--backward", "crash", "--json"]);
    let slice: serde_json::Value = serde_json::from_str(&slice).unwrap();
    let lines: Vec<u64> =
        slice["lines"].as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect();
    // The list and the variable that nothing reads are not in it; the way to the object is.
    assert_eq!(lines, [6, 9, 10, 13, 17, 21, 22, 24, 25, 27, 28], "{slice:#}");
    // The last definition of the sum, and what it comes from.
    let last = slice["lines"].as_array().unwrap().iter().find(|line| line["line"] == 27).unwrap();
    let step = last["last"].as_u64().unwrap().to_string();
    let why = asked(place.path(), &["trace", "why", &step, "sum.total"]);
    assert!(why.contains("sum.total = 37") && why.contains("value = scale(value);"), "{why}");
    assert!(why.contains("return value * 10;") && !why.contains("seen.add"), "{why}");
    // An object of the library is read and written as a whole.
    let at = asked(place.path(), &["slice", "--forward", "line:Main.java:12", "--json"]);
    assert!(at.contains("\"line\":12"), "{at}");
    let stat = asked(place.path(), &["trace", "stat"]);
    assert!(stat.contains("reads that found other bytes than were written last: 0 of"), "{stat}");
    let (said, progress, code) = plain::idd(place.path(), &["invariants"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(progress.contains("does not read recordings of Java programs yet"), "{progress}");
    assert!(progress.contains("hint: `git idd chop` finds the statements on which its failure depends"), "{progress}");
}

const LIBRARY: &str = r#"import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

public class Main {
    static int shared;

    static class Pair {
        int value;

        Pair(int value) {
            this.value = value;
        }

        public String toString() {
            return "P" + value;
        }
    }

    public static void main(String[] args) throws Exception {
        List<Pair> pairs = new ArrayList<>();
        pairs.add(new Pair(1));
        String text = pairs.toString();
        Thread thread = new Thread(() -> {
            shared = 40 + 2;
        });
        thread.start();
        thread.join();
        int[] squares = new int[3];
        for (int i = 0; i < 3; i++) {
            squares[i] = i * i;
        }
        int unused = args.length;
        if (shared == 42) {
            Integer.parseInt(text + Arrays.toString(squares));
        }
    }
}
"#;

#[test]
fn the_library_reads_what_it_is_given_and_calls_back() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", LIBRARY)]);
    record(place.path(), &["--once"], "java -cp out Main");
    let slice = asked(place.path(), &["slice", "--backward", "crash", "--json"]);
    let slice: serde_json::Value = serde_json::from_str(&slice).unwrap();
    let lines: Vec<u64> =
        slice["lines"].as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect();
    // The list, although a method of the same name is called for its element; the end of the thread; the array.
    for line in [17, 22, 23, 24, 26, 30, 31, 32, 35, 36] {
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
    assert!(!lines.contains(&34), "{lines:?}");
    let tree = asked(place.path(), &["trace", "tree"]);
    assert!(tree.contains("Main$Pair.toString(this=Main$Pair#"), "{tree}");
    // The thread has ended, the program has not returned.
    assert_eq!(tree.matches("(never returned)").count(), 1, "{tree}");
}

const THREADS: &str = "public class Main {
    static int done;

    static synchronized void add(int number) {
        done += number;
    }

    public static void main(String[] args) throws Exception {
        Thread[] all = new Thread[5000];
        for (int i = 0; i < all.length; i++) {
            int number = i % 2;
            all[i] = new Thread(() -> add(number));
            all[i].start();
            if (i >= 4) {
                all[i - 4].join();
            }
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.exit(done == 2500 ? 1 : 0);
    }
}
";

#[test]
fn record_of_java_keeps_thousands_of_threads() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", THREADS)]);
    let begin = std::time::Instant::now();
    let (said, recording) = record(place.path(), &["--once", "--max-trace", "256M"], "java -cp out Main");
    // It took 15 ms for each thread, and the files of all but a few thousand did not fit.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    assert_eq!(recording["ending"], "exit code 1", "{said}");
    assert!(!said.contains("warning"), "{said}");
    let stat = asked(place.path(), &["trace", "stat"]);
    assert!(stat.contains("5001 threads"), "{stat}");
}

/// Two threads with several MiB of records each, and many objects, one of them at the end of the stack again and again.
const LONG: &str = r#"public class Main {
    private final int value;

    Main(int value) {
        this.value = value;
    }

    static int deep(int n) {
        return 1 + deep(n + 1);
    }

    static int overflows() {
        int n = 0;
        for (int i = 0; i < 200; i++) {
            try {
                n += deep(i);
            } catch (StackOverflowError error) {
                n++;
            }
        }
        return n;
    }

    static long sum(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += new Main(i).value + new int[i % 3].length;
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> System.out.println(sum(60000)));
        other.start();
        other.join();
        Thread small = new Thread(null, () -> System.out.println(overflows()), "small", 1 << 18);
        small.start();
        small.join();
        System.out.println(sum(60000));
        new ProcessBuilder("kill", "-9", String.valueOf(ProcessHandle.current().pid())).start();
        Thread.sleep(100000);
    }
}
"#;

/// Nothing of a long run is lost if the virtual machine is killed, and a full stack does no harm.
#[test]
fn record_of_java_keeps_a_long_run_of_a_killed_virtual_machine() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", LONG)]);
    let (said, recording) = record(place.path(), &["--once", "--max-trace", "1G"], "java -cp out Main");
    assert_eq!(recording["ending"], "exit code 137", "{said}");
    assert!(!said.contains("warning"), "{said}");
    assert!(recording["processes"][0]["n_bytes"].as_u64().unwrap() > 6 << 20, "{recording}");
    let stat = asked(place.path(), &["trace", "stat"]);
    // Each element of both sums is there, and as it was written.
    for expected in ["3 threads", "reads that found other bytes than were written last: 0 of 120 003"] {
        assert!(stat.contains(expected), "{stat}");
    }
}

const OWN: &str = r#"package idd;

import java.util.HashMap;

public class Recorder {
    static int limit = 3;
    private final HashMap<Character, String> texts = new HashMap<>();
    private char last = '\b';

    void put(char key, String text) {
        last = key;
        Character boxed = key;
        texts.put(boxed, text);
    }

    public static void main(String[] args) {
        Recorder own = new Recorder();
        own.put('x', "a\u0007'\"");
        try {
            System.getProperty("user.home");
        } catch (SecurityException error) {
            own.put('\'', "caught");
        }
        int n = limit + own.texts.size();
        System.out.println(n);
        System.exit(1);
    }
}

class Agent {}
"#;

/// The number of the last step in a line, from the JSON of a slice.
#[track_caller]
fn last_step(place: &Path, line: u64) -> String {
    let slice = asked(place, &["slice", "--forward", &format!("line:Recorder.java:{line}"), "--json"]);
    let slice: serde_json::Value = serde_json::from_str(&slice).unwrap();
    let found = slice["lines"].as_array().unwrap().iter().find(|found| found["line"] == line);
    found.unwrap()["last"].as_u64().unwrap().to_string()
}

#[test]
fn record_of_java_needs_no_permission_and_no_name_of_the_program() {
    let Some(version) = version() else { return };
    let place = repository(&[("Recorder.java", OWN), ("empty.policy", "")]);
    // Later versions have no security manager.
    let denied = if version < 24 { "-Djava.security.manager -Djava.security.policy==empty.policy" } else { "" };
    let (said, recording) = record(place.path(), &["--once"], &format!("java {denied} -cp out idd.Recorder"));
    assert_eq!(recording["losses"], serde_json::json!([]), "{said}");
    let shown = asked(place.path(), &["trace", "step", &last_step(place.path(), 11)]);
    assert!(shown.contains(r"writes this.last = '\''") || version >= 24, "{shown}");
    let tree = asked(place.path(), &["trace", "tree"]);
    assert!(tree.contains(r#"key='x', text="a\u0007'\"")"#), "{tree}");
    // A name that no variable has is that of a field.
    let step = last_step(place.path(), 13);
    let shown = asked(place.path(), &["trace", "step", &step]);
    assert!(shown.contains("reads  boxed = '"), "{shown}");
    let why = asked(place.path(), &["trace", "why", &step, "last"]);
    assert!(why.contains("this.last = '") && why.contains("last = key;"), "{why}");
    let step = last_step(place.path(), 25);
    for name in ["limit", "Recorder.limit"] {
        let why = asked(place.path(), &["trace", "why", &step, name]);
        assert!(why.contains("Recorder.limit = 3"), "{why}");
    }
}

#[test]
fn record_of_java_says_what_is_missing() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", LIBRARY)]);
    let check = |test: &str, expected: &str| {
        let words = ["record", "--once", "--build", BUILD, "--", test];
        let (said, progress, _) = plain::idd(place.path(), &words);
        assert!(format!("{said}{progress}").contains(expected), "{test}: {said}{progress}");
    };
    let removed = "nothing was recorded: the test removed files of the recorder of Java programs";
    check("java -cp out Main; rm -r \"${JAVA_TOOL_OPTIONS##*=}\"", &format!("error: {removed}"));
    let files = "warning: the test removed files of the recorder of a Java virtual machine";
    check("java -cp out Main; rm \"${JAVA_TOOL_OPTIONS##*=}\"/*/thread-0; false", files);
    let failed = "was not recorded, or only in part: java.io.FileNotFoundException";
    check(
        "mv \"${JAVA_TOOL_OPTIONS##*=}\"/agent x; java -cp out Main; mv x \"${JAVA_TOOL_OPTIONS##*=}\"/agent",
        failed,
    );
    let refused = "error: a Java virtual machine does not start with the agent that records it: ";
    check("JAVA_TOOL_OPTIONS=-javaagent:none java -cp out Main", refused);
}

/// Opens files until none is left, and starts a thread then; another thread says how often it was interrupted.
const CROWDED: &str = r#"import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

public class Main {
    static int n;

    static void work() {
        long sum = 0;
        for (int i = 0; i < 60000; i++) {
            sum += i ^ n;
        }
        System.out.println(sum);
    }

    static class Counting extends Thread {
        int n;

        public void run() {
            Thread.currentThread().interrupt();
            work();
        }

        public void interrupt() {
            n++;
            super.interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Counting counting = new Counting();
        counting.start();
        counting.join();
        System.out.println(counting.n);
        List<FileInputStream> all = new ArrayList<>();
        try {
            while (args.length > 0) {
                all.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException error) {
            Thread thread = new Thread(Main::work);
            thread.start();
            thread.join();
        }
        System.exit(1);
    }
}
"#;

#[test]
fn record_of_java_leaves_interrupts_alone_and_says_that_a_thread_has_no_file() {
    let Some(version) = version() else { return };
    let place = repository(&[("Main.java", CROWDED)]);
    let (said, recording) = record(place.path(), &[], "java -cp out Main");
    assert_eq!(recording["is_same_output"] == true, version >= 11, "{said}");
    assert!(!said.contains("warning"), "{said}");
    let words = ["record", "--once", "--build", BUILD, "--", "ulimit -n 128; java -cp out Main all"];
    let (said, progress, _) = plain::idd(place.path(), &words);
    let lost = "warning: a thread of a Java virtual machine was not recorded: it had no file or no memory\n";
    assert!(said.contains(lost), "{said}{progress}");
}

/// Writes what it has from a class of the library, which the library reads.
const EXTENDING: &str = "import java.util.Vector;

public class Main extends Vector<Integer> {
    void put(int n) {
        elementData[elementCount] = n;
        elementCount++;
    }

    public static void main(String[] args) {
        Main all = new Main();
        all.put(3);
        int size = all.size();
        Object first = all.firstElement();
        System.out.println(size);
        System.exit((Integer) first);
    }
}
";

#[test]
fn the_library_reads_fields_that_the_program_has_from_it() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", EXTENDING)]);
    record(place.path(), &["--once"], "java -cp out Main");
    let slice = asked(place.path(), &["slice", "--backward", "line:Main.java:13", "--json"]);
    let slice: serde_json::Value = serde_json::from_str(&slice).unwrap();
    let lines = slice["lines"].as_array().unwrap().iter();
    let found: Vec<u64> = lines.map(|line| line["line"].as_u64().unwrap()).collect();
    assert!(found.contains(&5) && found.contains(&6), "{found:?}");
}
