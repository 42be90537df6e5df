//! Draws the course of a hunt: its state, the tested revisions, and the output of the last probe.

use crate::status;
use idd_base::Outcome;
use idd_report::course::{CoursePlace, HuntCourse};
use idd_report::text::rows;
use idd_report::{Style, Terminal, Untrusted};
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

#[cfg(test)]
mod tests {
    use super::*;
    use idd_base::CommitId;
    use idd_report::course::{Fact, LastOutput, TestedCommit};
    use idd_report::{Commit, Date};
    use ratatui::Terminal as Screen;
    use ratatui::backend::TestBackend;

    fn tested(n: u8, outcome: Outcome, is_end: bool) -> CoursePlace {
        let commit = Commit {
            commit: CommitId::sha1([n; 20]),
            subject: "a \x1b[2J subject".into(),
            author: "a".into(),
            date: Date::new(1_772_323_200, 0),
        };
        let (position, verdict) = (format!("HEAD~{n}"), outcome.to_string());
        CoursePlace::Tested(TestedCommit { commit, position, outcome: Some(outcome), verdict, is_end })
    }

    #[test]
    fn the_smallest_screen_has_the_state_the_range_and_the_last_line_of_the_output() {
        let failures = (1..20).map(|n| tested(n, Outcome::Fail, n == 19));
        let rest = [CoursePlace::Untested(12), tested(32, Outcome::Pass, true), tested(64, Outcome::Pass, false)];
        let course = HuntCourse {
            is_running: true,
            facts: vec![Fact { label: "state:", text: "running".into() }],
            running: Vec::new(),
            bad: None,
            last_good: None,
            places: failures.chain(rest).collect(),
            output: Some(LastOutput { title: "Output".to_owned(), text: "first\n\x1b[2Jlast\n".into() }),
        };
        let mut screen = Screen::new(TestBackend::new(LEAST.0, LEAST.1)).unwrap();
        screen.draw(|frame| draw(&"./test.sh \x1b".into(), &course, Style::PLAIN, frame)).unwrap();
        let text = screen.backend().to_string();
        let text: Vec<&str> = text.lines().map(|line| line.trim_matches('"').trim_end()).collect();
        insta::assert_snapshot!(text.join("\n"));
    }
}
