//! Properties of indices and alignments, on runs of a program with every kind of control flow.

use std::ffi::OsString;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use idd_explain::align::Alignment;
use idd_trace::instrument::SegmentGrain;
use idd_trace::native::NativePlayer;
use idd_trace::native::assemble::assemble;
use idd_trace::{Run, Step, Trace};
use idd_world::process;
use idd_world::record::build::BuildDirectory;
use idd_world::record::control::{ForkTest, ParkControl, process_of};
use idd_world::record::shim::built;
use idd_world::record::store;

/// Loops in loops, `goto` into and out of them, `break`, `continue`, early returns, `switch` with falling through, recursion, a callback of the library, a signal handler,
/// `longjmp` out of a call and several times to one place.
const PROGRAM: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;
static volatile int caught;

static void catch(int number) { caught += number; }

static int compare(const void *one, const void *other)
{
    int left = *(const int *)one, right = *(const int *)other;
    if (left == right)
        return 0;
    return left < right ? -1 : 1;
}

static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void jump(int n)
{
    if (n > 0)
        jump(n - 1);
    longjmp(place, 1);
}

static int walk(int n)
{
    int sum = 0, i = 0;
again:
    for (; i < n; i++) {
        if (i % 3 == 0)
            continue;
        for (int j = 0;; j++) {
            if (j == i)
                break;
            if (j * i > 20)
                goto out;
            switch (j & 3) {
            case 0:
                sum += 1;
            case 1:
                sum += 2;
                break;
            default:
                sum -= 1;
            }
        }
    }
    do {
        sum++;
    } while (sum % 5 != 0);
    if (sum % 2 == 0 && i < n + 2) {
        i++;
        n++;
        goto again;
    }
    return sum;
out:
    return -sum;
}

int main(int argc, char **argv)
{
    int numbers[] = { 5, 3, 9, 1, 7, 3 };
    volatile int n_jumps = 0;
    int bound = argc > 1 ? atoi(argv[1]) : 4;
    if (setjmp(place) != 0)
        n_jumps++;
    if (n_jumps < 3)
        jump(n_jumps);
    signal(SIGUSR1, catch);
    raise(SIGUSR1);
    qsort(numbers, 6, sizeof *numbers, compare);
    for (int i = 0; i < bound; i++)
        printf("%d %d %d\n", walk(i), fibonacci(i), numbers[i % 6]);
    return caught == SIGUSR1 ? 0 : 1;
}
"#;

/// A run of the program with this argument.
fn run(place: &Path, build: &BuildDirectory, argument: &str) -> (NativePlayer, Run) {
    let scratch = place.join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let control = ParkControl::new(&place.join("control")).unwrap();
    let environment = control.variables_at_start(&scratch);
    let (directory, argument) = (place.to_owned(), OsString::from(argument));
    let program = place.join("a");
    let running = thread::spawn(move || {
        process::capture(program.as_os_str(), &[&argument], &directory, &environment).unwrap();
    });
    let limit = Duration::from_secs(60);
    let mut parked = control.wait_at_most(limit, &|| false).unwrap().expect("the program parks at once");
    let whole = ForkTest {
        patches: Vec::new(),
        stop: None,
        switch: None,
        dumps: Vec::new(),
        is_traced: true,
        from: 0,
        budget: 1_000_000,
        limit,
    };
    let reply = parked.test(&whole).unwrap();
    let (process, globals) = (process_of(parked.pid), parked.globals().unwrap());
    let units = store::take_maps(&build.path, place).unwrap();
    let bytes = assemble(&process, &globals, &reply.records, &mut store::units_at(place, &units)).unwrap();
    let trace = Trace::open(Box::new(Cursor::new(bytes))).unwrap();
    parked.go().unwrap();
    running.join().unwrap();
    let mut player = NativePlayer::new(trace, store::units_at(place, &units)).unwrap();
    let run = Run::read(&mut player).unwrap();
    (player, run)
}

#[test]
fn indices_are_unique_and_alignments_keep_the_order() {
    let place = tempfile::tempdir().unwrap();
    let build = built(place.path(), PROGRAM, SegmentGrain::Statement);

    let (_, short) = run(place.path(), &build, "9");
    let (_, same) = run(place.path(), &build, "9");
    let (_, long) = run(place.path(), &build, "12");
    for each in [&short, &long] {
        assert!(each.n_steps() > 500, "{}", each.n_steps());
        let mut indices = each.indices[1..].to_vec();
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), each.n_steps() as usize, "each step has an index of its own");
    }

    // A run corresponds to itself, and to its repetition, step by step.
    for other in [&short, &same] {
        let alignment = Alignment::new(&short, other);
        let all = (1..=short.n_steps()).map(|step| (Step(step), Step(step)));
        assert!(alignment.pairs.iter().copied().eq(all));
    }

    // Everything before the loop goes on longer is in both, in the same order.
    let alignment = Alignment::new(&short, &long);
    assert!(alignment.pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    assert!(alignment.pairs.len() + 20 > short.n_steps() as usize, "{} of {}", alignment.pairs.len(), short.n_steps());
    for (step, other) in &alignment.pairs {
        assert_eq!(alignment.reference(*step), Some(*other));
        assert_eq!(alignment.failing(*other), Some(*step));
    }
}
