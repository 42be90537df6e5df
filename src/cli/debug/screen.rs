//! What a question looks like in the panes of a terminal, and what keys and the mouse do there.

use std::collections::BTreeSet;

use ratatui::Frame;
use ratatui::crossterm::event::Event;
use ratatui::crossterm::event::KeyCode;
use ratatui::crossterm::event::KeyEvent;
use ratatui::crossterm::event::KeyEventKind;
use ratatui::crossterm::event::KeyModifiers;
use ratatui::crossterm::event::MouseButton;
use ratatui::crossterm::event::MouseEvent;
use ratatui::crossterm::event::MouseEventKind;
use ratatui::layout::Constraint;
use ratatui::layout::Layout;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::text::Span;
use ratatui::widgets::Block;
use ratatui::widgets::Borders;
use ratatui::widgets::Clear;
use ratatui::widgets::Paragraph;

/// Columns and lines that the panes need.
pub const LEAST: (u16, u16) = (60, 16);

/// Lines of the pane with the walk so far, its title included.
const PATH_LINES: u16 = 6;

const KEYS: &str = " c right  w wrong value  h here  m missing  p path  u unclear  z undo  q quit ?";

const HELP: &str = "\
c       all that the step uses and computes is right
w       the marked values are wrong, else the selected one
h       here: all that it uses is right, but not what it does with it
m       missing: code is missing before this step
p       wrong path: the step should not run
u       unclear: ask me about what is around it
z       take the last answer back
g       go to a step: its number, then Enter

Up Down select a value; Space or its number marks it
Left    the step before, without an answer; Right: the one after
Tab     the step that computed the selected value
PgUp PgDn scroll the source
q       quit; the answers are kept

Any key closes this help.";

/// What a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// An answer, in the language of the plain terminal.
    Answer(String),
    /// Another step is looked at.
    Look(u32),
    /// The program is stopped, as by Ctrl-Z in a shell.
    Suspend,
    /// The person leaves.
    Quit,
}

/// What is shown of a question. All texts are safe to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// `3. step 12, a.c:9, in main`.
    pub title: String,
    /// Why it is asked.
    pub why: String,
    /// The number of the step.
    pub step: u32,
    /// Lines of the source around it, with their numbers.
    pub source: Vec<(u32, String)>,
    /// The line of the step.
    pub line: u32,
    /// The values that it uses: names, values, and the step that computed each.
    pub used: Vec<(String, String, Option<u32>)>,
    /// What it gives, calls and decides.
    pub does: Vec<String>,
    /// The functions that were called, the first one first, each with the step of its call.
    pub calls: Vec<String>,
    /// The answers so far, the last one last.
    pub path: Vec<String>,
}

/// A question on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Screen {
    shown: Shown,
    /// What was wrong with the last key.
    pub message: Option<String>,
    selected: usize,
    marked: BTreeSet<usize>,
    scroll: i32,
    /// The number of a step that is being typed.
    typed: Option<String>,
    is_help: bool,
    /// Where the values are on the screen.
    values_area: Rect,
}

