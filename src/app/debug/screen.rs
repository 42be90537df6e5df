//! A question in the panes of a terminal: what keys and the mouse do there. [`draw`](crate::debug::draw) shows it.

use std::collections::BTreeSet;

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;

use crate::debug::question_view::ShownQuestion;

/// Characters of what is typed after `g` and `/`.
const MAX_TYPED: usize = 200;

/// What a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAction {
    /// An answer, in the language of the plain terminal.
    Answer(String),
    /// Another step is looked for, in the same language.
    Seek(String),
    /// Another step is looked at.
    Look(u32),
    /// The step that is recommended is looked at.
    Return,
    /// The tree of calls and loops is opened.
    Tree,
    /// What is directly in a call or loop of the tree is shown, or no longer.
    Open(u32),
    /// The program is stopped, as by Ctrl-Z in a shell.
    Suspend,
    /// The person leaves.
    Quit,
}

/// What covers the panes, or takes the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ScreenMode {
    /// Nothing.
    #[default]
    Panes,
    /// A line is typed, after `g` or `/`.
    Typing(char, String),
    /// The help.
    Help,
    /// The whole value that is selected.
    Whole,
    /// The tree of calls and loops, with the selected row.
    Tree(usize),
}

/// A question on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionScreen {
    /// What is shown.
    pub shown: ShownQuestion,
    /// What a person should know: what was wrong with the last key, or what a search found.
    pub message: Option<String>,
    /// The selected value.
    pub selected: usize,
    /// The values that are marked as wrong.
    pub marked: BTreeSet<usize>,
    /// Lines by which the source was scrolled.
    pub scroll: i32,
    /// Lines by which what covers the panes was scrolled.
    pub covered: u16,
    /// What covers the panes.
    pub mode: ScreenMode,
    /// Where the values are on the screen.
    pub values_area: Rect,
    /// Whether the terminal is too small: only leaving it is possible then.
    pub is_too_small: bool,
}

impl QuestionScreen {
    /// Of a question that nothing was answered to yet.
    pub fn new(shown: ShownQuestion) -> Self {
        Self { shown, ..Self::default() }
    }

