//! Chops and inputs of Java programs: the real binary over a real JDK.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::java::{record, repository, version};
use crate::plain::{self, git};

/// The second version takes another sign; lines with a `#` and the number of lines have nothing to do with it.
const SUMS: &str = r##"import java.io.*;
import java.util.*;

public class Main {
    private final Map<String, Integer> sums = new TreeMap<>();
    private int lines;

    void line(String line) {
        lines++;
        if (line.startsWith("#")) {
            return;
        }
        int at = line.indexOf('=');
        String name = line.substring(0, at);
        int value = number(line.substring(at + 1));
        sums.put(name, value);
    }

    static int number(String text) {
        int value = 0;
        for (char digit : text.toCharArray()) {
            value = value * 10 + (digit - '0');
        }
        return value > 9 ? value : -value;
    }

    public static void main(String[] args) throws IOException {
        Main main = new Main();
        try (BufferedReader reader = new BufferedReader(new FileReader(new File(args[0])))) {
            String line;
            while ((line = reader.readLine()) != null) {
                main.line(line);
            }
        }
        for (Map.Entry<String, Integer> entry : main.sums.entrySet()) {
            System.out.println(entry.getKey() + " " + entry.getValue());
        }
        System.out.println(main.lines + " lines");
        if (args.length > 1 && main.sums.containsValue(-4)) {
            throw new IllegalStateException("less than nothing");
        }
    }
}
"##;

const LINES: &str = "a=12\n# note\nb=4\n# note\nc=70\n";

const SCANNED: &str = "import java.util.Scanner;
public class Main {
    static int limit = 9;
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int n = 0;
        int greatest = 0;
        while (scanner.hasNextInt()) {
            n++;
            int next = scanner.nextInt();
            if (next > greatest && next < limit) {
                greatest = next;
            }
        }
        System.out.print(n);
        System.out.print(\" numbers, \");
        System.out.println(greatest);
    }
}
";

const READS: &str = r#"import java.io.*;
import java.nio.file.*;
import java.util.*;
public class Main {
    public static void main(String[] args) throws Exception {
        Path directory = Paths.get("data");
        List<String> all = Files.readAllLines(directory.resolve("a.txt"));
        Reader reader = new InputStreamReader(new FileInputStream(new File("data", "b.txt")));
        int first = reader.read();
        char[] more = new char[3];
        int n = reader.read(more);
        reader.close();
        String name = System.getenv("GREETED");
        String property = System.getProperty("idd.greeting");
        long now = System.currentTimeMillis();
        BufferedReader memory = new BufferedReader(new StringReader("not an input"));
        String line = memory.readLine();
        Scanner text = new Scanner("1 2");
        int one = text.nextInt();
        boolean is = new File("gone").exists();
        Properties properties = new Properties();
        try (InputStream in = Main.class.getResourceAsStream("/c.properties")) {
            properties.load(in);
        }
        int random = new Random().nextInt();
        int seeded = new Random(1).nextInt();
        try (Reader missing = new FileReader("missing.txt")) {
            n++;
        } catch (FileNotFoundException exception) {
            n--;
        }
    }
}
"#;

/// A repository in which the second version fails with `in.txt`.
fn sums() -> tempfile::TempDir {
    let place = repository(&[("Main.java", &SUMS.replace("-value", "value")), ("in.txt", LINES)]);
    fs::write(place.path().join("Main.java"), SUMS).unwrap();
    git(place.path(), &["commit", "--quiet", "--all", "-m", "Bad"]);
    place
}

