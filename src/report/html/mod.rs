//! The report as one HTML file. The page fetches nothing and runs no code from others, and it can be read without its
//! script.
//!
//! [`markup`] writes the file, and keeps text from others text. The page allows exactly its own style and script, by
//! their hashes. Its input is data: [`HtmlPage`].

mod answers;
mod chain;
mod chart;
mod chop;
mod diff;
mod history;
mod invariants;
mod markup;
mod source;
mod stepper;
mod walk;
pub mod watch;

use std::collections::BTreeSet;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use crate::explanation::chain_of;
use crate::forge::Forge;
use crate::html::history::LinkTargets;
use crate::html::markup::Markup;
use crate::html::stepper::StepContext;
use crate::patch::Patch;
use crate::phrase::{code, line, words};
use crate::story::Story;
use crate::views::{ChangeView, views};
use crate::{
    ClaimEvidence, Commit, Explained, Explanation, Inline, PortRung, Report, ReportedFix, Suite, Terminal, Untrusted,
    summary,
};
use data_encoding::BASE64;
use idd_base::{CommitId, count};

const STYLE: &str = include_str!("style.css");

const SCRIPT: &str = include_str!("script.js");

/// The prefix of the ids of the culprit's lines.
const CULPRIT: &str = "c";

/// The content of the page.
#[derive(Debug)]
pub struct HtmlPage<'p> {
    /// The finding.
    pub report: &'p Report,
    /// The test command of the hunt.
    pub test: &'p Untrusted,
    /// The build command.
    pub build: Option<&'p Untrusted>,
    /// The course of the hunt.
    pub story: &'p Story,
    /// The explanations of the failure.
    pub explanations: &'p [Explained],
    /// The forge to which commits are linked.
    pub forge: Option<&'p Forge>,
}

impl HtmlPage<'_> {
    /// The short id of a commit, linked to the forge.
    fn id(&self, commit: CommitId, out: &mut Markup) {
        let short = |out: &mut Markup| out.leaf("code", &[], commit.short());
        match self.forge.map(|forge| forge.commit(commit)) {
            Some(address) => out.element("a", &[("href", &address), ("rel", "noreferrer")], short),
            None => short(out),
        }
    }

    /// The id and the subject of a commit.
    fn named(&self, commit: &Commit) -> Markup {
        Markup::of(|out| {
            self.id(commit.commit, out);
            out.phrase(&[words(" "), line(&commit.subject)]);
        })
    }
}

/// Writes the file.
pub fn write(page: &HtmlPage<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<!doctype html>\n{}", Markup::of(|markup| document(page, markup)).as_str())
}

/// The source expression of a Content-Security-Policy for a text in the page.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)))
}

fn document(page: &HtmlPage<'_>, out: &mut Markup) {
    let sources = format!("style-src {}; script-src {}", hash(STYLE), hash(SCRIPT));
    out.element("html", &[("lang", "en")], |out| {
        head(&sources, summary::title(page.report, page.test), None, out);
        out.newline();
        out.element("body", &[], |out| {
            body(page, out);
            out.element("script", &[], |out| out.own(SCRIPT));
        });
    });
}