impl Screen {
    /// Of a question that nothing was answered to yet.
    pub fn new(shown: Shown) -> Self {
        Self { shown, ..Self::default() }
    }

    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let [title, body, path, keys] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Min(6),
            Constraint::Length(PATH_LINES),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let [source, values] = Layout::horizontal([Constraint::Percentage(58), Constraint::Percentage(42)]).areas(body);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        frame.render_widget(
            Paragraph::new(vec![
                Line::styled(self.shown.title.as_str(), Style::new().add_modifier(Modifier::BOLD)),
                Line::styled(self.shown.why.as_str(), Style::new().add_modifier(Modifier::DIM)),
            ]),
            title,
        );
        self.draw_source(frame, source);
        self.draw_values(frame, values);
        self.draw_path(frame, path);
        let below = match (&self.typed, &self.message) {
            (Some(typed), _) => format!(" go to step: {typed}_"),
            (None, Some(message)) => format!(" {message}"),
            (None, None) => KEYS.to_owned(),
        };
        frame.render_widget(Paragraph::new(below).style(reversed), keys);
        if self.is_help {
            let area = frame.area();
            frame.render_widget(Clear, area);
            frame.render_widget(Paragraph::new(HELP).block(Block::new().title(" Help ").borders(Borders::ALL)), area);
        }
    }

    fn draw_source(&self, frame: &mut Frame<'_>, area: Rect) {
        let height = i32::from(area.height.saturating_sub(1));
        let now = self.shown.source.iter().position(|(number, _)| *number == self.shown.line);
        let now = i32::try_from(now.unwrap_or(0)).unwrap_or(0);
        let last = i32::try_from(self.shown.source.len()).unwrap_or(0) - height;
        let first = (now - height / 2 + self.scroll).clamp(0, last.max(0));
        let lines = self.shown.source.iter().skip(usize::try_from(first).unwrap_or(0)).map(|(number, text)| {
            let is_now = *number == self.shown.line;
            let mark = if is_now { '>' } else { ' ' };
            let style = if is_now { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
            Line::styled(format!("{mark}{number:5}  {text}"), style)
        });
        let lines: Vec<Line<'_>> =
            if self.shown.source.is_empty() { vec![Line::raw("  (the source is not known)")] } else { lines.collect() };
        frame.render_widget(Paragraph::new(lines).block(Block::new().title("Source").borders(Borders::TOP)), area);
    }

    fn draw_values(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (index, (name, value, maker)) in self.shown.used.iter().enumerate() {
            let cursor = if index == self.selected { '>' } else { ' ' };
            let mark = if self.marked.contains(&index) { 'x' } else { ' ' };
            let text = format!("{cursor}[{mark}] {} {name} = {value}", index + 1);
            let style = if index == self.selected { Modifier::BOLD } else { Modifier::empty() };
            let from = maker.map(|maker| format!("  (step {maker})")).unwrap_or_default();
            let faint = Style::new().add_modifier(Modifier::DIM);
            lines.push(Line::from(vec![
                Span::styled(text, Style::new().add_modifier(style)),
                Span::styled(from, faint),
            ]));
        }
        if self.shown.used.is_empty() {
            lines.push(Line::raw("  (it uses no value)"));
        }
        lines.extend(self.shown.does.iter().map(|text| Line::raw(format!("    {text}"))));
        let block = Block::new().title("Uses, and gives").borders(Borders::TOP | Borders::LEFT);
        self.values_area = block.inner(area);
        let height = usize::from(self.values_area.height);
        let first = (self.selected + 1).saturating_sub(height);
        let lines: Vec<Line<'_>> = lines.into_iter().skip(first).collect();
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }

    fn draw_path(&self, frame: &mut Frame<'_>, area: Rect) {
        let [calls, answers] = Layout::horizontal([Constraint::Percentage(42), Constraint::Percentage(58)]).areas(area);
        let height = usize::from(area.height.saturating_sub(1));
        let last = |all: &[String]| -> Vec<Line<'static>> {
            all.iter().skip(all.len().saturating_sub(height)).map(|text| Line::raw(text.clone())).collect()
        };
        let deep: Vec<String> = self
            .shown
            .calls
            .iter()
            .enumerate()
            .map(|(depth, text)| format!("{}{text}", " ".repeat(depth.min(12))))
            .collect();
        let block = |title: &'static str, borders| Block::new().title(title).borders(borders);
        frame.render_widget(Paragraph::new(last(&deep)).block(block("Calls", Borders::TOP)), calls);
        let answered = block("Answers", Borders::TOP | Borders::LEFT);
        frame.render_widget(Paragraph::new(last(&self.shown.path)).block(answered), answers);
    }

    /// What a key, or the mouse, does; nothing if it only changes the screen.
    pub fn event(&mut self, event: &Event) -> Option<Action> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            Event::Mouse(mouse) => {
                self.mouse(*mouse);
                None
            }
            _ => None,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Option<Action> {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Some(Action::Quit),
                KeyCode::Char('z') => Some(Action::Suspend),
                _ => None,
            };
        }
        if std::mem::take(&mut self.is_help) {
            return None;
        }
        if self.typed.is_some() {
            return self.type_step(key.code);
        }
        let answer = |text: &str| Some(Action::Answer(text.to_owned()));
        match key.code {
            KeyCode::Char(letter @ ('c' | 'h' | 'p' | 'm' | 'u' | 'z')) => {
                return answer(letter.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Char('q') => return Some(Action::Quit),
            KeyCode::Char('w') | KeyCode::Enter => return self.wrong(),
            KeyCode::Char('g') => self.typed = Some(String::new()),
            KeyCode::Char('?') => self.is_help = true,
            KeyCode::Char(' ') => self.mark(self.selected),
            KeyCode::Char(digit @ '1'..='9') => self.mark(usize::from(digit as u8 - b'1')),
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => self.selected = (self.selected + 1).min(self.shown.used.len().saturating_sub(1)),
            KeyCode::PageUp => self.scroll -= 8,
            KeyCode::PageDown => self.scroll += 8,
            KeyCode::Left if self.shown.step > 1 => return Some(Action::Look(self.shown.step - 1)),
            KeyCode::Right => return Some(Action::Look(self.shown.step + 1)),
            KeyCode::Tab => match self.shown.used.get(self.selected) {
                Some((_, _, Some(maker))) => return Some(Action::Look(*maker)),
                _ => self.message = Some("no step of this run computed that value".to_owned()),
            },
            _ => self.message = Some("press ? for help".to_owned()),
        }
        None
    }

    fn type_step(&mut self, code: KeyCode) -> Option<Action> {
        let typed = self.typed.as_mut()?;
        match code {
            KeyCode::Char(digit) if digit.is_ascii_digit() && typed.len() < 9 => typed.push(digit),
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Enter => {
                let step = self.typed.take()?.parse().ok();
                return step.map(Action::Look);
            }
            KeyCode::Esc => self.typed = None,
            _ => {}
        }
        None
    }

    fn mark(&mut self, index: usize) {
        if index < self.shown.used.len() {
            self.selected = index;
            if !self.marked.remove(&index) {
                self.marked.insert(index);
            }
        }
    }

    fn wrong(&mut self) -> Option<Action> {
        if self.shown.used.is_empty() {
            self.message = Some("the step uses no value; h says that what it computes is wrong".to_owned());
            return None;
        }
        let marked = if self.marked.is_empty() { BTreeSet::from([self.selected]) } else { self.marked.clone() };
        let numbers: Vec<String> = marked.iter().map(|index| (index + 1).to_string()).collect();
        Some(Action::Answer(format!("w {}", numbers.join(" "))))
    }

    fn mouse(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::ScrollUp => self.scroll -= 3,
            MouseEventKind::ScrollDown => self.scroll += 3,
            MouseEventKind::Down(MouseButton::Left) if self.values_area.contains((mouse.column, mouse.row).into()) => {
                let first = (self.selected + 1).saturating_sub(usize::from(self.values_area.height));
                self.mark(first + usize::from(mouse.row - self.values_area.y));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn screen() -> Screen {
        Screen::new(Shown {
            title: "2. step 36, a.c:13, in main".to_owned(),
            why: "(it gave a wrong value; 6 statements suspected)".to_owned(),
            step: 36,
            source: (1..=40).map(|number| (number, format!("line {number};"))).collect(),
            line: 13,
            used: vec![("most".to_owned(), "0".to_owned(), Some(30)), ("sum".to_owned(), "16".to_owned(), None)],
            does: vec!["gives both = 16".to_owned()],
            calls: vec!["main".to_owned(), "larger (step 12)".to_owned()],
            path: vec!["step 41, a.c:15: w both".to_owned()],
        })
    }

    fn drawn(screen: &mut Screen, (columns, lines): (u16, u16)) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let text = terminal.backend().to_string();
        text.lines().map(|line| line.trim_matches('"').trim_end()).collect::<Vec<_>>().join("\n")
    }

    fn press(screen: &mut Screen, code: KeyCode) -> Option<Action> {
        screen.event(&Event::Key(code.into()))
    }

    fn answer(text: &str) -> Action {
        Action::Answer(text.to_owned())
    }

    #[test]
    fn a_question_is_readable_in_80_columns_and_24_lines_without_colour() {
        insta::assert_snapshot!(drawn(&mut screen(), (80, 24)));
    }

    #[test]
    fn the_smallest_screen_still_shows_the_line_the_values_and_the_keys() {
        let text = drawn(&mut screen(), LEAST);
        for part in [">   13  line 13;", ">[ ] 1 most = 0", "gives both = 16", "c right", "step 41"] {
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
        screen.shown.used.clear();
        assert_eq!(press(&mut screen, KeyCode::Char('w')), None);
        assert!(drawn(&mut screen, (80, 24)).contains("the step uses no value"));
    }

    #[test]
    fn other_steps_are_looked_at_without_an_answer() {
        let mut screen = screen();
        assert_eq!(press(&mut screen, KeyCode::Left), Some(Action::Look(35)));
        assert_eq!(press(&mut screen, KeyCode::Right), Some(Action::Look(37)));
        assert_eq!(press(&mut screen, KeyCode::Tab), Some(Action::Look(30)));
        press(&mut screen, KeyCode::Down);
        assert_eq!(press(&mut screen, KeyCode::Tab), None, "it is an initial value");
        for key in [KeyCode::Char('g'), KeyCode::Char('1'), KeyCode::Char('7'), KeyCode::Backspace, KeyCode::Char('c')]
        {
            assert_eq!(press(&mut screen, key), None, "a number is typed");
        }
        assert!(drawn(&mut screen, (80, 24)).contains("go to step: 1_"));
        assert_eq!(press(&mut screen, KeyCode::Enter), Some(Action::Look(1)));
        press(&mut screen, KeyCode::Char('g'));
        press(&mut screen, KeyCode::Esc);
        assert_eq!(press(&mut screen, KeyCode::Char('c')), Some(answer("c")));
    }

    #[test]
    fn help_covers_the_screen_until_a_key_is_pressed() {
        let mut screen = screen();
        press(&mut screen, KeyCode::Char('?'));
        let text = drawn(&mut screen, (80, 24));
        assert!(text.contains("Any key closes this help.") && !text.contains("line 13"), "{text}");
        assert_eq!(press(&mut screen, KeyCode::Char('c')), None);
        assert!(drawn(&mut screen, (80, 24)).contains("line 13"));
    }

    #[test]
    fn the_mouse_marks_a_value_and_scrolls_the_source() {
        let mut screen = screen();
        drawn(&mut screen, (80, 24));
        let mouse = |kind, column, row| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
        screen.event(&mouse(MouseEventKind::Down(MouseButton::Left), 60, 4));
        assert!(drawn(&mut screen, (80, 24)).contains(">[x] 2 sum = 16"));
        screen.event(&mouse(MouseEventKind::Down(MouseButton::Left), 2, 3));
        assert_eq!(press(&mut screen, KeyCode::Char('w')), Some(answer("w 2")));
        for _ in 0..20 {
            screen.event(&mouse(MouseEventKind::ScrollDown, 2, 3));
        }
        assert!(drawn(&mut screen, (80, 24)).contains("line 40;"));
    }

    #[test]
    fn control_c_leaves() {
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(screen().event(&Event::Key(key)), Some(Action::Quit));
    }
}
