//! `wiretool telequick audio`: the sound of a call as a WAV file.
//!
//! ```text
//!   c2s  0 1 2 . 5 4          channel 1; a number that is missing is silence; a frame that comes late is in its place
//!   s2c      0 1 2 3          channel 2, as much later as its first frame was read
//! ```

use crate::cli::input::{self, Flow, InputState};
use crate::cli::interrupt::Stop;
use crate::cli::options::{self, SharedArgs};
use crate::cli::output::CommandOutput;
use crate::cli::{Exit, count_text, print_message};
use crate::conversation::{Output, Sink};
use crate::decoder::{DecodeOptions, Decoded, Origin};
use crate::encoding::Want;
use crate::protocol::{Direction, registry};
use crate::tape::Node;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool telequick audio call.jsonl -o call.wav            the only call
  wiretool telequick audio call.jsonl --call CA01 -o a.wav   one of several calls";

const EXIT_CODES: &str = "\
Exit codes:
  0  the file was written
  1  the capture has no audio of the call
  2  usage, or a file that cannot be read or written
  130, 143  interrupted, terminated; the file is unchanged";

/// Samples per second of PCMU and PCMA.
const RATE: u32 = 8000;
/// The longest silence for missing frames or for a pause, in seconds.
const MAX_SILENCE: usize = 60;
/// The longest channel, in seconds.
const MAX_LENGTH: usize = 6 * 3600;
/// A frame that is read this much later than the end of the sound before it comes after a pause, in seconds / 5.
const PAUSE: usize = 5;
/// The number of missing frames of a direction that can come late.
const MAX_GAPS: usize = 1 << 12;
/// The number of calls that are listed.
const MAX_CALLS: usize = 20;

/// Write the sound of a call as a WAV file: both directions as two channels, gaps as silence
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    input: options::InputArgs,
    /// The call, if there are several
    #[arg(long, value_name = "SID")]
    call: Option<String>,
    /// Samples per second of PCM16
    #[arg(long, value_name = "N", default_value_t = RATE, value_parser = clap::value_parser!(u32).range(1_000..=192_000))]
    rate: u32,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let mut options = DecodeOptions::new(registry::find("telequick").into_iter().collect());
    options.want = Want::Places;
    let mut run = InputState::new(shared, false, Some(Stop::on_signals()?));
    run.sources = input::merged_sources(&args.input)?;
    let mut output = CommandOutput::create(&args.output, &args.input.paths())?;
    let mut sound = Sound {
        wanted: args.call.clone(),
        rate: args.rate,
        calls: BTreeSet::new(),
        call: String::new(),
        channels: [None, None],
        left_out: 0,
    };
    input::read(&args.input, &options, &mut run, &mut sound)?;
    if let Some(exit) = run.cut_short() {
        output.finish_incomplete()?;
        return Ok(exit);
    }
    if args.call.is_none() && sound.calls.len() > 1 {
        let calls = sound.calls.into_iter().take(MAX_CALLS);
        bail!(
            "there are several calls: choose one with --call: {}",
            calls.collect::<Vec<_>>().join(", ")
        );
    }
    if sound.channels.iter().all(Option::is_none) {
        let call = args
            .call
            .as_deref()
            .map(|call| format!(" of the call {call}"));
        print_message(&format!("there is no audio{}", call.unwrap_or_default()));
        return Ok(Exit::Negative);
    }
    let notes = sound.notes();
    sound.write(output.buffer());
    output.finish()?;
    for note in notes {
        shared.note(&note);
    }
    Ok(Exit::Clean)
}

/// Collects the sound of a call.
struct Sound {
    /// The call that is asked for.
    wanted: Option<String>,
    /// Samples per second of PCM16.
    rate: u32,
    /// The calls with audio.
    calls: BTreeSet<String>,
    /// The call that is written.
    call: String,
    /// The directions.
    channels: [Option<AudioChannel>; 2],
    /// The number of frames that are left out.
    left_out: u64,
}

/// The sound of a direction.
struct AudioChannel {
    /// The connection and the stream of its first frame. Others carry copies.
    origin: Origin,
    samples: Vec<i16>,
    rate: u32,
    codec: String,
    /// The number of the next frame.
    next: u64,
    /// Samples of the last frame.
    usual: usize,
    /// The number of missing frames.
    missing: u64,
    /// The places of missing frames.
    gaps: BTreeMap<u64, usize>,
}

