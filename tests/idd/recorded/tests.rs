use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};

use idd_base::{CommitId, Ending, Observation, Reason, Stage, TreeId};
use idd_world::place::surroundings::Surroundings;
use idd_world::process::{CommandWatch, CommandWords, ProcessGroup};
use idd_world::run::sandbox::{Commands, Precheck, ProbeJob, Rebuild};
use tempfile::TempDir;

use super::*;
use crate::recorded::tools::Machine;

/// An executor whose results have the number of the run in their output.
#[derive(Default)]
struct Bench {
    n_runs: Arc<AtomicU64>,
    done: VecDeque<PlaceResult>,
    n_reserved: usize,
}

impl Executor for Bench {
    fn usual_width(&self) -> usize {
        1
    }

    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        self.n_reserved += 1;
        Ok((self.n_reserved <= wish.width).then_some(self.n_reserved + 6))
    }

    fn directory(&self, _: usize) -> Option<&Path> {
        None
    }

    fn start(&mut self, place: usize, placed_job: PlacedJob) {
        let n_runs = self.n_runs.fetch_add(1, Ordering::Relaxed) + 1;
        let ProbeJob { limits, is_clean, .. } = placed_job.job;
        let observation = Observation {
            stage: Stage::Test,
            ending: Ending::Exit(1),
            duration: Duration::from_millis(n_runs * 900),
            limit: limits.test,
            output: format!("run {n_runs} in /scratch/a/repo \\ \u{1b}[1m\n\r\nend"),
            reported: String::new(),
            is_clean,
            is_tampered: n_runs == 2,
            place: None,
        };
        let probed = Probed {
            observation,
            artifact: None,
            product: None,
            is_same_product: false,
            stale: (n_runs == 3).then(|| "cc: x".to_owned()),
            removed: Vec::new(),
        };
        self.done.push_back(PlaceResult { place, result: Ok(Some(probed)) });
    }

    fn poll(&mut self, _: Duration) -> Option<PlaceResult> {
        self.n_reserved -= 1;
        self.done.pop_front()
    }

    fn directories(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        BTreeSet::new()
    }

    fn spoil(&mut self) {}

    fn dismiss(&mut self) -> bool {
        true
    }
}

struct Patient;

impl CommandWatch for Patient {
    fn executions(&self) -> Option<Arc<ExecutedPrograms>> {
        Some(Arc::default())
    }

