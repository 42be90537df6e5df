//! Records in orders that only an unusual program makes.

use std::io::Cursor;
use std::sync::Arc;

use crate::instrument::java::descriptor;
use crate::instrument::java::sites::{CLOCK, FIRST_SITE, RecordedContent, sizes};
use crate::instrument::java::tests::class_of;
use crate::java::{JavaFrame, JavaPlayer, JavaValue, Nobody, Watch};
use crate::{ChunkKind, Index, Trace, TraceError, TraceWriter, TracedProcess};

/// The run of a thread that wrote these records, of a class with a method of this code.
fn run(code: &[u8], content: RecordedContent, records: &[u32]) -> Result<JavaPlayer, TraceError> {
    let class = class_of(code);
    let number = |n: usize| u32::try_from(n).unwrap();
    let n_sites = number(sizes(&class, content).unwrap().len());
    let head = [FIRST_SITE, n_sites, content.mark(number(class.len()))].map(u32::to_le_bytes).concat();
    let records: Vec<u8> = [CLOCK, 1].iter().chain(records).flat_map(|word| word.to_le_bytes()).collect();
    let mut writer = TraceWriter::new(Vec::new()).unwrap();
    let process = TracedProcess { pid: 1, parent: 0, program: b"java".to_vec(), words: Vec::new(), forked_at: None };
    writer.add(ChunkKind::Process, 0, 0, &process.to_bytes()).unwrap();
    writer.add(ChunkKind::Classes, 0, 0, &[head, class].concat()).unwrap();
    writer.add(ChunkKind::Records, 0, 0, &records).unwrap();
    let trace = Trace::open(Box::new(Cursor::new(writer.finish().unwrap()))).unwrap();
    JavaPlayer::new(trace)
}

/// Plays such a run; the result is the number of steps, and of calls.
fn played(code: &[u8], content: RecordedContent, records: &[u32]) -> Result<(u32, u64), TraceError> {
    let mut player = run(code, content, records)?;
    player.replay(&mut Nobody)?;
    Ok((player.machine.n_steps, player.machine.n_frames))
}

const ENTER: u32 = FIRST_SITE;
const LEAVE: u32 = FIRST_SITE + 1;

#[test]
fn an_exception_while_a_method_is_entered_ends_no_activation() {
    for content in [RecordedContent::Values, RecordedContent::Steps] {
        // `return`.
        assert_eq!(played(&[177], content, &[ENTER]).unwrap(), (2, 1));
        assert_eq!(played(&[177], content, &[ENTER, LEAVE, 0]).unwrap(), (2, 1));
        // The record of the entry is missing.
        assert_eq!(played(&[177], content, &[LEAVE, 0]).unwrap(), (0, 0));
        assert_eq!(played(&[177], content, &[LEAVE, 0, ENTER]).unwrap(), (2, 1));
    }
}

#[test]
fn two_watchers_are_both_told_what_was_left_on_the_stack() {
    #[derive(Default)]
    struct Taken(Vec<JavaValue>);
    impl Watch for Taken {
        fn takes(&mut self, _frame: &JavaFrame, value: JavaValue, _kind: descriptor::ValueKind) {
            self.0.push(value);
        }
    }
    let mut player = run(&[177], RecordedContent::Values, &[ENTER]).unwrap();
    player.replay(&mut Nobody).unwrap();
    let frame = JavaFrame::new(1, Arc::clone(&player.machine.program.methods()[0]), Index::root(1));
    let mut both = (Taken::default(), Taken::default());
    both.takes(&frame, JavaValue::UNKNOWN, descriptor::ValueKind::Int);
    assert_eq!((both.0.0, both.1.0), (vec![JavaValue::UNKNOWN], vec![JavaValue::UNKNOWN]));
}