impl Sink for Sound {
    type Break = Result<()>;

    fn take(&mut self, output: Output<'_>) -> Flow {
        if let Output::Message(decoded, _) = output
            && decoded.message.kind == "AudioFrame"
            && self.frame(decoded).is_none()
        {
            self.left_out += 1;
        }
        Flow::Continue(())
    }
}

impl Sound {
    /// Adds a frame; `None` if it is left out.
    fn frame(&mut self, decoded: &Decoded<'_>) -> Option<()> {
        let fields = decoded.root()?.get("fields")?;
        let sid = fields.get("call_sid")?.text()?.into_owned();
        let is_wanted = match &self.wanted {
            Some(wanted) => *wanted == sid,
            None => self.call.is_empty() || self.call == sid,
        };
        if self.calls.len() <= MAX_CALLS {
            self.calls.insert(sid.clone());
        }
        if !is_wanted {
            return Some(());
        }
        self.call = sid;
        let codec = fields.get("codec")?.text()?.into_owned();
        let payload = fields.get("payload").and_then(Node::raw_content)?;
        let number = fields.get("sequence_number")?.as_i128()?;
        let number = u64::try_from(number).ok()?;
        let rate = if codec == "PCM16" { self.rate } else { RATE };
        let origin = decoded.origin;
        let side = usize::from(origin.direction == Some(Direction::ToClient));
        let channel = self.channels.get_mut(side)?;
        let channel = channel.get_or_insert_with(|| AudioChannel {
            origin,
            samples: Vec::new(),
            rate,
            codec: codec.clone(),
            next: number,
            usual: 0,
            missing: 0,
            gaps: BTreeMap::new(),
        });
        let is_same =
            channel.origin.conn_stream() == origin.conn_stream() && channel.codec == codec;
        if !is_same {
            return None;
        }
        if number < channel.next {
            return channel.add_late(number, payload);
        }
        channel.add(number, payload, origin.time)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for channel in self.channels.iter().flatten() {
            let side = channel.origin.direction.map_or("unknown", Direction::name);
            let seconds = channel.samples.len() / channel.rate as usize;
            let mut text = format!("{side}: {seconds} s of {}", channel.codec);
            if channel.missing > 0 {
                let missing = count_text(channel.missing, "frame is", "frames are");
                text.push_str(&format!(", {missing} missing"));
            }
            notes.push(text);
        }
        if self.left_out > 0 {
            let frames = count_text(self.left_out, "frame is", "frames are");
            notes.push(format!(
                "{frames} left out: they repeat numbers, change the codec, or are of another stream"
            ));
        }
        notes
    }

    /// Writes the file: RIFF with PCM of 16 bits.
    fn write(self, out: &mut Vec<u8>) {
        let mut channels: Vec<AudioChannel> = self.channels.into_iter().flatten().collect();
        let rate = channels.iter().map(|channel| channel.rate).max();
        let rate = rate.unwrap_or(RATE);
        let first = channels.iter().filter_map(|one| one.origin.time).min();
        for channel in &mut channels {
            channel.scale(rate);
            let late = channel.origin.time.zip(first);
            let late = late.map_or(0, |(time, first)| {
                samples_in(time.saturating_sub(first), rate)
            });
            let late = late.min(MAX_LENGTH * rate as usize);
            channel.samples.splice(0..0, std::iter::repeat_n(0, late));
        }
        let len = channels.iter().map(|channel| channel.samples.len()).max();
        let len = len.unwrap_or_default();
        let count = channels.len() as u32;
        let bytes = (len as u32).saturating_mul(count * 2);
        out.extend_from_slice(b"RIFF");
        out.extend_from_slice(&bytes.saturating_add(36).to_le_bytes());
        out.extend_from_slice(b"WAVEfmt ");
        for number in [
            16,
            1 | (count << 16),
            rate,
            rate * count * 2,
            (count * 2) | (16 << 16),
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(b"data");
        out.extend_from_slice(&bytes.to_le_bytes());
        for at in 0..len {
            for channel in &channels {
                let sample = channel.samples.get(at).copied().unwrap_or_default();
                out.extend_from_slice(&sample.to_le_bytes());
            }
        }
    }
}

impl AudioChannel {
    /// Adds a frame after what is missing before it; `None` if the channel is full.
    fn add(&mut self, number: u64, payload: &[u8], time: Option<i64>) -> Option<()> {
        let rate = self.rate as usize;
        if self.samples.len() > MAX_LENGTH * rate {
            return None;
        }
        let lost = number - self.next;
        self.missing += lost;
        self.next = number.saturating_add(1);
        let space = MAX_GAPS.saturating_sub(self.gaps.len());
        let places = (number - lost..number).zip((self.samples.len()..).step_by(self.usual.max(1)));
        self.gaps.extend(places.take(space));
        // The number is of the wire: the silence has a limit.
        let lost = usize::try_from(lost).unwrap_or(usize::MAX);
        self.silence(lost.saturating_mul(self.usual));
        let since = time.zip(self.origin.time);
        let due = since.map_or(0, |(time, first)| {
            samples_in(time.saturating_sub(first), self.rate)
        });
        if due > self.samples.len() + rate / PAUSE {
            self.silence(due - self.samples.len());
        }
        let samples = samples_of(&self.codec, payload);
        self.usual = samples.len().max(self.usual);
        self.samples.extend(samples);
        Some(())
    }

