//! Reads faults from flags and files.
//!
//! ```toml
//! seed = 7
//!
//! [[fault]]
//! where = 'kind=call subject~"math.*"'
//! nth = 2
//! do = "delay 50ms"
//! ```

use super::print_message;
use super::values::{read_bytes, read_string};
use crate::capture::Time;
use crate::decoder::DecodeOptions;
use crate::encoding::Want;
use crate::framing::Framing;
use crate::inject::{Action, FaultPlan, Frequency, InjectedFault};
use crate::protocol::{Protocol, registry};
use crate::transport::{Faults, Inserts};
use anyhow::{Result, anyhow};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The faults to inject.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults")]
pub struct FaultArgs {
    /// Inject a fault (see wiretool help faults)
    #[arg(long, value_name = "WHERE: ACTION")]
    fault: Vec<InjectedFault>,
    /// Read faults from a TOML file: tables `[[fault]]` with `where`, `do` and `nth`, `every` or `chance`; and `seed`
    #[arg(long, value_name = "FILE")]
    fault_file: Option<PathBuf>,
    /// Seed for random choices; by default a new one, printed at the start
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultFile {
    seed: Option<u64>,
    #[serde(default)]
    fault: Vec<FaultEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultEntry {
    #[serde(default, rename = "where")]
    condition: String,
    #[serde(rename = "do")]
    action: String,
    nth: Option<u64>,
    every: Option<u64>,
    chance: Option<f64>,
}

impl FaultArgs {
    /// Returns true if any faults are requested.
    pub fn is_given(&self) -> bool {
        !self.fault.is_empty() || self.fault_file.is_some()
    }

    /// Reads all faults, those of the file last, with the contents of the files that they name.
    pub fn read_plan(&self, quiet: bool) -> Result<FaultPlan> {
        let mut faults = self.fault.clone();
        let mut seed = self.seed;
        read_fault_files(&mut faults, Path::new(""))?;
        if let Some(path) = &self.fault_file {
            let name = path.display();
            let text = read_string(path)?;
            let file: FaultFile = toml::from_str(&text).map_err(|e| anyhow!("{name}: {e}"))?;
            seed = seed.or(file.seed);
            let mut own = Vec::new();
            for (n, entry) in file.fault.iter().enumerate() {
                let fault = entry.read();
                own.push(fault.map_err(|e| anyhow!("{name}, fault {}: {e}", n + 1))?);
            }
            read_fault_files(&mut own, path.parent().unwrap_or(Path::new("")))?;
            faults.append(&mut own);
        }
        let chance = faults.iter().any(|fault| {
            fault.frequency.chance.is_some() || matches!(fault.action, Action::Corrupt(_))
        });
        let made_up = seed.is_none();
        let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        if made_up && chance && !quiet {
            print_message(&format!("faults use --seed {seed}"));
        }
        Ok(FaultPlan {
            faults,
            seed,
            ..FaultPlan::default()
        })
    }
}

impl FaultEntry {
    fn read(&self) -> Result<InjectedFault> {
        let whole = [self.nth, self.every].into_iter().flatten();
        anyhow::ensure!(whole.min() != Some(0), "nth and every must be at least 1");
        let chance = self.chance.unwrap_or_default();
        anyhow::ensure!(
            (0.0..=1.0).contains(&chance),
            "chance must be between 0 and 1"
        );
        let frequency = Frequency {
            nth: self.nth,
            every: self.every,
            chance: self.chance,
        };
        Ok(InjectedFault::of(&self.condition, frequency, &self.action)?)
    }
}

/// Reads the files that faults name, relative to the folder of the faults.
fn read_fault_files(faults: &mut [InjectedFault], folder: &Path) -> Result<()> {
    for fault in faults {
        if let Action::Inject(file) = &mut fault.action {
            let path = folder.join(&file.name);
            file.bytes = read_bytes(&path)?.into();
        }
    }
    Ok(())
}

/// Returns the faults to inject, if there are any.
pub fn faults_to_inject(
    plan: FaultPlan,
    protocol: Option<&'static dyn Protocol>,
    decode: Option<&DecodeOptions<'static>>,
    started: Option<Time>,
    inserts: Option<Arc<Inserts>>,
) -> Result<Option<Faults>> {
    if plan.is_empty() && inserts.is_none() {
        return Ok(None);
    }
    // Bytes of an undetected protocol would have to wait.
    anyhow::ensure!(
        protocol.is_some() || plan.faults.is_empty(),
        "faults need a protocol: name it with -p"
    );
    let over_http = |p: &&&dyn Protocol| p.descriptor().framings.contains(&Framing::Http);
    let assumed = protocol.or_else(|| registry::all().iter().find(over_http).copied());
    let mut options = match decode {
        Some(options) => options.clone(),
        None => DecodeOptions::new(Vec::new()),
    };
    // A schema that the user gives replaces the built-in one.
    if decode.is_none() || !plan.is_empty() {
        if options.protocols.len() != 1 {
            options.protocols = assumed.into_iter().collect();
        }
        if protocol.is_none() {
            options.framing.get_or_insert(Framing::Http);
        }
    }
    if decode.is_none() || plan.is_empty() {
        options.want = Want::Head;
    }
    let started = started.and_then(|t| i64::try_from(t).ok());
    Ok(Faults::new(
        plan,
        options,
        started.unwrap_or_default(),
        inserts,
    ))
}
