//! One execution: laws, memory and time.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;
use std::time::{Duration, Instant};
use wiretool_fuzz::Target;

/// The largest amount of memory that is in use at once, in bytes.
const MAX_MEMORY: u64 = 64 << 20;
const MAX_TIME: Duration = Duration::from_secs(2);

/// A broken law.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The place in the code, without the line, or the bound: findings with the same place are one.
    pub place: String,
    pub text: String,
}

impl Failure {
    pub fn new(place: &str, text: String) -> Self {
        Self {
            place: place.to_owned(),
            text,
        }
    }
}

thread_local! {
    static PANIC: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Keeps panics instead of printing them.
fn keep_panics() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| {
        set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string);
            let failure = Failure::new(&place.unwrap_or_default(), panic.to_string());
            PANIC.set(Some(failure));
        }));
    });
}

/// Runs a target; returns the shape of the result.
pub fn execute(target: &Target, input: &[u8]) -> Result<u64, Failure> {
    keep_panics();
    let started = Instant::now();
    let mut outcome = None;
    let memory = allocation_counter::measure(|| {
        outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(input))).ok();
    });
    let time = started.elapsed();
    let Some(shape) = outcome else {
        let unknown = || Failure::new("panic", String::new());
        return Err(PANIC.take().unwrap_or_else(unknown));
    };
    if memory.bytes_max > MAX_MEMORY {
        let text = format!("{} bytes in use at once", memory.bytes_max);
        return Err(Failure::new("memory", text));
    }
    if time > MAX_TIME {
        return Err(Failure::new("time", format!("{time:?}")));
    }
    Ok(shape)
}
