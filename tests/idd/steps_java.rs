//! Recordings of Java programs without values: `git idd record --steps`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use idd_trace::Trace;
use idd_trace::java::{JavaFrame, JavaMachine, JavaPlayer, JavaValue, Watch};

use crate::java::{BUILD, record, repository, torture, version};
use crate::plain;

/// The steps of each thread: the depth of the activation, its method, and the line; and how many exceptions ended activations.
#[derive(Default)]
struct Walk {
    steps: BTreeMap<u32, Vec<String>>,
    n_caught: u64,
}

impl Walk {
    fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for step in self.steps.values().flatten() {
            *counts.entry(step.as_str()).or_default() += 1;
        }
        counts
    }
}

/// Whether it differs from run to run how often a method runs: where the stack overflows, and where a thread waits in a loop.
fn differs(frame: &JavaFrame) -> bool {
    let name = &*frame.method.name;
    name.starts_with("deep") || name == "lambda$threads$0"
}

impl Watch for Walk {
    fn step(&mut self, machine: &JavaMachine, frame: &JavaFrame) {
        let depth = machine.frames().len();
        if differs(frame) {
            return;
        }
        let step = format!("{depth} {} {} {}", frame.method.function, frame.place().line, frame.step == frame.entry);
        self.steps.entry(machine.thread).or_default().push(step);
    }

    fn catches(&mut self, _machine: &JavaMachine, frame: &JavaFrame, _exception: JavaValue) {
        self.n_caught += u64::from(!differs(frame));
    }
}

/// The runs of a recording, by the number of the process.
fn walks(place: &Path, name: &str) -> Vec<Walk> {
    let place = place.join(".git/idd/recordings").join(name);
    let recording: serde_json::Value =
        serde_json::from_slice(&fs::read(place.join("recording.json")).unwrap()).unwrap();
    let walk = |process: &serde_json::Value| {
        let file = File::open(place.join(process["file"].as_str().unwrap())).unwrap();
        let mut player = JavaPlayer::new(Trace::open(Box::new(BufReader::new(file))).unwrap()).unwrap();
        let mut walk = Walk::default();
        player.replay(&mut walk).unwrap();
        assert_eq!(player.machine.n_wrong, 0);
        walk
    };
    recording["processes"].as_array().unwrap().iter().map(walk).collect()
}

#[test]
fn steps_without_values_are_those_of_a_recording_with_values() {
    let Some((files, test)) = torture() else { return };
    let place = repository(&files);
    record(place.path(), &["--once"], &test);
    let (said, _) = record(place.path(), &["--steps"], &test);
    assert!(said.contains("the test ended with exit code 3") && !said.contains("prints something else"), "{said}");
    let (with, without) = (walks(place.path(), "0001"), walks(place.path(), "0002"));
    assert_eq!(with.len(), without.len());
    for (with, without) in with.iter().zip(&without) {
        let (steps, other) = (&with.steps[&0], &without.steps[&0]);
        let first = steps.iter().zip(other).position(|(one, other)| one != other);
        let first = first.or((steps.len() != other.len()).then_some(steps.len().min(other.len())));
        if let Some(at) = first {
            let shown = |steps: &[String]| steps[at.saturating_sub(8)..steps.len().min(at + 8)].join("\n");
            panic!("#{at}:\n{}\nbut without values\n{}", shown(steps), shown(other));
        }
        // Which thread of a pool runs which task differs from run to run.
        let (with_counts, counts) = (with.counts(), without.counts());
        let others: Vec<_> = with_counts.iter().filter(|(step, n)| counts.get(*step) != Some(*n)).collect();
        assert_eq!(others, []);
        assert_eq!(with_counts.len(), counts.len());
        assert_eq!(with.n_caught, without.n_caught);
    }
}

const SUM: &str = "public class Sum {
    public static void main(String[] args) {
        int[] values = {1, 2, 3};
        long total = 0;
        for (int i = 0; i < values.length; i++) {
            total += squared(values[i]);
        }
        System.out.println(total);
        System.exit(squared((int) total) == 196 ? 1 : 0);
    }

    static int squared(int n) {
        return n * n;
    }
}
";

