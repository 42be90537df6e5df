//! The table of the tools.

use crate::mcp::answer::{MAX_BYTES, ToolAnswer};
use crate::mcp::arguments::{ArgumentKind, Arguments, ToolArgument};
use crate::mcp::state::ServerState;
use crate::mcp::{arguments, hunts, judging, runs};
use idd_session::Failure;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a tool does beside its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// It only reads.
    Reads,
    /// It stops what runs, or keeps an answer.
    Changes,
    /// It runs commands of the user.
    Runs,
}

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Its own arguments.
    arguments: &'static [ToolArgument],
    /// The arguments that it shares with others.
    shared: &'static [ToolArgument],
    /// What it does beside its answer.
    pub effect: ToolEffect,
    run: RunTool,
}

type RunTool = fn(&Arguments, &Arc<ServerState>) -> Result<ToolAnswer, Failure>;

impl Tool {
    const fn reads(name: &'static str, run: RunTool) -> Self {
        Self { name, description: "", arguments: &[], shared: &[], effect: ToolEffect::Reads, run }
    }

    const fn changes(name: &'static str, run: RunTool) -> Self {
        Self { effect: ToolEffect::Changes, ..Self::reads(name, run) }
    }

    const fn runs(name: &'static str, run: RunTool) -> Self {
        Self { effect: ToolEffect::Runs, ..Self::reads(name, run) }
    }

    const fn described(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    const fn takes(self, arguments: &'static [ToolArgument]) -> Self {
        Self { arguments, ..self }
    }

    const fn shares(self, shared: &'static [ToolArgument]) -> Self {
        Self { shared, ..self }
    }

    fn known(&self) -> impl Iterator<Item = &'static ToolArgument> + Clone + use<> {
        self.arguments.iter().chain(self.shared)
    }

    /// The JSON schema of its arguments.
    pub fn schema(&self) -> Map<String, Value> {
        arguments::schema(self.known())
    }

    /// Calls it.
    pub fn call(&self, given: Map<String, Value>, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
        (self.run)(&Arguments::read(given, &self.known())?, state)
    }
}

const HUNT: ToolArgument = ToolArgument::new("hunt", ArgumentKind::Text, "Id; default: the newest.");

const BAD: ToolArgument = ToolArgument::new("bad", ArgumentKind::Revision, "Where it fails; default: HEAD.");

const GOOD: ToolArgument = ToolArgument::new("good", ArgumentKind::Revisions, "Where it passes; default: searched.");

const BUILD: ToolArgument =
    ToolArgument::new("build", ArgumentKind::Text, "Shell line; default: the user's; empty: none.");

const OFFSET: ToolArgument = ToolArgument::new("offset", ArgumentKind::Number(0, u64::MAX), "");

#[expect(clippy::cast_possible_truncation, reason = "it is a small constant")]
const SIZE: ToolArgument = ToolArgument::new("max_bytes", ArgumentKind::Number(1000, MAX_BYTES as u32 as u64), "");

const RECORDING: ToolArgument = ToolArgument::new("recording", ArgumentKind::Text, "Id; default: the last.");

const PROCESS: ToolArgument = ToolArgument::new("process", ArgumentKind::Number(0, 100_000), "");

const WAIT: ToolArgument = ToolArgument::new("wait", ArgumentKind::Number(0, 50), "Seconds to wait.");

const DATA: ToolArgument = ToolArgument::new("data", ArgumentKind::Flag, "Values only, no decisions.");

const STEP: ToolArgument = ToolArgument::required("step", ArgumentKind::Number(1, u32::MAX as u64), "Number, from 1.");

/// A part of a text.
const PART: &[ToolArgument] = &[OFFSET, SIZE];

/// A process of a recording, and a part of a text.
const RUN: &[ToolArgument] = &[RECORDING, PROCESS, OFFSET, SIZE];

