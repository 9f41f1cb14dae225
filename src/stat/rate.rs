//! Messages over time, in a bounded number of equal steps.

/// The largest number of steps. Twice as long ones replace them if the time is longer.
const MAX_STEPS: u8 = 80;
/// The first length of a step, in nanoseconds.
const FIRST_STEP: i64 = 1_000_000;

/// The number of messages in each step of the time.
#[derive(Clone, Debug)]
pub struct Rate {
    from: i64,
    step: i64,
    counts: Vec<u64>,
}

impl Rate {
    /// Creates one that begins with a message.
    pub fn new(time: i64) -> Self {
        Self {
            from: time,
            step: FIRST_STEP,
            counts: vec![1],
        }
    }

    /// Counts a message. Times before the first one count as that.
    pub fn add(&mut self, time: i64) {
        let since = time.saturating_sub(self.from).max(0);
        while since / self.step >= i64::from(MAX_STEPS) {
            self.step = self.step.saturating_mul(2);
            let pairs = self.counts.chunks(2);
            self.counts = pairs.map(|pair| pair.iter().sum()).collect();
        }
        let at = (since / self.step) as usize;
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
    }

    /// Returns the length of a step in nanoseconds.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Returns the number of messages in each step.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns at most `most` steps: their length, and their numbers.
    pub fn in_steps(&self, most: usize) -> (i64, Vec<u64>) {
        let joined = self.counts.len().div_ceil(most.max(1)).max(1);
        let parts = self.counts.chunks(joined);
        let step = self
            .step
            .saturating_mul(i64::try_from(joined).unwrap_or(i64::MAX));
        (step, parts.map(|part| part.iter().sum()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_and_no_message_is_lost() {
        for (times, step, len) in [
            (&[0, 1][..], FIRST_STEP, 1),
            (&[5, 79 * FIRST_STEP], FIRST_STEP, 79),
            (&[0, 80 * FIRST_STEP], 2 * FIRST_STEP, 41),
            (&[0, 81 * FIRST_STEP, 3, -7], 2 * FIRST_STEP, 41),
            (&[i64::MIN, i64::MAX], 1 << 57, 64),
        ] {
            let mut rate = Rate::new(times[0]);
            times[1..].iter().for_each(|time| rate.add(*time));
            let sum: u64 = rate.counts().iter().sum();
            assert_eq!(sum, times.len() as u64, "{times:?}");
            if times[0] >= 0 {
                assert_eq!((rate.step(), rate.counts().len()), (step, len), "{times:?}");
            }
            assert!(rate.counts().len() <= usize::from(MAX_STEPS));
            for most in [1, 7, 40] {
                let (_, steps) = rate.in_steps(most);
                assert!(steps.len() <= most);
                assert_eq!(steps.iter().sum::<u64>(), sum);
            }
        }
    }
}
