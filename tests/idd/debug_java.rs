//! `git idd debug` and `git idd dap` on recordings of Java programs.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use idd_trace::java::JavaPlayer;
use idd_trace::java::detail::JavaFocus;
use idd_trace::{Detail, Step, Trace};
use serde_json::{Value, json};

use crate::dap::Editor;
use crate::java::{record, repository, version};
use crate::plain;

/// The fault is in line 28: the whole price is taken off.
const CART: &str = r#"import java.util.ArrayList;
import java.util.List;

public class Main {
    static class Item {
        final String name;
        int price;

        Item(String name, int price) {
            this.name = name;
            this.price = price;
        }
    }

    private final List<Item> items = new ArrayList<>();
    private int total;

    void add(String name, int price) {
        Item item = new Item(name, price);
        item.price = discounted(item);
        items.add(item);
        total += item.price;
    }

    static int discounted(Item item) {
        int off = item.price > 100 ? 10 : 0;
        if (item.price < 10)
            off = item.price;
        return item.price - off;
    }

    public static void main(String[] args) {
        Main cart = new Main();
        int[] prices = {120, 5, 40};
        for (int i = 0; i < prices.length; i++) {
            cart.add("item" + i, prices[i]);
        }
        int expected = 155;
        if (cart.total != expected) {
            throw new IllegalStateException("wrong: " + cart.total);
        }
    }
}
"#;

/// From the exception, with a jump to the fault and to its caller.
const WALK: &str = r#"1. step 72, Main.java:40, in Main.main
      throw new IllegalStateException("wrong: " + cart.total);
  1: uses cart = Main#n {items = ArrayList#n, total = 150}
  2: uses cart.total = 150
     calls string +(150) = "wrong: 150"
     calls new IllegalStateException("wrong: 150")
[c w h p m u g z q ?] w cart.total

2. step 66, Main.java:22, in Main.add  (it gave a wrong value, or decided for what followed; 13 statements suspected)
   Main.main > loop, Main.java:35, 3 of 3 > Main.add(), Main.java:36
      total += item.price;
  1: uses this.total = 110
  2: uses item = Main$Item#n {price = 40, name = "item2"}
  3: uses item.price = 40
  4: uses this = Main#n {items = ArrayList#n, total = 110}
     gives this.total = 150
[c w h p m u g z q ?] c

