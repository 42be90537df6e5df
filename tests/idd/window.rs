//! A window of a run, the part that was kept where the beginning was given up, beside the whole run: what the window says is what the whole run says, or
//! that it does not know.

use idd_trace::Step;
use idd_trace::native::call::NativeCall;
use idd_trace::native::records::Records;
use idd_trace::native::{NativeMachine, NativePlayer, Watch};
use idd_world::record::store;

use crate::fixture::Fixture;

/// Frames that stay long: with variables whose address goes nowhere, pointers that are set once and written through, expressions with a condition inside,
/// library functions that are given all that, and recursion that is left by jumps.
const PROGRAM: &str = r#"#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int one, other; long more[5]; };
static jmp_buf *handler;
static int cells[8], spare_cell;
static struct pair pairs[4], spare = { 1, 2, { 3, 4, 5, 6, 7 } };
static int numbers[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };
static int guarded(int depth);
static int compare(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }
static int look(const int *cell, const struct pair *pair) { return *cell + pair->one + (int)pair->more[2]; }
static int evaluate(int depth) {
    int kept = depth * 100, sum = 0, tagged = 5;
    int *cell = &cells[depth], *tag = &tagged;
    struct pair *pair = &pairs[depth];
    char text[24], *end = text + 23;
    size_t size = sizeof text;
    if (depth == 0)
        longjmp(*handler, 7);
    for (int i = 0; i < 3; i++) {
        *cell = kept + i;
        *(i % 2 ? cell : &spare_cell) = kept;
        sum += look(cell, pair);
        *pair = spare;
        sum += look(cell, pair);
        tagged = i;
        sum += *tag;
        memset(text, 'a' + i, size);
        *end = 0;
        sum += strlen(text) > 3;
        snprintf(text, size, "%d %s", kept, i % 2 ? "odd" : "even");
        sum += text[0] == '0' + depth;
        memcpy(text, i ? "one" : "two", size / 6);
        sum += text[1];
        spare.one += i;
        sum += guarded(depth - 1) + kept;
        cell = i == 1 ? &cells[depth + 1] : cell;
    }
    return sum;
}
static int guarded(int depth) {
    jmp_buf here, *outer = handler;
    volatile int result = 1;
    handler = &here;
    if (setjmp(here) == 0)
        result = evaluate(depth);
    handler = outer;
    return result;
}
int main(void) {
    int *block = malloc(64), total = 0;
    *block = 4;
    qsort(numbers, 8, sizeof *numbers, compare);
    total = numbers[0];
    for (int i = 1; i < 4; i++) {
        total += guarded(i);
        *block += total;
    }
    printf("%d %d\n", total, *block);
    return 1;
}
"#;

/// What was seen since it was emptied: ranges of memory, and arguments of library functions.
#[derive(Default)]
struct Seen {
    ranges: Vec<(u64, u64)>,
    arguments: Vec<Option<u64>>,
}

impl Watch for Seen {
    fn reads(&mut self, _machine: &NativeMachine, _step: Step, address: u64, bytes: &[u8]) {
        self.ranges.push((address, bytes.len() as u64));
    }

    fn writes(&mut self, _machine: &NativeMachine, _step: Step, address: u64, length: u64) {
        self.ranges.push((address, length));
    }

    fn called(
        &mut self,
        _machine: &NativeMachine,
        _call: &NativeCall,
        arguments: &[Option<u64>],
        _result: Option<u64>,
    ) {
        self.arguments.extend(arguments);
    }
}

/// How many numbers the window knows, and how many it does not.
#[derive(Default)]
struct Known {
    n_known: u64,
    n_unknown: u64,
}

impl Known {
    /// What is known is `expected`.
    #[track_caller]
    fn check(&mut self, found: Option<u64>, expected: Option<u64>, what: &dyn Fn() -> String) {
        let Some(expected) = expected else { return };
        match found {
            Some(found) => assert_eq!(found, expected, "{}", what()),
            None => self.n_unknown += 1,
        }
        self.n_known += u64::from(found.is_some());
    }

    fn compare(&mut self, window: &NativeMachine, whole: &NativeMachine, seen: &Seen, at: usize) {
        assert!(window.frames.len() <= whole.frames.len(), "at record {at}");
        for (frame, expected) in window.frames.iter().rev().zip(whole.frames.iter().rev()) {
            let name = expected.shape.name();
            assert_eq!(frame.shape.index, expected.shape.index, "{name} at record {at}");
            // What such a variable is called by its address is made up where the entry was not seen.
            let is_made_up = |register: u32| {
                frame.is_partial
                    && frame.shape.slots.iter().any(|slot| slot.plain.is_some() && slot.register == register)
            };
            for register in (0..frame.shape.n_registers).filter(|register| !is_made_up(*register)) {
                let what = || format!("register {register} of {name} at record {at}");
                self.check(frame.value(register), expected.given(register), &what);
            }
        }
        for address in seen.ranges.iter().flat_map(|(address, length)| *address..address + length) {
            let byte = |machine: &NativeMachine| machine.memory.bytes(address, 1).map(|bytes| u64::from(bytes[0]));
            self.check(byte(window), byte(whole), &|| format!("memory at {address:#x} at record {at}"));
        }
    }
}

#[test]
fn a_window_of_a_run_says_what_the_whole_run_says_or_that_it_does_not_know() {
    let fixture = Fixture::of(&format!("cat >a.c <<'END'\n{PROGRAM}END\ngit add a.c && git commit -qm one"));
    let output = fixture.run(&["record", "--once", "--build", "$CC -o a a.c", "--", "./a"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let place = fixture.place().join("repo/.git/idd/recordings/0001");
    let recording = store::read(&place).unwrap();
    let open = || store::trace(&place, &recording, &recording.processes[0]).unwrap();
    let (mut trace, mut units) = (open(), store::units(&place, &recording));
    let mut records = Vec::new();
    let mut reader = Records::new(&trace);
    while let Some(record) = reader.next(&mut trace, &mut units).unwrap() {
        records.push(record.bytes.to_vec());
    }
    assert!(records.len() > 1000, "{}", records.len());

    let mut player = NativePlayer::new(open(), store::units(&place, &recording)).unwrap();
    let mut before = player.machine.clone();
    let mut known = Known::default();
    for cut in 1..records.len() - 1 {
        player.feed(&mut before, &records[cut - 1], &mut Seen::default()).unwrap();
        // Every record of the first calls, some of the rest.
        if cut > 40 && cut % 97 != 0 {
            continue;
        }
        let mut whole = before.clone();
        let mut window = NativeMachine::default();
        window.is_window = true;
        for (at, record) in records.iter().enumerate().skip(cut).take(600) {
            let (mut seen, mut seen_in_window) = (Seen::default(), Seen::default());
            player.feed(&mut whole, record, &mut seen).unwrap();
            player.feed(&mut window, record, &mut seen_in_window).unwrap();
            known.compare(&window, &whole, &seen, at);
            for (found, expected) in seen_in_window.arguments.iter().zip(&seen.arguments) {
                known.check(*found, *expected, &|| format!("an argument at record {at} from {cut}"));
            }
        }
    }
    assert!(known.n_known > 4 * known.n_unknown && known.n_unknown > 0, "{} {}", known.n_known, known.n_unknown);
}
