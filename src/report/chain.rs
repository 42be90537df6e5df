//! The chain of faulty values from the change to the failure: an [explanation](crate::explanation) of a finding.

use serde::{Deserialize, Serialize};

use crate::bounds::{Shorten, shorten};
use crate::phrase::{code, place, words};
use crate::{Inline, Terminal, Untrusted};
use idd_base::{count, ordinal};

/// The maximum number of printed links.
const MAX_LINKS: usize = 400;

/// The longest value that is said a second time, in bytes.
const MAX_REPEATED: usize = 24;

/// A chain of faulty values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportChain {
    /// The name of the failing version.
    pub bad: Untrusted,
    /// The name of the reference.
    pub good: Untrusted,
    /// The switched decision, if the reference is a run of the failing version.
    pub switched: Option<Switched>,
    /// The chain in one sentence; `None` if it is short, or does not begin with the change.
    #[serde(default)]
    pub summary: Option<Untrusted>,
    /// The links that lead to the failure, in the order of time. A text has one link for each of its characters.
    #[serde(rename = "chain")]
    pub links: Vec<ReportLink>,
    /// The sets of faulty variables, from the first to the last one.
    #[serde(default)]
    pub sets: Vec<Set>,
    /// The beginning of the chain.
    pub end: ChainBeginning,
    /// A sentence about the beginning: where the difference comes from.
    pub beginning: Option<Untrusted>,
    /// The failure.
    pub failure: VisibleFailure,
    /// The cost.
    #[serde(flatten)]
    pub figures: Figures,
    /// Notes: limits of the explanation, and omitted parts.
    pub remarks: Vec<Untrusted>,
}

/// Figures about an explanation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// The number of steps of the failing run.
    pub n_steps: u32,
    /// The number of steps of the reference.
    pub n_reference_steps: u32,
    /// The number of pairs of corresponding steps.
    pub n_aligned: usize,
    /// The number of causality tests.
    pub n_tests: u64,
    /// The number of forks that these tests ran.
    pub n_forks: u64,
    /// The number of those tests for which the program ran again in one virtual machine.
    pub n_trials: u64,
    /// The seconds that these took.
    pub trial_seconds: f64,
    /// The number of points at which the states of both runs were compared.
    pub n_states: u64,
    /// The seconds that builds and runs took.
    pub build_seconds: f64,
    /// The seconds that the search took.
    pub seconds: f64,
}

/// Faulty variables before a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// The step of the failing run.
    pub before_step: u32,
    /// The variables.
    pub variables: Vec<Untrusted>,
}

/// A link: a statement, and its effect in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLink {
    /// The kind of its effect.
    pub kind: EffectKind,
    /// The path of its file.
    pub file: Option<Untrusted>,
    /// Its line in the failing version, from 1.
    pub line: Option<u64>,
    /// Its function.
    pub function: Option<Untrusted>,
    /// The variable that was assigned, or the function that returned a value; `None` for a decision.
    pub variable: Option<Untrusted>,
    /// The value, or the branch that was taken, in the failing run.
    pub value: Untrusted,
    /// The same in the reference.
    pub reference: Untrusted,
    /// The step of the failing run.
    #[serde(default)]
    pub step: u32,
    /// The corresponding step of the reference.
    #[serde(default)]
    pub reference_step: Option<u32>,
    /// Whether the change touches the line.
    pub in_change: bool,
    /// Whether the value is faulty only because the reference overwrote it.
    #[serde(default)]
    pub kept: bool,
    /// Whether it is before the switched decision: with `reference` in place of `value` there, the test passes, too.
    #[serde(default)]
    pub replaced: bool,
    /// What happens if the program runs again and does there what the reference does; `None` if that was not tested.
    #[serde(default)]
    pub tested: Option<LinkTest>,
    /// The execution of the statement, if there are several.
    #[serde(flatten)]
    pub which: InstanceChoice,
    /// The text, if the variable is one character of a text.
    #[serde(default)]
    pub text: Option<WrittenText>,
    /// For a changed line, what the reference has there.
    #[serde(default)]
    pub was: Option<Was>,
}

