//! The classes are compiled from the sources in `tests/classes`, or made here.

use crate::instrument::java::class_file::{ClassFile, ClassMethod};
use crate::instrument::java::code::{Code, JavaInstruction};
use crate::instrument::java::cursor::ByteCursor;
use crate::instrument::java::descriptor::{MethodTypes, ValueKind};
use crate::instrument::java::frames::{FrameDifference, SlotType, StackMapFrame};
use crate::instrument::java::insert::Constants;
use crate::instrument::java::layout::{CodeLayout, Insert};
use crate::instrument::java::operation::{Invoke, Operation, Shuffle};
use crate::instrument::java::pool::{Constant, Pool};
use crate::instrument::java::rewrite::{RECORDER, RewrittenClass, code_attribute, rewrite};
use crate::instrument::java::sites::{RecordedContent, Site, SiteProbe};
use crate::instrument::java::stack::{effect, frames_of};
use crate::instrument::java::{frames, operation, sites};

const EVERY: &[u8] = include_bytes!("../../../../tests/classes/Every.class");
const MADE: &[u8] = include_bytes!("../../../../tests/classes/Made.class");
const MADE_WITHOUT_FRAMES: &[u8] = include_bytes!("../../../../tests/classes/5/Made.class");
const OLD: &[u8] = include_bytes!("../../../../tests/classes/Old.class");
const TEXT: &[u8] = include_bytes!("../../../../tests/classes/Text.class");

const ALL: [&[u8]; 5] = [EVERY, MADE, MADE_WITHOUT_FRAMES, OLD, TEXT];

/// The bytes of each instruction by its number, as the specification has them; 0: not of one length, or not supported.
const LENGTHS: &str = "1111111111111111 2323322222111111 1111111111111111 1111112222211111 1111111111111111 \
    1111111111111111 1111111111111111 1111111111111111 1111311111111111 1111111113333333 3333333300001111 \
    1133333335532311 3311043350";

/// The slots by which each instruction changes the stack, as the specification has them: `A` for one more, `a` for one
/// less; `.` for one that depends on a constant, or is not supported.
const GROWTH: &str = "0AAAAAAAABBAAABB AA...ABABAAAAABB BBAAAABBBBAAAAa0 a0aaaaababaaaaab bbbaaaabbbbaaaac dcdccccabAAABBB0 \
    abababababababab abab0000aaaaaaab abab0A0Aaa00AAa0 a000caaccaaaaaab bbbbbbb0..aaabab \
    a0.........A000a 00aa..aa0.";

/// A class with a static method `f` of this code.
///
/// Its constants: 6 is a field `f` of type `I`, 9 a method `f()V`.
pub(crate) fn class_of(code: &[u8]) -> Vec<u8> {
    class_with("f", 8, code)
}

/// The same with another name for the method and the field, and other modifiers of the method.
fn class_with(name: &str, access: u8, code: &[u8]) -> Vec<u8> {
    let text = |text: &str| [&[1, 0, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let constants = [
        text("T"),
        vec![7, 0, 1],
        text(name),
        text("()V"),
        text("Code"),
        vec![9, 0, 2, 0, 7],
        vec![12, 0, 3, 0, 8],
        text("I"),
        vec![10, 0, 2, 0, 10],
        vec![12, 0, 3, 0, 4],
    ];
    let length = u32::try_from(code.len()).unwrap();
    [
        &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49, 0, 11],
        &constants.concat()[..],
        &[0, 0x20, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, access, 0, 3, 0, 4, 0, 1, 0, 5],
        &(length + 12).to_be_bytes(),
        &[0, 4, 0, 4],
        &length.to_be_bytes(),
        code,
        &[0, 0, 0, 0, 0, 0],
    ]
    .concat()
}

fn method<'c>(class: &'c ClassFile<'_>, name: &str) -> &'c ClassMethod {
    class.methods.iter().find(|method| &*method.name == name).unwrap()
}

/// The methods of a class that are rewritten, with their code and their sites.
fn rewritten_methods<'b>(class: &ClassFile<'b>, content: RecordedContent) -> Vec<(ClassMethod, Code<'b>, Vec<Site>)> {
    let of_each = class.methods.iter().zip(sites::of_class(class, content));
    of_each.filter_map(|(method, found)| found?.ok().map(|(code, sites)| (method.clone(), code, sites))).collect()
}

