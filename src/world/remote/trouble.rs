//! What goes wrong between this program and a service. It is never an outcome of a test.

use std::error::Error as _;
use std::fmt;
use tonic::{Code, Status};

/// The longest part of a service's message that is shown, in characters.
const MAX_SAID: usize = 300;

/// What to do about trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure {
    /// The same call can succeed later.
    Retry,
    /// The service lacks blobs that it had: they must be sent again.
    SendAgain,
    /// Another call would fail, too.
    None,
}

/// An error of a service, or on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// A phrase for people; text of the service is bounded, but not escaped.
    pub what: String,
    /// What to do.
    pub cure: Cure,
}

impl Trouble {
    /// Trouble that stays.
    pub fn lasting(what: impl Into<String>) -> Self {
        Self { what: what.into(), cure: Cure::None }
    }

    /// Trouble that can pass.
    pub fn passing(what: impl Into<String>) -> Self {
        Self { what: what.into(), cure: Cure::Retry }
    }

    /// Trouble of a call.
    ///
    /// A service that dies is reported as `Unknown` or `Internal` as often as as `Unavailable`, so these are tried again.
    pub fn of_call(call: &str, status: &Status) -> Self {
        let cure = match status.code() {
            // The protocol has the first one for a blob that is missing; buildbox-casd says the second one.
            Code::FailedPrecondition | Code::NotFound => Cure::SendAgain,
            Code::Unavailable
            | Code::Unknown
            | Code::Internal
            | Code::Aborted
            | Code::ResourceExhausted
            | Code::DeadlineExceeded
            | Code::Cancelled => Cure::Retry,
            _ => Cure::None,
        };
        let said: String = status.message().chars().take(MAX_SAID).collect();
        let mut said = if said.is_empty() { status.code().description().to_owned() } else { said };
        // The library has the reason of a connection that fails in the errors below.
        let mut below = status.source();
        while let Some(error) = below {
            let reason = error.to_string();
            below = error.source();
            if below.is_none() && !said.contains(&reason) {
                said.push_str(": ");
                said.extend(reason.chars().take(MAX_SAID));
            }
        }
        Self { what: format!("{call}: {said}"), cure }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Trouble {}
