//! The file of a record: text, so that a change of it can be read.
//!
//! ```text
//! Observations of a hunt...
//! format 1
//!
//! history 0a1b...             the digest of the revisions and the refs
//! program 2c3d... cc          a program that the commands executed, and its digest
//!
//! plan 1                      the commands of probes
//!     build sh -c make
//!     test `./test.sh`
//!
//! output 1                    a text that a command printed
//!     |FAIL: 3 is not 4
//!
//! probe 5d1c... clean within 20s, rebuild Failure, run 1
//!     plan 1, output 1, test exit 1
//! ```
//!
//! A line of an output begins with `|`, or with `\` if the output ends without a line feed. Control characters and
//! backslashes are escaped as in a Rust string.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

use idd_base::{Ending, Observation, Reason, Stage};
use idd_world::files::hex;
use idd_world::run::product::Product;
use idd_world::run::sandbox::Probed;

use crate::recorded::asked::{Asked, Places};

/// The version of the file, of [`Asked`] and of what an answer holds.
const FORMAT: u32 = 1;

/// The first line of each file.
const TITLE: &str =
    "Observations of a hunt, by tree and plan; see fixtures-repos/README.md for how to record them anew.";

/// The duration of the first run, if it ended by itself. The stories are quick, so no decision of their hunts depends on
/// it, and a record is the same on a busy machine.
const SHORT: Duration = Duration::from_millis(100);

/// The difference between the durations of two successive runs: no two runs ever take the same time.
const TICK: Duration = Duration::from_micros(1);

/// What a probe showed, without directories of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    stage: Stage,
    ending: Ending,
    output: String,
    is_clean: bool,
    is_tampered: bool,
    product: Option<[u8; 32]>,
    is_same_product: bool,
    stale: Option<String>,
    removed: Vec<Vec<u8>>,
}

impl Seen {
    /// What is recorded of a result.
    pub fn of(probed: &Probed, places: &Places) -> Self {
        let Probed { observation, artifact: _, product, is_same_product, stale, removed } = probed;
        // The limit is that of the job.
        let Observation { stage, ending, output, is_clean, is_tampered, .. } = observation;
        Self {
            stage: *stage,
            ending: *ending,
            output: places.masked(output),
            is_clean: *is_clean,
            is_tampered: *is_tampered,
            product: product.map(|product| product.0),
            is_same_product: *is_same_product,
            stale: stale.as_ref().map(|line| places.masked(line)),
            removed: removed.clone(),
        }
    }

    /// The result.
    ///
    /// - `index`: the number of probes before it.
    fn probed(&self, index: usize, limit: Duration, places: &Places) -> Probed {
        let duration = if self.ending == Ending::Timeout { limit } else { SHORT };
        let n_ticks = u32::try_from(index).expect("a record is small");
        Probed {
            observation: Observation {
                stage: self.stage,
                ending: self.ending,
                duration: duration + n_ticks * TICK,
                limit,
                output: places.unmasked(&self.output),
                reported: String::new(),
                is_clean: self.is_clean,
                is_tampered: self.is_tampered,
                place: None,
            },
            artifact: None,
            product: self.product.map(Product),
            is_same_product: self.is_same_product,
            stale: self.stale.as_ref().map(|line| places.unmasked(line)),
            removed: self.removed.clone(),
        }
    }
}

/// Probes with their results, in the order in which they were asked for, and the programs that they executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// A digest of the revisions and the refs: a command can ask git for them.
    pub history: String,
    /// The executed programs, each with its digest; see [`tools`](crate::recorded::tools).
    pub programs: BTreeMap<String, String>,
    probes: Vec<(Asked, Seen)>,
    places: HashMap<Asked, usize>,
}

impl Record {
    /// Adds a probe.
    pub fn add(&mut self, asked: Asked, seen: Seen) {
        self.places.insert(asked.clone(), self.probes.len());
        self.probes.push((asked, seen));
    }

    /// The result of a probe with this limit; `None` if it is not known.
    pub fn probed(&self, asked: &Asked, limit: Duration, places: &Places) -> Option<Probed> {
        let index = *self.places.get(asked)?;
        Some(self.probes[index].1.probed(index, limit, places))
    }