#[test]
fn each_instruction_has_the_length_of_the_specification() {
    let lengths: Vec<u8> = LENGTHS.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    assert_eq!(lengths.len(), 202);
    for (code, length) in (0_u8..).zip(lengths) {
        let bytes = [code, 0, 1, 0, 0, 0, 0, 0];
        let mut cursor = ByteCursor::new(&bytes);
        let read = operation::read(&mut cursor).ok().map(|_| cursor.at());
        match code {
            // Those whose length depends on what follows.
            170 | 171 | 196 => {}
            168 | 169 | 201 => assert_eq!(read, None, "{code}"),
            _ => assert_eq!(read, Some(usize::from(length)), "{code}"),
        }
    }
    assert!(operation::read(&mut ByteCursor::new(&[202])).is_err());
}

#[test]
fn each_instruction_changes_the_stack_as_the_specification_says() {
    let pool = Pool::default();
    for (code, expected) in (0_u8..).zip(GROWTH.bytes().filter(|byte| *byte != b' ')) {
        let expected = match expected {
            b'.' => continue,
            b'A'..=b'D' => isize::from(expected - b'A') + 1,
            b'a'..=b'd' => -isize::from(expected - b'a') - 1,
            _ => 0,
        };
        let bytes = [[code; 1].as_slice(), &[0; 20]].concat();
        let operation = operation::read(&mut ByteCursor::new(&bytes)).unwrap();
        let (taken, put) = effect(&operation, &pool).unwrap();
        assert_eq!(put.cast_signed() - taken.cast_signed(), expected, "{code}: {operation:?}");
    }
}

/// Each instruction once, which jumps to itself if it jumps, and each wide one.
fn every_instruction() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (code, length) in (0_u8..).zip(LENGTHS.bytes().filter(u8::is_ascii_digit)) {
        let operands: &[u8] = match code {
            168 | 169 | 201 => continue,
            170 | 171 => {
                bytes.push(code);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                // No distance; the cases 0 to 0, or one case, 0; no distance.
                bytes.extend([0; 4]);
                bytes.extend(if code == 170 { [0; 8] } else { [0, 0, 0, 1, 0, 0, 0, 0] });
                bytes.extend([0; 4]);
                continue;
            }
            178..=181 => &[0, 6],
            182..=184 => &[0, 9],
            185 | 186 => &[0, 9, 1, 0],
            196 => {
                for wide in [21, 22, 23, 24, 25, 54, 55, 56, 57, 58] {
                    bytes.extend([code, wide, 1, 0]);
                }
                bytes.extend([code, 132, 1, 0, 1, 0]);
                continue;
            }
            _ => &[0; 4][..usize::from(length - b'1')],
        };
        bytes.push(code);
        bytes.extend(operands);
    }
    bytes
}

#[test]
fn every_instruction_stays_what_it_is() {
    let code = every_instruction();
    let bytes = class_of(&code);
    check_rewritten(&bytes, 16, RecordedContent::Values);
    check_rewritten(&bytes, 16, RecordedContent::Steps);
    let class = ClassFile::read(&bytes).unwrap();
    let read = Code::of(&class, &class.methods[0]).unwrap().unwrap();
    assert_eq!(read.instructions.len(), 202 - 3 + 10);
    let laid_out =
        code_attribute(class.version, &class.methods[0], &read, &[], &[], 16, &mut Constants::new(class.pool.len()))
            .unwrap();
    assert_eq!(Code::read(&laid_out, &class.pool).unwrap().0.bytes, code);
}

#[test]
fn without_sites_the_code_stays_as_it_is() {
    for bytes in ALL {
        let class = ClassFile::read(bytes).unwrap();
        for (method, code, _) in rewritten_methods(&class, RecordedContent::Values) {
            let content =
                code_attribute(class.version, &method, &code, &[], &[], 16, &mut Constants::new(class.pool.len()))
                    .unwrap();
            let (same, offsets) = Code::read(&content, &class.pool).unwrap();
            assert_eq!(same.bytes, code.bytes, "{}", method.name);
            assert_eq!(same.handlers, code.handlers);
            assert_eq!(same.lines, code.lines);
            assert_eq!(same.variables, code.variables);
            assert_eq!((same.max_stack, same.max_locals), (code.max_stack + 3, code.max_locals));
            let frames = frames_of(&code).unwrap();
            assert_eq!(frames_of(&same).unwrap(), frames);
            assert_eq!(offsets.number(code.bytes.len().try_into().unwrap()).unwrap(), code.end());
        }
    }
}

