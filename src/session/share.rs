//! Shares and probabilities, as typed by the user.

use serde::{Deserialize, Serialize};
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

/// How much more a command must need to count as slower: a percentage, in thousandths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threshold(u32);

impl Threshold {
    /// The ratio of slow to fast: 1.1 for 10 %.
    pub fn ratio(self) -> f64 {
        1.0 + f64::from(self.0) / 100_000.0
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Self(10_000)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.0) / 1000.0)
    }
}

/// Reads the value of `--threshold`: `5%` or `5`.
pub fn parse_threshold(text: &str) -> Result<Threshold, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let value: f64 = number.trim().parse().map_err(|_| "a threshold is written like `5%`".to_owned())?;
    if number == text && value > 0.0 && value < 1.0 {
        return Err(format!("a threshold is a percentage: `{}%` or `{value}%`", value * 100.0));
    }
    let thousandths = (value * 1000.0).round();
    if !(1.0..=1_000_000.0).contains(&thousandths) {
        return Err("it must lie between 0.001% and 1000%".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was just compared")]
    Ok(Threshold(thousandths as u32))
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

/// Reads the value of `--flaky`: a rate below one, or [`MEASURED`].
pub fn parse_flaky(text: &str) -> Result<Flaky, String> {
    if text == MEASURED {
        return Ok(Flaky::Measured);
    }
    let share = Share::parse(text)?;
    if share.value() >= 1.0 {
        return Err("a test that is always wrong shows nothing; the rate must be below 1".to_owned());
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
    fn a_threshold_is_a_percentage_and_no_share() {
        let read = |text: &str| parse_threshold(text).map(|threshold| threshold.to_string());
        for right in ["5%", "5", "5 %", "5.0"] {
            assert_eq!(read(right).as_deref(), Ok("5%"), "{right}");
        }
        assert_eq!(read("0.5%").as_deref(), Ok("0.5%"));
        assert!((parse_threshold("200").unwrap().ratio() - 3.0).abs() < 1e-12);
        assert_eq!(Threshold::default(), parse_threshold("10%").unwrap());
        assert_eq!(read("0.05"), Err("a threshold is a percentage: `5%` or `0.05%`".to_owned()));
        for wrong in ["0", "-5%", "much", "", "NaN", "inf", "%", "1001%"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

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
        assert!(parse_flaky("70%").is_ok() && parse_flaky("100%").is_err());
    }
}
