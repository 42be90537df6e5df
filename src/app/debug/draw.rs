//! Draws a question: the source on the left, the values on the right, the calls and loops and the answers below.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};

use crate::debug::screen::{QuestionScreen, ScreenMode};
use crate::debug::tree::TreeRow;

/// Columns and lines that the panes need.
pub const LEAST: (u16, u16) = (60, 16);

const KEYS: &str = " c right  w wrong  h here  m missing  p path  u unclear  z undo  q quit  ? help";

/// The same in fewer columns.
const SHORT_KEYS: &str = " c right w wrong h here m missing p path u unclear z ? help";

/// Columns that a value keeps beside the step that computed it.
const LEAST_VALUE: usize = 18;

const HELP: &str = "\
c     all that the step uses and computes is right
w     the marked values are wrong, else the selected one
h     here: all that it uses is right, but not what it does with it
m     missing: code is missing before this step
p     wrong path: the step should not run
u     unclear: ask me about what is around it
z     take the last answer back
q     quit; the answers are kept
Up Down select a value; Space or its number marks it as wrong
v     the whole value, and where it comes from
Looking at other steps, without an answer:
Left Right  the step before, after
Tab   the step that computed the selected value
< >   the step that wrote it before, that writes it next
[ ]   the same iteration or call before, after
g     a step: its number, a line (a.c:15), or a function
/     the next step that shows a text; n N: next, previous
t     the tree of calls and loops
r     back to the step that is asked about
PgUp PgDn scroll the source; Ctrl-Z stops, fg continues
Up and Down scroll this help; any other key closes it.";

/// A text that fits in so many columns; what is left out is three dots.
fn fit(text: &str, columns: usize) -> String {
    if Line::raw(text).width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if Line::raw(kept.as_str()).width() + 3 > columns {
            kept.pop();
            break;
        }
    }
    kept + "..."
}

