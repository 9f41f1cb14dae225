//! Delta debugging: leaves out parts while a test still holds.
//!
//! ```text
//!   1 2 3 4 5 6 7 8      holds
//!   . . . . 5 6 7 8      holds: the first half is not needed
//!   . . . . . . 7 8      does not hold
//!   . . . . 5 6 . .      holds
//!   . . . . 5 . . .      holds: one part is left
//! ```
//!
//! The algorithm is ddmin of Zeller and Hildebrandt (2002), with complements only: half of the parts is left out, then a
//! quarter, down to single parts. At the end, no single part can be left out.

use std::ops::ControlFlow;

/// Returns for each of `count` parts if it is kept. `holds` tests a choice; a break ends the search, and the choice so far is
/// returned beside it.
pub(super) fn minimize<B>(
    count: usize,
    holds: &mut dyn FnMut(&[bool]) -> ControlFlow<B, bool>,
) -> (Vec<bool>, Option<B>) {
    let mut kept = vec![true; count];
    let mut size = count;
    while size > 0 {
        let left: Vec<usize> = (0..count).filter(|n| kept.get(*n) == Some(&true)).collect();
        if left.is_empty() {
            break;
        }
        let mut is_smaller = false;
        // Later parts first: they depend on earlier ones.
        for group in left.chunks(size).rev() {
            let mut trial = kept.clone();
            for at in group {
                trial
                    .iter_mut()
                    .skip(*at)
                    .take(1)
                    .for_each(|is| *is = false);
            }
            match holds(&trial) {
                ControlFlow::Continue(true) => (kept, is_smaller) = (trial, true),
                ControlFlow::Continue(false) => {}
                ControlFlow::Break(why) => return (kept, Some(why)),
            }
        }
        // With single parts left, another pass follows as long as one helps.
        size = match size {
            1 if is_smaller => 1,
            _ => size / 2,
        };
    }
    (kept, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts that are kept, and the number of tests.
    fn kept(count: usize, needed: &[usize]) -> (Vec<usize>, usize) {
        let mut tests = 0;
        let mut holds = |kept: &[bool]| -> ControlFlow<(), bool> {
            tests += 1;
            ControlFlow::Continue(needed.iter().all(|n| kept[*n]))
        };
        let (kept, stopped) = minimize(count, &mut holds);
        assert_eq!(stopped, None);
        ((0..count).filter(|n| kept[*n]).collect(), tests)
    }

    #[test]
    fn only_the_needed_parts_stay() {
        for (count, needed) in [
            (0, &[][..]),
            (1, &[]),
            (1, &[0]),
            (8, &[4]),
            (9, &[0, 8]),
            (1000, &[3, 500, 501, 999]),
        ] {
            let (found, tests) = kept(count, needed);
            assert_eq!(found, needed, "{count}");
            assert!(tests < 150, "{count}: {tests}");
        }
    }

    #[test]
    fn a_break_keeps_what_was_found() {
        let mut tests = 0;
        let mut holds = |kept: &[bool]| {
            tests += 1;
            if tests == 3 {
                return ControlFlow::Break("interrupted");
            }
            ControlFlow::Continue(kept[0])
        };
        let (kept, stopped) = minimize(8, &mut holds);
        assert_eq!(kept.iter().filter(|is| **is).count(), 4);
        assert_eq!(stopped, Some("interrupted"));
    }
}
