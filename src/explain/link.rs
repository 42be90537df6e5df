//! A link of a chain, in the words of the source: which step did what, and what the reference has there.

use std::sync::Arc;

use idd_trace::{Place, Step};

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// It gave a variable a value.
    Gave {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What the reference has there.
        reference: String,
        /// Whether it is faulty only because the reference overwrote it later.
        is_kept: bool,
    },
    /// An object holds something else than in the reference.
    Holds {
        /// The variable that holds the object.
        variable: String,
        /// What it lacks, or has besides.
        what: String,
        /// What the reference did about that.
        reference: String,
    },
    /// A call came back with a value.
    Returned {
        /// The function.
        function: Arc<str>,
        /// Its value.
        value: String,
        /// What it returned in the reference.
        reference: String,
    },
    /// It decided: whether its condition was true, or in which line it went on; in both runs.
    Decided {
        /// In the failing run.
        outcome: String,
        /// In the reference.
        reference: String,
    },
    /// It is of the change, and leads to the next link in a way that no variable shows; where both runs go on if that is where they part.
    Differs(Option<(String, String)>),
    /// The versions differ there, and the next link reads from the file with this path, which it used.
    Used(String),
    /// It is before the switched decision: with another value there, the program does what it does when the decision is switched.
    Replaced {
        /// What has the value.
        what: LinkSubject,
        /// The value.
        value: String,
        /// The value with which the test passes.
        instead: String,
    },
}

/// What has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkSubject {
    /// A variable.
    Variable(String),
    /// A function that returned it.
    Call(Arc<str>),
    /// A decision.
    Decision,
}

/// An instance of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instance {
    /// Its number, from 1.
    pub nth: u32,
    /// How many there are in the whole run, at least 1.
    pub of: u32,
}

/// A text in both runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedText {
    /// What holds it.
    pub variable: String,
    /// The text, between quotes.
    pub value: String,
    /// That of the reference.
    pub reference: String,
}

/// A link of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The step of the failing run; [`Step::START`] for what was there from the beginning.
    pub step: Step,
    /// When it was, in steps that had begun.
    pub time: u64,
    /// The step of the reference that corresponds.
    pub reference: Option<Step>,
    /// Its function.
    pub function: Option<Arc<str>>,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// Which instance of its statement it is, once that is known.
    pub instance: Option<Instance>,
    /// What it did.
    pub did: Did,
    /// The text that it is one of the characters of.
    pub text: Option<PairedText>,
}

impl Link {
    /// What a step did, and no more.
    pub(crate) fn new(step: Step, time: u64, did: Did) -> Self {
        Self { step, time, reference: None, function: None, place: None, instance: None, did, text: None }
    }
}