/// What a test does if the program does at one step what the reference does there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkTest {
    /// It passes.
    Passes,
    /// It fails in another way: the first line that it prints otherwise.
    FailsOtherwise(Untrusted),
    /// It fails as before.
    Fails,
}

/// The source that the reference has at a changed line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Was {
    /// This in its place.
    Other(Untrusted),
    /// This besides.
    More(Untrusted),
    /// Nothing.
    Nothing,
}

/// A text of which a step wrote several characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenText {
    /// The variable that contains it.
    pub variable: Untrusted,
    /// The text in quotes.
    pub value: Untrusted,
    /// The same in the reference.
    pub reference: Untrusted,
}

/// Selects one of several executed statements of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceChoice {
    /// The part of a `for`.
    #[serde(default)]
    pub part: Option<LoopPart>,
    /// The number of this execution, from 1.
    #[serde(default)]
    pub instance: Option<u64>,
    /// The total number of executions; `None` in a run that does not end.
    #[serde(default)]
    pub of: Option<u64>,
}

/// A part of the head of a `for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopPart {
    /// The part that runs before the first iteration.
    Start,
    /// The part that is evaluated before each iteration.
    Condition,
    /// The part that runs after each iteration.
    Increment,
}

impl InstanceChoice {
    /// In words: `increment, 3rd time of 12`; `None` if there is only one.
    pub fn words(self) -> Option<String> {
        let part = self.part.map(|part| match part {
            LoopPart::Start => "start".to_owned(),
            LoopPart::Condition => "condition".to_owned(),
            LoopPart::Increment => "increment".to_owned(),
        });
        let instance = self.instance.filter(|_| self.of != Some(1)).map(|nth| {
            let of = self.of.map(|of| format!(" of {of}")).unwrap_or_default();
            format!("{} time{of}", ordinal(nth))
        });
        let words: Vec<String> = part.into_iter().chain(instance).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The same in parentheses, to follow a place; empty if there is only one.
    pub fn behind(self) -> String {
        self.words().map_or_else(String::new, |words| format!(" ({words})"))
    }
}

/// The kind of effect of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// It assigned a value to a variable.
    Value,
    /// An object lacks something, or holds something more: the value says so, and the reference what it did there.
    Contents,
    /// A call returned a value.
    Return,
    /// It took a branch.
    Decision,
    /// It is a part of the change, and leads to the next link without a visible variable.
    Change,
}

/// The visible failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibleFailure {
    /// In a clause: `the program says "1" (reference "2")`.
    pub what: Untrusted,
    /// The path of the file in which the failure shows.
    pub file: Option<Untrusted>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The step of the failing run.
    #[serde(default)]
    pub step: u32,
    /// Whether the change touches the line.
    pub in_change: bool,
    /// The execution of the statement, if there are several.
    #[serde(flatten)]
    pub which: InstanceChoice,
}

/// A decision that was switched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    /// The path of its file.
    pub file: Option<Untrusted>,
    /// Its line, from 1.
    pub line: Option<u64>,
    /// The execution of the decision, if there are several.
    #[serde(flatten)]
    pub which: InstanceChoice,
    /// The step of the decision.
    #[serde(default)]
    pub step: u32,
    /// The outcome in the failing run, if it is known.
    #[serde(default)]
    pub outcome: Option<Untrusted>,
    /// The outcome in the reference, if it is known.
    #[serde(default)]
    pub reference: Option<Untrusted>,
    /// The number of decisions that were switched in forks.
    #[serde(default)]
    pub n_forks: usize,
    /// The number of runs of the test.
    #[serde(default)]
    pub n_runs: usize,
    /// The number of decisions each of which makes the program do what it does when the test passes.
    #[serde(default)]
    pub n_passing: usize,
    /// The number of steps of the failing run from the decision to the failure.
    #[serde(default)]
    pub distance: u32,
    /// Whether the reference prints only the beginning of what the failing run prints.
    #[serde(default)]
    pub is_prefix: bool,
    /// The other decisions whose chains were compared, in the order of the run.
    #[serde(default)]
    pub others: Vec<Other>,
}

