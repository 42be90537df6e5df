//! The records of a segment, one in each line. These types are the format, with those of `idd_base` in them.

use idd_base::{CommitId, HuntGoal, Observation, RemainingWork, TreeId};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::path_text;

/// The format of the records in this module, stored in every [`PlanRecord`].
///
/// It changes when an older program could no longer read a newer segment; a field with a default does not change it.
pub const FORMAT_VERSION: u32 = 2;

/// One entry of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The plan of the hunt: the first record of every segment, and only the first.
    Plan(PlanRecord),
    /// This process writes from here on. If it is killed, its descendants are found by this record.
    Process {
        /// Its number.
        pid: i32,
        /// Its start time, in the clock of the system's process table.
        start_time: u64,
    },
    /// A probe is about to start.
    Intent {
        /// Number of the probe, unique in the segment.
        sequence: u64,
        /// The key of the probe, as hex.
        key: String,
        /// The worktree that the probe will use.
        #[serde(with = "path_text")]
        worktree: PathBuf,
        /// Whether it is to run in a freshly written worktree.
        clean: bool,
        /// For people who watch the hunt; `None` in the journal of an old version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<AboutRecord>,
    },
    /// A command of the probe runs.
    Started {
        /// Number of the probe.
        sequence: u64,
        /// Process group of the command.
        pid: i32,
        /// Start time of the group's leader, in the clock of the system's process table.
        start_time: u64,
    },
    /// The probe is complete; it counts once this record is durable.
    Observed {
        /// Number of the probe.
        sequence: u64,
        /// The key of the probe, as hex.
        key: String,
        /// The number of this observation of the key in this hunt, from 0; above 0 only if repetition was requested.
        nth: u32,
        /// The key of the tested product, as hex, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        product: Option<String>,
        /// The name of the set of programs that the hunt has executed so far; `None` if unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        toolset: Option<String>,
        /// The observation.
        observation: Observation,
    },
    /// The search used the answer of the probe.
    Consumed {
        /// Number of the probe.
        sequence: u64,
    },
    /// Incremental observations before this record no longer count.
    Voided,
    /// No observation before this record counts any more, because probes disturbed each other. From here on one probe
    /// runs at a time.
    VoidedAll,
    /// What the failure needs of the user's untracked and ignored files: paths relative to the top, as hex; none if nothing.
    Environment {
        /// The paths.
        paths: Vec<String>,
    },
    /// The directories of the user that are copied although they are large, because commands remove them: paths relative to
    /// the top, as hex.
    Copied {
        /// The paths.
        paths: Vec<String>,
    },
    /// The goal of this run of the program.
    Asked(HuntGoal),
    /// The remaining work, and the number of jobs.
    Ahead(RemainingWork, usize),
    /// The time spent so far, in all runs of the program together.
    Spent {
        /// Time before the first reduction of the culprit; `None` until there is one.
        search: Option<Duration>,
        /// Time of reductions of the culprit.
        reduction: Duration,
    },
    /// A probe ran, and is counted.
    Ran {
        /// Number of the probe.
        sequence: u64,
        /// Its counters, in words: the purpose of the test, a check or the suite, a rejected or saved run.
        counts: Vec<String>,
        /// The time of the hunt so far, in all runs of the program together.
        elapsed: Duration,
    },
    /// The search has a verdict on a revision.
    Tested {
        /// The revision.
        revision: CommitId,
        /// The outcome, as it is printed.
        outcome: String,
        /// Whether the revision was repaired.
        is_repaired: bool,
    },
    /// An answer was used.
    Answer(AnswerRecord),
    /// A tree was judged, in a hunt by hand.
    Judged {
        /// The tree.
        tree: TreeId,
        /// Its revision.
        revision: CommitId,
        /// `pass`, `fail`, or the reason why it is unresolved.
        outcome: String,
        /// The reason that the person gave.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// Whether the build judged it, and not the person.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_build: bool,
        /// Whether the person named the revision, so that it was not asked for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_named: bool,
    },
    /// The last verdict of the person does not count any more.
    Withdrawn,
    /// A reduction has ended.
    Reduced {
        /// The reduced change, in words.
        what: String,
        /// The revision of the change.
        revision: CommitId,
        /// Added plus removed lines before.
        before: u64,
        /// Added plus removed lines after.
        after: u64,
    },
    /// A revision was made testable.
    Repaired {
        /// The revision.
        revision: CommitId,
        /// The source of the repair.
        source: CommitId,
        /// Its number of lines.
        lines: u64,
    },
    /// The fix was carried to a revision.
    Carried {
        /// The revision.
        revision: CommitId,
    },
    /// The result of the hunt, in the form of the report.
    Finding {
        /// The report's own versioned object.
        value: serde_json::Value,
    },
    /// The hunt ended; a resumed hunt continues after this record.
    Ended {
        /// The status word.
        status: String,
    },
}