/// Checks that the rewritten class is the class with a call of the recorder for each site, and nothing else.
#[track_caller]
fn check_rewritten(bytes: &[u8], first_site: u32, content: RecordedContent) {
    let class = ClassFile::read(bytes).unwrap();
    let rewritten = rewrite(bytes, first_site, content, &[]).unwrap();
    let read = ClassFile::read(&rewritten.bytes).unwrap();
    assert_eq!((read.version, &read.name, read.methods.len()), (class.version, &class.name, class.methods.len()));
    assert_eq!(class.bytes[class.after_methods..], read.bytes[read.after_methods..]);
    assert_eq!(class.methods.len(), read.methods.len());
    let mut site = first_site;
    let mut n_skipped = 0;
    for ((method, found), new_method) in class.methods.iter().zip(sites::of_class(&class, content)).zip(&read.methods) {
        assert_eq!((method.access, &method.name, &method.descriptor), {
            (new_method.access, &new_method.name, &new_method.descriptor)
        });
        let Some(Ok((code, sites))) = found else {
            n_skipped += u32::from(found.is_some());
            assert_eq!(class.bytes[method.range.clone()], read.bytes[new_method.range.clone()]);
            continue;
        };
        let layout = CodeLayout::of(&code, sites.iter().map(Insert::from)).unwrap();
        let new_code = Code::of(&read, new_method).unwrap().unwrap();
        let mut new = new_code.instructions.iter();
        let all = sites;
        let mut sites = all.iter().peekable();
        let mut take_sites = |new: &mut std::slice::Iter<'_, JavaInstruction>, number: u32, is_before: bool| {
            let is_wanted = |next: &&Site| next.instruction == number && next.probe.is_before() == is_before;
            while let Some(next) = sites.next_if(is_wanted) {
                let copied = match next.probe {
                    SiteProbe::Enter
                    | SiteProbe::Block
                    | SiteProbe::Monitor
                    | SiteProbe::Constructed
                    | SiteProbe::Value(None) => None,
                    SiteProbe::Parameter(kind, local) => Some(Operation::Load(kind, local)),
                    SiteProbe::This => Some(Operation::Load(ValueKind::Reference, 0)),
                    SiteProbe::Value(Some(ValueKind::Long | ValueKind::Double)) => {
                        Some(Operation::Shuffle(Shuffle::Dup2))
                    }
                    SiteProbe::Value(Some(_)) | SiteProbe::Handler | SiteProbe::Leave => {
                        Some(Operation::Shuffle(Shuffle::Dup))
                    }
                };
                if let Some(copied) = copied {
                    assert_eq!(new.next().unwrap().operation, copied);
                }
                let pushed = match new.next().unwrap().operation {
                    Operation::Int(pushed) => Constant::Int(pushed),
                    Operation::Constant(number) => read.pool.get(number).unwrap().clone(),
                    ref other => panic!("{other:?} is no number of a site"),
                };
                assert_eq!(pushed, Constant::Int(site.cast_signed()));
                let Operation::Invoke(Invoke::Static, called) = new.next().unwrap().operation else {
                    panic!("a site is a call");
                };
                let called = read.pool.member(called).unwrap();
                let parameters = MethodTypes::of(&called.descriptor).unwrap().kinds().unwrap();
                assert_eq!(&*called.class, RECORDER);
                assert_eq!(parameters.len(), if next.probe.size() == 0 { 1 } else { 2 });
                if next.probe == SiteProbe::Leave {
                    assert_eq!(new.next().unwrap().operation, Operation::Throw);
                }
                site += 1;
            }
        };
        for (number, instruction) in (0..).zip(&code.instructions) {
            take_sites(&mut new, number, true);
            let moved = new.next().unwrap();
            assert_eq!(moved.offset, u32::from(layout.own[number as usize]));
            let mut operation = instruction.operation.clone();
            for way in operation.ways_mut() {
                *way = new_code.offsets().instruction(u32::from(layout.targets[*way as usize])).unwrap();
            }
            assert_eq!(moved.operation, operation, "{} {number}", method.name);
            take_sites(&mut new, number, false);
        }
        take_sites(&mut new, code.end(), false);
        assert_eq!(new.next(), None);
        let place = |at: u32| new_code.instructions[at as usize].offset;
        let frames = frames_of(&code).unwrap();
        let new_frames = frames_of(&new_code).unwrap();
        let leave = (class.version >= 50).then_some(()).and(sites::guarded(method, &code, &all));
        assert_eq!(frames.len() + usize::from(leave.is_some()), new_frames.len());
        for (frame, new_frame) in frames.iter().zip(new_frames) {
            assert_eq!(place(new_frame.at), u32::from(layout.targets[frame.at as usize]));
        }
        assert_eq!(code.line_of_each().last(), new_code.line_of_each().last());
        assert_eq!(code.line_of_each().first(), new_code.line_of_each().first());
    }
    assert_eq!((rewritten.n_sites, rewritten.n_skipped), (site - first_site, n_skipped));
    assert_eq!(sites::sizes(bytes, content).unwrap().len(), rewritten.n_sites as usize);
}