impl QuestionScreen {
    /// Draws everything, or what is missing if the terminal is too small.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let whole = frame.area();
        self.is_too_small = whole.width < LEAST.0 || whole.height < LEAST.1;
        if self.is_too_small {
            let (columns, lines) = LEAST;
            let text = format!("The terminal is too small: at least {columns} columns and {lines} lines. q quits.");
            frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), whole);
            return;
        }
        let below = match whole.height {
            ..22 => 6,
            22..30 => 8,
            height => height / 3,
        };
        let [title, body, path, keys] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Min(6),
            Constraint::Length(below),
            Constraint::Length(1),
        ])
        .areas(whole);
        match &self.mode {
            ScreenMode::Help => self.draw_cover(frame, " Help ", HELP.lines().map(str::to_owned).collect()),
            ScreenMode::Whole => self.draw_whole(frame),
            ScreenMode::Tree(row) => self.draw_tree(frame, *row),
            ScreenMode::Panes | ScreenMode::Typing(..) => {
                let [source, values] =
                    Layout::horizontal([Constraint::Percentage(58), Constraint::Percentage(42)]).areas(body);
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
            }
        }
        let below = match (&self.mode, &self.message) {
            (ScreenMode::Typing('/', typed), _) => format!(" text of a value or function: {typed}_"),
            (ScreenMode::Typing(_, typed), _) => format!(" go to a step, a line (a.c:15) or a function: {typed}_"),
            (_, Some(message)) => format!(" {message}"),
            (ScreenMode::Panes, None) if usize::from(keys.width) < KEYS.len() => SHORT_KEYS.to_owned(),
            (ScreenMode::Panes, None) => KEYS.to_owned(),
            (ScreenMode::Tree(_), None) => " Enter looks at it  Space opens it  any other key closes".to_owned(),
            (_, None) => " Up Down scroll  any other key closes".to_owned(),
        };
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        frame.render_widget(Paragraph::new(fit(&below, usize::from(keys.width))).style(reversed), keys);
    }

    /// Covers the panes with some lines.
    fn draw_cover(&self, frame: &mut Frame<'_>, title: &str, lines: Vec<String>) {
        let mut area = frame.area();
        area.height -= 1;
        let n_lines = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        // A long value is wrapped, so it has more lines on the screen than these.
        let n_wrapped: usize =
            lines.iter().map(|line| Line::raw(line.as_str()).width() / usize::from(area.width - 2)).sum();
        let n_lines = n_lines.saturating_add(u16::try_from(n_wrapped).unwrap_or(u16::MAX));
        let scroll = self.covered.min(n_lines.saturating_sub(area.height - 2));
        let lines: Vec<Line<'_>> = lines.into_iter().map(Line::raw).collect();
        let block = Block::new().title(title.to_owned()).borders(Borders::ALL);
        frame.render_widget(Clear, area);
        let text = Paragraph::new(lines).block(block).wrap(Wrap { trim: false }).scroll((scroll, 0));
        frame.render_widget(text, area);
    }

    fn draw_whole(&self, frame: &mut Frame<'_>) {
        let Some(value) = self.shown.values.get(self.selected) else { return };
        let mut lines = vec![format!("{} = {}", value.name, value.whole), String::new(), "Comes from:".to_owned()];
        if value.from.is_empty() {
            lines.push("  not known".to_owned());
        }
        lines.extend(value.from.iter().map(|text| format!("  {text}")));
        self.draw_cover(frame, " Value ", lines);
    }

    fn draw_tree(&self, frame: &mut Frame<'_>, selected: usize) {
        let mut area = frame.area();
        area.height -= 1;
        let block = Block::new().title(" Calls and loops: > the step, letters the answers ").borders(Borders::ALL);
        let inside = block.inner(area);
        let rows = window(&self.shown.tree, selected, usize::from(inside.height));
        let lines: Vec<Line<'_>> = rows
            .map(|(index, row)| {
                let mark = if index == selected { '*' } else { ' ' };
                let text = fit(&format!("{mark}{}", row.line()), usize::from(inside.width));
                let style = if index == selected { Modifier::REVERSED } else { Modifier::empty() };
                Line::styled(text, Style::new().add_modifier(style))
            })
            .collect();
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(lines).block(block), area);
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
        let block = Block::new().title("Uses, and gives").borders(Borders::TOP | Borders::LEFT);
        self.values_area = block.inner(area);
        let columns = usize::from(self.values_area.width);
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (index, value) in self.shown.values.iter().enumerate() {
            let cursor = if index == self.selected { '>' } else { ' ' };
            let mark = match () {
                () if !value.is_used => "    gives".to_owned(),
                () if self.marked.contains(&index) => format!("[x] {}", index + 1),
                () => format!("[ ] {}", index + 1),
            };
            let style = if index == self.selected { Modifier::BOLD } else { Modifier::empty() };
            let from = value.maker.map(|maker| format!("  (step {maker})")).unwrap_or_default();
            let text = format!("{cursor}{mark} {} = {}", value.name, value.text);
            // The value is cut so that the step that computed it fits; in a narrow pane that step is left out.
            let rest = columns.saturating_sub(from.len());
            let (text, from) =
                if rest < LEAST_VALUE { (fit(&text, columns), String::new()) } else { (fit(&text, rest), from) };
            let faint = Style::new().add_modifier(Modifier::DIM);
            lines.push(Line::from(vec![
                Span::styled(text, Style::new().add_modifier(style)),
                Span::styled(from, faint),
            ]));
        }
        if self.shown.values.iter().all(|value| !value.is_used) {
            lines.push(Line::raw("  (it uses no value)"));
        }
        lines.extend(self.shown.does.iter().map(|text| Line::raw(fit(&format!("     {text}"), columns))));
        let height = usize::from(self.values_area.height);
        let first = (self.selected + 1).saturating_sub(height);
        let lines: Vec<Line<'_>> = lines.into_iter().skip(first).collect();
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }

    fn draw_path(&self, frame: &mut Frame<'_>, area: Rect) {
        let [calls, answers] = Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area);
        let height = usize::from(area.height.saturating_sub(1));
        let now = self.shown.near.iter().position(|row| row.is_now).unwrap_or(0);
        let rows = window(&self.shown.near, now, height);
        let rows: Vec<Line<'_>> = rows.map(|(_, row)| Line::raw(fit(&row.line(), usize::from(calls.width)))).collect();
        let path = &self.shown.path;
        let columns = usize::from(answers.width.saturating_sub(1));
        let last = path.iter().skip(path.len().saturating_sub(height));
        let last: Vec<Line<'_>> = last.map(|text| Line::raw(fit(text, columns))).collect();
        let block = |title: &'static str, borders| Block::new().title(title).borders(borders);
        frame.render_widget(Paragraph::new(rows).block(block("Calls and loops", Borders::TOP)), calls);
        frame.render_widget(Paragraph::new(last).block(block("Answers", Borders::TOP | Borders::LEFT)), answers);
    }
}

/// So many rows around one of them, with their indices; two of them after it, if there are.
fn window(rows: &[TreeRow], now: usize, height: usize) -> impl Iterator<Item = (usize, &TreeRow)> {
    let last = rows.len().saturating_sub(height);
    let first = (now + 3).saturating_sub(height).min(last);
    rows.iter().enumerate().skip(first).take(height)
}
