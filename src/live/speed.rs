//! How fast a recording is played.

use std::str::FromStr;
use std::time::Duration;

/// What becomes of the distances of a recording: as they were (`1`), shorter (`2x`), longer (`0.5`), or none (`max`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed(Option<f64>);

impl Speed {
    /// As fast as it goes.
    pub const MAX: Self = Self(None);

    /// What so many nanoseconds become; `None` where nothing is waited for.
    pub fn distance(self, recorded: i64) -> Option<i64> {
        let recorded = Duration::from_nanos(u64::try_from(recorded).unwrap_or_default());
        let played = Duration::try_from_secs_f64(recorded.as_secs_f64() / self.0?);
        let ns = played.map_or(u128::MAX, |played| played.as_nanos());
        Some(i64::try_from(ns).unwrap_or(i64::MAX))
    }
}

impl FromStr for Speed {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "max" {
            return Ok(Self::MAX);
        }
        match text.strip_suffix('x').unwrap_or(text).parse::<f64>() {
            Ok(times) if times > 0.0 && times.is_finite() => Ok(Self(Some(times))),
            _ => Err("a speed is wanted, such as 1, 2x, 0.5 or max"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Speed;

    #[test]
    fn speeds() {
        for (text, want) in [
            ("1", Some(1_000)),
            ("2x", Some(500)),
            ("0.5", Some(2_000)),
            ("1e-30", Some(i64::MAX)),
            ("max", None),
        ] {
            let speed: Speed = text.parse().expect(text);
            assert_eq!(speed.distance(1_000), want, "{text}");
        }
        assert_eq!(Speed(Some(1.0)).distance(-5), Some(0));
        for text in ["0", "-1", "x", "", "inf", "NaN", "fast"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