    fn started(&mut self, _: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn places(place: &str) -> Places {
    Places::new(Path::new(place), Path::new("/shared"))
}

fn job() -> ProbeJob {
    ProbeJob { is_clean: false, ..ProbeJob::fresh(TreeId::sha1([7; 20]), Duration::from_secs(20)) }
}

fn commands() -> Commands {
    let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    Commands {
        fetching: None,
        regeneration: None,
        build: Some(CommandWords::Shell("make".into())),
        test: CommandWords::Argv(vec!["./test.sh".into()]),
        artifacts: Vec::new(),
        directory: PathBuf::new(),
        environment: vec![variable("PATH", "/bin"), variable("HOME", "/scratch/a/home"), variable("LC_ALL", "C")],
        is_home_isolated: false,
        surroundings: Surroundings::default(),
    }
}

/// Asks for probes one after the other, with the known ones of a record; returns their results, and the record of those
/// that ran.
fn ask(known: &Record, place: &str, probes: &[(ProbeJob, Commands)]) -> (Vec<Probed>, Record) {
    let recorder = Recorder::new(known.clone(), places(place));
    let mut executor = recorder.around(Box::new(Bench::default()));
    let ask = |(job, commands): &(ProbeJob, Commands)| {
        let wish = Wish { tree: job.tree, is_reference: false, is_far: false, width: 1 };
        let place = executor.reserve(wish).unwrap().unwrap();
        let (job, commands) = (job.clone(), Arc::new(commands.clone()));
        executor.start(place, PlacedJob { job, commands, watch: Box::new(Patient), known: Box::new(|_| None) });
        let done = executor.wait();
        assert_eq!(done.place, place);
        done.result.unwrap().unwrap()
    };
    let results = probes.iter().map(ask).collect();
    (results, recorder.ran())
}

/// The record of two runs of a probe, as its file gives it back.
fn known() -> Record {
    let (_, record) = ask(&Record::default(), "/scratch/a", &[(job(), commands()), (job(), commands())]);
    let text = record.written();
    let read = Record::read(&text).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(read, record, "{text}");
    read
}

/// The number of runs that a probe needs although [`known`] has two of the usual one.
#[track_caller]
fn check_misses(n_expected: usize, probes: &[(ProbeJob, Commands)]) {
    let (_, ran) = ask(&known(), "/scratch/a", probes);
    assert_eq!(ran.asked().count(), n_expected, "{}", ran.written());
}

#[test]
fn a_known_probe_does_not_run_and_has_the_result_of_its_run() {
    let probes = [(job(), commands()), (job(), commands())];
    let (first, record) = ask(&Record::default(), "/scratch/a", &probes);
    let (second, ran) = ask(&record, "/scratch/a", &probes);
    assert!(ran.is_empty());
    let text = |probed: &[Probed]| format!("{probed:?}");
    assert_eq!(text(&first), text(&second));
    assert!(first[0].observation.output.starts_with("run 1 in /scratch/a/repo"));
    assert!(first[1].observation.output.starts_with("run 2 in") && first[1].observation.is_tampered);
    check_misses(0, &probes);
}

#[test]
fn a_third_run_is_unknown_if_two_are_recorded() {
    check_misses(1, &[(job(), commands()), (job(), commands()), (job(), commands())]);
}

#[test]
fn another_tree_or_another_way_to_run_is_unknown() {
    let changed: [&dyn Fn(&mut ProbeJob); 7] = [
        // A changed build script, a changed test and a held file are in the tree.
        &|job| job.tree = TreeId::sha1([8; 20]),
        &|job| job.is_clean = true,
        &|job| job.limits.test = Duration::from_secs(21),
        &|job| job.rebuild = Rebuild::Failure,
        &|job| job.exposed_commit = Some(CommitId::sha1([1; 20])),
        &|job| job.artifact_of = Some(CommitId::sha1([1; 20])),
        &|job| job.precheck = Some(Precheck::Command(CommandWords::Shell("true".into()))),
    ];
    for change in changed {
        let mut job = job();
        change(&mut job);
        check_misses(1, &[(job, commands())]);
    }
}

#[test]
fn other_commands_or_another_environment_are_unknown() {
    let changed: [&dyn Fn(&mut Commands); 8] = [
        &|commands| commands.build = None,
        &|commands| commands.build = Some(CommandWords::Shell("make -k".into())),
        &|commands| commands.test = CommandWords::Shell("./test.sh".into()),
        &|commands| commands.test = CommandWords::Argv(vec!["./test.sh".into(), "x".repeat(500).into()]),
        &|commands| commands.directory = "sub".into(),
        &|commands| commands.artifacts.push(b"a".to_vec()),
        &|commands| commands.environment.push(("CFLAGS".into(), "-O1".into())),
        &|commands| commands.is_home_isolated = true,
    ];
    for change in changed {
        let mut commands = commands();
        change(&mut commands);
        check_misses(1, &[(job(), commands)]);
    }
}

#[test]
fn the_place_of_a_test_and_the_directories_of_programs_do_not_count() {
    let mut elsewhere = commands();
    elsewhere.environment[0].1 = "/usr/bin".into();
    elsewhere.environment[1].1 = "/other/place/home".into();
    let (seen, ran) = ask(&known(), "/other/place", &[(job(), elsewhere)]);
    assert!(ran.is_empty());
    assert!(seen[0].observation.output.contains(" /other/place/repo "), "{seen:?}");
}

#[test]
fn a_recorded_probe_that_is_not_asked_for_is_listed() {
    let recorder = Recorder::new(known(), places("/scratch/a"));
    assert_eq!(recorder.unused().len(), 2);
}

#[test]
fn after_a_doubt_about_products_the_next_probe_is_a_clean_one() {
    let recorder = Recorder::new(known(), places("/scratch/a"));
    let mut executor = recorder.around(Box::new(Bench::default()));
    executor.spoil();
    let wish = Wish { tree: job().tree, is_reference: false, is_far: false, width: 1 };
    let place = executor.reserve(wish).unwrap().unwrap();
    assert!(executor.reserve(wish).unwrap().is_none());
    let commands = Arc::new(commands());
    executor.start(place, PlacedJob { job: job(), commands, watch: Box::new(Patient), known: Box::new(|_| None) });
    assert!(executor.wait().result.unwrap().unwrap().observation.is_clean);
    assert_eq!(recorder.ran().asked().count(), 1);
}

#[test]
fn every_ending_is_read_as_it_was_written() {
    let endings = [
        (Stage::Fetch, Ending::Exit(0)),
        (Stage::Precheck, Ending::Signal(11)),
        (Stage::Build, Ending::Timeout),
        (Stage::Test, Ending::NotRun(Reason::TestAbsent)),
    ];
    let mut record = Record::default();
    "0123".clone_into(&mut record.history);
    record.programs.insert("c c".to_owned(), "0123456789abcdef".to_owned());
    let (probed, _) =
        ask(&Record::default(), "/scratch/a", &[(job(), commands()), (job(), commands()), (job(), commands())]);
    for (nth, (stage, ending)) in (1..).zip(endings) {
        let mut probed = probed[2].clone();
        (probed.observation.stage, probed.observation.ending) = (stage, ending);
        probed.product = Some(idd_world::run::product::Product([9; 32]));
        probed.removed = vec![b"a\xff".to_vec(), b"b".to_vec()];
        probed.observation.output = ["", "\n", "a", "\\u{1b}\ta\n\nb\u{85}\u{1b}"][nth as usize - 1].to_owned();
        let places = places("/scratch/a");
        record.add(Asked::of(&job(), &commands(), &places).nth(nth), Seen::of(&probed, &places));
    }
    let text = record.written();
    assert_eq!(Record::read(&text), Some(record), "{text}");
}

#[test]
fn a_file_of_another_format_is_not_read() {
    let text = known().written();
    assert!(Record::read(&text.replacen("format ", "format 9", 1)).is_none());
    assert!(Record::read(&text.replacen("test exit 1", "test exit x", 1)).is_none());
    assert!(Record::read("").is_none());
}

#[test]
fn a_program_that_changed_is_a_difference_and_one_that_moved_is_none() {
    let scratch = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = |name: &str| scratch.path().join(name);
    for directory in ["bin", "other", "rustup/bin", "home", "test", "lib/python3/site-packages"] {
        std::fs::create_dir_all(at(directory)).unwrap();
    }
    let write = |name: &str, text: &str| {
        std::fs::write(at(name), text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(at(name), mode).unwrap();
    };
    let programs = ["bin/cc", "other/cc1", "rustup/bin/rustc", "home/tool", "bin/python3", "test/test.sh"];
    for name in programs {
        write(name, name);
    }
    let (rustup, home) = (Some(at("rustup")), Some(at("home")));
    let machine = Machine { path: vec![at("bin")], rustup, home, known: at("known") };
    let executed = programs.iter().map(|name| at(name)).collect();
    let record = machine.programs(&executed, &[at("test")]);
    let names: Vec<&String> = record.keys().collect();
    assert_eq!(names, [&at("other/cc1").display().to_string(), "<home>/tool", "<rustup>/bin/rustc", "cc", "python3"]);
    assert_eq!(machine.difference(&record), None);
    let moved = Machine { path: vec![at("other"), at("bin")], ..machine.clone() };
    assert_eq!(moved.difference(&record), None);
    write("other/cc", "another");
    assert_eq!(moved.difference(&record).unwrap(), "`cc` differs");
    std::fs::remove_file(at("rustup/bin/rustc")).unwrap();
    assert_eq!(machine.difference(&record).unwrap(), "`<rustup>/bin/rustc` is not here");
    write("rustup/bin/rustc", "rustup/bin/rustc");
    write("lib/python3/site-packages/more", "");
    assert_eq!(machine.difference(&record).unwrap(), "`python3` differs");
    write("bin/cc", "newer");
    assert_eq!(machine.difference(&record).unwrap(), "`cc` differs");
}
