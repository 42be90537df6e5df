//! Draws the course of a hunt: its state, the tested revisions, and the output of the last probe.

use crate::cli::status;
use crate::outcome::Outcome;
use crate::report::Untrusted;
use crate::report::course::{CoursePlace, HuntCourse};
use crate::report::escape::Terminal;
use crate::report::style::Style;
use crate::report::text::rows;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style as Look};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

/// Columns and lines that the view needs.
pub const LEAST: (u16, u16) = (60, 16);

const KEYS: &str = " q leaves the view; the hunt goes on";

/// Draws the view of a hunt.
///
/// - `test`: the line of the test.
pub fn draw(test: &Untrusted, course: &HuntCourse, style: Style, frame: &mut Frame<'_>) {
    let area = frame.area();
    let about = course.rows(status::now());
    let n_about = u16::try_from(about.len()).unwrap_or(u16::MAX);
    let below = (area.height / 4).max(4);
    let [title, facts, places, output, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(n_about),
        Constraint::Min(3),
        Constraint::Length(below),
        Constraint::Length(1),
    ])
    .areas(area);
    let columns = usize::from(area.width);
    let fit = |text: &str| rows::cut(text, Some(columns));
    let bold = Look::new().add_modifier(Modifier::BOLD);
    let test = fit(&format!("git idd: {}", Terminal.line(test)));
    frame.render_widget(Paragraph::new(Line::styled(test, bold)), title);
    frame.render_widget(paragraph(about.iter().map(|row| Line::raw(fit(row)))), facts);
    let inside = framed(fit("Tested revisions, newest first (* the range)"), places, frame);
    let shown = window(course, usize::from(inside.height)).iter();
    frame.render_widget(paragraph(shown.map(|place| Line::styled(fit(&place.line()), look(place, style)))), inside);
    if let Some(last) = &course.output {
        let inside = framed(fit(&last.title), output, frame);
        let lines = last.last_lines(usize::from(inside.height));
        frame.render_widget(paragraph(lines.iter().map(|line| Line::raw(fit(line)))), inside);
    }
    let reversed = Look::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(fit(KEYS)).style(reversed), keys);
}

fn paragraph<'l>(lines: impl Iterator<Item = Line<'l>>) -> Paragraph<'l> {
    Paragraph::new(lines.collect::<Vec<_>>())
}

/// The places around the range that so many rows show.
fn window(course: &HuntCourse, height: usize) -> &[CoursePlace] {
    let is_end = |place: &CoursePlace| matches!(place, CoursePlace::Tested(tested) if tested.is_end);
    let newer = course.places.iter().position(is_end).unwrap_or(0);
    let older = course.places.iter().rposition(is_end).unwrap_or(newer);
    let first = usize::midpoint(newer, older + 1).saturating_sub(height / 2);
    let first = first.min(course.places.len().saturating_sub(height));
    let last = (first + height).min(course.places.len());
    &course.places[first..last]
}

fn look(place: &CoursePlace, style: Style) -> Look {
    let faint = Look::new().add_modifier(Modifier::DIM);
    match place {
        CoursePlace::Untested(_) => faint,
        CoursePlace::Tested(tested) if style == Style::COLOURED => match tested.outcome {
            Some(Outcome::Pass) => Look::new().fg(Color::Green),
            Some(Outcome::Fail) => Look::new().fg(Color::Red),
            Some(Outcome::Unresolved(_)) => Look::new().fg(Color::Yellow),
            None => Look::new().add_modifier(Modifier::BOLD),
        },
        CoursePlace::Tested(_) => Look::new(),
    }
}

/// Draws a border with a title above an area; returns what is below it.
fn framed(title: String, area: Rect, frame: &mut Frame<'_>) -> Rect {
    let block = Block::new().title(title).borders(Borders::TOP);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    inside
}