/// Another decision that makes the test pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// The path of its file.
    pub file: Option<Untrusted>,
    /// Its line, from 1.
    pub line: Option<u64>,
    /// The execution of the decision, if there are several.
    #[serde(flatten)]
    pub which: InstanceChoice,
    /// The step of the decision.
    pub step: u32,
    /// The number of links of its chain.
    pub n_links: usize,
}

/// The beginning of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainBeginning {
    /// All earlier values are the same in both runs.
    Benign,
    /// A value that exists from the start.
    Start,
    /// No earlier state causes it by itself.
    Stuck,
    /// The search was stopped here.
    Unfinished,
}

impl ChainBeginning {
    /// The same in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Benign => "Nothing before it is needed: the values that it uses are the same in both runs.",
            Self::Start => {
                "It begins with a value that exists from the start: an input, or something that only the reference \
                 does."
            }
            Self::Unfinished => "This is only its end: its beginning was not found.",
            Self::Stuck => "No earlier state causes it by itself, so it may begin too late.",
        }
    }
}

impl ReportChain {
    /// Where the chain begins, in a sentence.
    pub fn beginning(&self) -> Untrusted {
        self.beginning.clone().unwrap_or_else(|| self.end.sentence().into())
    }

    /// The same chain for people: links for the characters of one text are one link.
    #[must_use]
    pub fn joined(self) -> Self {
        let mut links = self.links;
        links.dedup_by(|later, link| {
            let is_same = |text: &WrittenText| later.text.as_ref() == Some(text);
            link.text.as_ref().is_some_and(is_same) && (link.line, link.which) == (later.line, later.which)
        });
        for link in &mut links {
            if let Some(WrittenText { variable, value, reference }) = link.text.take() {
                (link.variable, link.value, link.reference) = (Some(variable), value, reference);
            }
        }
        Self { links, ..self }
    }

    /// A sentence about the switched decision, if its place is known.
    pub fn switching(&self) -> Option<[Inline; 4]> {
        let switched = self.switched.as_ref()?;
        let place = place(switched.file.as_ref()?, switched.line);
        Some([words("The decision at "), code(&place), words(switched.which.behind()), words(" was switched.")])
    }