3. step 68, Main.java:35, in Main.main  (it lies between a step that is right and one that uses a wrong value; 3 statements suspected)
   Main.main > loop, Main.java:35, 3 of 3
      for (int i = 0; i < prices.length; i++) {
  1: uses i = 2
  2: uses prices = int[3]#n {120, 5, 40}
     gives i = 3
     decides: false
[c w h p m u g z q ?] g Main.java:28
no later run of Main.java:28: this is the last one before

3. step 43, Main.java:28, in Main.discounted
   Main.main > loop, Main.java:35, 2 of 3 > Main.add(), Main.java:36 > Main.discounted(), Main.java:20
      off = item.price;
  1: uses item = Main$Item#n {price = 5, name = "item1"}
  2: uses item.price = 5
     gives off = 5
[c w h p m u g z q ?] g discounted

3. step 58, Main.java:20, in Main.add
   Main.main > loop, Main.java:35, 3 of 3 > Main.add(), Main.java:36
      item.price = discounted(item);
  1: uses item = Main$Item#n {price = 40, name = "item2"}
  2: uses discounted() = 40
     gives item.price = 40
     gives discounted.item = Main$Item#n
[c w h p m u g z q ?] q"#;

/// The end of a walk from an expectation.
const FOUND: &str = "  step 43, Main.java:28, in Main.discounted: computes a wrong value
      off = item.price;
      item = Main$Item#n, item.price = 5, off = 5
  step 44, Main.java:29, in Main.discounted: uses the wrong off = 5
      return item.price - off;
";

/// What a walk with these answers prints, without numbers of objects, and its exit code.
fn walked(place: &Path, answers: &str, more: &[&str]) -> (String, Option<i32>) {
    fs::write(place.join(".git/answers"), answers).unwrap();
    let words = [&["debug", "--answers", ".git/answers"], more].concat();
    let (said, complaint, code) = plain::idd(place, &words);
    let objects = regex::Regex::new(r"#\d+").unwrap();
    (objects.replace_all(&(said + &complaint), "#n").into_owned(), code)
}

#[test]
fn debug_leads_from_an_exception_of_java_to_the_first_wrong_step() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", CART)]);
    record(place.path(), &["--once"], "java -cp out Main");
    let (said, code) = walked(place.path(), "w cart.total\nc\ng Main.java:28\ng discounted\nq\n", &[]);
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(said.split_once("\n\nTaking up").unwrap().0.trim(), WALK);

    // The expectation is the first answer, and the step that used the value is asked about next.
    let expect = ["--expect", "off * 2 < item.price at Main.java:29"];
    let (said, code) = walked(place.path(), "w off\ng 43\nh\n", &expect);
    assert_eq!(code, Some(0), "{said}");
    let (before, found) = said.split_once("The first wrong step:\n").unwrap();
    assert!(before.starts_with("`off * 2 < item.price` does not hold before step 44, Main.java:29"), "{before}");
    assert_eq!(found.split_once("Taking up").unwrap().0, FOUND);

    // A decision, and both directions of time.
    let (said, _) = walked(place.path(), "/off = 5\n< item.price\n> this.price\ng 42\nq\n", &["--from", "25"]);
    assert!(said.contains("off = item.price;\n  1: uses item = Main$Item#n {price = 5, name = \"item1\"}"), "{said}");
    assert!(said.contains("gives this.price = 5"), "{said}");
    assert!(said.contains("gives item.price = 0"), "{said}");
    assert!(said.contains("if (item.price < 10)\n"), "{said}");
    assert!(said.contains("decides: true"), "{said}");

    // What is not known is refused clearly.
    let (said, code) = walked(place.path(), "", &["--expect", "nothing == 3 at Main.java:29"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no variable `nothing` is visible here"), "{said}");
    assert!(said.contains("are: item, off\n"), "{said}");

    // The same in an editor.
    let mut editor = Editor::new(plain::program(place.path()).arg("dap"));
    editor.ask("launch", &json!({}), 1);
    let file = place.path().join("Main.java");
    let set = json!({"source": {"path": file}, "breakpoints": [{"line": 28, "condition": "item.price == 5"}]});
    let set = editor.ask("setBreakpoints", &set, 0);
    assert_eq!(set[0]["breakpoints"][0]["verified"], true, "{set:?}");
    let stopped = editor.ask("configurationDone", &json!({}), 1)[1].clone();
    assert_eq!((&stopped["reason"], &stopped["text"]), (&json!("exception"), &json!("an exception")), "{stopped}");
    assert_eq!(editor.ask("reverseContinue", &json!({"threadId": 1}), 1)[1]["reason"], "breakpoint");
    let stack = editor.ask("stackTrace", &json!({"threadId": 1}), 0)[0].clone();
    let names: Vec<&Value> = stack["stackFrames"].as_array().unwrap().iter().map(|frame| &frame["name"]).collect();
    assert_eq!(names, ["Main.discounted", "Main.add", "Main.main"], "{stack}");
    assert!(stack["stackFrames"][0]["source"]["path"].as_str().unwrap().ends_with("/Main.java"), "{stack}");
    let value = |editor: &mut Editor, text: &str, frame: u32| {
        editor.ask("evaluate", &json!({"expression": text, "frameId": frame}), 0)[0].clone()
    };
    assert_eq!(value(&mut editor, "item.price * 2", 1)["result"], "10");
    assert_eq!(value(&mut editor, "this.items != null && total == 110", 2)["result"], "1");
    let prices = value(&mut editor, "prices", 3);
    assert_eq!(prices["indexedVariables"], 3, "{prices}");
    let reference = &prices["variablesReference"];
    let parts = editor.ask("variables", &json!({"variablesReference": reference}), 0)[0]["variables"].clone();
    assert_eq!((&parts[1]["name"], &parts[1]["value"]), (&json!("[1]"), &json!("5")), "{parts}");
    let locals = editor.ask("variables", &json!({"variablesReference": 9}), 0)[0]["variables"].clone();
    let names: Vec<&Value> = locals.as_array().unwrap().iter().map(|local| &local["name"]).collect();
    assert_eq!(names, ["this", "name", "price", "item"], "{locals}");
    let fields = json!({"variablesReference": locals[0]["variablesReference"]});
    let fields = editor.ask("variables", &fields, 0)[0]["variables"].clone();
    assert_eq!((&fields[1]["name"], &fields[1]["value"]), (&json!("total"), &json!("110")), "{fields}");
    editor.ask("stepBack", &json!({"threadId": 1}), 1);
    let stack = editor.ask("stackTrace", &json!({"threadId": 1}), 0)[0].clone();
    assert_eq!(stack["stackFrames"][0]["line"], 27, "{stack}");
    // What wrote the total before.
    let info = editor.ask("dataBreakpointInfo", &json!({"name": "cart.total", "frameId": 3}), 0)[0]["dataId"].clone();
    let set = json!({"breakpoints": [{"dataId": info, "accessType": "write"}]});
    assert_eq!(editor.ask("setDataBreakpoints", &set, 0)[0]["breakpoints"][0]["verified"], true, "{info}");
    assert_eq!(editor.ask("reverseContinue", &json!({"threadId": 1}), 1)[1]["reason"], "data breakpoint");
    let stack = editor.ask("stackTrace", &json!({"threadId": 1}), 0)[0].clone();
    assert_eq!(stack["stackFrames"][0]["line"], 22, "{stack}");
    editor.leave();
}

/// The fault is in line 17: the last price is as high as the one before, and should be 20 more.
const LIST: &str = r#"import java.util.ArrayList;
import java.util.List;

public class Main {
    static class Price {
        final int cents;

        Price(int cents) {
            this.cents = cents;
        }
    }

    static List<Integer> prices(int count) {
        List<Integer> found = new ArrayList<>();
        Price last = new Price(0);
        for (int i = 0; i < count; i++) {
            int added = i > 1 ? 0 : 10;
            last = new Price(last.cents + added);
            found.add(last.cents);
        }
        return found;
    }

    public static void main(String[] args) {
        List<Integer> prices = prices(3);
        int sum = 0;
        for (int price : prices) {
            sum += price;
        }
        if (sum != 70) {
            throw new IllegalStateException("sum " + sum);
        }
    }
}
"#;

/// A repository with a version that passes and one that fails.
fn versions() -> tempfile::TempDir {
    let place = repository(&[("Main.java", &LIST.replace("? 0 : 10", "? 20 : 10"))]);
    fs::write(place.path().join("Main.java"), LIST).unwrap();
    plain::git(place.path(), &["commit", "--quiet", "--all", "-m", "Fail"]);
    place
}

const BUILD: &str = "javac -g -d out *.java";
const TEST: &str = "java -cp out Main";

#[test]
fn debug_of_two_versions_of_java_asks_first_where_they_do_something_else_with_the_same_values() {
    if version().is_none() {
        return;
    }
    let place = versions();
    fs::write(place.path().join(".git/answers"), "h\n").unwrap();
    let both = ["--bad", "HEAD", "--good", "HEAD~1", "--build", BUILD, "--", TEST];
    let words = [&["debug", "--answers", ".git/answers"], &both[..]].concat();
    let (said, complaint, code) = plain::idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{complaint}");
    assert!(said.starts_with("\n1. step "), "{said}");
    assert!(said.lines().nth(1).unwrap().contains(", Main.java:17, in Main.prices"), "{said}");
    assert!(said.contains("uses i = 2  (as in the passing run)\n"), "{said}");
    assert!(said.contains("Main.java:17, in Main.prices: decides wrongly\n"), "{said}");

    // A person who knows the passing version finds it by each way.
    let ways = "expected,expected+help,microbat,dominators,slicing,divide,states";
    let walks = walks(place.path(), ways);
    let ways = walks.as_object().unwrap();
    assert_eq!(ways.len(), 7, "{walks}");
    for (name, way) in ways {
        assert_eq!(way["found"], true, "{name}: {walks}");
    }
    assert_eq!(ways["expected+help"]["answers"], 0, "{walks}");
    // The list holds something else, although the same step made it.
    let judged = ways["dominators"]["judged"].as_array().unwrap();
    let of_line = |line: u32| judged.iter().find(|judged| judged[1] == line).map(|judged| judged[2].clone());
    assert_eq!(of_line(27), Some(json!("WrongValue([1])")), "{walks}");
}

#[test]
fn debug_of_java_marks_what_is_the_same_in_a_passing_recording() {
    if version().is_none() {
        return;
    }
    let place = versions();
    record(place.path(), &["--once"], TEST);
    record(place.path(), &["--once", "--at", "HEAD~1"], TEST);
    let (said, code) = walked(place.path(), "g Main.java:18\nq\n", &["--recording", "1", "--passing", "2"]);
    assert_eq!(code, Some(130), "{said}");
    // Objects are compared by the steps that made them, not by their numbers.
    assert!(said.contains("uses last = Main$Price#n {cents = 20}  (as in the passing run)"), "{said}");
    let (said, code) = walked(place.path(), "", &["--recording", "2", "--passing", "1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("in recording 0001, the program did not exit with 0"), "{said}");
}

/// The fault is in line 3: 4 should be refused.
const REFUSED: &str = r#"public class Main {
    static int check(int n) {
        if (n > 5) {
            throw new IllegalArgumentException("n");
        }
        return n;
    }

    static int twice(int n) {
        int checked = check(n);
        return 2 * checked;
    }

    static void fail() {
        throw new AssertionError("not refused");
    }

    public static void main(String[] args) {
        try {
            twice(4);
            fail();
        } catch (IllegalArgumentException refused) {
            System.out.println(refused.getMessage());
        }
    }
}
"#;

#[test]
fn debug_of_java_asks_what_should_have_thrown_before_a_step_that_should_not_run() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", REFUSED)]);
    record(place.path(), &["--once"], TEST);
    // The call in main should not run either, and nothing decided for it.
    let (said, code) = walked(place.path(), "p\np\nc\nq\n", &[]);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("      fail();\n  1: uses fail() = AssertionError#n (\"not refused\")\n"), "{said}");
    assert!(said.contains("      twice(4);\n  1: uses twice() = 8\n"), "{said}");
    assert!(said.contains("      int checked = check(n);\n"), "{said}");
}

/// The fault is in line 9; the library makes a text of the buffer that the method gives back.
const FORMATTED: &str = r#"import java.text.FieldPosition;
import java.text.Format;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.Locale;

public class Main extends Format {
    public StringBuffer format(Object value, StringBuffer to, FieldPosition at) {
        int doubled = 2 + (Integer) value;
        NumberFormat.getInstance(Locale.ROOT).format((long) doubled, to, at);
        return to;
    }

    public Object parseObject(String text, ParsePosition at) {
        return null;
    }

    public static void main(String[] args) {
        String text = new Main().format(5);
        if (!text.equals("10")) {
            throw new IllegalStateException(text);
        }
    }
}
"#;

/// The fault is in line 4: the condition does not hold, so no step in it does anything wrong.
const SKIPPED: &str = r#"public class Main {
    static int most(int first, int second) {
        int most = first;
        if (second > first + 1) {
            most = second;
        }
        return most;
    }

    public static void main(String[] args) {
        int most = most(3, 4);
        if (most != 4) {
            throw new IllegalStateException("most " + most);
        }
    }
}
"#;