#[test]
fn a_rewritten_class_is_the_class_and_a_call_for_each_site() {
    for bytes in ALL {
        // Small numbers are in the code, large ones are constants.
        for content in [RecordedContent::Values, RecordedContent::Steps] {
            check_rewritten(bytes, 16, content);
            check_rewritten(bytes, 32_760, content);
            check_rewritten(bytes, 3_000_000_000, content);
        }
    }
}

/// The sites of a method, a text for each line of the source.
fn listed(bytes: &[u8], content: RecordedContent, name: &str) -> Vec<String> {
    let class = ClassFile::read(bytes).unwrap();
    let (_, code, sites) =
        rewritten_methods(&class, content).into_iter().find(|(method, ..)| &*method.name == name).unwrap();
    let lines = code.line_of_each();
    // That of the last instruction for the site behind it.
    let line = |site: &Site| *lines.get(site.instruction as usize).or(lines.last()).unwrap();
    let of_line = |sites: &[Site]| {
        let probes: Vec<String> = sites.iter().map(|site| format!("{:?}", site.probe)).collect();
        format!("{}: {}", line(&sites[0]), probes.join(" ").replace("Value(Some(Reference))", "Object"))
    };
    sites.chunk_by(|site, next| line(site) == line(next)).map(of_line).collect()
}

#[test]
fn sites_by_the_lines_of_the_source() {
    let expected = [
        "44: Enter Parameter(Reference, 0) Parameter(Reference, 1) Value(Some(Int))",
        "45: Value(Some(Long))",
        // Where both ways meet: the conversion of one of them may throw.
        "48: Value(Some(Int)) Block Block Block",
        "49: Block Object Block Value(Some(Int)) Block Leave",
    ];
    assert_eq!(listed(EVERY, RecordedContent::Values, "fields"), expected);
    let expected = [
        "75: Enter Parameter(Reference, 0) Parameter(Reference, 1) Object",
        "76: Value(None)",
        "77: Monitor",
        "78: Value(Some(Int)) Value(Some(Int)) Value(Some(Int))",
        "79: Handler",
        "81: Value(Some(Int)) Object Value(Some(Int))",
        "82: Handler",
        "83: Object",
        "85: Handler",
        "86: Leave",
    ];
    assert_eq!(listed(EVERY, RecordedContent::Values, "calls"), expected);
}

#[test]
fn sites_of_steps_alone() {
    let expected = [
        "44: Enter",
        "45: Block",
        "46: Block",
        "47: Block",
        "48: Block Block Block Block",
        "49: Block Block Block Block Leave",
    ];
    assert_eq!(listed(EVERY, RecordedContent::Steps, "fields"), expected);
    let expected = [
        "75: Enter Value(None)",
        "76: Value(None)",
        "77: Monitor",
        "78: Value(None) Value(None)",
        "79: Block Handler",
        "81: Block Value(None) Value(None) Block",
        "82: Handler",
        "83: Value(None)",
        "85: Handler",
        "86: Block Leave",
    ];
    assert_eq!(listed(EVERY, RecordedContent::Steps, "calls"), expected);
}