    /// The first faulty value, and what it leads to.
    pub fn in_one_line(&self) -> String {
        let failure = Terminal.line(&self.failure.what);
        let Some(first) = self.links.first() else { return failure };
        let place = |link: &ReportLink| {
            let file = link.file.as_ref().map(|file| Terminal.line(file))?;
            Some(link.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")) + " ")
        };
        let clause = first.clause(&|text| Terminal.line(text));
        let later = match self.links.len() {
            1 => "thus".to_owned(),
            n_links => format!("{} later", count(n_links - 1, "link")),
        };
        format!("{}{clause}; {later} {failure}", place(first).unwrap_or_default())
    }

    /// The [joined](Self::joined) chain with at most [`MAX_LINKS`] links and remarks, and with short texts.
    #[must_use]
    pub fn bounded(self) -> Self {
        let mut chain = self.joined();
        let n_links = chain.links.len();
        chain.remarks.truncate(MAX_LINKS);
        if n_links > MAX_LINKS {
            chain.remarks.push(format!("of {n_links} links the first and the last {} are shown", MAX_LINKS / 2).into());
            chain.links.drain(MAX_LINKS / 2..n_links - MAX_LINKS / 2);
        }
        // No report shows them.
        chain.sets.clear();
        let Self { bad, good, switched, summary, links, beginning, failure, remarks, .. } = &mut chain;
        shorten([bad, good, switched, summary, links, beginning, failure, remarks]);
        chain
    }
}

impl Shorten for ReportLink {
    fn shorten(&mut self) {
        self.line = self.line.filter(|line| *line > 0);
        let Self { file, function, variable, value, reference, was, .. } = self;
        shorten([file, function, variable, value, reference, was]);
    }
}

impl Was {
    /// As a clause; `code` writes a text.
    pub fn clause(&self, code: &dyn Fn(&Untrusted) -> String) -> String {
        match self {
            Self::Other(text) => format!("the reference has {} here", code(text)),
            Self::More(text) => format!("the reference also has {} here", code(text)),
            Self::Nothing => "the reference does not have this line".to_owned(),
        }
    }
}

impl Shorten for Was {
    fn shorten(&mut self) {
        if let Self::Other(text) | Self::More(text) = self {
            text.shorten();
        }
    }
}

impl Shorten for VisibleFailure {
    fn shorten(&mut self) {
        self.line = self.line.filter(|line| *line > 0);
        shorten([&mut self.what, &mut self.file]);
    }
}

impl Shorten for Switched {
    fn shorten(&mut self) {
        shorten([&mut self.file, &mut self.outcome, &mut self.reference, &mut self.others]);
    }
}

impl Shorten for Other {
    fn shorten(&mut self) {
        self.file.shorten();
    }
}

impl Untrusted {
    /// The next line after a decision, if the value says so.
    fn line_decided_for(&self) -> Option<u64> {
        str::from_utf8(self.as_bytes()).ok()?.strip_prefix("decided for line ")?.parse().ok()
    }
}

impl ReportLink {
    /// What the test of the link found, as a clause: `with 59, the test passes`; `code` writes a value, or what a test printed.
    pub fn finding(&self, code: &dyn Fn(&Untrusted) -> String) -> Option<String> {
        let tested = self.tested.as_ref()?;
        let with = match self.kind {
            EffectKind::Value | EffectKind::Return
                if !self.kept && self.value != self.reference && self.reference.as_bytes().len() <= MAX_REPEATED =>
            {
                format!("with {}", code(&self.reference))
            }
            EffectKind::Decision => "decided so".to_owned(),
            _ => "as in the reference".to_owned(),
        };
        let what = match tested {
            LinkTest::Passes => "passes".to_owned(),
            LinkTest::Fails => "still fails".to_owned(),
            LinkTest::FailsOtherwise(said) if said.as_bytes().is_empty() => "fails in another way".to_owned(),
            LinkTest::FailsOtherwise(said) => format!("fails in another way: {}", code(said)),
        };
        Some(format!("{with}, the test {what}"))
    }

    /// What the reference has at a changed statement, as a clause.
    pub fn difference(&self, code: &dyn Fn(&Untrusted) -> String) -> Option<String> {
        self.was.as_ref().map(|was| was.clause(code))
    }