/// The walks of a person who knows the passing version, HEAD~1, over the failing one, by way.
#[track_caller]
fn walks(place: &Path, ways: &str) -> Value {
    let both = ["--bad", "HEAD", "--good", "HEAD~1", "--build", BUILD, "--", TEST];
    let output = plain::example(place, "simulate").args(["debug", "--simulate", ways]).args(both).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut walks: Value = serde_json::from_slice(&output.stdout).unwrap();
    walks["ways"].take()
}

/// The same of one way, over a source whose passing version is given.
#[track_caller]
fn simulated(failing: &str, passing: &str, way: &str) -> Value {
    let place = repository(&[("Main.java", passing)]);
    fs::write(place.path().join("Main.java"), failing).unwrap();
    plain::git(place.path(), &["commit", "--quiet", "--all", "-m", "Fail"]);
    walks(place.path(), way)[way].take()
}

#[test]
fn debug_of_java_follows_what_is_in_a_buffer_that_the_library_gets_back() {
    if version().is_none() {
        return;
    }
    let walk = simulated(FORMATTED, &FORMATTED.replace("2 + ", "2 * "), "slicing");
    assert_eq!(walk["found"], true, "{walk}");
    let judged = walk["judged"].as_array().unwrap();
    let of_call = judged.iter().find(|judged| judged[1] == 19).map(|judged| judged[2].as_str().unwrap());
    assert!(of_call.is_some_and(|said| said.starts_with("WrongValue")), "{walk}");
}

