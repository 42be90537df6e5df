//! The page of a hunt that is under way. A browser loads it again by itself until the hunt has ended.

use std::io::{self, Write};

use crate::course::HuntCourse;
use crate::html::history::LinkTargets;
use crate::html::markup::Markup;
use crate::html::{STYLE, Section, hash, history};
use crate::phrase::words;
use crate::story::Story;
use crate::{Report, Started, Untrusted, html};

/// The time after which a browser loads the page again, in seconds.
const REFRESH: &str = "2";

/// The content of the page.
#[derive(Debug)]
pub struct WatchPage<'p> {
    /// What is known so far.
    pub report: &'p Report,
    /// The course of the hunt, for the picture.
    pub story: &'p Story,
    /// The same in rows.
    pub course: &'p HuntCourse,
    /// The line of the test.
    pub test: &'p Untrusted,
}

/// Writes the file.
pub fn write(page: &WatchPage<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<!doctype html>\n{}", Markup::of(|markup| document(page, markup)).as_str())
}

fn document(page: &WatchPage<'_>, out: &mut Markup) {
    let sources = format!("style-src {}", hash(STYLE));
    let title = Untrusted::from([b"git idd: ", page.test.as_bytes()].concat());
    out.element("html", &[("lang", "en")], |out| {
        html::head(&sources, title, page.course.is_running.then_some(REFRESH), out);
        out.newline();
        out.element("body", &[], |out| html::frame(&sections(page), |out| headline(page, out), out));
    });
}

fn headline(page: &WatchPage<'_>, out: &mut Markup) {
    let course = page.course;
    let state = if course.is_running { "running" } else { "not running" };
    out.leaf("p", &[("class", "status")], state);
    out.element("h1", &[], |out| out.leaf("code", &[], page.test.clone()));
    let running = course.running.iter().map(|probe| {
        let since = format!("{}, since {}: ", probe.phase, Started::new(probe.started_at_unix));
        ("running:", Untrusted::from([since.as_bytes(), probe.revision.as_bytes()].concat()))
    });
    let facts = course.facts.iter().map(|fact| (fact.label, fact.text.clone()));
    let shown =
        |(label, text): (&'static str, Untrusted)| (label.trim_end_matches(':'), Markup::of(|out| out.line(&text)));
    html::write_facts(&facts.chain(running).map(shown).collect::<Vec<_>>(), out);
}

fn sections(page: &WatchPage<'_>) -> Vec<Section<'static>> {
    let (shown, ran) = (&mut LinkTargets::new(page.story), Markup::default());
    let picture = Markup::of(|out| history::write(page.report, page.story, &ran, shown, out));
    let output = page.course.output.as_ref().map(|output| {
        Markup::of(|out| {
            out.paragraph("quiet", &[words(output.title.as_str())]);
            out.element("pre", &[("tabindex", "0")], |out| out.block(&output.text));
        })
    });
    let output = output.map(|output| ("output", "The last output", output));
    std::iter::once(("history", "The hunt through history", picture)).chain(output).collect()
}