    /// Puts a frame that comes late in its place; `None` if it was not missing.
    fn add_late(&mut self, number: u64, payload: &[u8]) -> Option<()> {
        let place = self.gaps.remove(&number)?;
        let samples = samples_of(&self.codec, payload);
        let silence = self.samples.iter_mut().skip(place).take(self.usual);
        silence.zip(samples).for_each(|(own, sample)| *own = sample);
        self.missing = self.missing.saturating_sub(1);
        Some(())
    }

    fn silence(&mut self, samples: usize) {
        let samples = samples.min(MAX_SILENCE * self.rate as usize);
        self.samples.extend(std::iter::repeat_n(0, samples));
    }

    /// Repeats samples for a higher rate: a player needs one rate for both channels.
    fn scale(&mut self, rate: u32) {
        if rate == self.rate {
            return;
        }
        let len = self.samples.len() as u64 * u64::from(rate) / u64::from(self.rate);
        let source = |at: u64| usize::try_from(at * u64::from(self.rate) / u64::from(rate)).ok();
        let scaled = (0..len).map(|at| source(at).and_then(|at| self.samples.get(at).copied()));
        self.samples = scaled.map(Option::unwrap_or_default).collect();
        self.rate = rate;
    }
}

fn samples_of(codec: &str, payload: &[u8]) -> Vec<i16> {
    let pair = |pair: &[u8]| Some(i16::from_le_bytes(pair.try_into().ok()?));
    match codec {
        "PCMU" => payload.iter().map(|byte| of_mu_law(*byte)).collect(),
        "PCMA" => payload.iter().map(|byte| of_a_law(*byte)).collect(),
        _ => payload.chunks_exact(2).filter_map(pair).collect(),
    }
}

/// Returns the number of samples in a time in nanoseconds.
fn samples_in(ns: i64, rate: u32) -> usize {
    let samples = i128::from(ns.max(0)) * i128::from(rate) / 1_000_000_000;
    usize::try_from(samples).unwrap_or(usize::MAX)
}

/// Returns a sample of PCMU (ITU-T G.711).
fn of_mu_law(byte: u8) -> i16 {
    let byte = !byte;
    let (exponent, mantissa) = (byte >> 4 & 7, i16::from(byte & 15));
    let size = (((mantissa << 3) + 132) << exponent) - 132;
    if byte & 0x80 != 0 { -size } else { size }
}

/// Returns a sample of PCMA (ITU-T G.711).
fn of_a_law(byte: u8) -> i16 {
    let byte = byte ^ 0x55;
    let (exponent, mantissa) = (byte >> 4 & 7, i16::from(byte & 15));
    let size = match exponent {
        0 => (mantissa << 4) + 8,
        exponent => ((mantissa << 4) + 264) << (exponent - 1),
    };
    if byte & 0x80 != 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_of_g711_give_the_samples_of_its_tables() {
        for (byte, mu, a) in [
            (0x00, -32124, -5504),
            (0x2a, -5372, -32256),
            (0x55, -716, -8),
            (0x7f, 0, -848),
            (0x80, 32124, 5504),
            (0xaa, 5372, 32256),
            (0xd5, 716, 8),
            (0xff, 0, 848),
        ] {
            assert_eq!((of_mu_law(byte), of_a_law(byte)), (mu, a), "{byte:#x}");
        }
    }
}