#[test]
fn a_new_object_is_recorded_when_its_constructor_is_done() {
    let expected = [
        "18: Enter Parameter(Int, 0) Object",
        // A text, the `String` of it, a text; the `StringBuilder`, the same from `append`, and the `Made`.
        "19: Block Object Object Block Object Object Object Object Leave",
    ];
    assert_eq!(listed(MADE, RecordedContent::Values, "nested"), expected);
    // The class that is extended is given a conditional value.
    let expected = [
        "9: Enter Parameter(Int, 1) Parameter(Reference, 2) Block Object Block Object Value(Some(Int)) This",
        "11: Leave",
    ];
    assert_eq!(listed(MADE, RecordedContent::Values, "<init>"), expected);
    // Behind a condition it is not known what is on the stack, and a copy of the first object was not made.
    let expected = [
        "18: Enter Parameter(Int, 0) Value(None)",
        "19: Block Object Object Block Object Value(None) Object Value(None) Leave",
    ];
    assert_eq!(listed(MADE_WITHOUT_FRAMES, RecordedContent::Values, "nested"), expected);
}

#[test]
fn an_exception_that_leaves_a_constructor_is_recorded_where_the_object_is_known() {
    #[track_caller]
    fn check(code: &[u8], is_recorded: bool) {
        let bytes = class_with("<init>", 0, code);
        let class = ClassFile::read(&bytes).unwrap();
        let (_, _, sites) = rewritten_methods(&class, RecordedContent::Values).pop().unwrap();
        assert_eq!(sites.iter().any(|site| site.probe == SiteProbe::Leave), is_recorded, "{sites:?}");
        check_rewritten(&bytes, 16, RecordedContent::Values);
        check_rewritten(&bytes, 16, RecordedContent::Steps);
    }
    // `this()` alone.
    check(&[42, 183, 0, 9, 177], true);
    // An exception is thrown on another way before it, in code before it and behind it.
    check(&[4, 153, 0, 5, 1, 191, 42, 183, 0, 9, 177], true);
    check(&[4, 154, 0, 8, 42, 183, 0, 9, 177, 1, 191], false);
    // On one of two ways each; and the local of the object is written later, so it is not known.
    check(&[4, 154, 0, 8, 42, 183, 0, 9, 177, 42, 183, 0, 9, 177], false);
    check(&[42, 183, 0, 9, 1, 75, 177], false);
}

#[test]
fn a_monitor_is_guarded_from_its_entry_on() {
    let rewritten = rewrite(EVERY, 16, RecordedContent::Values, &[]).unwrap().bytes;
    let class = ClassFile::read(&rewritten).unwrap();
    let code = Code::of(&class, method(&class, "calls")).unwrap().unwrap();
    let is_enter = |instruction: &JavaInstruction| instruction.operation == Operation::Enter;
    let enter = u32::try_from(code.instructions.iter().position(is_enter).unwrap()).unwrap();
    assert!(code.handlers.iter().any(|handler| handler.guarded.start == enter + 1));
}

