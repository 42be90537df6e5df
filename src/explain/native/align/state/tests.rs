use super::*;
use crate::failure::RunEnding;
use crate::native::stored::{causality, recorded};
use idd_trace::native::visit::before_step;
use idd_trace::native::{NativePlayer, stored};

/// What differs, by path and both values.
type Differing = Vec<(String, String, String)>;

/// What differs right before the `nth` step of a line of the failing run, and the part of it that cannot be
/// overwritten.
fn differing(program: &str, ending: RunEnding, line: u32, nth: usize) -> (Differing, Differing) {
    let mut causality = causality(program, ending);
    let at = stored::step(&mut causality.failing().player, line, nth);
    let point = causality.point_until(at).unwrap();
    let state = causality.state(point).unwrap();
    let shown = |found: &Cell| cell(&found.path, &found.shown.0, &found.shown.1);
    let mut cells: Differing = state.cells.iter().map(|(_, found)| shown(found)).collect();
    cells.sort();
    (cells, state.unpatched.iter().map(shown).collect())
}

fn cell(path: &str, ours: &str, theirs: &str) -> (String, String, String) {
    (path.to_owned(), ours.to_owned(), theirs.to_owned())
}

#[test]
fn one_character_of_a_text_differs_by_itself_and_its_source_is_only_in_the_reference() {
    let (cells, unpatched) = differing("text", RunEnding::Exit(0), 14, 0);
    assert_eq!(cells, [cell("text[1]", "111 'o'", "105 'i'")]);
    assert_eq!(unpatched, ["main.from", "from"].map(|path| cell(path, "\"ho there\"", "\"hi there\"")));
}

#[test]
fn a_pointer_differs_by_where_it_leads_and_not_by_its_number() {
    // The parameter leads to the variable of `main` in both runs.
    let (cells, unpatched) = differing("crash", RunEnding::Signal(11), 11, 0);
    assert_eq!(cells, [cell("part.size", "4", "3"), cell("whole.part", "NULL", "&part.size")]);
    assert_eq!(unpatched, []);
}

/// The state of a player before a step of a line.
fn look<T>(player: &mut NativePlayer, line: u32, look: impl FnOnce(RunSide<'_>) -> T) -> T {
    let at = stored::step(player, line, 0);
    let mut found = None;
    before_step(player, at, |machine| found = Some(look(RunSide { machine }))).unwrap();
    found.unwrap()
}

#[test]
fn a_state_does_not_differ_from_itself() {
    let run = recorded("list", "bad").run;
    let alignment = Alignment::new(&run, &run);
    let n_cells = look(&mut stored::player("list", "bad"), 30, |side| {
        faulty(side, side, &alignment, &mut LearnedState::default()).len()
    });
    assert_eq!(n_cells, 0);
}

#[test]
fn without_corresponding_steps_a_value_that_is_the_same_has_another_definition() {
    let (run, other) =
        (recorded("list", "bad").run, idd_trace::run::Run { indices: vec![0; 99], ..Default::default() });
    let alignment = Alignment::new(&run, &other);
    let cells = look(&mut stored::player("list", "bad"), 30, |side| {
        faulty(side, side, &alignment, &mut LearnedState::default())
    });
    assert!(!cells.is_empty());
    // Nobody wrote the initial values.
    assert!(cells.iter().all(|cell| cell.writer != Step::START), "{cells:?}");
    assert!(cells.iter().all(|cell| cell.shown.0 == cell.shown.1), "{cells:?}");
}

#[test]
fn what_is_passed_over_is_never_faulty() {
    let mut n_faulty = 0;
    for program in ["list", "text", "inputs"] {
        let (ours, theirs) = (recorded(program, "bad"), recorded(program, "good"));
        let alignment = Alignment::new(&ours.run, &theirs.run);
        let (mut failing, mut reference) = (ours.player, theirs.player);
        let (mut quick, mut thorough) =
            (LearnedState::default(), LearnedState { is_thorough: true, ..LearnedState::default() });
        // Also of steps that do not correspond.
        for (step, other) in [(90, 90), (60, 60), (60, 40), (40, 60), (20, 90), (5, 5)] {
            failing.seek(ours.run.records[step.min(ours.run.records.len() - 1)]).unwrap();
            reference.seek(theirs.run.records[other.min(theirs.run.records.len() - 1)]).unwrap();
            let sides = (RunSide { machine: &failing.machine }, RunSide { machine: &reference.machine });
            let found = faulty(sides.0, sides.1, &alignment, &mut quick);
            assert_eq!(found, faulty(sides.0, sides.1, &alignment, &mut thorough), "{program} {step} {other}");
            n_faulty += found.len();
        }
    }
    assert!(n_faulty > 20, "{n_faulty}");
}