/// All tools.
pub const TOOLS: [Tool; 22] = [
    Tool::runs("hunt_start", hunts::start)
        .described("Start a hunt for the change that broke the test, in the background; returns its id. Only commands that the user allowed run.")
        .takes(&[
            ToolArgument::new("test", ArgumentKind::Texts, "Shell line or words; default: the user's."),
            BUILD,
            BAD,
            GOOD,
            ToolArgument::new("until", ArgumentKind::Word(&["commit", "change", "fix"]), "Default: fix."),
            ToolArgument::new("match", ArgumentKind::Text, "Regex of the line that counts as the failure."),
            ToolArgument::new("timeout", ArgumentKind::Number(1, 86_400), "Seconds, of the build and of the test."),
            ToolArgument::new("budget", ArgumentKind::Number(1, 604_800), "Seconds after which it stops."),
        ]),
    Tool::reads("hunt_status", hunts::status)
        .described("Progress of a hunt and what is left; also waits for explain and record.")
        .takes(&[HUNT, WAIT]),
    Tool::changes("hunt_cancel", hunts::cancel)
        .described("Stop the hunt, explanation or recording that runs. The same hunt_start continues a hunt."),
    Tool::reads("hunt_list", hunts::list)
        .described("All stored hunts.")
        .shares(PART),
    Tool::reads("hunt_finding", hunts::finding)
        .described("What a hunt found: commit, lines that break the test, failure, fix, evidence.")
        .takes(&[HUNT, ToolArgument::new("full", ArgumentKind::Flag, "With patches and all evidence.")])
        .shares(PART),
    Tool::reads("probe_list", hunts::probes)
        .described("All runs of the test in a hunt: number, phase, revision, outcome.")
        .takes(&[HUNT])
        .shares(PART),
    Tool::reads("probe_output", hunts::output)
        .described("Output of the test in one run, from its end.")
        .takes(&[HUNT, ToolArgument::required("probe", ArgumentKind::Revision, "Number, or a tested revision.")])
        .shares(PART),
    Tool::runs("judge_start", judging::start)
        .described("Start a hunt in which you judge each revision; returns the checkout of the first one.")
        .takes(&[BAD, GOOD, BUILD, WAIT]),
    Tool::runs("judge", judging::judge)
        .described("Your verdict on what is checked out; returns the next revision, or the result. undo: takes back the last one.")
        .takes(&[
            ToolArgument::required("verdict", ArgumentKind::Word(&["good", "bad", "skip", "undo", "show"]), ""),
            ToolArgument::new("revision", ArgumentKind::Revision, "Another revision."),
            ToolArgument::new("why", ArgumentKind::Text, "For the report."),
            WAIT,
        ]),
    Tool::runs("fix_try", runs::judge)
        .described("Judge a fix for a finding: patch for HEAD, or revision. Runs the test of the hunt.")
        .takes(&[
            HUNT,
            ToolArgument::new("patch", ArgumentKind::Patch, ""),
            ToolArgument::new("revision", ArgumentKind::Revision, ""),
            WAIT,
        ])
        .shares(PART),
    Tool::runs("explain", runs::explain)
        .described("Explain how the lines of a finding lead to the failure (C, C++, Java). Runs the test of the hunt.")
        .takes(&[HUNT, WAIT])
        .shares(PART),
    Tool::runs("chop", runs::chop)
        .described("Statements between the input and the failure of a finding. Runs the test of the hunt.")
        .takes(&[HUNT, DATA, WAIT])
        .shares(PART),
    Tool::reads("explanation", runs::explanation)
        .described("Stored explanations of a finding.")
        .takes(&[HUNT])
        .shares(PART),
    Tool::runs("record", runs::record)
        .described("Record what the programs of the test do (C, C++, Java), at a revision. Only commands that the user allowed run.")
        .takes(&[
            ToolArgument::new("test", ArgumentKind::Texts, "As in hunt_start."),
            ToolArgument::new("build", ArgumentKind::Text, ""),
            ToolArgument::new("at", ArgumentKind::Revision, "Default: HEAD."),
            WAIT,
        ]),
    Tool::reads("recording_list", runs::recordings)
        .described("All recordings.")
        .shares(PART),
    Tool::reads("trace_tree", runs::tree)
        .described("Calls and loops of a recorded run, with values and steps.")
        .takes(&[
            ToolArgument::new("depth", ArgumentKind::Number(1, 1000), "Default: 6."),
            ToolArgument::new("width", ArgumentKind::Number(1, 1000), "Default: 20."),
        ])
        .shares(RUN),
    Tool::reads("trace_step", runs::step)
        .described("One step: what it read and wrote, and what it depends on.")
        .takes(&[STEP])
        .shares(RUN),
    Tool::reads("trace_why", runs::why)
        .described("Where the value of a variable before a step comes from.")
        .takes(&[
            STEP,
            ToolArgument::required("variable", ArgumentKind::Text, "`n`, `p->f`, `a[3]`."),
            ToolArgument::new("limit", ArgumentKind::Number(1, 1000), "Steps; default: 20."),
        ])
        .shares(RUN),
    Tool::reads("slice", runs::slice)
        .described("Statements that a value depends on (backward), or that depend on it (forward).")
        .takes(&[
            ToolArgument::required("direction", ArgumentKind::Word(&["backward", "forward"]), ""),
            ToolArgument::required(
                "criterion",
                ArgumentKind::Text,
                "`<step>`, `<step>:<variable>`, `output:<byte>`, `stderr:<byte>`, `crash`, `end`, `line:<file>:<line>`, `input:<file>`.",
            ),
            DATA,
        ])
        .shares(RUN),
    Tool::reads("invariants", runs::invariants)
        .described("Statements of a recorded run that matter for its failure, and what has to hold before each.")
        .takes(&[
            ToolArgument::new(
                "criterion",
                ArgumentKind::Text,
                "As of slice; default: the crash. `end` for a wrong exit code.",
            ),
            ToolArgument::new("passing", ArgumentKind::Text, "Id of a recording that passes."),
            DATA,
        ])
        .shares(RUN),
    Tool::changes("debug_question", runs::question)
        .described("The recorded step to look at next, to find the first wrong one.")
        .takes(&[ToolArgument::new("restart", ArgumentKind::Flag, "Forget the answers.")])
        .shares(RUN),
    Tool::changes("debug_answer", runs::answer)
        .described("Answer debug_question, and get the next one or the result: c all right, w <n> value n is wrong, h right values but a wrong result or decision, p should not run, m code is missing before it, u unclear, g <step> look there, z take back.")
        .takes(&[ToolArgument::required("answer", ArgumentKind::Text, "")])
        .shares(RUN),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_tool_has_a_name_of_its_own_and_is_in_the_manual() {
        let manual = include_str!("../../../docs/manual/mcp.md");
        let names: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), TOOLS.len());
        for name in names {
            assert!(manual.contains(&format!("`{name}`")), "{name} is not in the manual");
        }
    }

    #[test]
    fn the_table_of_the_tools_is_short() {
        let size: usize = TOOLS
            .iter()
            .map(|tool| tool.description.len() + Value::Object(tool.schema()).to_string().len() + tool.name.len())
            .sum();
        assert!(size < 10_000, "{size} bytes");
    }
}
