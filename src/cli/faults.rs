//! Faults from flags and files.
//!
//! ```toml
//! seed = 7
//!
//! [[fault]]
//! where = 'kind=call subject~"math.*"'
//! nth = 2
//! do = "delay 50ms"
//! ```

use super::complain;
use crate::capture::Time;
use crate::decoder;
use crate::encoding::Want;
use crate::framing::Framing;
use crate::inject::{Action, Fault, Often, Plan};
use crate::protocol::{Protocol, registry};
use crate::transport::Faults;
use anyhow::{Context as _, Result, anyhow};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const FAULT: &str = "\
Something goes wrong on purpose: `WHERE: ACTION` (repeatable)

WHERE is a condition as --where of decode takes it, or nothing for every message; behind it may stand, all of which must
hold then:
  nth N       only the Nth message that it means, over all connections
  every N     every Nth of them
  chance P    each with this chance: 0.1, 10%; --seed decides which

ACTION is one of:
  delay TIME      it waits, and what comes behind it in its direction
  drop            it is left out; an event of an HTTP stream becomes a comment
  dup             it goes out twice
  corrupt PATH    the value there is another, all else reads as before, masks and lengths are right
  corrupt byte    any byte of its body is another
  truncate N      only N bytes of its frame go out; the length still tells of all
  length +N       the length that its frame tells is N more than it is (-N: less)
  close           in its place the connection is closed
  reset           in its place the connection is cut; of a child, its pipe is closed
  stall           neither it nor anything behind it in its direction goes out
  inject FILE     what is in the file goes out before it, as it is

A message is held until it is complete where a fault may mean its direction. What was done is in the recording, as events
called inject; chunks are as they were read.

Example: --fault 'dir=s2c kind=result chance 5%: delay 200ms' --seed 7";

/// What goes wrong on purpose.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults")]
pub struct Faulty {
    /// Something goes wrong on purpose: `kind=call nth 2: drop` (repeatable; --help tells the actions)
    #[arg(long, value_name = "WHERE: ACTION", long_help = FAULT)]
    fault: Vec<Fault>,
    /// Faults from a TOML file: tables `[[fault]]` with `where`, `do`, and `nth`, `every` or `chance`; and `seed`
    #[arg(long, value_name = "FILE")]
    fault_file: Option<PathBuf>,
    /// What is left to chance follows from this number; made up, and told, where it is not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// A file of faults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    seed: Option<u64>,
    #[serde(default)]
    fault: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default, rename = "where")]
    condition: String,
    #[serde(rename = "do")]
    action: String,
    nth: Option<u64>,
    every: Option<u64>,
    chance: Option<f64>,
}

impl Faulty {
    /// Whether any were asked for.
    pub fn any(&self) -> bool {
        !self.fault.is_empty() || self.fault_file.is_some()
    }

    /// All of them, those of the file last, with what is in their files.
    pub fn plan(&self, quiet: bool) -> Result<Plan> {
        let mut faults = self.fault.clone();
        let mut seed = self.seed;
        load(&mut faults, Path::new(""))?;
        if let Some(path) = &self.fault_file {
            let name = path.display();
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
            let file: File = toml::from_str(&text).map_err(|e| anyhow!("{name}: {e}"))?;
            seed = seed.or(file.seed);
            let mut own = Vec::new();
            for (n, entry) in file.fault.iter().enumerate() {
                let fault = entry.read();
                own.push(fault.map_err(|e| anyhow!("{name}, fault {}: {e}", n + 1))?);
            }
            load(&mut own, path.parent().unwrap_or(Path::new("")))?;
            faults.append(&mut own);
        }
        let chance = faults.iter().any(|fault| {
            fault.often.chance.is_some() || matches!(fault.action, Action::Corrupt(_))
        });
        let made_up = seed.is_none();
        let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        if made_up && chance && !quiet {
            complain(&format!("faults follow --seed {seed}"));
        }
        Ok(Plan {
            faults,
            seed,
            host: None,
        })
    }
}

impl Entry {
    fn read(&self) -> Result<Fault> {
        let whole = [self.nth, self.every].into_iter().flatten();
        anyhow::ensure!(whole.min() != Some(0), "nth and every count from 1 on");
        let chance = self.chance.unwrap_or_default();
        anyhow::ensure!((0.0..=1.0).contains(&chance), "chance lies between 0 and 1");
        let often = Often {
            nth: self.nth,
            every: self.every,
            chance: self.chance,
        };
        Ok(Fault::of(&self.condition, often, &self.action)?)
    }
}

/// Reads what is to be injected; names are relative to where they were written down.
fn load(faults: &mut [Fault], beside: &Path) -> Result<()> {
    for fault in faults {
        if let Action::Inject(file) = &mut fault.action {
            let path = beside.join(&file.name);
            let bytes = std::fs::read(&path);
            file.bytes = bytes
                .with_context(|| format!("cannot read {}", path.display()))?
                .into();
        }
    }
    Ok(())
}

/// What is to go wrong, where anything is.
pub fn on_purpose(
    faulty: &Faulty,
    protocol: Option<&'static dyn Protocol>,
    decode: Option<&decoder::Options<'static>>,
    quiet: bool,
    host: Option<String>,
    started: Option<Time>,
) -> Result<Option<Faults>> {
    if !faulty.any() && host.is_none() {
        return Ok(None);
    }
    // What nobody recognises yet would be held, and held up.
    anyhow::ensure!(
        protocol.is_some() || !faulty.any(),
        "faults must know whose messages pass: name the protocol with -p"
    );
    let mut plan = faulty.plan(quiet)?;
    plan.host = host;
    let assumed = protocol.or(registry::find("stepflow"));
    let protocols = assumed.into_iter().collect();
    let options = match decode {
        Some(options) => decoder::Options {
            // Definitions of one's own count where they were given.
            protocols: match options.protocols.as_slice() {
                [_] => options.protocols.clone(),
                _ => protocols,
            },
            ..options.clone()
        },
        None => decoder::Options {
            want: Want::Head,
            ..decoder::Options::new(protocols)
        },
    };
    let options = decoder::Options {
        framing: options.framing.or(match protocol {
            None => Some(Framing::Http),
            Some(_) => None,
        }),
        ..options
    };
    let started = started.and_then(|t| i64::try_from(t).ok());
    Ok(Faults::new(plan, options, started.unwrap_or_default()))
}