#[test]
fn debug_of_java_suspects_a_decision_that_skipped_what_should_have_changed_a_value() {
    if version().is_none() {
        return;
    }
    let walk = simulated(SKIPPED, &SKIPPED.replace("first + 1)", "first)"), "slicing");
    assert_eq!(walk["found"], true, "{walk}");
}

/// The fault is in line 3. Two statements go on in other lines: the compiler begins a line for each argument, and goes back to
/// the first line for the call.
const SEVERAL_LINES: &str = r#"public class Main {
    static int size() {
        return 3;
    }

    static void check(String what, int expected, int found) {
        if (expected != found) {
            throw new IllegalStateException(what);
        }
    }

    static int twice(int n) {
        return 2 * n;
    }

    public static void main(String[] args) {
        int size = twice(
            args.length > 0
                ? 0
                : size());
        int expected = 4;
        check("size",
              expected,
              size);
    }
}
"#;

#[test]
fn debug_of_java_asks_once_about_a_statement_in_several_lines() {
    if version().is_none() {
        return;
    }
    let walk = simulated(SEVERAL_LINES, &SEVERAL_LINES.replace("return 3", "return 2"), "slicing");
    assert_eq!(walk["found"], true, "{walk}");
    let judged = walk["judged"].as_array().unwrap();
    let said = |line: u32| {
        let of_line = judged.iter().filter(|judged| judged[1] == line);
        of_line.map(|judged| judged[2].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // What another branch left for the call is a value that it uses.
    assert!(matches!(&said(17)[..], [only] if only.starts_with("WrongValue")), "{walk}");
    assert!(matches!(&said(22)[..], [only] if only.starts_with("WrongValue")), "{walk}");
    assert_eq!(said(24), [""; 0], "{walk}");
    assert!(!judged.iter().any(|judged| judged[2] == "WrongResult"), "{walk}");
}

/// The fault is in line 5. The failing run makes more objects, so those made later have other numbers.
const COUNTED: &str = r#"import java.math.BigInteger;

public class Main {
    static int exponent(int n) {
        return n + 1;
    }

    static BigInteger power(int n) {
        BigInteger found = BigInteger.ONE;
        for (int i = 0; i < n; i++) {
            found = found.multiply(BigInteger.valueOf(3));
        }
        return found;
    }

    static String shown(String mark, BigInteger n) {
        StringBuilder text = new StringBuilder();
        text.append(mark);
        text.append(n.testBit(201) ? "large" : "small");
        return text.toString();
    }

    public static void main(String[] args) {
        String shown = shown("n ", power(exponent(126)));
        if (!shown.equals("n small")) {
            throw new IllegalStateException(shown);
        }
    }
}
"#;

#[test]
fn debug_of_java_compares_objects_by_what_they_are() {
    if version().is_none() {
        return;
    }
    let walk = simulated(COUNTED, &COUNTED.replace("n + 1", "n"), "slicing");
    assert_eq!(walk["found"], true, "{walk}");
    let judged = walk["judged"].as_array().unwrap();
    let said = |line: u32, wanted: &str| {
        judged.iter().any(|judged| judged[1] == line && judged[2].as_str().unwrap().starts_with(wanted))
    };
    assert!(said(20, "WrongValue") && said(24, "WrongValue"), "{walk}");
    assert!(!judged.iter().any(|judged| judged[2] == "WrongResult"), "{walk}");
}

const LARGE: &str = r#"import java.math.BigDecimal;
import java.math.BigInteger;

public class Main {
    static void check(BigInteger power, BigInteger huge, BigDecimal price) {
        throw new IllegalStateException("no");
    }

    public static void main(String[] args) {
        check(BigInteger.valueOf(3).pow(127), BigInteger.ONE.shiftLeft(500), new BigDecimal("12.50"));
    }
}
"#;

#[test]
fn debug_of_java_shows_the_digits_of_large_numbers() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", LARGE)]);
    record(place.path(), &["--once"], TEST);
    let (said, _) = walked(place.path(), "g Main.java:10\nq\n", &[]);
    let power = "3930061525912861057173624287137506221892737197425280369698987";
    for shown in [format!("power = {power}\n"), "huge = 501 bits, hash ".to_owned(), "price = 12.50\n".to_owned()] {
        assert!(said.contains(&shown), "{shown}: {said}");
    }
}

/// The fault is in line 7. Its result goes through a file, so the failure does not depend on it by what is recorded.
const THROUGH_A_FILE: &str = r#"import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

public class Main {
    static int next(int n) {
        return n + 2;
    }

    static int read(String name) throws Exception {
        return Integer.parseInt(Files.readAllLines(Paths.get(name), StandardCharsets.UTF_8).get(0));
    }

    public static void main(String[] args) throws Exception {
        Files.write(Paths.get("n.txt"), String.valueOf(next(1)).getBytes(StandardCharsets.UTF_8));
        int found = read("n.txt");
        Files.delete(Paths.get("n.txt"));
        if (found != 2) {
            throw new IllegalStateException("found " + found);
        }
    }
}
"#;

#[test]
fn debug_of_java_asks_about_other_steps_when_those_that_the_failure_depends_on_are_judged() {
    if version().is_none() {
        return;
    }
    let passing = THROUGH_A_FILE.replace("n + 2", "n + 1");
    for (way, is_found) in [("slicing", false), ("expected", true)] {
        let walk = simulated(THROUGH_A_FILE, &passing, way);
        assert_eq!(walk["found"], is_found, "{way}: {walk}");
    }
}

/// An assertion that fails after more records than lie between two checkpoints.
const LONG: &str = r#"public class Main {
    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 20000; i++) {
            sum += new int[] {i}.length;
        }
        int half = sum / 3;
        assert half == 10000 : "half";
    }
}
"#;

