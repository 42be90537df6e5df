//! Chains of Java programs: the real binary over a real JDK.

use crate::java::version;
use crate::plain::{self, git};
use serde_json::Value;
use std::fs;
use std::path::Path;

const ITEM: &str = "class Item {
    final String name;
    int count;
    Item(String name, int count) {
        this.name = name;
        this.count = count;
    }
}
";

const CART: &str = "import java.util.*;
class Cart {
    final List<Item> items = new ArrayList<>();
    int discount;
    void add(Item item) {
        for (Item known : items) {
            if (known.name.equals(item.name)) {
                known.count += item.count;
                return;
            }
        }
        items.add(item);
    }
    void reduce(int percent) {
        discount = percent;
    }
    int total() {
        int sum = 0;
        for (Item item : items) {
            sum += item.count;
        }
        return sum - sum * discount / 100;
    }
}
";

const MAIN: &str = "public class Main {
    public static void main(String[] args) {
        Cart cart = new Cart();
        cart.add(new Item(\"pen\", 10));
        cart.add(new Item(\"ink\", 20));
        cart.add(new Item(\"pen\", 30));
        cart.reduce(10);
        int total = cart.total();
        System.out.println(total);
        if (total != 54) {
            throw new IllegalStateException(\"total \" + total);
        }
    }
}
";

const BUILD: &str = "javac -g -d out *.java";
const TEST: &str = "java -cp out Main";

fn commit(place: &Path, message: &str) {
    git(place, &["add", "."]);
    git(place, &["commit", "--quiet", "-m", message]);
}

fn explain(place: &Path, words: &[&str]) -> (String, String, Option<i32>) {
    let words: Vec<&str> = ["explain"].iter().chain(words).chain(&["--build", BUILD, "--", TEST]).copied().collect();
    plain::idd(place, &words)
}

/// A repository with a commit that passes and one for each change: a file, a text, and what stands in its place.
fn repository(changes: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    let files = [("Item.java", ITEM), ("Cart.java", CART), ("Main.java", MAIN)];
    for (name, content) in files {
        fs::write(place.path().join(name), content).unwrap();
    }
    commit(place.path(), "good");
    git(place.path(), &["tag", "good"]);
    for (name, old, new) in changes {
        git(place.path(), &["checkout", "--quiet", "--detach", "good"]);
        let (_, content) = files.iter().find(|(file, _)| file == name).unwrap();
        assert!(content.contains(old), "{old}");
        fs::write(place.path().join(name), content.replace(old, new)).unwrap();
        commit(place.path(), "bad");
        git(place.path(), &["tag", &format!("bad{}", new.len())]);
    }
    place
}

#[test]
fn explain_leads_from_a_changed_field_through_a_collection_to_the_exception() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Cart.java", "known.count += item.count", "known.count = item.count")]);
    let (said, progress, code) = explain(place.path(), &["--bad", "HEAD", "--good", "good"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("      ")).collect();
    let expected = [
        "* Cart.java:8  known.count is given 30 (reference 40); the reference has known.count += item.count here; with 40, the test passes",
        "  Cart.java:20 (1st time of 2)  sum is given 30 (reference 40); with 40, the test passes",
        "  Cart.java:20 (2nd time of 2)  sum is given 50 (reference 60); with 60, the test passes",
        "  Cart.java:22  Cart.total returns 45 (reference 54); with 54, the test passes",
        "  Main.java:8  total is given 45 (reference 54); with 54, the test passes",
        "  Main.java:10  the condition is true (reference false); decided so, the test passes",
        "  Main.java:11  thus IllegalStateException (\"total 45\") leaves Main.main (reference: none)",
    ];
    let begin = lines.iter().position(|line| *line == expected[0]).unwrap_or_else(|| panic!("{said}"));
    let found = &lines[begin..];
    for line in expected {
        assert!(found.contains(&line), "{line} is not in\n{said}");
    }
    assert!(said.contains("It begins with the change."), "{said}");
    assert!(!said.contains("observed"), "{said}");
}

#[test]
fn explain_says_of_each_link_of_a_java_chain_what_the_test_does_with_the_value_of_the_reference() {
    if version().is_none() {
        return;
    }
    // Each kind of value and of place; both halves of the total are wrong, so one of them alone is not enough.
    let class = |factor: i64| {
        format!(
            "import java.util.*;
public class Main {{
    enum Size {{ SMALL, LARGE }}
    static long last;
    final double[] parts = new double[2];
    Size size = Size.SMALL;
    static int factor() {{
        return {factor};
    }}
    String name(int number) {{
        switch (number) {{
            case 2: return \"two\";
            default: return \"other\";
        }}
    }}
    public static void main(String[] args) {{
        Main main = new Main();
        int factor = factor();
        last = factor;
        last++;
        main.parts[0] = last;
        main.parts[1] = last * 2;
        main.size = main.parts[0] > 3 ? Size.LARGE : Size.SMALL;
        String name = main.name(factor);
        Integer boxed = Integer.valueOf(factor);
        float half = boxed / 2f;
        double sum = main.parts[0] + main.parts[1] + half;
        System.out.println(main.size + \" \" + name + \" \" + sum);
        if (sum != 10.0) {{
            throw new IllegalStateException(name + sum);
        }}
    }}
}}
"
        )
    };
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    for factor in [2, 5] {
        fs::write(place.path().join("Main.java"), class(factor)).unwrap();
        commit(place.path(), "next");
    }
    let (said, progress, code) = explain(place.path(), &["--bad", "HEAD", "--good", "HEAD~1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let line = |begin: &str| {
        let found = said.lines().rfind(|line| line.contains(begin));
        found.unwrap_or_else(|| panic!("{begin} is not in\n{said}"))
    };
    assert!(line("Main.factor returns 5").ends_with("with 2, the test passes"), "{said}");
    assert!(line("sum is given").ends_with("with 10.0, the test passes"), "{said}");
    // With one part right, the sum is another one that is wrong.
    for part in ["boxed is given 5 (reference 2)", "half is given 2.5 (reference 1.0)"] {
        assert!(line(part).ends_with("the test fails in another way: LARGE other 19.0"), "{said}");
    }
    // Nothing is tested if that is not wanted.
    let (said, progress, code) = explain(place.path(), &["--unchecked", "--bad", "HEAD", "--good", "HEAD~1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("note: the links were observed, not tested"), "{said}");
    assert!(!said.contains("the test passes"), "{said}");
}

#[test]
fn explain_names_what_the_failing_version_leaves_out_and_who_prints_otherwise() {
    if version().is_none() {
        return;
    }
    let place = repository(&[
        ("Main.java", "        cart.reduce(10);\n", ""),
        ("Main.java", "new Item(\"pen\", 30)", "new Item(\"pen\", 31)"),
        ("Main.java", "int total =", "int total"),
    ]);
    let (said, progress, code) = explain(place.path(), &["--bad", "bad0", "--good", "good"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let first = "* Main.java:6  this.discount stays 0 (reference 10); the reference also has cart.reduce(10) here";
    assert!(said.contains(first), "{said}");
    // The JSON is that of other explanations.
    let (said, progress, code) = explain(place.path(), &["--json", "--bad", "bad19", "--good", "good"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let chain: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(chain["schema"], "git-idd explanation 1");
    let links = chain["chain"].as_array().unwrap();
    assert_eq!(
        (&links[0]["file"], &links[0]["line"], &links[0]["in_change"]),
        (&"Main.java".into(), &6.into(), &true.into())
    );
    let has = |variable: &str, value: &str, reference: &str| {
        links
            .iter()
            .any(|link| link["variable"] == variable && link["value"] == value && link["reference"] == reference)
    };
    assert!(has("this.count", "31", "30") && has("known.count", "41", "40") && has("total", "55", "54"), "{said}");
    // Swapped versions, and one that cannot be built, are said.
    let (_, progress, code) = explain(place.path(), &["--bad", "bad9", "--good", "good"]);
    assert_eq!(code, Some(1), "{progress}");
    assert!(progress.contains("error: the build fails"), "{progress}");
    let (_, progress, code) = explain(place.path(), &["--bad", "good", "--good", "bad0"]);
    assert_eq!(code, Some(1), "{progress}");
    assert!(progress.contains("the test does not pass on the reference, it ends with exit code 1"), "{progress}");
}

#[test]
fn explain_replaces_in_java_only_what_a_link_names_and_follows_the_length_of_an_array() {
    if version().is_none() {
        return;
    }
    let class = "public class Main {
    static int pick(int[] t) { return t.length > 3 ? 5 : 6; }
    public static void main(String[] args) {
        int k = 4;
        int[] t = new int[k];
        int n = pick(t);
        String x = \"123456\".substring(0, n);
        if (x.length() != 5) {
            throw new IndexOutOfBoundsException(x);
        }
    }
}
";
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    for class in [class.to_owned(), class.replace("k = 4", "k = 3")] {
        fs::write(place.path().join("Main.java"), class).unwrap();
        commit(place.path(), "next");
    }
    let (said, progress, code) = explain(place.path(), &["--bad", "HEAD", "--good", "HEAD~1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    // What the library returned stays as it was when only the decision is made otherwise.
    for line in [
        "* Main.java:4  k is given 3 (reference 4); the reference has int k = 4 here; with 4, the test passes",
        "  Main.java:8  the condition is true (reference false); decided so, the test passes",
        "It begins with the change.",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
    // A one-line method before the changed line is not in the change.
    assert!(!said.contains("* Main.java:2"), "{said}");
}

#[test]
fn explain_finds_in_java_who_exits_with_a_code() {
    if version().is_none() {
        return;
    }
    let class = "public class Main {
    static int price(int amount) {
        return amount * 3;
    }
    public static void main(String[] args) {
        int sum = 0;
        for (int amount = 1; amount < 4; amount++) {
            sum += price(amount);
        }
        int code = sum == 18 ? 0 : 3;
        System.exit(code);
    }
}
";
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    for class in [class.to_owned(), class.replace("* 3", "* 2")] {
        fs::write(place.path().join("Main.java"), class).unwrap();
        commit(place.path(), "next");
    }
    let (said, progress, code) = explain(place.path(), &["--bad", "HEAD", "--good", "HEAD~1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    for line in [
        "Main.java:11  thus the program exits with 3 (reference: exits with 0)",
        "Main.java:10  code is given 3 (reference 0); with 0, the test passes",
        "* Main.java:3",
        "It begins with the change.",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
}

#[test]
fn explain_does_not_believe_a_java_test_that_counts_its_runs() {
    if version().is_none() {
        return;
    }
    let class = "import java.nio.file.*;
public class Main {
    public static void main(String[] args) throws Exception {
        Path path = Paths.get(\"count.txt\");
        int n_runs = Files.exists(path) ? Files.readAllLines(path).size() : 0;
        Files.write(path, \"x\\n\".getBytes(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        int wrong = 0;
        if (wrong != 0 && n_runs < 3) {
            throw new IllegalStateException(\"wrong\");
        }
    }
}
";
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\ncount.txt\n").unwrap();
    for class in [class.to_owned(), class.replace("wrong = 0", "wrong = 1")] {
        fs::write(place.path().join("Main.java"), class).unwrap();
        commit(place.path(), "next");
    }
    let (said, progress, code) = explain(place.path(), &["--bad", "HEAD", "--good", "HEAD~1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("note: links were not tested: the test does not fail in the same way each time"), "{said}");
    assert!(!said.contains("the test passes") && !said.contains("observed"), "{said}");
}

#[test]
fn explain_switches_a_decision_of_a_java_program_if_there_is_no_version_that_passes() {
    if version().is_none() {
        return;
    }
    let class = "public class Main {
    static int shipping(int total) {
        if (total > 50) {
            return 0;
        }
        return 7;
    }
    public static void main(String[] args) {
        int due = 50 + shipping(50);
        System.out.println(due);
        if (due != 50) {
            throw new IllegalStateException(\"due \" + due);
        }
    }
}
";
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    fs::write(place.path().join("Main.java"), class).unwrap();
    commit(place.path(), "only");
    let (said, progress, code) = explain(place.path(), &["--switch", "--bad", "HEAD"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    // The check of the test itself makes it pass, too, but explains less.
    for line in [
        "switched: Main.java:3  the condition is false, made true",
        "  (2 of 2 switched decisions make the test pass; this one is ",
        "  Main.java:3  the condition is false (reference true); decided so, the test passes",
        "  Main.java:9  due is given 57 (reference 50); with 50, the test passes",
        "What comes before the switched decision is the same in both runs.",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
    fs::write(place.path().join("Main.java"), class.replace("!= 50", "!= 40")).unwrap();
    git(place.path(), &["commit", "--quiet", "-am", "no decision helps but that of the test"]);
    let (_, progress, code) = explain(place.path(), &["--switch", "--switch-budget", "0", "--bad", "HEAD"]);
    assert_eq!(code, Some(1), "{progress}");
    assert!(progress.contains("no decision makes the test pass when it is switched (switched: 0)"), "{progress}");
}

/// A program with four values on the way to its failure: what it does besides, and how it fails.
fn passing_on(factor: i64, besides: &str, failing: &str) -> String {
    format!(
        "import java.util.*;
public class Main {{
    static int seen;
    static int factor() {{
        return {factor};
    }}
    public static void main(String[] args) throws Exception {{
        int first = factor();
        int second = first * 2;
        int third = second + 1;
        seen++;
        {besides}
        if (third + seen != 6) {{
            {failing}
        }}
    }}
}}
"
    )
}

/// What is found of the links of such a program, and how often the whole test ran for that.
fn tested(besides: &str, failing: &str, test: &[&str]) -> (Vec<Value>, u64) {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    for factor in [2, 5] {
        fs::write(place.path().join("Main.java"), passing_on(factor, besides, failing)).unwrap();
        commit(place.path(), "next");
    }
    let words = ["explain", "--json", "--bad", "HEAD", "--good", "HEAD~1", "--build", BUILD, "--"];
    let words: Vec<&str> = words.iter().chain(test).copied().collect();
    let (said, progress, code) = plain::idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    let chain: Value = serde_json::from_str(&said).unwrap();
    let links = chain["chain"].as_array().unwrap().iter().map(|link| link["tested"].clone()).collect();
    (links, chain["n_tests"].as_u64().unwrap() - chain["n_trials"].as_u64().unwrap())
}

/// Whether the links are tested in one virtual machine: the whole test runs to compare with it, for one of the links, and last.
/// With the right value, the test passes.
fn check_tested(besides: &str, failing: &str, is_warm: bool) {
    let (links, n_runs) = tested(besides, failing, &["java", "-cp", "out", "Main"]);
    assert!(links.iter().filter(|tested| **tested == "passes").count() >= 4, "{besides}{failing}\n{links:?}");
    assert_eq!(n_runs <= 3, is_warm, "{n_runs} runs: {besides}{failing}");
}

const THROWN: &str = "throw new IllegalStateException(\"third \" + third);";

#[test]
fn explain_tests_the_links_of_a_java_chain_in_one_virtual_machine() {
    if version().is_none() {
        return;
    }
    // It ends in ways that another trial must not see: with what it set, with a lock, before what comes behind.
    check_tested("System.out.println(Integer.getInteger(\"n\", 0)); System.setProperty(\"n\", \"5\");", THROWN, true);
    check_tested("Locale.setDefault(Locale.ROOT);", "synchronized (System.out) { System.exit(third); }", true);
    check_tested("System.setOut(null);", "try { System.exit(3); } finally { System.exit(0); }", true);
    check_tested("", "Runtime.getRuntime().halt(4);", true);
}

#[test]
fn explain_runs_the_test_for_each_link_if_a_java_program_leaves_something_over() {
    if version().is_none() {
        return;
    }
    for besides in [
        // A thread.
        "Thread one = new Thread(() -> { while (true) { Thread.yield(); } }); one.setDaemon(true); one.start();",
        // A value in a class of the system.
        "java.util.logging.Logger all = java.util.logging.Logger.getLogger(\"\");
        System.out.println(all.getHandlers().length); all.addHandler(new java.util.logging.StreamHandler());",
        // A file, which the next run finds.
        "if (third == 5 && !new java.io.File(\"lock\").createNewFile()) { throw new Exception(\"lock\"); }
        new java.io.File(\"lock\").deleteOnExit();",
        // What is done at the end.
        "Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(\"end\")));",
    ] {
        check_tested(besides, THROWN, false);
    }
}

#[test]
fn explain_runs_a_test_that_does_more_than_its_java_program_for_each_link_with_which_the_program_passes() {
    if version().is_none() {
        return;
    }
    // The script finds what the program says if only the last value is right.
    let besides = "if (third != second + 1) { System.out.println(\"inconsistent\"); }";
    let script = "java -cp out Main > log; code=$?; cat log; ! grep -q inconsistent log && exit $code";
    let (links, n_runs) = tested(besides, THROWN, &["sh", "-c", script]);
    let n_passing = links.iter().filter(|tested| **tested == "passes").count();
    assert!(n_passing >= 3 && n_runs > 3, "{n_runs} runs: {links:?}");
    assert!(links.iter().any(|tested| tested["fails-otherwise"] == "inconsistent"), "{links:?}");
}

/// What is explained of two versions of a class `Main`, without the code; the second one fails.
fn of_two(good: &str, bad: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    fs::write(place.path().join(".gitignore"), "out/\n").unwrap();
    assert_ne!(good, bad);
    for class in [good, bad] {
        fs::write(place.path().join("Main.java"), class).unwrap();
        commit(place.path(), "next");
    }
    let (said, progress, code) = explain(place.path(), &["--bad", "HEAD", "--good", "HEAD~1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    said
}

#[test]
fn explain_begins_behind_a_line_of_blanks_that_stands_where_java_code_is_missing() {
    if version().is_none() {
        return;
    }
    let class = |check: &str| {
        format!(
            "import java.util.*;
public class Main {{
    static List<String> fitting(List<String> all, String begin) {{
        List<String> found = new ArrayList<>();
{check}
        for (String one : all) {{
            if (one.startsWith(begin)) {{
                found.add(one);
            }}
        }}
        return found;
    }}
    public static void main(String[] args) {{
        List<String> found = fitting(Arrays.asList(\"go\", \"gone\"), \"go\");
        if (found.size() > 1) {{
            throw new IllegalStateException(\"not clear\");
        }}
    }}
}}
"
        )
    };
    let good =
        class("\n        if (all.contains(begin)) {\n            return Collections.singletonList(begin);\n        }");
    for blanks in ["        ", "        // To do: the same text."] {
        let said = of_two(&good, &class(blanks));
        for line in [
            "the reference also has if (all.contains(begin)) { return Collections.singletonList(begin) here",
            "found also has \"gone\" (reference: not added)",
            "It begins with the change.",
        ] {
            assert!(said.contains(line), "{line} is not in\n{said}");
        }
    }
}

#[test]
fn explain_begins_where_java_code_does_not_throw_what_the_test_expects() {
    if version().is_none() {
        return;
    }
    let good = "public class Main {
    static int get(String name) {
        if (name == null) {
            throw new NullPointerException();
        }
        return 1;
    }
    public static void main(String[] args) {
        try {
            get(null);
        } catch (NullPointerException expected) {
            return;
        }
        throw new AssertionError(\"expected an exception\");
    }
}
";
    // In a method of its own, as libraries of tests have it.
    let apart = good.replace(
        "    public static void main(String[] args) {",
        "    public static void main(String[] args) {\n        expect(() -> get(null));\n    }\n    static void expect(Runnable task) {",
    );
    let apart = apart.replace("            get(null);", "            task.run();");
    let check = "        if (name == null) {\n            throw new NullPointerException();\n        }\n";
    for (good, line) in [(good, 11), (&*apart, 14)] {
        let said = of_two(good, &good.replace(check, ""));
        let failure = format!("  Main.java:{line}  thus AssertionError (\"expected an exception\") leaves Main.main");
        for line in [
            "* Main.java:3  the reference also has if (name == null) { throw new NullPointerException() here, which leads to",
            &failure,
            "It begins with the change.",
        ] {
            assert!(said.lines().any(|found| found.starts_with(line)), "{line} is not in\n{said}");
        }
    }
}

#[test]
fn explain_leads_through_a_java_method_in_a_condition_and_names_the_call_that_another_one_replaces() {
    if version().is_none() {
        return;
    }
    let good = "import java.util.*;
public class Main {
    static boolean fits(int n) {
        for (int i = 0; i < 2; i++) {
            if (n > 5) {
                return false;
            }
        }
        return true;
    }
    public static void main(String[] args) {
        List<String> names = new ArrayList<>(List.of(\"a\", \"a\", \"b\"));
        names.removeAll(List.of(\"a\"));
        if (fits(4)) {
            names.add(\"c\");
        }
        if (!names.equals(List.of(\"b\", \"c\"))) {
            throw new AssertionError();
        }
    }
}
";
    let check = |old: &str, new: &str, expected: &[&str]| {
        let said = of_two(good, &good.replace(old, new));
        for line in expected {
            assert!(said.lines().any(|found| found.starts_with(line)), "{line} is not in\n{said}");
        }
    };
    check(
        "n > 5",
        "n > 3",
        &[
            "* Main.java:5  the condition is true (reference false)",
            "  Main.java:6  Main.fits returns false (reference true)",
        ],
    );
    check(
        "names.removeAll(List.of(\"a\"))",
        "names.remove(\"a\")",
        &[
            "* Main.java:13  names has one \"a\" less (reference: changed in another way in line 13); the reference has names.removeAll(List.of(\"a\"))",
        ],
    );
}

/// `a ||` jumps if it holds, and `if (a)` if it does not.
#[test]
fn explain_does_not_say_how_an_operand_of_java_went_that_goes_on_in_the_next_line() {
    if version().is_none() {
        return;
    }
    let good = "public class Main {
    static String size(int n, String text) {
        if (n > 3 ||
                text.length() == 0) {
            return \"big\";
        }
        return \"small\";
    }
    public static void main(String[] args) {
        if (!\"big\".equals(size(4, \"x\"))) {
            throw new AssertionError();
        }
    }
}
";
    let said = of_two(good, &good.replace("n > 3", "n > 5"));
    assert!(said.contains("* Main.java:3  the run goes on in line "), "{said}");
    assert!(said.contains("Main.java:10  the condition is true (reference false)"), "{said}");
}

#[test]
fn explain_follows_what_only_the_reference_adds_to_an_object_of_the_java_library() {
    if version().is_none() {
        return;
    }
    let class = "import java.util.*;
public class Main {
    private final List<String> names = new ArrayList<>();
    private final StringBuilder said = new StringBuilder();
    void take(String name, int age) {
        if (age >= 18) {
            names.add(name);
        }
        if (age > 20) {
            said.append(name).append(' ');
        }
    }
    public static void main(String[] args) {
        Main main = new Main();
        main.take(\"Ann\", 40);
        main.take(\"Bob\", 18);
        main.take(\"Cid\", 7);
        int n = main.names.size();
        String text = main.said.toString();
        if (n != 2 || !text.equals(\"Ann \")) {
            throw new IllegalStateException(n + text);
        }
    }
}
";
    let check = |old: &str, new: &str, expected: &[&str]| {
        let said = of_two(class, &class.replace(old, new));
        for line in expected {
            assert!(said.lines().any(|found| found.starts_with(line)), "{line} is not in\n{said}");
        }
        assert!(said.contains("It begins with the change."), "{said}");
    };
    check(
        "age >= 18",
        "age > 18",
        &[
            "* Main.java:6 (2nd time of 3)  main.names lacks \"Bob\" (reference: added in line 7); the reference has if (age >= 18) { here",
            "  Main.java:18  n is given 1 (reference 2)",
        ],
    );
    check(
        "age > 20",
        "age > 60",
        &[
            "* Main.java:9 (1st time of 3)  main.said lacks \"Ann\" (reference: appended in line 10)",
            "  Main.java:19  text is given \"\" (reference \"Ann \")",
        ],
    );
    check(
        "age > 20",
        "age > 17",
        &[
            "* Main.java:9 (2nd time of 3)  the condition is true (reference false)",
            "  Main.java:10 (2nd time of 2)  main.said also has \"Bob\" (reference: not appended)",
        ],
    );
}