/// The head of a page.
///
/// - `sources`: the part of its policy about its style and its script.
/// - `refresh`: the time in seconds after which a browser loads the page again.
fn head(sources: &str, title: Untrusted, refresh: Option<&str>, out: &mut Markup) {
    let policy = format!("default-src 'none'; {sources}; base-uri 'none'; form-action 'none'");
    out.element("head", &[], |out| {
        out.open("meta", &[("charset", "utf-8")]);
        out.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
        if let Some(refresh) = refresh {
            out.open("meta", &[("http-equiv", "refresh"), ("content", refresh)]);
        }
        out.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        out.open("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        out.leaf("title", &[], title);
        out.element("style", &[], |out| out.own(STYLE));
    });
}

/// A section of the page: its id, its title, and its content.
type Section<'s> = (&'static str, &'static str, Markup);

fn body(page: &HtmlPage<'_>, out: &mut Markup) {
    let sections = sections(page);
    out.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the report");
    out.element("header", &[("class", "top")], |out| {
        out.element("p", &[("class", "brand")], |out| {
            out.leaf("strong", &[], "git idd");
            out.words(" regression report");
        });
        out.element("div", &[("id", "tools"), ("class", "tools")], |_| {});
    });
    out.newline();
    frame(&sections, |out| headline(page, out), out);
    out.newline();
    out.element("footer", &[], |out| {
        out.words(concat!("Made by git-idd ", env!("CARGO_PKG_VERSION")));
        if let Some(hunt) = &page.report.hunt {
            out.words(&format!(" from the hunt {hunt}"));
        }
        out.words(". This file fetches nothing and can be sent as it is.");
    });
}

/// The sections of a page below its headline, with links to them.
fn frame(sections: &[Section<'_>], headline: impl FnOnce(&mut Markup), out: &mut Markup) {
    out.element("div", &[("class", "frame")], |out| {
        out.element("nav", &[("aria-label", "Sections")], |out| {
            out.element("ul", &[], |out| {
                for (id, title, _) in sections {
                    let target = format!("#{id}");
                    out.element("li", &[], |out| out.leaf("a", &[("href", &target)], *title));
                }
            });
        });
        out.newline();
        out.element("main", &[("id", "main"), ("tabindex", "-1")], |out| {
            headline(out);
            for (id, title, inside) in sections {
                let heading = format!("{id}-title");
                out.newline();
                out.element("section", &[("id", id), ("aria-labelledby", &heading)], |out| {
                    out.leaf("h2", &[("id", &heading)], *title);
                    out.part(inside);
                });
            }
        });
    });
}

fn sections(page: &HtmlPage<'_>) -> Vec<Section<'static>> {
    let (report, story) = (page.report, page.story);
    let culprit = marked_culprit(page);
    let mut shown = LinkTargets::new(story);
    let mut sections = Vec::new();
    let mut section = |id, title, write: &mut dyn FnMut(&mut Markup)| sections.push((id, title, Markup::of(write)));
    let nothing = Patch::default();
    for explained in page.explanations {
        let patch = culprit.as_ref().filter(|_| is_of_culprit(explained, report)).unwrap_or(&nothing);
        let context = StepContext { sources: &story.sources, patch, prefix: CULPRIT };
        let explanation = &explained.explanation;
        let (id, title) = match explanation {
            Explanation::Chain(_) => ("why", "Why it fails"),
            Explanation::Chop(_) => ("chop", "What leads to the failure"),
            Explanation::Walk(_) => ("walk", "The first wrong step"),
            Explanation::Invariants(_) => ("invariants", "What has to hold for the failure"),
        };
        section(id, title, &mut |out| match explanation {
            Explanation::Chain(chain) => chain::write(chain, context, out),
            Explanation::Chop(found) => chop::write(found, out),
            Explanation::Walk(found) => walk::write(found, out),
            Explanation::Invariants(found) => invariants::write(found, context, out),
        });
    }
    if let Some(culprit) = &culprit {
        section("change", "The whole commit", &mut |out| change(page, culprit, out));
    }
    if let Some(reversal) = report.reversal() {
        let title = if reversal.is_revert() { "The revert" } else { "The fix" };
        section("fix", title, &mut |out| fix(reversal, out));
    }
    if !report.evidence.is_empty() {
        section("evidence", "Evidence", &mut |out| evidence(report, &shown, out));
    }
    section("history", "The hunt through history", &mut |out| {
        history::write(report, story, &ran(page), &mut shown, out);
    });
    section("sizes", "Patch sizes", &mut |out| chart::sizes(story, &shown, out));
    section("reasons", "What could not be tested", &mut |out| chart::reasons(report, out));
    section("all", "All answers", &mut |out| answers::write(story, &mut shown, out));
    sections
}

/// The commands of each answer.
fn ran(page: &HtmlPage<'_>) -> Markup {
    let build = page.build.into_iter().flat_map(|build| [code(build), words(", then ")]);
    Markup::of(|out| out.paragraph("", &build.chain([code(page.test)]).collect::<Vec<_>>()))
}

/// Whether the explanation is about the lines of the first bad commit, and not of HEAD.
fn is_of_culprit(explained: &Explained, report: &Report) -> bool {
    report.first_bad.as_ref().is_some_and(|first_bad| first_bad.commit.commit == explained.commit)
}

/// The whole difference of the first bad commit, with the marked minimal change.
fn marked_culprit(page: &HtmlPage<'_>) -> Option<Patch> {
    let mut culprit = Patch::read(page.story.culprit.as_ref()?);
    let same = |_: &Untrusted, line| line;
    for view in views(page.report) {
        culprit.mark(&Patch::read(&view.change.patch), [&same, &same]);
    }
    Some(culprit)
}

fn headline(page: &HtmlPage<'_>, out: &mut Markup) {
    let report = page.report;
    let class = if report.first_bad.is_some() { "status found" } else { "status" };
    out.leaf("p", &[("class", class)], report.status.word().replace('_', " "));
    out.element("h1", &[], |out| {
        out.leaf("code", &[], page.test.clone());
        match &report.first_bad {
            Some(first_bad) => {
                out.words(&format!(" {} ", report.find.words().since));
                page.id(first_bad.commit.commit, out);
            }
            None => out.words(&format!(": {}", report.status.word().replace('_', " "))),
        }
    });
    if let Some(first_bad) = &report.first_bad {
        let Commit { subject, author, date, .. } = &first_bad.commit;
        out.element("p", &[("class", "lead")], |out| {
            out.leaf("q", &[], subject.clone());
            out.phrase(&[words(" by "), line(author), words(format!(", {}", date.day()))]);
        });
    }
    why(page, out);
    out.leaf("p", &[], report.error.as_ref().map_or(&report.sentence, |error| &error.message).clone());
    if let Some(hint) = report.error.as_ref().and_then(|error| error.hint.as_ref()) {
        out.leaf("p", &[("class", "quiet")], hint.clone());
    }
    facts(page, out);
    for (nth, view) in views(report).iter().enumerate() {
        let ChangeView { title, size, claim, .. } = view;
        out.leaf("h2", &[("class", "small")], format!("{title} ({size})"));
        out.leaf("p", &[], claim.as_str());
        diff::write(&view.patch(), ["n", "s"][nth.min(1)], &BTreeSet::new(), out);
    }
    out.notes(&[("aria-label", "Notes")], &report.notes);
}

/// The explained chain in one line, with a link to its steps.
fn why(page: &HtmlPage<'_>, out: &mut Markup) {
    let Some(chain) = chain_of(page.explanations) else { return };
    out.element("p", &[("class", "why")], |out| {
        out.leaf("strong", &[], "Why:");
        out.words(&format!(" {} ", chain.in_one_line()));
        out.leaf("a", &[("href", "#why")], "step by step");
    });
}

fn facts(page: &HtmlPage<'_>, out: &mut Markup) {
    let report = page.report;
    let phrase = |parts: &[Inline]| Markup::of(|out| out.phrase(parts));
    let mut facts: Vec<(&str, Markup)> = Vec::new();
    let good = report.find.words().labels[0].trim_end_matches(':');
    facts.extend(report.last_good.as_ref().map(|commit| (good, page.named(commit))));
    facts.extend(report.bad.as_ref().map(|commit| ("tested at", page.named(commit))));
    facts.extend(report.signature.as_ref().map(|signature| ("failure", phrase(&signature.in_short()))));
    let candidates = report.range.iter().flat_map(|range| &range.candidates);
    facts.extend(candidates.map(|candidate| ("candidate", page.named(candidate))));
    facts.extend(page.build.map(|build| ("build", phrase(&[code(build)]))));
    for (label, beside) in [("held", false), ("beside", true)] {
        let (shown, n_more) = report.shown_held(beside);
        facts.extend(shown.iter().map(|held| (label, phrase(&[code(&held.path), words(held.words())]))));
        facts.extend((n_more > 0).then(|| (label, phrase(&[words(format!("{n_more} more"))]))));
    }
    let evidence = summary::evidence(report);
    let linked = |held: String| Markup::of(|out| out.leaf("a", &[("href", "#evidence")], held));
    facts.extend(evidence.map(|held| ("evidence", linked(held))));
    facts.push(("cost", phrase(&[words(summary::cost(report))])));
    write_facts(&facts, out);
}

/// Labels, and what is known.
fn write_facts(facts: &[(&str, Markup)], out: &mut Markup) {
    out.element("dl", &[("class", "facts")], |out| {
        for (label, inside) in facts {
            out.element("div", &[], |out| {
                out.leaf("dt", &[], *label);
                out.element("dd", &[], |out| out.part(inside));
            });
        }
    });
}

fn change(page: &HtmlPage<'_>, culprit: &Patch, out: &mut Markup) {
    let Some(first_bad) = &page.report.first_bad else { return };
    out.leaf("h3", &[], count(first_bad.lines, "line"));
    out.leaf("p", &[("class", "quiet")], "Lines with a bar at their left belong to the change above.");
    let of_culprit = page.explanations.iter().filter(|explained| is_of_culprit(explained, page.report));
    let targets = of_culprit
        .flat_map(|explained| match &explained.explanation {
            Explanation::Chain(chain) => stepper::targets(&chain::steps(chain), culprit),
            Explanation::Invariants(found) => stepper::targets(&invariants::steps(found), culprit),
            Explanation::Chop(_) | Explanation::Walk(_) => BTreeSet::new(),
        })
        .collect();
    diff::write(culprit, CULPRIT, &targets, out);
}

fn fix(fix: &ReportedFix, out: &mut Markup) {
    let command = if fix.is_revert() { "git idd apply --revert" } else { "git idd apply" };
    let place = if fix.complete { "HEAD".to_owned() } else { fix.commit.short() };
    let (lines, scope) = (count(fix.lines, "line"), fix.part());
    let means = match fix.rung {
        PortRung::Merge => "by a merge",
        PortRung::Lines => "by a merge line by line",
        PortRung::Syntax => "by a merge by syntax",
        PortRung::Renamed => "by a merge by syntax, with the names of today",
        PortRung::Reduced => "by a new reduction where it conflicted",
    };
    let lead = format!("{lines} for {place} ({scope}), carried there {means}; tested: {}.", fix.result());
    out.leaf("p", &[("class", "lead")], lead);
    let suite = match fix.suite {
        Suite::Same => "The other tests have the same results as without it.",
        Suite::Worse => "With it, tests of the suite fail that passed before.",
        Suite::NotRun => "Only this command was run with it, no suite (--suite).",
    };
    out.leaf("p", &[], suite);
    diff::write(&Patch::read(&fix.patch), "f", &BTreeSet::new(), out);
    out.paragraph("quiet", &[code(&command.into()), words(" puts it into the working tree.")]);
}

fn evidence(report: &Report, shown: &LinkTargets, out: &mut Markup) {
    let row = |claim: &ClaimEvidence, out: &mut Markup| {
        let (mark, class) = if claim.holds() { ("✓ yes", "outcome pass") } else { ("✗ no", "outcome fail") };
        let checkout = if claim.is_clean { "clean" } else { "used" };
        let place = claim.place.as_ref().map(|place| format!(", on {}", Terminal.line(place)));
        out.element("tr", &[], |out| {
            out.leaf("td", &[], claim.claim.clone());
            out.cell(|out| out.leaf("span", &[("class", class)], mark));
            out.cell(|out| claim.commit.into_iter().for_each(|commit| shown.commit(commit, out)));
            out.cell(|out| history::outcome(Some(claim.outcome), out));
            out.leaf("td", &[], format!("{checkout}, {}{}", claim.verified.word(), place.unwrap_or_default()));
        });
    };
    out.scroll("Table of evidence", true, |out| {
        out.element("table", &[], |out| {
            out.rows(&["Claim", "Holds", "At revision", "Seen", "Checkout"], &report.evidence, row);
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lineage::{Edge, LineageNode};
    use crate::samples;
    use crate::story::{FilePart, ProbeRun, ReductionStory, RevisionVerdict, TestedStory, UsedAnswer};
    use idd_base::{Outcome, Reason};

    const EVIL: &str =
        "</script></style><script>a()</script><img src=x onerror=a()> \" ' & \u{2028}\u{2029}\u{202e}\x1b[2J";

    fn story(report: &Report) -> Story {
        let commits = [&report.bad, &report.last_good].into_iter().flatten().cloned();
        let mut commits: Vec<Commit> = commits.chain(report.first_bad.iter().map(|it| it.commit.clone())).collect();
        commits.sort_by_key(|commit| std::cmp::Reverse(commit.commit));
        let n_commits = commits.len();
        let outcomes = [Outcome::Fail, Outcome::Fail, Outcome::Pass];
        let revisions = commits.into_iter().zip(outcomes).enumerate().map(|(index, (commit, outcome))| {
            let edge = (index + 1 < n_commits).then_some(Edge { to: index + 1, lane: 0, n_between: 7 });
            let verdict = Some(RevisionVerdict { outcome, is_repaired: index == 2, nth: index + 1 });
            TestedStory { commit, node: LineageNode { lane: 0, edges: edge.into_iter().collect() }, verdict }
        });
        let revisions: Vec<TestedStory> = revisions.collect();
        let answer = |nth: usize, phase: &str, outcome| UsedAnswer {
            phase: phase.into(),
            commit: revisions[nth % n_commits].commit.commit,
            outcome: Some(outcome),
            is_known: nth == 1,
            seen: (nth != 2).then(|| ProbeRun {
                ending: "test: exit code 1".into(),
                seconds: 0.5,
                is_clean: false,
                output: Some(nth % 2),
            }),
        };
        Story {
            n_tested: 9,
            answers: vec![
                answer(0, "search", Outcome::Fail),
                answer(1, "reduce", Outcome::Unresolved(Reason::Build)),
                answer(2, EVIL, Outcome::Pass),
            ],
            outputs: vec![EVIL.into(), format!("other {EVIL}").into()],
            reductions: vec![ReductionStory { what: EVIL.into(), commit: revisions[0].commit.commit, before: 40, after: 2 }],
            culprit: Some(format!("diff --git a/src/parse.c b/src/parse.c\n--- a/src/parse.c\n+++ b/src/parse.c\n@@ -7,3 +7,3 @@ {EVIL}\n int n = 0;\n-while (n < max)\n+while (n <= max)\n return n;\n").into()),
            sources: vec![FilePart { file: "src/parse.c".into(), lines: (1..30).map(|number| (number, EVIL.into())).collect() }],
            revisions,
        }
    }

    fn written(report: &Report, explanations: &[Explained]) -> String {
        let (test, build) = (EVIL.into(), EVIL.into());
        let story = story(report);
        let mut out = Vec::new();
        write(
            &HtmlPage { report, test: &test, build: Some(&build), story: &story, explanations, forge: None },
            &mut out,
        )
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_policy_allows_what_stands_in_the_page_and_nothing_else() {
        let page = written(&samples::found(), &[]);
        let between = |begin: &str, end: &str| page.split_once(begin).unwrap().1.split_once(end).unwrap().0.to_owned();
        let policy = between("http-equiv=\"Content-Security-Policy\" content=\"", "\"").replace("&#39;", "'");
        let (style, script) = (hash(&between("<style>", "</style>")), hash(&between("<script>", "</script>")));
        assert_eq!(
            policy,
            format!("default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'")
        );
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("</") && !text.contains("http") && !text.contains("innerHTML"));
        }
    }

    #[test]
    fn nothing_of_others_is_markup_wherever_it_stands() {
        let mut report = samples::explained();
        let evil = || Untrusted::from(EVIL);
        report.notes = vec![evil()];
        report.sentence = evil();
        report.held[0].path = evil();
        report.repairs[0].patch = evil();
        report.evidence[0].claim = evil();
        report.signature.as_mut().unwrap().line = Some(evil());
        report.fix.as_mut().unwrap().patch =
            format!("diff --git a/{EVIL} b/{EVIL}\n{EVIL}\n@@ -1 +1 @@\n-{EVIL}\n+{EVIL}\n").into();
        let first_bad = &mut report.first_bad.as_mut().unwrap().commit;
        (first_bad.subject, first_bad.author) = (evil(), evil());
        let mut chain = samples::chain();
        let link = &mut chain.links[1];
        (link.variable, link.value, link.file) = (Some(evil()), evil(), Some(evil()));
        chain.failure.what = evil();
        chain.remarks = vec![evil()];
        let mut chop = samples::chop();
        let first = &mut chop.lines[0];
        (first.file, first.function, first.source, first.values) = (evil(), evil(), Some(evil()), vec![evil()]);
        (chop.failure, chop.ending, chop.inputs, chop.remarks) = (evil(), evil(), vec![evil()], vec![evil()]);
        let mut found = samples::invariants();
        let last = found.statements.last_mut().unwrap();
        (last.file, last.function, last.source) = (Some(evil()), evil(), Some(evil()));
        (last.invariant, last.values) = (vec![evil()], vec![evil()]);
        last.skipped.functions = vec![(evil(), 3)];
        (found.failure, found.rest, found.remarks) = (evil(), vec![evil()], vec![evil()]);
        let explanations = [Explanation::Chain(chain), Explanation::Chop(chop), Explanation::Invariants(found)];
        let explanations = explanations.map(samples::of_hunt);
        let page = written(&report, &explanations);
        let page = page.replacen(STYLE, "", 1).replacen(SCRIPT, "", 1);
        for wrong in [
            "<script>a",
            "<img",
            "</script></style>",
            "\u{2028}",
            "\u{2029}",
            "\u{202e}",
            "\x1b",
            " style=",
            "javascript:",
        ] {
            assert!(!page.contains(wrong), "{wrong:?}");
        }
        assert_eq!(page.matches("<script").count(), 1);
        assert!(page.matches("&lt;script&gt;a()").count() > 15);
    }

    #[test]
    fn the_reason_stands_beside_the_headline_and_the_evidence_before_the_sizes() {
        let page = written(&samples::explained(), &samples::explanations());
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} in {page}"));
        let why = at("<p class=\"why\"><strong>Why:</strong> src/parse.c:8 the condition is true (reference false)");
        assert!(at("<h1>") < why && why < at("<dl class=\"facts\">"), "{page}");
        assert!(at("<section id=\"fix\"") < at("<section id=\"evidence\""), "{page}");
        assert!(at("<section id=\"evidence\"") < at("<section id=\"history\""), "{page}");
        assert!(at("<section id=\"evidence\"") < at("<section id=\"sizes\""), "{page}");
        let held = summary::evidence(&samples::explained()).unwrap();
        assert!(page.contains(&format!("<a href=\"#evidence\">{held}</a>")), "{held} in {page}");
        assert!(!written(&samples::found(), &[]).contains("class=\"why\""));
    }

    #[test]
    fn a_revert_is_shown_as_one_where_no_fix_is_recommended() {
        let mut report = samples::found();
        let fix = report.fix.take().unwrap();
        report.reverts = vec![ReportedFix { scope: crate::ReportedScope::Revert, ..fix }];
        let page = written(&report, &[]);
        assert!(page.contains("The revert</h2>") && page.contains("<code>git idd apply --revert</code>"), "{page}");
        assert!(!page.contains("The fix</h2>"));
        assert!(String::from_utf8_lossy(summary::message(&report).as_bytes()).contains("\n\nThe revert, tested:\n"));
        // What speaks against it is not recommended.
        report.reverts[0].suite = Suite::Worse;
        assert!(!written(&report, &[]).contains("The revert</h2>"));
    }

    #[test]
    fn every_list_of_items_says_which_they_are() {
        let page = written(
            &samples::explained(),
            &[samples::explanations(), vec![samples::of_hunt(Explanation::Walk(samples::walk()))]].concat(),
        );
        for label in ["Table of evidence", "Answers", "Steps", "Table of patch sizes", "Table of outcomes"] {
            let list = format!("aria-label=\"{label}\" data-items=\"tbody &gt; tr\">");
            assert!(page.contains(&list), "{list} in {page}");
        }
        for (class, items) in [("stepper", ".step"), ("revisions", ".revision > summary"), ("patch", ".add, .del")] {
            let items = items.replace('>', "&gt;");
            assert!(page.contains(&format!("class=\"{class}\" data-items=\"{items}\">")), "{class} in {page}");
        }
    }

    #[test]
    fn commits_are_linked_to_a_forge() {
        let (report, test, story) = (samples::found(), Untrusted::from("./t.sh"), Story::default());
        let forge = Forge::of("https://github.com/o/r");
        let mut out = Vec::new();
        let page = HtmlPage {
            report: &report,
            test: &test,
            build: None,
            story: &story,
            explanations: &[],
            forge: forge.as_ref(),
        };
        write(&page, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        let link = format!("href=\"https://github.com/o/r/commit/{}\" rel=\"noreferrer\"", "3".repeat(40));
        assert!(page.contains(&link), "{page}");
    }

    #[test]
    fn every_end_of_a_hunt_makes_a_page() {
        let ends = crate::status::TABLE.map(|row| Report::new(row.status, row.meaning));
        for report in ends.iter().chain([&samples::range(), &samples::never_passed(), &samples::error()]) {
            let (test, story) = ("./t.sh".into(), Story::default());
            let mut out = Vec::new();
            write(
                &HtmlPage { report, test: &test, build: None, story: &story, explanations: &[], forge: None },
                &mut out,
            )
            .unwrap();
            let page = String::from_utf8(out).unwrap();
            assert!(page.contains("<h1>") && page.ends_with("</html>\n"), "{:?}", report.status);
        }
    }

    #[test]
    fn ids_are_unique_and_links_lead_somewhere() {
        let page = written(&samples::explained(), &samples::explanations());
        let all = |begin: &str| {
            let found = page.split(begin).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
            found.collect::<Vec<_>>()
        };
        let ids = all(" id=\"");
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for link in all(" href=\"#") {
            assert!(unique.contains(&link), "{link}");
        }
    }
}