    /// The effect as a clause; `code` writes a name or a value.
    pub fn clause(&self, code: &dyn Fn(&Untrusted) -> String) -> String {
        let (value, reference) = (code(&self.value), code(&self.reference));
        let what = self.variable.as_ref().map_or_else(|| "the condition".to_owned(), code);
        let effect = match self.kind {
            EffectKind::Change | EffectKind::Decision => format!("the condition is {value}"),
            EffectKind::Contents => return format!("{what} {value} (reference: {reference})"),
            EffectKind::Return => format!("{what} returns {value}"),
            EffectKind::Value if self.kept && !self.replaced => format!("{what} stays {value}"),
            EffectKind::Value => format!("{what} is given {value}"),
        };
        if self.replaced {
            return format!("{effect}; with {reference} the test passes");
        }
        match (self.kind, self.value.line_decided_for(), self.reference.line_decided_for()) {
            (EffectKind::Change | EffectKind::Decision, Some(line), Some(other)) if line == other => {
                "the run goes on elsewhere in the same line".to_owned()
            }
            (EffectKind::Change | EffectKind::Decision, Some(line), Some(other)) => {
                match self.difference(code).filter(|_| self.kind == EffectKind::Change) {
                    Some(differs) => format!("the run goes on in line {line}, the reference elsewhere: {differs}"),
                    None => format!("the run goes on in line {line} (reference: in line {other})"),
                }
            }
            (EffectKind::Decision, Some(line), None) => {
                format!("the run goes on in line {line}, the reference elsewhere")
            }
            (EffectKind::Decision, None, Some(line)) => {
                format!("the run goes on elsewhere (reference: in line {line})")
            }
            (EffectKind::Change, ..) => {
                let through = self.variable.as_ref().map(|_| format!(" through the file {what}")).unwrap_or_default();
                let differs = self.difference(code).unwrap_or_else(|| "here the versions differ".to_owned());
                format!("{differs}, which leads to the following{through}")
            }
            (EffectKind::Value, ..) if self.value == self.reference => {
                format!("{effect} (reference: the same, elsewhere)")
            }
            _ => format!("{effect} (reference {reference})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_TEXT;
    use crate::samples;

    fn clause(link: &ReportLink) -> String {
        link.clause(&|text| String::from_utf8_lossy(text.as_bytes()).into_owned())
    }

    #[test]
    fn characters_of_one_text_are_told_as_the_text() {
        let link = |index: u64, line: u64, text: &str| ReportLink {
            variable: Some(format!("s[{index}]").into()),
            value: "98 'b'".into(),
            line: Some(line),
            which: InstanceChoice::default(),
            text: Some(text).filter(|text| !text.is_empty()).map(|text| WrittenText {
                variable: "s".into(),
                value: text.into(),
                reference: "\"a\"".into(),
            }),
            ..samples::chain().links[1].clone()
        };
        let links =
            vec![link(0, 1, "x"), link(1, 1, "x"), link(2, 2, "x"), link(3, 2, ""), link(4, 2, "y"), link(5, 2, "y")];
        let joined = ReportChain { links, ..samples::chain() }.joined().links;
        let expected = ["s is given x", "s is given x", "s[3] is given 98 'b'", "s is given y"];
        assert_eq!(joined.len(), expected.len());
        for (link, expected) in joined.iter().zip(expected) {
            assert!(clause(link).starts_with(expected), "{}", clause(link));
        }
    }

    #[test]
    fn what_the_test_of_a_link_found_is_said_with_the_value_of_the_reference() {
        let link = ReportLink { kind: EffectKind::Value, reference: "59".into(), ..samples::chain().links[0].clone() };
        let finding = |link: ReportLink| link.finding(&|text| String::from_utf8_lossy(text.as_bytes()).into_owned());
        assert_eq!(finding(link.clone()), None);
        let check = |link: &ReportLink, tested: LinkTest, expected: &str| {
            let found = finding(ReportLink { tested: Some(tested), ..link.clone() });
            assert_eq!(found.as_deref(), Some(expected));
        };
        check(&link, LinkTest::Passes, "with 59, the test passes");
        check(&link, LinkTest::Fails, "with 59, the test still fails");
        check(&link, LinkTest::FailsOtherwise("60".into()), "with 59, the test fails in another way: 60");
        let long = ReportLink { reference: "5".repeat(MAX_REPEATED + 1).into(), ..link.clone() };
        check(&long, LinkTest::Passes, "as in the reference, the test passes");
        check(&ReportLink { kind: EffectKind::Decision, ..link }, LinkTest::Passes, "decided so, the test passes");
    }

    #[test]
    fn a_link_of_the_change_without_a_variable_is_a_clause_of_its_own() {
        let link = ReportLink { kind: EffectKind::Change, ..samples::chain().links[0].clone() };
        assert_eq!(clause(&link), "here the versions differ, which leads to the following");
        let was = |was| clause(&ReportLink { was: Some(was), ..link.clone() });
        assert_eq!(was(Was::Other("a();".into())), "the reference has a(); here, which leads to the following");
        assert_eq!(was(Was::More("a();".into())), "the reference also has a(); here, which leads to the following");
        assert_eq!(was(Was::Nothing), "the reference does not have this line, which leads to the following");
    }

    #[test]
    fn what_is_too_long_is_cut_with_a_word_about_it() {
        let mut chain = samples::chain();
        chain.links = vec![chain.links[0].clone(); MAX_LINKS + 9];
        chain.links[0].value = "é".repeat(MAX_TEXT).into();
        let chain = chain.bounded();
        assert_eq!(chain.links.len(), MAX_LINKS);
        assert_eq!(chain.remarks.last().unwrap(), &"of 409 links the first and the last 200 are shown".into());
        assert_eq!(chain.links[0].value, format!("{}…", "é".repeat(MAX_TEXT / 2)).into());
    }
}
