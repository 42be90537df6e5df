//! The results of a run of the program: one table of words, exit codes and meanings.

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The result of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// The culprit was found.
    Found,
    /// The first bad commit is known, and the hunt goes on. It is stored in the meantime; only a run with `--until found`
    /// ends with it.
    Culprit,
    /// An error.
    #[default]
    Error,
    /// Several candidates are left.
    Range,
    /// The test passes at the bad revision.
    BadPasses,
    /// The test fails at a good revision.
    GoodFails,
    /// No revision can be tested.
    NothingTestable,
    /// The runs at the bad revision disagree.
    NotReproducible,
    /// The budget is used up.
    Budget,
    /// The test passes at no revision.
    NeverPassed,
    /// The culprit was found, but no fix is recommended, and one is required (`--require-fix`).
    Unfixed,
    /// The command line or the configuration cannot be understood.
    Usage,
    /// The user stopped it.
    Interrupted,
    /// The hunt is running and knows no first bad commit yet. No run ends with it.
    Running,
    /// A person has to judge a revision.
    Waiting,
    /// Another job makes the same hunt.
    Elsewhere,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct StatusRow {
    /// The status.
    pub status: Status,
    /// Its stable word, as used in JSON.
    pub word: &'static str,
    /// The exit code.
    pub code: u8,
    /// Its meaning, a sentence.
    pub meaning: &'static str,
}

const fn row(status: Status, word: &'static str, code: u8, meaning: &'static str) -> StatusRow {
    StatusRow { status, word, code, meaning }
}

/// Every status, in the order of the exit codes.
pub const TABLE: [StatusRow; 16] = [
    row(Status::Found, "found", 0, "The change that broke the test was found."),
    row(Status::Culprit, "culprit", 0, "The first bad commit is known; the hunt goes on, or was stopped after that."),
    row(Status::Running, "running", 0, "The hunt is running; `git idd status` prints what is known."),
    row(Status::Waiting, "waiting", 0, "A person has to judge a revision: `git idd good`, `bad` or `skip`."),
    row(Status::Elsewhere, "elsewhere", 0, "Another job makes this hunt now (`--lease`)."),
    row(Status::Error, "error", 1, "`git idd` failed; the message says why."),
    row(Status::Range, "range", 2, "No single commit can be named; the candidates are listed."),
    row(Status::BadPasses, "bad_passes", 3, "The test passes at the bad revision."),
    row(Status::GoodFails, "good_fails", 3, "The test fails at a revision that was given as good."),
    row(Status::NothingTestable, "nothing_testable", 4, "The test can be run at no revision."),
    row(Status::NotReproducible, "not_reproducible", 5, "The test answers differently when it is run again."),
    row(Status::Budget, "budget", 6, "The budget is used up; `git idd resume` goes on."),
    row(Status::NeverPassed, "never_passed", 7, "The test passes at no revision that can be reached."),
    row(Status::Unfixed, "unfixed", 8, "The change was found, but no fix for HEAD is recommended (`--require-fix`)."),
    row(Status::Usage, "usage", 129, "The command line or the configuration is wrong."),
    row(Status::Interrupted, "interrupted", 130, "Stopped by the user; `git idd resume` goes on."),
];

impl Status {
    fn row(self) -> &'static StatusRow {
        TABLE.iter().find(|row| row.status == self).expect("the table has a row for each status")
    }

    /// The stable word for it, as used in JSON.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The exit code of the program.
    pub fn code(self) -> u8 {
        self.row().code
    }

    /// Its meaning, a sentence.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }
}

/// As the three fields `schema`, `status` and `exit`.
impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Status", 3)?;
        fields.serialize_field("schema", crate::SCHEMA)?;
        fields.serialize_field("status", self.word())?;
        fields.serialize_field("exit", &self.code())?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            schema: String,
            status: String,
        }
        let fields = Fields::deserialize(deserializer)?;
        if fields.schema != crate::SCHEMA {
            return Err(D::Error::custom("another schema"));
        }
        let row = TABLE.iter().find(|row| row.word == fields.status);
        row.map(|row| row.status).ok_or_else(|| D::Error::custom("an unknown status"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_codes_and_its_words_are_unique() {
        assert!(TABLE.is_sorted_by_key(|row| row.code));
        for (index, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..index].iter().all(|other| other.word != row.word && other.status != row.status));
        }
    }

    #[test]
    fn the_codes_are_those_that_scripts_rely_on() {
        let codes: Vec<String> = TABLE.iter().map(|row| format!("{} {}", row.code, row.word)).collect();
        insta::assert_snapshot!(codes.join("\n"), @r"
        0 found
        0 culprit
        0 running
        0 waiting
        0 elsewhere
        1 error
        2 range
        3 bad_passes
        3 good_fails
        4 nothing_testable
        5 not_reproducible
        6 budget
        7 never_passed
        8 unfixed
        129 usage
        130 interrupted
        ");
    }
}