    /// The probes.
    pub fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.probes.iter().map(|(asked, _)| asked)
    }

    /// Whether there is no probe.
    pub fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }

    /// The text of the file.
    pub fn written(&self) -> String {
        let mut text = format!("{TITLE}\nformat {FORMAT}\n\nhistory {}\n", self.history);
        for (name, digest) in &self.programs {
            writeln!(text, "program {digest} {name}").expect("a text takes all");
        }
        let (mut plans, mut outputs) = (Vec::new(), Vec::new());
        for (asked, seen) in &self.probes {
            let plan = number(&mut plans, &asked.plan, &mut text, |plan, text| {
                let number = text.1;
                write!(text.0, "\nplan {number}\n").expect("a text takes all");
                plan.lines().for_each(|line| writeln!(text.0, "    {line}").expect("a text takes all"));
            });
            let output = number(&mut outputs, &seen.output, &mut text, |output, text| {
                let number = text.1;
                write!(text.0, "\noutput {number}\n").expect("a text takes all");
                for line in output.split_inclusive('\n') {
                    let sign = if line.ends_with('\n') { '|' } else { '\\' };
                    writeln!(text.0, "    {sign}{}", escaped(line.trim_end_matches('\n'))).expect("a text takes all");
                }
            });
            writeln!(text, "\nprobe {}\n    plan {plan}, output {output}{}", asked.run, seen.written(asked.is_clean()))
                .expect("a text takes all");
        }
        text
    }

    /// The record of a file; `None` if it has another format or cannot be read.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines().peekable();
        lines.next().filter(|title| *title == TITLE)?;
        lines.next().filter(|format| *format == format!("format {FORMAT}"))?;
        let mut record = Self::default();
        let (mut plans, mut outputs) = (Vec::new(), Vec::new());
        while let Some(line) = lines.next() {
            if line.is_empty() {
                continue;
            }
            let (kind, rest) = line.split_once(' ')?;
            let mut below = Vec::new();
            while let Some(line) = lines.next_if(|line| line.starts_with("    ")) {
                below.push(&line[4..]);
            }
            match kind {
                "history" => rest.clone_into(&mut record.history),
                "program" => {
                    let (digest, name) = rest.split_once(' ')?;
                    record.programs.insert(name.to_owned(), digest.to_owned());
                }
                "plan" => plans.push(below.iter().flat_map(|line| [*line, "\n"]).collect::<String>()),
                "output" => {
                    let line = |line: &&str| {
                        let end = if line.starts_with('|') { "\n" } else { "" };
                        Some(unescaped(line.get(1..)?)? + end)
                    };
                    outputs.push(below.iter().map(line).collect::<Option<String>>()?);
                }
                "probe" => {
                    let (facts, more) = below.split_first()?;
                    let facts: Vec<&str> = facts.split(", ").collect();
                    let [plan, output, ending, facts @ ..] = &facts[..] else { return None };
                    let number =
                        |text: &str, name: &str| text.strip_prefix(name)?.parse::<usize>().ok()?.checked_sub(1);
                    let plan = plans.get(number(plan, "plan ")?)?.clone();
                    let output = outputs.get(number(output, "output ")?)?;
                    let asked = Asked { plan, run: rest.to_owned() };
                    let seen = Seen::read(asked.is_clean(), (output, ending), facts, more)?;
                    record.add(asked, seen);
                }
                _ => return None,
            }
        }
        Some(record)
    }
}

/// The number of a text among those so far, from 1; a new one is written by `write`, which gets its number.
fn number<'t>(
    known: &mut Vec<&'t str>,
    text: &'t str,
    out: &mut String,
    write: impl FnOnce(&str, &mut (&mut String, usize)),
) -> usize {
    if let Some(index) = known.iter().position(|it| *it == text) {
        return index + 1;
    }
    known.push(text);
    write(text, &mut (out, known.len()));
    known.len()
}

/// What a fresh worktree is called where a used one was asked for.
const FRESH: &str = "in a fresh worktree";