#[track_caller]
fn chop(place: &Path, words: &[&str]) -> Value {
    let build = ["chop", "--json", "--once", "--build", "test -e out || javac -g -d out *.java"];
    let words: Vec<&str> = build.iter().chain(words).copied().collect();
    let (said, progress, code) = plain::idd(place, &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    serde_json::from_str(&said).unwrap()
}

/// The lines of a list, in its order.
fn lines(chop: &Value, list: &str) -> Vec<u64> {
    chop[list].as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect()
}

/// The line of a source that holds a text.
fn line_of(source: &str, text: &str) -> u64 {
    source.lines().position(|line| line.contains(text)).unwrap() as u64 + 1
}

#[test]
fn chop_of_java_leads_from_a_file_to_the_first_wrong_byte_and_marks_the_change() {
    if version().is_none() {
        return;
    }
    let place = sums();
    let test = ["--no-shrink", "--good", "HEAD~1", "--", "java -cp out Main in.txt"];
    let found = chop(place.path(), &test);
    let failure = found["failure"].as_str().unwrap();
    assert!(failure.starts_with("byte 7 of standard output (line 2), which step "), "{failure}");
    assert!(failure.contains(" at Main.java:36 in Main.main"), "{failure}");
    assert_eq!(found["inputs"], serde_json::json!(["argument 1", "in.txt"]));
    let (chopped, changed) = (lines(&found, "lines"), line_of(SUMS, "-value"));
    assert_eq!((chopped[0], &found["lines"][0]["is_changed"]), (changed, &true.into()), "{found:#}");
    assert!(found["lines"][0]["values"].to_string().contains("returns "), "{found:#}");
    for text in ["reader.readLine", "sums.put(", "value * 10", "line.indexOf"] {
        assert!(chopped.contains(&line_of(SUMS, text)), "{text}: {found:#}");
    }
    for text in ["lines++", "\" lines\""] {
        assert!(!chopped.contains(&line_of(SUMS, text)), "{text}: {found:#}");
    }
    // A constant of which the failure is made.
    assert!(lines(&found, "constant_lines").contains(&line_of(SUMS, "new TreeMap")), "{found:#}");
    let steps = |size: &str| found[size]["n_steps"].as_u64().unwrap();
    assert!(steps("chop") <= steps("backward") && steps("backward") < steps("run"), "{found:#}");
    // Only one of the inputs counts, and another one does not exist.
    let (test, words) = (&test[..3], ["--input", "in.txt", "--", "java -cp out Main in.txt"]);
    let narrow = chop(place.path(), &[test, &words].concat());
    assert_eq!(narrow["inputs"], serde_json::json!(["in.txt"]));
    assert!(narrow["remarks"].to_string().contains("leaves out other inputs of the program: argument 1"), "{narrow:#}");
}

#[test]
fn chop_of_java_shrinks_the_file_and_ends_at_the_exception() {
    if version().is_none() {
        return;
    }
    let place = sums();
    let found = chop(place.path(), &["--budget", "1m", "--", "java -cp out Main in.txt -"]);
    let failure = found["failure"].as_str().unwrap();
    assert!(failure.starts_with("IllegalStateException (\"less than nothing\"), thrown by step "), "{failure}");
    let (before, after) = (&found["reduced"][0]["n_bytes_before"], found["reduced"][0]["n_bytes"].as_u64().unwrap());
    assert_eq!(before, LINES.len(), "{found:#}");
    assert!(after < LINES.len() as u64, "{found:#}");
    assert!(found["n_passing"].as_u64().unwrap() > 0, "{found:#}");
    let chopped = lines(&found, "lines");
    assert!(chopped.contains(&line_of(SUMS, "-value")) && chopped.contains(&line_of(SUMS, "sums.put(")), "{found:#}");
    assert!(!chopped.contains(&line_of(SUMS, "entry.getKey()")), "{found:#}");
}

#[test]
fn chop_of_java_takes_standard_input_and_the_expected_output() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", SCANNED), ("in.txt", "3\n12 7\n"), ("right", "3 numbers, 12\n")]);
    let found = chop(place.path(), &["--expected", "right", "--", "java -cp out Main <in.txt"]);
    assert!(found["failure"].as_str().unwrap().starts_with("byte 11 of standard output (line 1)"), "{found:#}");
    assert_eq!(found["inputs"], serde_json::json!(["standard input"]));
    let (chopped, constant) = (lines(&found, "lines"), lines(&found, "constant_lines"));
    assert!(chopped.contains(&12) && chopped.contains(&10) && !chopped.contains(&9), "{found:#}");
    assert!(constant.contains(&3), "{found:#}");
    // How far the scanner read follows from the file that the shell gave to it.
    let words = ["slice", "--json", "--forward", "input:in.txt:2-3"];
    let (said, progress, code) = plain::idd(place.path(), &words);
    assert_eq!(code, Some(0), "{progress}");
    let slice: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(slice["n_criteria"], 1, "{slice:#}");
}

