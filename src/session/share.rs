//! Shares and probabilities, as typed by the user.

use serde::Deserialize;
use serde::Serialize;
use std::fmt;

/// A number between 0 and 1, in millionths: as exact as it is typed, and comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share(u32);

/// Millionths of the whole.
const WHOLE: u32 = 1_000_000;

impl Share {
    /// The number, between 0 and 1.
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Reads `0.1` or `10%`; neither 0 nor 1 is a share.
    fn parse(text: &str) -> Result<Self, String> {
        let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
        let value: f64 = number.trim().parse().map_err(|_| "a share is written like `0.1` or `10%`".to_owned())?;
        let value = (value / whole * f64::from(WHOLE)).round();
        if !(1.0..f64::from(WHOLE)).contains(&value) {
            return Err("it must lie between 0 and 1, or 0% and 100%".to_owned());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was just compared")]
        Ok(Self(value as u32))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

/// How often the test fails or passes without a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flaky {
    /// In this share of its runs.
    Rate(Share),
    /// Not known; it is measured.
    Measured,
}

/// The value of `--flaky` without a rate.
pub const MEASURED: &str = "measured";

/// Reads the value of `--flaky`: a rate below one half, or [`MEASURED`].
pub fn parse_flaky(text: &str) -> Result<Flaky, String> {
    if text == MEASURED {
        return Ok(Flaky::Measured);
    }
    let share = Share::parse(text)?;
    if share.value() >= 0.5 {
        return Err("a test that is wrong half of the time shows nothing; the rate must be below 0.5".to_owned());
    }
    Ok(Flaky::Rate(share))
}

/// Reads the value of `--confidence`: at least one half.
pub fn parse_confidence(text: &str) -> Result<Share, String> {
    let share = Share::parse(text)?;
    if share.value() < 0.5 { Err("it must be at least 0.5".to_owned()) } else { Ok(share) }
}

/// The default of `--confidence`.
pub fn default_confidence() -> Share {
    Share(950_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_below_one_or_a_percentage() {
        assert_eq!(Share::parse("0.1").unwrap().to_string(), "0.1");
        assert_eq!(Share::parse("12.5%").unwrap().to_string(), "0.125");
        for wrong in ["0", "1", "100%", "-0.1", "ten", "", "NaN", "inf", "%"] {
            assert!(Share::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_confidence("0.95"), Ok(default_confidence()));
        assert!(parse_confidence("0.4").is_err());
        assert_eq!(parse_flaky(MEASURED), Ok(Flaky::Measured));
        assert!(parse_flaky("50%").is_err());
    }
}