/// A probe that is about to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AboutRecord {
    /// The purpose of the probe.
    pub phase: String,
    /// Its revision.
    pub revision: CommitId,
    /// When it starts, in seconds since 1970.
    pub started_at_unix: i64,
}

/// An answer that the search used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// The purpose of the probe.
    pub phase: String,
    /// Its revision.
    pub revision: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The key of the observation, as hex. If another observation answered (a rejection, an equal product), `sequence`
    /// names it.
    pub key: String,
    /// The number of the probe if it ran now; `None` if its answer was known.
    pub sequence: Option<u64>,
    /// The outcome.
    pub outcome: String,
}

/// The immutable part of a hunt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The format of the segment, see [`FORMAT_VERSION`].
    pub version: u32,
    /// The test plan in its own versioned form.
    pub plan: serde_json::Value,
    /// The digest of the plan.
    pub digest: String,
    /// When the hunt started, in seconds since 1970.
    pub started_at_unix: i64,
}

impl PlanRecord {
    /// A plan in the format of this program.
    pub fn new(plan: serde_json::Value, digest: String, started_at_unix: i64) -> Self {
        Self { version: FORMAT_VERSION, plan, digest, started_at_unix }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    use idd_base::{Bound, Ending, HuntStage, Reason, Stage};
    use proptest::prelude::*;

    use super::*;

    fn any_ending() -> impl Strategy<Value = Ending> {
        prop_oneof![
            any::<i32>().prop_map(Ending::Exit),
            any::<i32>().prop_map(Ending::Signal),
            Just(Ending::Timeout),
            proptest::sample::select(Reason::ALL.to_vec()).prop_map(Ending::NotRun),
        ]
    }

    fn any_observation() -> impl Strategy<Value = Observation> {
        let stage = prop_oneof![Just(Stage::Fetch), Just(Stage::Precheck), Just(Stage::Build), Just(Stage::Test)];
        let fields = (
            stage,
            any_ending(),
            any::<(Duration, Duration)>(),
            any::<(String, String)>(),
            any::<(bool, bool, Option<String>)>(),
        );
        fields.prop_map(|(stage, ending, (duration, limit), (output, reported), (is_clean, is_tampered, place))| {
            Observation { stage, ending, duration, limit, output, reported, is_clean, is_tampered, place }
        })
    }

    /// Every record that can follow a plan.
    pub(in crate::journal) fn any_record() -> impl Strategy<Value = Record> {
        let path = any::<Vec<u8>>().prop_map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
        prop_oneof![
            (0..9_u64, "[0-9a-f]{4}", path, any::<bool>()).prop_map(|(sequence, key, worktree, clean)| {
                Record::Intent { sequence, key, worktree, clean, about: None }
            }),
            any::<(i32, u64)>().prop_map(|(pid, start_time)| Record::Process { pid, start_time }),
            (0..9_u64, any::<i32>(), any::<u64>()).prop_map(|(sequence, pid, start_time)| Record::Started {
                sequence,
                pid,
                start_time
            }),
            (0..9_u64, "[0-9a-f]{4}", proptest::option::of("[0-9a-f]{4}"), 0..3_u32, any_observation()).prop_map(
                |(sequence, key, product, nth, observation)| {
                    let toolset = product.clone();
                    Record::Observed { sequence, key, nth, product, toolset, observation }
                }
            ),
            (0..9_u64).prop_map(|sequence| Record::Consumed { sequence }),
            Just(Record::Voided),
            Just(Record::VoidedAll),
            any::<(bool, String)>().prop_map(|(is_repaired, outcome)| Record::Tested {
                revision: CommitId::sha1([1; 20]),
                outcome,
                is_repaired
            }),
            any::<(Option<Duration>, Duration)>().prop_map(|(search, reduction)| Record::Spent { search, reduction }),
            any::<(u64, u64, usize)>().prop_map(|(distance, n_revisions, n_jobs)| {
                Record::Ahead(RemainingWork::Galloping { distance, n_revisions }, n_jobs)
            }),
            any::<Duration>().prop_map(|bound| {
                Record::Asked(HuntGoal { until: HuntStage::Change, reduction: Some(Bound::Within(bound)) })
            }),
            any::<(u64, Vec<String>, Duration)>().prop_map(|(sequence, counts, elapsed)| Record::Ran {
                sequence,
                counts,
                elapsed
            }),
            any::<(String, Option<u64>)>().prop_map(|(phase, sequence)| {
                let (revision, tree) = (CommitId::sha1([1; 20]), TreeId::sha1([2; 20]));
                let (key, outcome) = ("ab".to_owned(), "pass".to_owned());
                Record::Answer(AnswerRecord { phase, revision, tree, key, sequence, outcome })
            }),
            any::<(i64, String)>().prop_map(|value| Record::Finding { value: serde_json::json!(value) }),
            proptest::collection::vec("[0-9a-f]{0,8}", 0..3).prop_map(|paths| Record::Environment { paths }),
            proptest::collection::vec("[0-9a-f]{0,8}", 0..3).prop_map(|paths| Record::Copied { paths }),
            "[a-z_]{0,9}".prop_map(|status| Record::Ended { status }),
        ]
    }

    proptest! {
        #[test]
        fn an_observation_is_what_it_was_after_storing(observation in any_observation()) {
            let key = "0a".to_owned();
            let record = Record::Observed { sequence: 1, key, nth: 0, product: None, toolset: None, observation };
            let stored = serde_json::to_string(&record).unwrap();
            prop_assert_eq!(serde_json::from_str::<Record>(&stored).unwrap(), record);
        }
    }

    #[test]
    fn the_stored_form_is_stable() {
        let observation = Observation {
            stage: Stage::Test,
            ending: Ending::NotRun(Reason::DoesNotApply),
            duration: Duration::from_millis(1500),
            limit: Duration::from_secs(20),
            output: "no\n".to_owned(),
            reported: String::new(),
            is_clean: true,
            is_tampered: false,
            place: None,
        };
        let record =
            Record::Observed { sequence: 7, key: "0a".to_owned(), nth: 1, product: None, toolset: None, observation };
        insta::assert_snapshot!(serde_json::to_string(&record).unwrap(), @r#"{"observed":{"sequence":7,"key":"0a","nth":1,"observation":{"stage":"test","ending":{"not_run":"does-not-apply"},"duration":{"secs":1,"nanos":500000000},"limit":{"secs":20,"nanos":0},"output":"no\n","is_clean":true,"is_tampered":false}}}"#);
        let plan = Record::Plan(PlanRecord::new(serde_json::json!({"test": "make"}), "d".to_owned(), 9));
        insta::assert_snapshot!(serde_json::to_string(&plan).unwrap(), @r#"{"plan":{"version":2,"plan":{"test":"make"},"digest":"d","started_at_unix":9}}"#);
        insta::assert_snapshot!(serde_json::to_string(&Record::Voided).unwrap(), @r#""voided""#);
        insta::assert_snapshot!(serde_json::to_string(&Record::VoidedAll).unwrap(), @r#""voided_all""#);
        let asked = HuntGoal { until: HuntStage::Fix, reduction: Some(Bound::Unlimited) };
        insta::assert_snapshot!(serde_json::to_string(&Record::Asked(asked)).unwrap(), @r#"{"asked":{"until":"fix","reduction":"unlimited"}}"#);
        let environment = Record::Environment { paths: vec!["6162".to_owned()] };
        insta::assert_snapshot!(serde_json::to_string(&environment).unwrap(), @r#"{"environment":{"paths":["6162"]}}"#);
        let copied = Record::Copied { paths: vec!["6162".to_owned()] };
        insta::assert_snapshot!(serde_json::to_string(&copied).unwrap(), @r#"{"copied":{"paths":["6162"]}}"#);
        let ahead = Record::Ahead(RemainingWork::Reducing { n_units: 3 }, 2);
        insta::assert_snapshot!(serde_json::to_string(&ahead).unwrap(), @r#"{"ahead":[{"reducing":{"n_units":3}},2]}"#);
        let spent = Record::Spent { search: None, reduction: Duration::from_secs(2) };
        insta::assert_snapshot!(serde_json::to_string(&spent).unwrap(), @r#"{"spent":{"search":null,"reduction":{"secs":2,"nanos":0}}}"#);
        let ran = Record::Ran { sequence: 7, counts: vec!["reduce".to_owned()], elapsed: Duration::from_secs(2) };
        insta::assert_snapshot!(serde_json::to_string(&ran).unwrap(), @r#"{"ran":{"sequence":7,"counts":["reduce"],"elapsed":{"secs":2,"nanos":0}}}"#);
        let tested = Record::Tested {
            revision: CommitId::sha1([1; 20]),
            outcome: "unresolved(build)".to_owned(),
            is_repaired: true,
        };
        insta::assert_snapshot!(serde_json::to_string(&tested).unwrap(), @r#"{"tested":{"revision":"0101010101010101010101010101010101010101","outcome":"unresolved(build)","is_repaired":true}}"#);
    }

    #[test]
    fn an_unknown_reason_is_refused() {
        let mut stored = serde_json::Deserializer::from_str(r#"{"not_run":"bored"}"#);
        assert!(Ending::deserialize(&mut stored).is_err());
    }
}
