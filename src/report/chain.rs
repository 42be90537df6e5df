//! The explanation of a finding in a report: the chain of faulty values from the change to the failure.
//!
//! `git idd explain` stores its result beside the journal of the hunt ([`wrap`]). Every form of report reads it with
//! [`read`], which limits its size.

use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use crate::plural::ordinal;
use crate::report::Report;
use crate::report::Untrusted;
use crate::report::certificate::proven;
use crate::revision::CommitId;
use crate::revision::TreeId;

/// The name of the stored form.
const SCHEMA: &str = "git-idd hunt explanation 1";

/// The name of the inner form, the output of `git idd explain --json`.
const EXPLANATION_SCHEMA: &str = "git-idd explanation 1";

/// The maximum size of a stored explanation, in bytes.
pub const MAX_BYTES: u64 = 16 << 20;

/// The maximum number of printed links.
const MAX_LINKS: usize = 400;

/// The maximum length of a printed value or name, in bytes.
const MAX_TEXT: usize = 600;

/// Why a stored explanation is not used.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// It is damaged, or another version wrote it.
    #[error("it cannot be understood")]
    Form(#[from] serde_json::Error),
    /// It has another form.
    #[error("it has another form than `{SCHEMA}`")]
    Schema,
    /// The hunt continued after the explanation, and has another result now.
    #[error("it explains something else than the finding")]
    Other,
}

/// A chain of faulty values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The commit of the failing version, or the nearest one.
    pub commit: CommitId,
    /// The failing version, as it was run.
    pub tree: TreeId,
    /// The name of the failing version.
    pub bad: Untrusted,
    /// The name of the reference.
    pub good: Untrusted,
    /// The switched decision, if the reference is a run of the failing version.
    pub switched: Option<Switched>,
    /// The links that lead to the failure, in the order of time.
    pub links: Vec<Link>,
    /// The failure.
    pub failure: Failure,
    /// The beginning of the chain.
    pub end: End,
    /// A sentence about the beginning: where the difference comes from.
    pub beginning: Option<Untrusted>,
    /// Notes: limits of the explanation, and omitted parts.
    pub remarks: Vec<Untrusted>,
}

/// A link: a statement, and its effect in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Link {
    /// The kind of its effect.
    pub kind: Kind,
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
    /// Whether the change touches the line.
    pub in_change: bool,
    /// Whether the value is faulty only because the reference overwrote it.
    #[serde(default)]
    pub kept: bool,
    /// The execution of the statement, if there are several.
    #[serde(flatten)]
    pub which: Which,
    /// The text, if the variable is one character of a text.
    #[serde(default)]
    pub text: Option<Text>,
}

/// A text of which a step wrote several characters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Text {
    /// The variable that contains it.
    pub variable: Untrusted,
    /// The text in quotes.
    pub value: Untrusted,
    /// The same in the reference.
    pub reference: Untrusted,
}

/// Selects one of several executed statements of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Which {
    /// The part of a `for`.
    #[serde(default)]
    pub part: Option<Part>,
    /// The number of this execution, from 1.
    #[serde(default)]
    pub instance: Option<u64>,
    /// The total number of executions.
    #[serde(default)]
    pub of: Option<u64>,
}

/// A part of the head of a `for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The part that runs before the first iteration.
    Start,
    /// The part that is evaluated before each iteration.
    Condition,
    /// The part that runs after each iteration.
    Increment,
}

impl Which {
    /// In words: `increment, 3rd time of 12`; `None` if there is only one.
    pub fn words(self) -> Option<String> {
        let part = self.part.map(|part| match part {
            Part::Start => "start".to_owned(),
            Part::Condition => "condition".to_owned(),
            Part::Increment => "increment".to_owned(),
        });
        let instance = self.instance.zip(self.of).filter(|(_, of)| *of > 1);
        let instance = instance.map(|(nth, of)| format!("{} time of {of}", ordinal(nth)));
        let words: Vec<String> = part.into_iter().chain(instance).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The same in parentheses, to follow a place; empty if there is only one.
    pub fn behind(self) -> String {
        self.words().map_or_else(String::new, |words| format!(" ({words})"))
    }
}

/// The kind of effect of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It assigned a value to a variable.
    Value,
    /// A call returned a value.
    Return,
    /// It took a branch.
    Decision,
    /// It is a part of the change, and leads to the next link without a visible variable.
    Change,
}

/// The visible failure.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Failure {
    /// In a clause: `the program says "1" (reference "2")`.
    pub what: Untrusted,
    /// The path of the file in which the failure shows.
    pub file: Option<Untrusted>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// Whether the change touches the line.
    pub in_change: bool,
    /// The execution of the statement, if there are several.
    #[serde(flatten)]
    pub which: Which,
}

