//! The explanations of a finding, as they are stored beside the journal of its hunt and as programs read them.
//!
//! The session makes an [`Explanation`] once. `--json` prints it, [`bytes`] stores it, and all reports read it with
//! [`read`], which limits its size.

use serde::{Deserialize, Serialize};

use crate::Report;
use crate::certificate::proven;
use crate::chain::ReportChain;
use crate::chop::Chop;
use crate::invariants::Invariants;
use crate::walk::FinishedWalk;
use idd_base::{CommitId, TreeId};

/// The maximum size of a stored explanation, in bytes.
pub const MAX_BYTES: u64 = 16 << 20;

/// Why a stored explanation is not used.
#[derive(Debug, thiserror::Error)]
pub enum ExplanationError {
    /// It is damaged, or another version wrote it.
    #[error("it cannot be understood")]
    Form(#[from] serde_json::Error),
    /// The hunt continued after the explanation, and has another result now.
    #[error("it explains something else than the finding")]
    Other,
}

/// An explanation of a failure. Its field `schema` has the kind and the version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema")]
pub enum Explanation {
    /// The chain of faulty values between two versions.
    #[serde(rename = "git-idd explanation 1")]
    Chain(ReportChain),
    /// The statements between the input of a run and its failure.
    #[serde(rename = "git-idd/chop/1")]
    Chop(Chop),
    /// The steps from the first wrong one to the failure, as a person judged them.
    #[serde(rename = "git-idd/feedback/1")]
    Walk(FinishedWalk),
    /// The statements that matter for the failure, and what has to hold before each.
    #[serde(rename = "git-idd/invariants/1")]
    Invariants(Invariants),
}

/// An explanation of the finding of a hunt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// The hunt.
    pub hunt: String,
    /// The commit of the failing version, or the nearest one.
    pub commit: CommitId,
    /// The failing version, as it was run.
    pub tree: TreeId,
    /// The explanation.
    pub explanation: Explanation,
}

/// The first chain among explanations.
pub fn chain_of(explanations: &[Explained]) -> Option<&ReportChain> {
    explanations.iter().find_map(|explained| match &explained.explanation {
        Explanation::Chain(chain) => Some(chain),
        _ => None,
    })
}

/// The versions of the stored form.
#[derive(Serialize, Deserialize)]
#[serde(tag = "schema")]
enum StoredExplanation<E> {
    #[serde(rename = "git-idd hunt explanation 1")]
    First(E),
}

/// The stored form.
pub fn bytes(explained: &Explained) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&StoredExplanation::First(explained))
}

/// Reads the result of [`bytes`], limited in size, if it explains `report`.
pub fn read(bytes: &[u8], report: &Report) -> Result<Explained, ExplanationError> {
    let StoredExplanation::First(Explained { hunt, commit, tree, explanation }) = serde_json::from_slice(bytes)?;
    let is_proven = proven(report).iter().any(|(_, proven, tested)| (*proven, *tested) == (commit, tree));
    if report.hunt.as_ref() != Some(&hunt) || !is_proven {
        return Err(ExplanationError::Other);
    }
    let explanation = match explanation {
        Explanation::Chain(chain) => Explanation::Chain(chain.bounded()),
        Explanation::Chop(chop) => Explanation::Chop(chop.bounded()),
        Explanation::Walk(walk) => Explanation::Walk(walk.bounded()),
        Explanation::Invariants(found) => Explanation::Invariants(found.bounded()),
    };
    Ok(Explained { hunt, commit, tree, explanation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use serde_json::{Value, json};

    fn stored(explanation: &Value) -> Vec<u8> {
        let value = json!({
            "schema": "git-idd hunt explanation 1", "hunt": "20260301-093000-1", "commit": "33".repeat(20),
            "tree": "3a".repeat(20), "explanation": explanation,
        });
        serde_json::to_vec(&value).unwrap()
    }

    #[test]
    fn a_stored_explanation_is_read_if_it_fits_the_finding() {
        let report = samples::explained();
        let bytes = stored(&samples::told());
        assert_eq!(read(&bytes, &report).unwrap(), samples::of_hunt(Explanation::Chain(samples::chain())));
        let other = Report { hunt: Some("another".to_owned()), ..report.clone() };
        assert!(matches!(read(&bytes, &other), Err(ExplanationError::Other)));
        assert!(matches!(read(&bytes, &samples::error()), Err(ExplanationError::Other)));
    }

    #[test]
    fn an_explanation_has_the_form_that_programs_read() {
        let chain = Explanation::Chain(samples::chain());
        assert_eq!(serde_json::to_value(&chain).unwrap(), samples::told());
        let written = bytes(&samples::of_hunt(chain)).unwrap();
        let value: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(value, serde_json::from_slice::<Value>(&stored(&samples::told())).unwrap());
    }

    #[test]
    fn every_kind_of_explanation_is_read_as_it_was_stored() {
        for explained in samples::explanations() {
            assert_eq!(read(&bytes(&explained).unwrap(), &samples::explained()).unwrap(), explained);
        }
    }

    #[test]
    fn what_no_report_needs_may_be_missing() {
        let mut told = samples::told();
        let fields = told.as_object_mut().unwrap();
        fields.retain(|name, _| !name.starts_with("n_") && !name.ends_with("seconds") && name != "beginning");
        fields["failure"].as_object_mut().unwrap().remove("step");
        let link = fields["chain"][0].as_object_mut().unwrap();
        link.retain(|name, _| {
            !["kept", "replaced", "tested", "step", "reference_step", "text", "part"].contains(&name.as_str())
        });
        let read = read(&stored(&told), &samples::explained()).unwrap();
        let Explanation::Chain(chain) = read.explanation else { panic!("this is a chain") };
        assert_eq!((chain.links.len(), chain.beginning), (3, None));
    }

    #[test]
    fn damage_and_other_forms_are_errors_and_never_a_panic() {
        let report = samples::explained();
        let bytes = stored(&samples::told());
        for end in 0..bytes.len() {
            assert!(matches!(read(&bytes[..end], &report), Err(ExplanationError::Form(_))), "{end}");
        }
        let mut told = samples::told();
        told["schema"] = json!("git-idd explanation 9");
        assert!(matches!(read(&stored(&told), &report), Err(ExplanationError::Form(_))));
        let other = String::from_utf8(bytes).unwrap().replace("hunt explanation 1", "hunt explanation 9");
        assert!(matches!(read(other.as_bytes(), &report), Err(ExplanationError::Form(_))));
    }
}