#[test]
fn frames_are_read_and_written() {
    // Instructions of three bytes each.
    let code = [17, 0, 0].repeat(100);
    let class = class_of(&code);
    let class = ClassFile::read(&class).unwrap();
    let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
    let content = [
        &[0, 9][..],
        &[3],
        &[64 + 2, 1],
        &[247, 0, 5, 7, 0, 2],
        &[248, 0, 2],
        &[250, 0, 2],
        &[251, 0, 2],
        &[252, 0, 2, 8, 0, 3],
        &[254, 0, 2, 3, 4, 6],
        &[255, 0, 20, 0, 1, 0, 0, 2, 2, 5],
    ]
    .concat();
    let read = frames::read(&content, &code.offsets()).unwrap();
    let expected = [
        (1, FrameDifference::Same),
        (2, FrameDifference::One(SlotType::Basic(1))),
        (4, FrameDifference::One(SlotType::Object(2))),
        (5, FrameDifference::Chop(3)),
        (6, FrameDifference::Chop(1)),
        (7, FrameDifference::Same),
        (8, FrameDifference::Append(vec![SlotType::New(1)])),
        (9, FrameDifference::Append(vec![SlotType::Basic(3), SlotType::Basic(4), SlotType::This])),
        (16, FrameDifference::Full(vec![SlotType::Basic(0)], vec![SlotType::Basic(2), SlotType::Basic(5)])),
    ];
    assert_eq!(read, expected.map(|(at, shape)| StackMapFrame { at, shape }));
    let place = |number: u32| u16::try_from(3 * number).unwrap();
    let written = frames::write(&read, place, place);
    assert_eq!(frames::read(&written, &code.offsets()).unwrap(), read);
    // A frame between two instructions, one at the end, and one of an unknown kind.
    for content in [[0, 1, 4, 0, 0], [0, 1, 251, 1, 44], [0, 1, 200, 0, 0]] {
        assert!(frames::read(&content, &code.offsets()).is_err(), "{content:?}");
    }
}

#[test]
fn names_and_texts_may_have_any_character() {
    let class = ClassFile::read(TEXT).unwrap();
    assert_eq!(&*method(&class, "𝒳é").name, "𝒳é");
    let text = Constant::Text("zero \0, two units 𝒳, three bytes €".into());
    assert!((0..u16::try_from(class.pool.len()).unwrap()).any(|number| *class.pool.get(number).unwrap() == text));
}

#[test]
fn a_damaged_table_that_no_reader_needs_is_left_out() {
    // The constant 3 is the name of an attribute of the code that says it has one entry, and has none.
    let code_with = |name: &str| {
        let mut bytes = class_with(name, 8, &[177]);
        let end = bytes.len() - 2;
        assert_eq!(bytes[end - 17..end - 13], [0, 0, 0, 13]);
        bytes[end - 14] += 8;
        bytes.splice(end - 2..end, [0, 1, 0, 3, 0, 0, 0, 2, 0, 1]);
        bytes
    };
    check_rewritten(&code_with("LocalVariableTypeTable"), 16, RecordedContent::Values);
    assert_eq!(rewrite(&code_with("LocalVariableTypeTable"), 16, RecordedContent::Values, &[]).unwrap().n_skipped, 0);
    assert_eq!(rewrite(&code_with("LocalVariableTable"), 16, RecordedContent::Values, &[]).unwrap().n_skipped, 1);
}

/// Checks that the only method of a class with this code is left as it is.
#[track_caller]
fn check_left(code: &[u8], expected: &str) {
    let bytes = class_of(code);
    let class = ClassFile::read(&bytes).unwrap();
    let [Some(Err(error))] = &sites::of_class(&class, RecordedContent::Values)[..] else {
        panic!("the method has sites")
    };
    assert_eq!(error.what, expected);
    let rewritten = rewrite(&bytes, 16, RecordedContent::Values, &[]).unwrap();
    assert_eq!(rewritten, RewrittenClass { bytes, n_sites: 0, n_skipped: 1 });
}

#[test]
fn a_method_that_would_be_too_long_is_left() {
    const TOO_LONG: &str = "a method that would be longer than 64 KiB";
    // A field is read and forgotten: 4 bytes, and 7 for the site. Entering has 6, returning 1, and leaving 8.
    let code = |n: usize| [[178, 0, 6, 87].repeat(n), vec![177]].concat();
    check_rewritten(&class_of(&code(5956)), 16, RecordedContent::Values);
    assert_eq!(rewrite(&class_of(&code(5956)), 16, RecordedContent::Values, &[]).unwrap().n_skipped, 0);
    check_left(&code(5957), TOO_LONG);
    check_left(&code(16_000), TOO_LONG);
    // A jump over what is then too much, and the same with four bytes for the distance.
    let body = [178, 0, 6, 87].repeat(3000);
    let distance = u16::try_from(body.len() + 3).unwrap().to_be_bytes();
    check_left(&[&[167], &distance[..], &body, &[177]].concat(), TOO_LONG);
    let distance = u32::try_from(body.len() + 5).unwrap().to_be_bytes();
    let far = class_of(&[&[200], &distance[..], &body, &[177]].concat());
    check_rewritten(&far, 16, RecordedContent::Values);
    assert_eq!(rewrite(&far, 16, RecordedContent::Values, &[]).unwrap().n_skipped, 0);
}

