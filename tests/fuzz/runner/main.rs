//! Runs every target with mutated inputs, in process. `--help` explains the flags.

mod execute;
mod mutate;
mod seeds;
mod shorten;

use execute::{Failure, execute};
use fastrand::Rng;
use mutate::Mutator;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use wiretool_fuzz::{Target, targets};

const HELP: &str = "\
Runs the targets of tests/fuzz with mutated fixtures. Exit code 1: a law is broken.

  --seconds N     time for all targets together (60)
  --target NAME   this target only; may be repeated
  --seed N        where random numbers begin (1)
  --threads N     (2)
  --out FOLDER    where failing inputs go (target/fuzz)
  --input FILE    runs one target once, with this input
  --write-seeds   only writes the seeds to tests/fuzz/corpus, for libFuzzer
  --save-each     writes each input to OUT/last-N before it runs, for failures that end the process
";

/// The largest number of inputs of a target that are mutated.
const MAX_CORPUS: usize = 4096;
/// An input that takes as long ends the process.
const HANGS: Duration = Duration::from_secs(30);

struct Settings {
    seconds: u64,
    names: Vec<String>,
    seed: u64,
    threads: usize,
    out: PathBuf,
    input: Option<PathBuf>,
    saves_each: bool,
    writes_seeds: bool,
}

/// The result of one target.
#[derive(Default)]
struct Tally {
    executions: u64,
    time: Duration,
    corpus: usize,
    /// The findings by their place in the code, with the number of inputs.
    findings: BTreeMap<String, u64>,
}

/// The input that a thread runs now.
#[derive(Default)]
struct Running {
    target: &'static str,
    since: Option<Instant>,
    input: Vec<u8>,
}

fn settings() -> Result<Settings, String> {
    let mut settings = Settings {
        seconds: 60,
        names: Vec::new(),
        seed: 1,
        threads: 2,
        out: Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz"),
        input: None,
        saves_each: false,
        writes_seeds: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: a value is missing"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match word.as_str() {
            "--seconds" => settings.seconds = number(value()?)?,
            "--target" => settings.names.push(value()?),
            "--seed" => settings.seed = number(value()?)?,
            "--threads" => settings.threads = number(value()?)?.clamp(1, 64) as usize,
            "--out" => settings.out = value()?.into(),
            "--input" => settings.input = Some(value()?.into()),
            "--write-seeds" => settings.writes_seeds = true,
            "--save-each" => settings.saves_each = true,
            "--help" | "-h" => {
                print!("{HELP}");
                std::process::exit(0);
            }
            _ => return Err(format!("{word} is no flag; --help lists them")),
        }
    }
    let known = |name: &String| targets().any(|target| target.name == name);
    if let Some(name) = settings.names.iter().find(|name| !known(name)) {
        let names: Vec<_> = targets().map(|target| target.name).collect();
        return Err(format!(
            "{name} is no target; there are {}",
            names.join(" ")
        ));
    }
    Ok(settings)
}

fn main() -> ExitCode {
    let run = settings().and_then(|settings| {
        std::fs::create_dir_all(&settings.out).map_err(|error| error.to_string())?;
        match &settings.input {
            Some(file) => run_once(&settings, file),
            None if settings.writes_seeds => write_seeds(&settings).map_err(|e| e.to_string()),
            None => Ok(run_all(&settings)),
        }
    });
    match run {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn chosen(settings: &Settings) -> Vec<&'static Target> {
    let is_chosen = |target: &&Target| {
        settings.names.is_empty() || settings.names.iter().any(|name| name == target.name)
    };
    targets().filter(is_chosen).collect()
}

fn write_seeds(settings: &Settings) -> std::io::Result<bool> {
    for target in chosen(settings) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (n, seed) in seeds::of(target).iter().enumerate() {
            std::fs::write(folder.join(n.to_string()), seed)?;
        }
    }
    Ok(true)
}

/// Runs one input; returns `true` if all laws hold.
fn run_once(settings: &Settings, file: &Path) -> Result<bool, String> {
    let input = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let [target] = chosen(settings)[..] else {
        return Err("--input needs one --target".into());
    };
    let failure = execute(target, &input).err();
    match &failure {
        Some(failure) => println!("{}\n{}", failure.place, failure.text),
        None => println!("all laws hold"),
    }
    Ok(failure.is_none())
}

