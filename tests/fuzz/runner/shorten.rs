//! Makes a failing input smaller.

use crate::execute::{Failure, execute};
use std::time::{Duration, Instant};
use wiretool_fuzz::Target;

const MAX_TIME: Duration = Duration::from_secs(15);

/// Removes parts, and then replaces bytes by simple ones, as long as the failure stays the same.
pub fn shorten(target: &Target, failure: &Failure, input: &[u8]) -> Vec<u8> {
    let started = Instant::now();
    let fails = |input: &[u8]| execute(target, input).is_err_and(|now| now.place == failure.place);
    let mut short = input.to_vec();
    let mut size = short.len() / 2;
    while size > 0 && started.elapsed() < MAX_TIME {
        let (mut at, before) = (0, short.len());
        while at < short.len() && started.elapsed() < MAX_TIME {
            let end = (at + size).min(short.len());
            let without = [&short[..at], &short[end..]].concat();
            if fails(&without) {
                short = without;
            } else {
                at = end;
            }
        }
        if short.len() == before {
            size /= 2;
        }
    }
    for at in 0..short.len() {
        for simple in [b'0', b'a', 0] {
            if started.elapsed() > MAX_TIME || short[at] == simple {
                break;
            }
            let old = std::mem::replace(&mut short[at], simple);
            if fails(&short) {
                break;
            }
            short[at] = old;
        }
    }
    short
}
