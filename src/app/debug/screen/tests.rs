use super::*;
use crate::debug::draw::LEAST;
use crate::debug::question_view::ShownValue;
use crate::debug::tree::TreeRow;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn value(name: &str, text: &str, maker: Option<u32>) -> ShownValue {
    let from = maker.map(|maker| format!("step {maker}, a.c:9, in main")).into_iter().collect();
    ShownValue { name: name.to_owned(), text: text.to_owned(), whole: text.to_owned(), from, maker, is_used: true }
}

fn row(step: u32, answers: &str, text: &str, is_part: bool) -> TreeRow {
    TreeRow { step, answers: answers.to_owned(), text: text.to_owned(), is_now: step == 36, is_part }
}

fn screen() -> QuestionScreen {
    let rows = vec![
        row(0, "", "main", true),
        row(12, "", " loop, a.c:9, 2 of 3", true),
        row(14, "u", "  larger(), a.c:10", true),
        row(36, "", " step 36, a.c:13", false),
        row(41, "w", " step 41, a.c:15", false),
    ];
    QuestionScreen::new(ShownQuestion {
        title: "2. step 36, a.c:13, in main".to_owned(),
        why: "(it gave a wrong value; 6 statements suspected)".to_owned(),
        step: 36,
        source: (1..=40).map(|number| (number, format!("line {number};"))).collect(),
        line: 13,
        values: vec![
            value("most", "0", Some(30)),
            value("sum", "16", None),
            ShownValue { is_used: false, ..value("both", "16", None) },
        ],
        does: vec!["calls f(1) = 2".to_owned()],
        tree: rows.clone(),
        near: rows,
        path: vec!["step 41, a.c:15: w both".to_owned()],
    })
}

fn drawn(screen: &mut QuestionScreen, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| screen.draw(frame)).unwrap();
    let text = terminal.backend().to_string();
    text.lines().map(|line| line.trim_matches('"').trim_end()).collect::<Vec<_>>().join("\n")
}

fn press(screen: &mut QuestionScreen, code: KeyCode) -> Option<KeyAction> {
    screen.event(&Event::Key(code.into()))
}

fn answer(text: &str) -> KeyAction {
    KeyAction::Answer(text.to_owned())
}

#[test]
fn a_question_is_readable_in_80_columns_and_24_lines_without_colour() {
    insta::assert_snapshot!(drawn(&mut screen(), 80, 24));
}

