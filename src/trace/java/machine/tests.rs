//! Records in orders that only an unusual program makes.

use std::io::Cursor;
use std::sync::Arc;

use crate::TraceError;
use crate::container::{Kind, Process, Trace, Writer};
use crate::index::Index;
use crate::instrument::java::descriptor;
use crate::instrument::java::sites::{CLOCK, Content, FIRST_SITE, sizes};
use crate::instrument::java::tests::class_of;
use crate::java::machine::{Frame, Nobody, Value, Watch};
use crate::java::player::Player;

/// The run of a thread that wrote these records, of a class with a method of this code.
fn run(code: &[u8], content: Content, records: &[u32]) -> Result<Player, TraceError> {
    let class = class_of(code);
    let number = |n: usize| u32::try_from(n).unwrap();
    let n_sites = number(sizes(&class, content).unwrap().len());
    let head = [FIRST_SITE, n_sites, content.mark(number(class.len()))].map(u32::to_le_bytes).concat();
    let records: Vec<u8> = [CLOCK, 1].iter().chain(records).flat_map(|word| word.to_le_bytes()).collect();
    let mut writer = Writer::new(Vec::new()).unwrap();
    let process = Process { pid: 1, parent: 0, program: b"java".to_vec(), words: Vec::new(), forked_at: None };
    writer.add(Kind::Process, 0, 0, &process.to_bytes()).unwrap();
    writer.add(Kind::Classes, 0, 0, &[head, class].concat()).unwrap();
    writer.add(Kind::Records, 0, 0, &records).unwrap();
    let trace = Trace::open(Box::new(Cursor::new(writer.finish().unwrap()))).unwrap();
    Player::new(trace)
}

/// Plays such a run; the result is the number of steps, and of calls.
fn played(code: &[u8], content: Content, records: &[u32]) -> Result<(u32, u64), TraceError> {
    let mut player = run(code, content, records)?;
    player.replay(&mut Nobody)?;
    Ok((player.machine.n_steps, player.machine.n_frames))
}

const ENTER: u32 = FIRST_SITE;
const LEAVE: u32 = FIRST_SITE + 1;

#[test]
fn an_exception_while_a_method_is_entered_ends_no_activation() {
    for content in [Content::Values, Content::Steps] {
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
    struct Taken(Vec<Value>);
    impl Watch for Taken {
        fn takes(&mut self, _frame: &Frame, value: Value, _kind: descriptor::Kind) {
            self.0.push(value);
        }
    }
    let mut player = run(&[177], Content::Values, &[ENTER]).unwrap();
    player.replay(&mut Nobody).unwrap();
    let frame = Frame::new(1, Arc::clone(&player.machine.program.methods()[0]), Index::root(1));
    let mut both = (Taken::default(), Taken::default());
    both.takes(&frame, Value::UNKNOWN, descriptor::Kind::Int);
    assert_eq!((both.0.0, both.1.0), (vec![Value::UNKNOWN], vec![Value::UNKNOWN]));
}