#[test]
fn debug_of_java_begins_at_an_assertion_and_plays_from_checkpoints() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", LONG)]);
    let (_, recording) = record(place.path(), &["--once"], "java -ea -cp out Main");
    let (said, code) = walked(place.path(), "g Main.java:7\nh\n", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Main.java:7, in Main.main: computes a wrong value\n"), "{said}");
    assert!(said.contains("Main.java:8, in Main.main: uses the wrong half = 6666\n"), "{said}");

    let file = place.path().join(".git/idd/recordings/0001").join(recording["processes"][0]["file"].as_str().unwrap());
    let trace = Trace::open(Box::new(BufReader::new(File::open(file).unwrap()))).unwrap();
    let mut player = JavaPlayer::new(trace).unwrap();
    let n_steps = player.n_steps().unwrap();
    for step in [1, n_steps / 2, n_steps - 3, 7] {
        let steps = [Step(step), Step(step + 1)];
        let mut found: Vec<Vec<Detail>> = Vec::new();
        for is_whole in [true, false] {
            let mut focus = JavaFocus::new(&steps, Step(u32::MAX));
            let done = if is_whole { player.replay(&mut focus) } else { player.replay_from(steps[0], &mut focus) };
            done.unwrap();
            found.push(focus.end());
        }
        assert_eq!(found[0], found[1], "{step}");
        assert_eq!(found[0].len(), 2, "{step}");
    }
}