#[test]
fn the_smallest_screen_still_shows_the_line_the_values_and_the_keys() {
    let text = drawn(&mut screen(), LEAST.0, LEAST.1);
    for part in [">   13  line 13;", ">[ ] 1 most = 0", "gives both = 16", "c right", "step 41", "loop, a.c:9, 2 of 3"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn one_key_is_one_answer() {
    let mut screen = screen();
    for key in ['c', 'h', 'm', 'p', 'u', 'z'] {
        assert_eq!(press(&mut screen, KeyCode::Char(key)), Some(answer(&key.to_string())));
    }
    assert_eq!(press(&mut screen, KeyCode::Char('w')), Some(answer("w 1")));
    press(&mut screen, KeyCode::Down);
    assert_eq!(press(&mut screen, KeyCode::Enter), Some(answer("w 2")));
    press(&mut screen, KeyCode::Char(' '));
    press(&mut screen, KeyCode::Char('1'));
    assert_eq!(press(&mut screen, KeyCode::Char('w')), Some(answer("w 1 2")));
    press(&mut screen, KeyCode::Char('2'));
    assert_eq!(press(&mut screen, KeyCode::Char('w')), Some(answer("w 1")));
    assert_eq!(press(&mut screen, KeyCode::Char('9')), None, "there is no such value");
    assert_eq!(press(&mut screen, KeyCode::Char('w')), Some(answer("w 1")));
    screen.shown.values.clear();
    assert_eq!(press(&mut screen, KeyCode::Char('w')), None);
    assert!(drawn(&mut screen, 80, 24).contains("the step uses no value"));
}

#[test]
fn other_steps_are_looked_at_without_an_answer() {
    let mut screen = screen();
    assert_eq!(press(&mut screen, KeyCode::Left), Some(KeyAction::Look(35)));
    assert_eq!(press(&mut screen, KeyCode::Right), Some(KeyAction::Look(37)));
    assert_eq!(press(&mut screen, KeyCode::Tab), Some(KeyAction::Look(30)));
    press(&mut screen, KeyCode::Down);
    assert_eq!(press(&mut screen, KeyCode::Tab), None, "it is an initial value");
    assert_eq!(press(&mut screen, KeyCode::Char('r')), Some(KeyAction::Return));
}

fn write(screen: &mut QuestionScreen, text: &str) {
    for letter in text.chars() {
        assert_eq!(press(screen, KeyCode::Char(letter)), None, "{letter} is typed");
    }
}

fn seek(text: &str) -> KeyAction {
    KeyAction::Seek(text.to_owned())
}

#[test]
fn what_is_gone_to_is_typed() {
    let mut screen = screen();
    write(&mut screen, "ga.c:1c");
    press(&mut screen, KeyCode::Backspace);
    write(&mut screen, "5");
    assert!(drawn(&mut screen, 80, 24).contains(" go to a step, a line (a.c:15) or a function: a.c:15_"));
    assert_eq!(press(&mut screen, KeyCode::Enter), Some(seek("g a.c:15")));
    write(&mut screen, "/n = 3");
    assert!(drawn(&mut screen, 80, 24).contains(" text of a value or function: n = 3_"));
    assert_eq!(press(&mut screen, KeyCode::Enter), Some(seek("/n = 3")));
    for key in ["n", "N", "[", "]"] {
        assert_eq!(press(&mut screen, KeyCode::Char(key.parse().unwrap())), Some(seek(key)));
    }
    write(&mut screen, "g");
    assert_eq!(press(&mut screen, KeyCode::Enter), None, "nothing was typed");
    write(&mut screen, "g");
    press(&mut screen, KeyCode::Esc);
    assert_eq!(press(&mut screen, KeyCode::Char('c')), Some(answer("c")));
}

#[test]
fn the_writers_of_the_selected_value_are_gone_to() {
    let mut screen = screen();
    assert_eq!(press(&mut screen, KeyCode::Char('<')), Some(seek("< 1")));
    press(&mut screen, KeyCode::Down);
    press(&mut screen, KeyCode::Down);
    assert_eq!(press(&mut screen, KeyCode::Char('>')), Some(seek("> 3")));
    assert_eq!(press(&mut screen, KeyCode::Char('w')), None, "it gives that value");
    assert!(drawn(&mut screen, 80, 24).contains("the step gives it; h says that what it computes is wrong"));
    press(&mut screen, KeyCode::Char(' '));
    assert!(screen.marked.is_empty());
    screen.shown.values.clear();
    assert_eq!(press(&mut screen, KeyCode::Char('<')), None);
    assert!(drawn(&mut screen, 80, 24).contains("the step has no value"));
}

#[test]
fn a_long_value_is_cut_in_the_pane_and_shown_in_full_with_its_origin() {
    let mut screen = screen();
    let long = "0123456789".repeat(30);
    screen.shown.values[0] = value("most", &long, Some(30));
    let text = drawn(&mut screen, 80, 24);
    assert!(text.contains(">[ ] 1 most = 01234...  (step 30)"), "{text}");
    press(&mut screen, KeyCode::Char('v'));
    let text = drawn(&mut screen, 80, 24);
    let digits = text.chars().filter(char::is_ascii_digit).collect::<String>();
    assert!(digits.starts_with(&long), "{text}");
    assert!(text.contains("Comes from:") && text.contains("  step 30, a.c:9, in main"), "{text}");
    assert_eq!(press(&mut screen, KeyCode::Down), None);
    assert_eq!(press(&mut screen, KeyCode::Char('c')), None, "it only closes");
    assert!(drawn(&mut screen, 80, 24).contains("line 13"));
}

#[test]
fn the_tree_of_calls_and_loops_is_walked_through() {
    let mut screen = screen();
    assert_eq!(press(&mut screen, KeyCode::Char('t')), Some(KeyAction::Tree));
    insta::assert_snapshot!(drawn(&mut screen, 60, 16));
    press(&mut screen, KeyCode::Up);
    assert_eq!(press(&mut screen, KeyCode::Char(' ')), Some(KeyAction::Open(14)));
    assert_eq!(press(&mut screen, KeyCode::Enter), Some(KeyAction::Look(14)));
    press(&mut screen, KeyCode::Char('t'));
    assert_eq!(press(&mut screen, KeyCode::Char(' ')), None, "a line has nothing in it");
    for _ in 0..9 {
        press(&mut screen, KeyCode::Up);
    }
    assert_eq!(press(&mut screen, KeyCode::Enter), Some(KeyAction::Look(1)), "the run begins with step 1");
}

#[test]
fn a_terminal_that_becomes_too_small_says_so_until_it_grows() {
    let mut screen = screen();
    let text = drawn(&mut screen, 40, 8);
    assert!(text.starts_with("The terminal is too small: at least 60\ncolumns and 16 lines. q quits."), "{text}");
    assert_eq!(press(&mut screen, KeyCode::Char('c')), None, "what cannot be seen is not answered");
    assert_eq!(press(&mut screen, KeyCode::Char('q')), Some(KeyAction::Quit));
    drawn(&mut screen, 1, 1);
    assert!(drawn(&mut screen, 80, 24).contains(">   13  line 13;"));
    assert_eq!(press(&mut screen, KeyCode::Char('c')), Some(answer("c")));
}

#[test]
fn help_covers_the_screen_until_a_key_is_pressed() {
    let mut screen = screen();
    press(&mut screen, KeyCode::Char('?'));
    let text = drawn(&mut screen, 80, 24);
    assert!(text.contains("any other key closes") && !text.contains("line 13"), "{text}");
    assert_eq!(press(&mut screen, KeyCode::Char('c')), None);
    assert!(drawn(&mut screen, 80, 24).contains("line 13"));
    // On the smallest screen it is scrolled.
    press(&mut screen, KeyCode::Char('?'));
    assert!(!drawn(&mut screen, LEAST.0, LEAST.1).contains("scroll this help"));
    press(&mut screen, KeyCode::PageDown);
    assert!(drawn(&mut screen, LEAST.0, LEAST.1).contains("scroll this help"));
}

#[test]
fn the_mouse_marks_a_value_and_scrolls_the_source() {
    let mut screen = screen();
    drawn(&mut screen, 80, 24);
    let mouse = |kind, column, row| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    screen.event(&mouse(MouseEventKind::Down(MouseButton::Left), 60, 4));
    assert!(drawn(&mut screen, 80, 24).contains(">[x] 2 sum = 16"));
    screen.event(&mouse(MouseEventKind::Down(MouseButton::Left), 2, 3));
    assert_eq!(press(&mut screen, KeyCode::Char('w')), Some(answer("w 2")));
    for _ in 0..20 {
        screen.event(&mouse(MouseEventKind::ScrollDown, 2, 3));
    }
    assert!(drawn(&mut screen, 80, 24).contains("line 40;"));
}

#[test]
fn control_c_leaves() {
    let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(screen().event(&Event::Key(key)), Some(KeyAction::Quit));
}