/// Runs all chosen targets and prints a table; returns `true` if all laws hold.
fn run_all(settings: &Settings) -> bool {
    let chosen = chosen(settings);
    let share = settings.seconds as f64 * settings.threads as f64 / chosen.len() as f64;
    let share = Duration::from_secs_f64(share);
    let threads = settings.threads.min(chosen.len());
    let running: Vec<_> = (0..threads)
        .map(|_| Mutex::new(Running::default()))
        .collect();
    let waiting = Mutex::new(chosen.iter().rev().copied().collect::<Vec<_>>());
    let tallies = Mutex::new(BTreeMap::new());
    let (open, done) = (&waiting, &tallies);
    std::thread::scope(|scope| {
        let workers: Vec<_> = running
            .iter()
            .enumerate()
            .map(|(n, own)| {
                let work = move || {
                    // The lock is not held while the target runs.
                    let next = || lock(open).pop();
                    while let Some(target) = next() {
                        let tally = run_target(settings, target, share, own, n);
                        lock(done).insert(target.name, tally);
                    }
                };
                let thread = std::thread::Builder::new().stack_size(8 << 20);
                thread.spawn_scoped(scope, work).expect("a thread")
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            for own in &running {
                stop_if_hanging(settings, &lock(own));
            }
        }
    });
    let tallies = tallies.into_inner().expect("no panic");
    print_table(&tallies);
    tallies.values().all(|tally| tally.findings.is_empty())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no panic outside of targets")
}

/// A thread cannot be stopped, so the process ends.
fn stop_if_hanging(settings: &Settings, running: &Running) {
    if running.since.is_some_and(|since| since.elapsed() > HANGS) {
        let failure = Failure::new("does not end", format!("more than {HANGS:?}"));
        report(settings, running.target, &failure, &running.input);
        std::process::exit(1);
    }
}

/// Runs a target with its seeds, and then with mutated ones, until its time is over.
fn run_target(
    settings: &Settings,
    target: &'static Target,
    share: Duration,
    running: &Mutex<Running>,
    thread: usize,
) -> Tally {
    let mut corpus = seeds::of(target);
    let mut mutator = Mutator::new(Rng::with_seed(settings.seed), target, &corpus);
    let (started, mut tally, mut shapes) = (Instant::now(), Tally::default(), HashSet::new());
    let last = settings.out.join(format!("last-{thread}"));
    let mut seeds = 0..corpus.len();
    while started.elapsed() < share {
        let input = match seeds.next() {
            Some(n) => corpus[n].clone(),
            None => mutator.mutate(&corpus),
        };
        if settings.saves_each {
            std::fs::write(&last, &input).expect("the folder of findings");
        }
        {
            let mut running = lock(running);
            (running.target, running.since) = (target.name, Some(Instant::now()));
            running.input.clone_from(&input);
        }
        let outcome = execute(target, &input);
        lock(running).since = None;
        tally.executions += 1;
        match outcome {
            Ok(shape) => {
                let is_new = shape != 0 && shapes.insert(shape);
                if is_new && seeds.is_empty() && corpus.len() < MAX_CORPUS {
                    corpus.push(input);
                }
            }
            Err(failure) => {
                let count = tally.findings.entry(failure.place.clone()).or_default();
                *count += 1;
                if *count == 1 {
                    let short = shorten::shorten(target, &failure, &input);
                    report(settings, target.name, &failure, &short);
                }
            }
        }
    }
    (tally.time, tally.corpus) = (started.elapsed(), corpus.len());
    tally
}

/// Writes a failing input to a file, and prints how to run it again.
fn report(settings: &Settings, target: &str, failure: &Failure, input: &[u8]) {
    let name = failure
        .place
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let file = settings.out.join(format!("{target}-{name}"));
    let written = std::fs::write(&file, input);
    let text: String = failure.text.chars().take(1500).collect();
    println!("{target}: {}\n{text}", failure.place);
    match written {
        Ok(()) => println!(
            "{} bytes; again: cargo run --release --manifest-path tests/fuzz/Cargo.toml --no-default-features --bin run -- --target {target} --input {}\n",
            input.len(),
            file.display()
        ),
        Err(error) => println!("{}: {error}: {}\n", file.display(), input.escape_ascii()),
    }
}

fn print_table(tallies: &BTreeMap<&str, Tally>) {
    println!(
        "{:<12} {:>12} {:>10} {:>7} {:>8}",
        "target", "executions", "a second", "corpus", "findings"
    );
    let (mut executions, mut findings) = (0, 0);
    for (name, tally) in tallies {
        let rate = tally.executions as f64 / tally.time.as_secs_f64().max(0.001);
        let found = tally.findings.len();
        println!(
            "{name:<12} {:>12} {rate:>10.0} {:>7} {found:>8}",
            tally.executions, tally.corpus
        );
        executions += tally.executions;
        findings += found;
    }
    println!(
        "{:<12} {executions:>12} {:>10} {:>7} {findings:>8}",
        "all", "", ""
    );
}