    /// What a key, or the mouse, does; nothing if it only changes the screen.
    pub fn event(&mut self, event: &Event) -> Option<KeyAction> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            // Pasted text fills a line that is being typed. It never answers.
            Event::Paste(text) if matches!(self.mode, ScreenMode::Typing(..)) => {
                for letter in text.chars().filter(|letter| !letter.is_control()).take(MAX_TYPED) {
                    self.type_line(KeyCode::Char(letter));
                }
                None
            }
            Event::Paste(_) => {
                self.message = Some("pasted text is ignored; type a key to answer".to_owned());
                None
            }
            Event::Mouse(mouse) if self.mode == ScreenMode::Panes && !self.is_too_small => {
                self.mouse(*mouse);
                None
            }
            _ => None,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Option<KeyAction> {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Some(KeyAction::Quit),
                KeyCode::Char('z') => Some(KeyAction::Suspend),
                _ => None,
            };
        }
        if self.is_too_small {
            return (key.code == KeyCode::Char('q')).then_some(KeyAction::Quit);
        }
        match &self.mode {
            ScreenMode::Panes => self.pane_key(key.code),
            ScreenMode::Typing(..) => self.type_line(key.code),
            ScreenMode::Help | ScreenMode::Whole => {
                self.cover_key(key.code);
                None
            }
            ScreenMode::Tree(row) => self.tree_key(*row, key.code),
        }
    }

    fn pane_key(&mut self, code: KeyCode) -> Option<KeyAction> {
        let answer = |text: &str| Some(KeyAction::Answer(text.to_owned()));
        match code {
            KeyCode::Char(letter @ ('c' | 'h' | 'p' | 'm' | 'u' | 'z')) => {
                return answer(letter.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Char('q') => return Some(KeyAction::Quit),
            KeyCode::Char('w') | KeyCode::Enter => return self.wrong(),
            KeyCode::Char(kind @ ('g' | '/')) => self.mode = ScreenMode::Typing(kind, String::new()),
            KeyCode::Char(letter @ ('n' | 'N' | '[' | ']')) => return Some(KeyAction::Seek(letter.to_string())),
            KeyCode::Char(letter @ ('<' | '>')) if !self.shown.values.is_empty() => {
                return Some(KeyAction::Seek(format!("{letter} {}", self.selected + 1)));
            }
            KeyCode::Char('r') => return Some(KeyAction::Return),
            KeyCode::Char('?') => self.cover(ScreenMode::Help),
            KeyCode::Char('v') if !self.shown.values.is_empty() => self.cover(ScreenMode::Whole),
            KeyCode::Char('v' | '<' | '>') => self.message = Some("the step has no value".to_owned()),
            KeyCode::Char('t') => {
                self.show_tree();
                return Some(KeyAction::Tree);
            }
            KeyCode::Char(' ') => self.mark(self.selected),
            KeyCode::Char(digit @ '1'..='9') => self.mark(usize::from(digit as u8 - b'1')),
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => self.selected = (self.selected + 1).min(self.shown.values.len().saturating_sub(1)),
            KeyCode::PageUp => self.scroll -= 8,
            KeyCode::PageDown => self.scroll += 8,
            KeyCode::Left if self.shown.step > 1 => return Some(KeyAction::Look(self.shown.step - 1)),
            KeyCode::Right => return Some(KeyAction::Look(self.shown.step + 1)),
            KeyCode::Tab => match self.shown.values.get(self.selected).and_then(|value| value.maker) {
                Some(maker) => return Some(KeyAction::Look(maker)),
                None => self.message = Some("no step of this run computed that value".to_owned()),
            },
            _ => self.message = Some("press ? for help".to_owned()),
        }
        None
    }

    /// Covers the panes with the tree, at the row of the step.
    pub fn show_tree(&mut self) {
        let now = self.shown.tree.iter().position(|row| row.is_now);
        self.mode = ScreenMode::Tree(now.unwrap_or(0));
    }

    fn cover(&mut self, mode: ScreenMode) {
        (self.mode, self.covered) = (mode, 0);
    }

    /// Scrolls what covers the panes; any other key closes it.
    fn cover_key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Up => self.covered = self.covered.saturating_sub(1),
            KeyCode::Down => self.covered = self.covered.saturating_add(1),
            KeyCode::PageUp => self.covered = self.covered.saturating_sub(10),
            KeyCode::PageDown => self.covered = self.covered.saturating_add(10),
            _ => self.mode = ScreenMode::Panes,
        }
    }

    fn tree_key(&mut self, row: usize, code: KeyCode) -> Option<KeyAction> {
        let last = self.shown.tree.len().saturating_sub(1);
        let to = match code {
            KeyCode::Up => row.saturating_sub(1),
            KeyCode::Down => row + 1,
            KeyCode::PageUp => row.saturating_sub(10),
            KeyCode::PageDown => row + 10,
            KeyCode::Char(' ') => {
                let part = self.shown.tree.get(row).filter(|row| row.is_part).map(|row| row.step);
                if part.is_none() {
                    self.message = Some("nothing is in this line".to_owned());
                }
                return part.map(KeyAction::Open);
            }
            KeyCode::Enter => {
                let step = self.shown.tree.get(row).map(|row| row.step.max(1));
                self.mode = ScreenMode::Panes;
                return step.map(KeyAction::Look);
            }
            _ => {
                self.mode = ScreenMode::Panes;
                return None;
            }
        };
        self.mode = ScreenMode::Tree(to.min(last));
        None
    }

    fn type_line(&mut self, code: KeyCode) -> Option<KeyAction> {
        let ScreenMode::Typing(kind, typed) = &mut self.mode else { return None };
        match code {
            KeyCode::Char(letter) if typed.len() < MAX_TYPED => typed.push(letter),
            KeyCode::Backspace if !typed.is_empty() => drop(typed.pop()),
            KeyCode::Enter => {
                let text = match kind {
                    '/' => format!("/{typed}"),
                    _ => format!("g {typed}"),
                };
                let is_empty = typed.is_empty() && *kind == 'g';
                self.mode = ScreenMode::Panes;
                return (!is_empty).then_some(KeyAction::Seek(text));
            }
            KeyCode::Esc | KeyCode::Backspace => self.mode = ScreenMode::Panes,
            _ => {}
        }
        None
    }

    fn mark(&mut self, index: usize) {
        let Some(value) = self.shown.values.get(index) else { return };
        self.selected = index;
        if !value.is_used {
            self.message = Some("the step gives it; h says that what it computes is wrong".to_owned());
        } else if !self.marked.remove(&index) {
            self.marked.insert(index);
        }
    }

    fn wrong(&mut self) -> Option<KeyAction> {
        let is_used = |index: &usize| self.shown.values.get(*index).is_some_and(|value| value.is_used);
        let marked = if self.marked.is_empty() { BTreeSet::from([self.selected]) } else { self.marked.clone() };
        if !marked.iter().all(is_used) {
            let is_any = self.shown.values.iter().any(|value| value.is_used);
            let what = if is_any { "the step gives it" } else { "the step uses no value" };
            self.message = Some(format!("{what}; h says that what it computes is wrong"));
            return None;
        }
        let numbers: Vec<String> = marked.iter().map(|index| (index + 1).to_string()).collect();
        Some(KeyAction::Answer(format!("w {}", numbers.join(" "))))
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
mod tests;