#[test]
fn a_method_with_subroutines_is_left() {
    const OLD_INSTRUCTIONS: &str = "the old instructions `jsr` and `ret`";
    check_left(&[168, 0, 3, 177], OLD_INSTRUCTIONS);
    check_left(&[196, 169, 0, 3, 177], "an unknown wide instruction");
    let rewritten = rewrite(OLD, 16, RecordedContent::Values, &[]).unwrap();
    assert_eq!(rewritten.n_skipped, 1);
    // The constructor, and a method of two parameters; each can be left by an exception.
    assert_eq!(rewritten.n_sites, 3 + 4);
}

#[test]
fn code_that_no_machine_takes_is_left() {
    check_left(&[167, 0, 1, 177], "a place inside an instruction");
    check_left(&[167, 0, 4, 177], "a way to the end of the code");
    check_left(&[167, 255, 255, 177], "a place inside an instruction");
    check_left(&[178, 0, 2, 177], "a field or method that is none");
    check_left(&[178, 0], "the class file is cut short");
    // Tables from 1 to 0, and from the least to the greatest number.
    let table = |bounds: &[u8]| [&[3, 170, 0, 0, 0, 0, 0, 3], bounds, &[0; 4]].concat();
    check_left(&table(&[0, 0, 0, 1, 0, 0, 0, 0]), "a table of no cases");
    check_left(&table(&[0x80, 0, 0, 0, 0x7f, 255, 255, 255]), "the class file is cut short");
}

#[test]
fn a_class_that_is_not_known_is_refused() {
    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(rewrite(bytes, 16, RecordedContent::Values, &[]).unwrap_err().what, expected);
        assert_eq!(sites::sizes(bytes, RecordedContent::Values).unwrap_err().what, expected);
    }
    let changed = |at: usize, byte: u8| {
        let mut bytes = class_of(&[177]);
        bytes[at] = byte;
        bytes
    };
    check(&changed(7, 70), "class files of version 70 are not known");
    check(&changed(6, 1), "class files of version 305 are not known");
    check(&changed(0, 0), "no class file");
    check(&changed(10, 2), "a constant of the unknown kind 2");
    check(&[EVERY, &[0]].concat(), "bytes after the end of the class");
    for n in [0, 3, 9, 100, EVERY.len() - 1] {
        check(&EVERY[..n], "the class file is cut short");
    }
    assert_eq!(rewrite(EVERY, u32::MAX, RecordedContent::Values, &[]).unwrap_err().what, "too many sites");
    assert_eq!(rewrite(&class_of(&[177]), 16, RecordedContent::Values, &[]).unwrap().n_sites, 2);
}

#[test]
fn a_damaged_class_is_refused_or_rewritten() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n as u64).unwrap()
    };
    let (mut n_rewritten, mut n_refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = ALL[random(ALL.len())].to_vec();
        for _ in 0..=random(3) {
            let at = random(bytes.len() - 1);
            match random(8) {
                0..3 => bytes[at] ^= 1 << random(8),
                3 => bytes[at] = u8::try_from(random(256)).unwrap(),
                4 => bytes[at..at + 2].copy_from_slice(&[[0, 0], [255, 255], [127, 255], [0, 1]][random(4)]),
                5 => bytes.swap(at, at + 1),
                6 => bytes.insert(at, 0),
                _ => bytes.truncate(bytes.len().min(at + 1000)),
            }
        }
        let content = [RecordedContent::Values, RecordedContent::Steps][random(2)];
        match rewrite(&bytes, 16, content, &[]) {
            Ok(rewritten) => {
                assert_eq!(sites::sizes(&bytes, content).unwrap().len(), rewritten.n_sites as usize);
                assert!(ClassFile::read(&rewritten.bytes).is_ok());
                n_rewritten += 1;
            }
            Err(error) => {
                assert_eq!(sites::sizes(&bytes, content).unwrap_err(), error);
                n_refused += 1;
            }
        }
    }
    assert!(n_rewritten > 500 && n_refused > 500, "{n_rewritten} {n_refused}");
}