#[test]
fn a_recording_without_values_is_read_by_stat_and_tree_and_refused_by_others() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Sum.java", SUM)]);
    let idd = |words: &[&str]| plain::idd(place.path(), words);
    let (said, progress, _) = idd(&["record", "--steps", "--build", BUILD, "--", "java -cp out Sum"]);
    assert!(said.contains("* 0: java -cp out Sum (1 KiB of records without values, "), "{said}");
    assert!(!said.contains("warning") && !progress.contains("Note"), "{said}{progress}");
    let tree = "Sum.main(...) (never returned)  Sum.java:3 #1
  loop, 3 times  Sum.java:5 #5  for (int i = 0; i < values.length; i++) {
    iteration 1
      Sum.squared(...)  Sum.java:13 #7
    iteration 2
      Sum.squared(...)  Sum.java:13 #12
    iteration 3
      Sum.squared(...)  Sum.java:13 #17
  Sum.squared(...)  Sum.java:13 #23
";
    assert_eq!(idd(&["trace", "tree"]).0, tree);
    let stat = "recording 0001: java -cp out Sum
26 steps in 5 calls of 2 functions, 1 thread
";
    let (said, ..) = idd(&["trace", "stat"]);
    assert!(said.starts_with(stat) && said.ends_with(" bytes, without values\n"), "{said}");
    assert_eq!(said.lines().count(), 3, "{said}");
    let json: serde_json::Value = serde_json::from_str(&idd(&["trace", "stat", "--json"]).0).unwrap();
    assert_eq!((&json["has_values"], &json["n_steps"]), (&false.into(), &26.into()));
    assert!(json["heap"].is_null() && json["check"].is_null() && json["n_uses"].is_null(), "{json}");
    let json: serde_json::Value = serde_json::from_str(&idd(&["trace", "tree", "--json"]).0).unwrap();
    assert!(json["calls"][0]["arguments"].is_null(), "{json}");
    for words in [
        &["trace", "step", "7"][..],
        &["trace", "why", "7", "n"],
        &["trace", "inputs"],
        &["slice", "--backward", "7"],
        &["debug"],
        &["debug", "--passing", "0001"],
    ] {
        let (said, progress, code) = idd(words);
        assert_eq!((code, said.as_str()), (Some(1), ""), "{words:?} {progress}");
        assert!(progress.contains("error: recording 0001 has no values, only steps"), "{words:?} {progress}");
        assert!(progress.contains("record the test again without `--steps`"), "{words:?} {progress}");
    }
}

#[test]
fn a_c_program_of_the_test_is_recorded_with_values_whatever_is_asked() {
    if version().is_none() {
        return;
    }
    let place = repository(&[("Sum.java", SUM), ("one.c", "int main(void) { int n = 1; return n; }\n")]);
    let build = format!("{BUILD} && $CC -O0 -o one one.c");
    let words = ["record", "--once", "--steps", "--build", &build, "--", "java -cp out Sum; ./one"];
    let (said, progress, code) = plain::idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(progress.contains("`--steps` has no effect on C programs"), "{progress}");
    assert!(said.contains("java -cp out Sum (1 KiB of records without values, "), "{said}");
    let (said, progress, code) = plain::idd(place.path(), &["trace", "step", "1"]);
    assert_eq!(code, Some(0), "{said}{progress}");
}

#[test]
fn methods_that_would_become_too_long_are_named() {
    if version().is_none() {
        return;
    }
    let lines = "        n += squared(n);\n".repeat(4000);
    let long = SUM.replace("        long total = 0;\n", &format!("        long total = 0; int n = 1;\n{lines}"));
    let place = repository(&[("Sum.java", &long)]);
    let (said, _) = record(place.path(), &["--once"], "java -cp out Sum");
    let named = "warning: 1 method of a recorded Java class was left out:\n  Sum.main: a method that would be longer than 64 KiB\n";
    assert!(said.contains(named), "{said}");
    let (stat, ..) = plain::idd(place.path(), &["trace", "stat"]);
    assert!(stat.contains(named), "{stat}");
}