/// A decision that was switched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Switched {
    /// The path of its file.
    pub file: Option<Untrusted>,
    /// Its line, from 1.
    pub line: Option<u64>,
    /// The execution of the decision, if there are several.
    #[serde(flatten)]
    pub which: Which,
}

/// The beginning of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// All earlier values are the same in both runs.
    Benign,
    /// A value that exists from the start.
    Start,
    /// No earlier state causes it by itself.
    Stuck,
    /// The search was stopped here.
    Unfinished,
}

impl End {
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

impl Explanation {
    /// Where the chain begins, in a sentence.
    pub fn beginning(&self) -> Untrusted {
        self.beginning.clone().unwrap_or_else(|| self.end.sentence().into())
    }
}

impl Untrusted {
    /// The next line after a decision, if the value says so.
    fn line_decided_for(&self) -> Option<u64> {
        str::from_utf8(self.as_bytes()).ok()?.strip_prefix("decided for line ")?.parse().ok()
    }
}

impl Link {
    /// The effect as a clause; `code` writes a name or a value.
    pub fn clause(&self, code: impl Fn(&Untrusted) -> String) -> String {
        let (value, reference) = (code(&self.value), code(&self.reference));
        let what = self.variable.as_ref().map_or_else(|| "the condition".to_owned(), &code);
        match self.kind {
            Kind::Change => "here the versions differ, which leads to the following".to_owned(),
            Kind::Decision => match (self.value.line_decided_for(), self.reference.line_decided_for()) {
                (Some(line), Some(other)) => format!("the run goes on in line {line} (reference: in line {other})"),
                _ => format!("the condition is {value} (reference {reference})"),
            },
            Kind::Return => format!("{what} returns {value} (reference {reference})"),
            Kind::Value if self.kept => format!("{what} stays {value} (reference {reference})"),
            Kind::Value if self.value == self.reference => {
                format!("{what} is given {value} (reference: the same, elsewhere)")
            }
            Kind::Value => format!("{what} is given {value} (reference {reference})"),
        }
    }
}

/// The stored form of the output of `git idd explain --json` for a hunt.
///
/// - `failing`: the failing version, as in a proved claim of the report.
pub fn wrap(hunt: &str, (commit, tree): (CommitId, TreeId), explanation: &Value) -> Value {
    json!({ "schema": SCHEMA, "hunt": hunt, "commit": commit, "tree": tree, "explanation": explanation })
}

#[derive(Deserialize)]
struct Stored {
    schema: String,
    hunt: String,
    commit: CommitId,
    tree: TreeId,
    explanation: Told,
}

#[derive(Deserialize)]
struct Told {
    schema: String,
    bad: Untrusted,
    good: Untrusted,
    switched: Option<Switched>,
    chain: Vec<Link>,
    failure: Failure,
    end: End,
    beginning: Option<Untrusted>,
    remarks: Vec<Untrusted>,
}

/// Reads all links from the output of `git idd explain --json`. Links for the characters of one text become one link.
pub fn links(explanation: &Value) -> Result<Vec<Link>, ChainError> {
    Ok(texts(Vec::deserialize(&explanation["chain"])?))
}

/// Joins links for the characters of one text.
fn texts(mut links: Vec<Link>) -> Vec<Link> {
    links.dedup_by(|later, link| {
        let is_same = |text: &Text| later.text.as_ref() == Some(text);
        link.text.as_ref().is_some_and(is_same) && (link.line, link.which) == (later.line, later.which)
    });
    for link in &mut links {
        if let Some(Text { variable, value, reference }) = link.text.take() {
            (link.variable, link.value, link.reference) = (Some(variable), value, reference);
        }
    }
    links
}

/// Reads the failure from the output of `git idd explain --json`.
pub fn seen(explanation: &Value) -> Result<Failure, ChainError> {
    Ok(Failure::deserialize(&explanation["failure"])?)
}

/// Reads the switched decision, if there is one.
pub fn switched(explanation: &Value) -> Option<Switched> {
    Switched::deserialize(&explanation["switched"]).ok()
}

/// Reads the result of [`wrap`], limited in size, if it explains `report`.
pub fn read(bytes: &[u8], report: &Report) -> Result<Explanation, ChainError> {
    let Stored { schema, hunt, commit, tree, explanation } = serde_json::from_slice(bytes)?;
    if schema != SCHEMA || explanation.schema != EXPLANATION_SCHEMA {
        return Err(ChainError::Schema);
    }
    let is_proven = proven(report).iter().any(|(_, proven, tested)| (*proven, *tested) == (commit, tree));
    if report.hunt.as_ref() != Some(&hunt) || !is_proven {
        return Err(ChainError::Other);
    }
    let Told { bad, good, switched, chain, failure, end, beginning, remarks, .. } = explanation;
    let chain = texts(chain);
    let n_links = chain.len();
    let links = chain.iter().take(MAX_LINKS).map(bounded).collect();
    let mut remarks: Vec<Untrusted> = remarks.iter().take(MAX_LINKS).map(cut).collect();
    if n_links > MAX_LINKS {
        remarks.push(format!("of {n_links} links the first {MAX_LINKS} are shown").into());
    }
    let switched = switched.map(|switched| Switched { file: switched.file.as_ref().map(cut), ..switched });
    let failure = Failure {
        what: cut(&failure.what),
        file: failure.file.as_ref().map(cut),
        line: failure.line.filter(|line| *line > 0),
        ..failure
    };
    let (bad, good, beginning) = (cut(&bad), cut(&good), beginning.as_ref().map(cut));
    Ok(Explanation { commit, tree, bad, good, switched, links, failure, end, beginning, remarks })
}

fn bounded(link: &Link) -> Link {
    let some = |text: &Option<Untrusted>| text.as_ref().map(cut);
    Link {
        file: some(&link.file),
        line: link.line.filter(|line| *line > 0),
        function: some(&link.function),
        variable: some(&link.variable),
        value: cut(&link.value),
        reference: cut(&link.reference),
        kind: link.kind,
        in_change: link.in_change,
        kept: link.kept,
        which: link.which,
        text: None,
    }
}

fn cut(text: &Untrusted) -> Untrusted {
    match text.as_bytes().get(..MAX_TEXT) {
        Some(begin) if begin.len() < text.as_bytes().len() => {
            let begin = String::from_utf8_lossy(begin);
            format!("{}…", begin.trim_end_matches(char::REPLACEMENT_CHARACTER)).into()
        }
        _ => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn characters_of_one_text_are_told_as_the_text() {
        let link = |index: u64, line: u64, text: &str| {
            let text = Some(text).filter(|text| !text.is_empty());
            let text = text.map(|text| json!({ "variable": "s", "value": text, "reference": "\"a\"" }));
            json!({ "kind": "value", "line": line, "variable": format!("s[{index}]"), "value": "98 'b'", "reference": "97 'a'",
                "in_change": false, "text": text })
        };
        let chain =
            [link(0, 1, "x"), link(1, 1, "x"), link(2, 2, "x"), link(3, 2, ""), link(4, 2, "y"), link(5, 2, "y")];
        let told = links(&json!({ "chain": chain })).unwrap();
        let expected = ["s is given x", "s is given x", "s[3] is given 98 'b'", "s is given y"];
        assert_eq!(told.len(), expected.len());
        for (link, expected) in told.iter().zip(expected) {
            let clause = link.clause(|text| String::from_utf8_lossy(text.as_bytes()).into_owned());
            assert!(clause.starts_with(expected), "{clause}");
        }
    }

    #[test]
    fn a_stored_explanation_is_read_if_it_fits_the_finding() {
        let report = samples::explained();
        let read_back = read(&samples::stored(&samples::told()), &report).unwrap();
        assert_eq!(read_back, samples::explanation());
        let other = Report { hunt: Some("another".to_owned()), ..report.clone() };
        assert!(matches!(read(&samples::stored(&samples::told()), &other), Err(ChainError::Other)));
        assert!(matches!(read(&samples::stored(&samples::told()), &samples::error()), Err(ChainError::Other)));
    }

    #[test]
    fn a_link_of_the_change_without_a_variable_is_a_clause_of_its_own() {
        let mut told = samples::told();
        told["chain"][0]["kind"] = json!("change");
        let explanation = read(&samples::stored(&told), &samples::explained()).unwrap();
        let clause = explanation.links[0].clause(|_| String::new());
        assert_eq!(clause, "here the versions differ, which leads to the following");
    }

    #[test]
    fn damage_and_other_forms_are_errors_and_never_a_panic() {
        let report = samples::explained();
        let bytes = samples::stored(&samples::told());
        for end in 0..bytes.len() {
            assert!(matches!(read(&bytes[..end], &report), Err(ChainError::Form(_))), "{end}");
        }
        let mut told = samples::told();
        told["schema"] = json!("git-idd explanation 9");
        assert!(matches!(read(&samples::stored(&told), &report), Err(ChainError::Schema)));
    }

    #[test]
    fn what_is_too_long_is_cut_with_a_word_about_it() {
        let mut told = samples::told();
        let link = told["chain"][0].clone();
        told["chain"] = vec![link; MAX_LINKS + 9].into();
        told["chain"][0]["value"] = "é".repeat(MAX_TEXT).into();
        let read = read(&samples::stored(&told), &samples::explained()).unwrap();
        assert_eq!(read.links.len(), MAX_LINKS);
        assert_eq!(read.remarks.last().unwrap(), &"of 409 links the first 400 are shown".into());
        assert_eq!(read.links[0].value, format!("{}…", "é".repeat(MAX_TEXT / 2)).into());
    }
}