/// The fault is in line 6: `mark` is taken for another number for each slot from 4 on, and the failure is about slot 6.
const SLOTS: &str = r#"public class Main {
    static final byte[] slots = new byte[9];

    static void lower(int mark) {
        for (int slot = 0; slot < slots.length; slot++) {
            if (slots[slot] > mark) {
                slots[slot]--;
            }
        }
    }

    public static void main(String[] args) {
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = (byte) (124 + slot);
        }
        lower(5);
        int found = slots[6] & 0xff;
        if (found != 129) {
            throw new IllegalStateException("slot " + found);
        }
    }
}
"#;

#[test]
fn debug_of_two_versions_of_java_asks_first_about_the_iteration_that_skipped_the_write_of_the_wrong_element() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Main.java", &SLOTS.replace("slots[slot] > mark", "(slots[slot] & 0xff) > mark"))]);
    fs::write(place.path().join("Main.java"), SLOTS).unwrap();
    plain::git(place.path(), &["commit", "--quiet", "--all", "-m", "Fail"]);
    fs::write(place.path().join(".git/answers"), "h\n").unwrap();
    let both = ["--bad", "HEAD", "--good", "HEAD~1", "--build", BUILD, "--", TEST];
    let words = [&["debug", "--answers", ".git/answers"], &both[..]].concat();
    let (said, complaint, code) = plain::idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{complaint}");
    assert!(said.lines().nth(1).unwrap().contains(", Main.java:6, in Main.lower"), "{said}");
    assert!(said.contains("loop, Main.java:5, 7 of 9"), "{said}");
    assert!(said.contains("uses slot = 6  (as in the passing run)\n"), "{said}");
}