/// What a used worktree is called where a fresh one was asked for.
const USED: &str = "in a used worktree";

const TAMPERED: &str = "tracked files were changed";

const SAME_PRODUCT: &str = "the product is known";

/// The words for stages.
const STAGES: [(Stage, &str); 4] =
    [(Stage::Fetch, "fetch"), (Stage::Precheck, "precheck"), (Stage::Build, "build"), (Stage::Test, "test")];

impl Seen {
    /// What follows the numbers of plan and output.
    ///
    /// - `wants_clean`: whether a fresh worktree was asked for.
    fn written(&self, wants_clean: bool) -> String {
        let word = STAGES.iter().find(|(stage, _)| *stage == self.stage).expect("all stages are named").1;
        let ending = match self.ending {
            Ending::Exit(code) => format!("exit {code}"),
            Ending::Signal(signal) => format!("signal {signal}"),
            Ending::Timeout => "timeout".to_owned(),
            Ending::NotRun(reason) => format!("not-run {}", reason.word()),
        };
        let mut text = format!(", {word} {ending}");
        let facts = [
            (self.is_clean && !wants_clean, FRESH),
            (!self.is_clean && wants_clean, USED),
            (self.is_tampered, TAMPERED),
            (self.is_same_product, SAME_PRODUCT),
        ];
        let facts = facts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, fact)| fact);
        facts.for_each(|fact| write!(text, ", {fact}").expect("a text takes all"));
        let product = self.product.iter().map(|product| ("product", hex(product)));
        let line = self.stale.iter().map(|line| ("stale", escaped(line)));
        let removed = self.removed.iter().map(|path| ("removed", hex(path)));
        for (name, value) in product.chain(line).chain(removed) {
            write!(text, "\n    {name} {value}").expect("a text takes all");
        }
        text
    }

    /// - `ending`: stage and ending.
    /// - `more`: the lines that follow.
    fn read(wants_clean: bool, (output, ending): (&str, &str), facts: &[&str], more: &[&str]) -> Option<Self> {
        let has = |fact: &str| facts.contains(&fact);
        let (word, ending) = ending.split_once(' ')?;
        let (stage, _) = STAGES.into_iter().find(|(_, name)| *name == word)?;
        let ending = match ending.split_once(' ') {
            None if ending == "timeout" => Ending::Timeout,
            Some(("exit", code)) => Ending::Exit(code.parse().ok()?),
            Some(("signal", signal)) => Ending::Signal(signal.parse().ok()?),
            Some(("not-run", word)) => Ending::NotRun(Reason::ALL.into_iter().find(|reason| reason.word() == word)?),
            _ => return None,
        };
        let values =
            |name: &'static str| more.iter().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '));
        let product = |digits| <[u8; 32]>::try_from(bytes(digits)?).ok();
        Some(Self {
            stage,
            ending,
            output: output.to_owned(),
            is_clean: if wants_clean { !has(USED) } else { has(FRESH) },
            is_tampered: has(TAMPERED),
            product: values("product").map(product).collect::<Option<Vec<_>>>()?.pop(),
            is_same_product: has(SAME_PRODUCT),
            stale: values("stale").map(unescaped).collect::<Option<Vec<_>>>()?.pop(),
            removed: values("removed").map(bytes).collect::<Option<_>>()?,
        })
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

/// A line with escapes for control characters, for characters that are not printed, and for backslashes.
fn escaped(line: &str) -> String {
    let escape = |sign: char| match sign {
        '\'' | '"' | '\t' => sign.to_string(),
        _ => sign.escape_debug().to_string(),
    };
    line.chars().map(escape).collect()
}

/// The line that [`escaped`] wrote; `None` if it is none.
fn unescaped(text: &str) -> Option<String> {
    let mut line = String::new();
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            line.push(sign);
            continue;
        }
        line.push(match signs.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            '\\' => '\\',
            'u' => {
                let number: String = signs.by_ref().skip(1).take_while(|sign| *sign != '}').collect();
                char::from_u32(u32::from_str_radix(&number, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(line)
}
