//! The speed at which a recording is replayed.

use std::str::FromStr;
use std::time::Duration;

/// A factor for the intervals of a recording: unchanged (`1`), shorter (`2x`), longer (`0.5`), or none (`max`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed(Option<f64>);

impl Speed {
    /// No intervals.
    pub const MAX: Self = Self(None);

    /// Scales a recorded interval in nanoseconds. Returns `None` if there is no waiting.
    pub fn scale(self, recorded: i64) -> Option<i64> {
        let recorded = Duration::from_nanos(u64::try_from(recorded).unwrap_or_default());
        let scaled = Duration::try_from_secs_f64(recorded.as_secs_f64() / self.0?);
        let ns = scaled.map_or(u128::MAX, |scaled| scaled.as_nanos());
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
            _ => Err("wanted a speed, such as 1, 2x, 0.5 or max"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Speed;

    #[test]
    fn speeds_are_parsed_and_scale_intervals() {
        for (text, want) in [
            ("1", Some(1_000)),
            ("2x", Some(500)),
            ("0.5", Some(2_000)),
            ("1e-30", Some(i64::MAX)),
            ("max", None),
        ] {
            let speed: Speed = text.parse().expect(text);
            assert_eq!(speed.scale(1_000), want, "{text}");
        }
        assert_eq!(Speed(Some(1.0)).scale(-5), Some(0));
        for text in ["0", "-1", "x", "", "inf", "NaN", "fast"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