#[test]
fn inputs_of_java_are_calls_that_bring_something_from_outside() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", READS), ("c.properties", "x=1\n")]);
    fs::create_dir(place.path().join("data")).unwrap();
    fs::write(place.path().join("data/a.txt"), "one\ntwo\n").unwrap();
    fs::write(place.path().join("data/b.txt"), "x\u{e9}yz\n").unwrap();
    git(place.path(), &["add", "."]);
    git(place.path(), &["commit", "--quiet", "-m", "Data"]);
    let test = "LC_ALL=C.UTF-8 GREETED=you java -Didd.greeting=hi -Dfile.encoding=UTF-8 -cp out:. Main x";
    record(place.path(), &["--once"], test);
    let (said, progress, code) = plain::idd(place.path(), &["trace", "inputs", "--json"]);
    assert_eq!(code, Some(0), "{progress}");
    let inputs: Value = serde_json::from_str(&said).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let number = |value: &Value| value.as_u64().map_or("?".to_owned(), |number| number.to_string());
    let entry = |entry: &Value| {
        let range = format!("{}+{}", number(&entry["begin"]), number(&entry["length"]));
        format!("{} {} {range} {}", number(&entry["line"]), word(&entry["source"]), word(&entry["function"]))
    };
    let found: Vec<String> = inputs["inputs"].as_array().unwrap().iter().map(entry).collect();
    let expected = [
        "6 the arguments ?+? -",
        "7 data/a.txt 0+8 Files.readAllLines",
        "9 data/b.txt 0+1 Reader.read",
        "11 data/b.txt 1+4 Reader.read",
        "13 the environment variable GREETED 0+3 System.getenv",
        "14 the system property idd.greeting 0+2 System.getProperty",
        "15 the system (System.currentTimeMillis) ?+? System.currentTimeMillis",
        "20 gone 0+0 File.exists",
        "23 /c.properties 0+? Properties.load",
        "25 the system (new Random) ?+? new Random",
        "27 missing.txt 0+0 new FileReader",
    ];
    assert_eq!(found, expected, "{said}");
    // The step says which bytes the call brought.
    let step = inputs["inputs"][3]["step"].to_string();
    let (said, progress, code) = plain::idd(place.path(), &["trace", "step", &step]);
    assert_eq!(code, Some(0), "{progress}");
    assert!(said.contains("(bytes 1 to 4 of data/b.txt)"), "{said}");
}

/// The first option is not what the program takes it for; what it skips is an assignment, and a call of the library.
const OPTIONS: &str = r#"import java.util.*;
public class Main {
    int width = 80;
    final List<String> names = new ArrayList<>();
    void option(String text) {
        if (text.startsWith("-w=")) {
            width = Integer.parseInt(text.substring(3));
        }
        if (text.startsWith("+")) {
            names.add(text);
        }
    }
    public static void main(String[] args) {
        Main main = new Main();
        for (String arg : args) {
            main.option(arg);
        }
        System.out.println(main.width);
        System.out.println(main.names.size());
        if (args.length > 9) {
            System.out.println("many");
        }
        System.out.println("done");
    }
}
"#;

#[test]
fn slice_of_java_with_potential_dependences_has_decisions_that_skipped_an_assignment() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", OPTIONS), ("right", "80\n0\nmany\n")]);
    record(place.path(), &["--once"], "java -cp out Main -w40 name");
    let slice = |criterion: &str, words: &[&str]| {
        let words = [&["slice", "--json", "--backward", criterion], words].concat();
        let (said, progress, code) = plain::idd(place.path(), &words);
        assert_eq!(code, Some(0), "{said}{progress}");
        lines(&serde_json::from_str(&said).unwrap(), "lines")
    };
    let (width, names) = (line_of(OPTIONS, "\"-w=\""), line_of(OPTIONS, "\"+\""));
    assert!(!slice("output:0", &[]).contains(&width));
    let found = slice("output:0", &["--potential"]);
    assert!(found.contains(&width) && !found.contains(&names), "{found:?}");
    let found = slice("output:3", &["--potential"]);
    assert!(found.contains(&names) && !found.contains(&width), "{found:?}");
    // A decision that skipped output is a cause of the next output.
    let found = chop(place.path(), &["--expected", "right", "--", "java -cp out Main -w40 name"]);
    assert!(lines(&found, "lines").contains(&line_of(OPTIONS, "args.length > 9")), "{found:#}");
}
