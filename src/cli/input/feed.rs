//! Reports how an input is read, and passes what it holds to the sink of the command.

use super::plausibility::FlagPlausibility;
use super::{Flow, InputState, Screen};
use crate::capture::lookalike::looks_like;
use crate::capture::{CaptureInput, Event, EventKind, Form, Item, Problem, ProblemSeverity};
use crate::cli::count_text;
use crate::conversation::{Finding, Output, RuleSettings, Run, Sink};
use crate::decoder::{DecodeOptions, Decoder, Origin};
use crate::encoding::Want;
use crate::render::style::escape;
use anyhow::{Result, anyhow};
use std::ops::ControlFlow;

const START: &str = "no protocol recognises these bytes";
const DRAFT: &str = "; wiretool protocol draft FILE proposes a description of an unknown protocol (wiretool help describe)";

/// Stands between a run and the sink of a command.
#[allow(clippy::struct_excessive_bools)] // each is a property of its own
pub(super) struct Feed<'f, 'p, 's> {
    pub state: &'f mut InputState,
    screen: &'f mut Screen<'s>,
    /// One for each pair of files, or one.
    plausibilities: Vec<FlagPlausibility<'p>>,
    /// The user gave the direction of bytes.
    has_direction: bool,
    /// The input held bytes of traffic.
    has_bytes: bool,
    /// Reading stopped before the end of the input.
    pub is_cut: bool,
    /// An error says why there are no bytes.
    is_faulty: bool,
    /// Why nothing can be decoded.
    unreadable: Option<String>,
    name: String,
}

impl<'f, 'p, 's> Feed<'f, 'p, 's> {
    /// Creates it for an input of so many connections.
    pub fn new(
        options: &DecodeOptions<'p>,
        connections: usize,
        has_direction: bool,
        state: &'f mut InputState,
        screen: &'f mut Screen<'s>,
    ) -> Self {
        let plausibilities = (0..connections).map(|_| FlagPlausibility::new(options));
        Self {
            state,
            screen,
            plausibilities: plausibilities.collect(),
            has_direction,
            has_bytes: false,
            is_cut: false,
            is_faulty: false,
            unreadable: None,
            name: String::new(),
        }
    }

    fn plausibility(&mut self, origin: Origin) -> Option<&mut FlagPlausibility<'p>> {
        let pair = match self.plausibilities.len() {
            1 => 0,
            _ => origin.conn.unwrap_or_default() as usize,
        };
        self.plausibilities.get_mut(pair)
    }

    fn problem(&mut self, problem: &Problem) {
        if problem.severity == ProblemSeverity::Unreadable {
            self.unreadable = Some(problem.to_string());
            return;
        }
        self.is_faulty |= problem.severity == ProblemSeverity::Error;
        self.state.report(&self.name, problem);
    }

    /// Reports the addresses of a connection, and why one ended before its first byte.
    fn event(&mut self, event: &Event<'_>) {
        self.has_bytes |= matches!(event.what, EventKind::Datagram(_));
        let error = event.more.and_then(|more| more.get("error")?.as_str());
        if let (EventKind::Close, Some(error), false) = (event.what, error, self.has_bytes) {
            let text = format!("c{} ended before its first byte: {error}", event.conn);
            self.state.problem(&self.name, &text);
            self.is_faulty = true;
        }
        let address = |key| event.more.and_then(|more| more.get(key)?.as_str());
        if let (EventKind::Open, Some(client), Some(server)) =
            (event.what, address("peer"), address("server"))
        {
            let text = format!("c{}: {client} -> {server}", event.conn);
            self.state.detail(&self.name, &text);
        }
    }

    /// Reports how the input was read, before the sink takes its end.
    fn end(&mut self, run: &Run<'_>, findings: &[Finding]) -> Result<()> {
        let (name, decoder) = (&self.name, run.decoder());
        if let Some(text) = &self.unreadable {
            return Err(anyhow!("{name}: {text}"));
        }
        let mut all = self.plausibilities.iter();
        let advice = |one: &FlagPlausibility<'_>| {
            one.detected_protocol(decoder)
                .or_else(|| one.other_framing(decoder))
        };
        if let Some(text) = all.find_map(advice) {
            self.state.note(name, &text);
        }
        self.report_direction(run);
        if let Some(input) = run.input() {
            report_unrecognised(&self.name, decoder, self.state);
            if !self.has_bytes && !self.is_cut && !self.is_faulty && input.form() == Form::Recording
            {
                let text = "the recording has no traffic";
                self.state.problem(&self.name, text);
            }
            self.report_form(input);
        }
        self.state.bytes += run.bytes();
        report_detection(&self.name, decoder, self.state);
        let is_explained = (self.state.findings_explain && !findings.is_empty())
            || (self.is_faulty && decoder.undetected() == 0);
        if run.is_unrecognised() && !is_explained {
            self.state.problem(&self.name, &no_protocol(decoder));
        }
        Ok(())
    }

    fn report_direction(&mut self, run: &Run<'_>) {
        let pairs = &run.source().pairs;
        // The user did not give the directions of a recording.
        if pairs.is_empty() && !self.has_direction {
            return;
        }
        for (n, one) in self.plausibilities.iter().enumerate() {
            if !one.is_direction_reversed() {
                continue;
            }
            let text = match pairs.get(n) {
                Some([c2s, s2c]) => {
                    format!("the two files seem to be swapped: use --c2s {s2c} --s2c {c2s}")
                }
                None => "--dir seems to be the wrong direction".to_owned(),
            };
            self.state.note(&self.name, &text);
        }
    }

    /// Reports the form of the input, flags that do not apply to it, and lines without bytes.
    fn report_form(&mut self, input: &CaptureInput) {
        let form = input.form().name();
        if self.has_bytes && !input.unused_ports().is_empty() {
            let text = "--port is ignored: it selects connections of packet captures, --where conn=N those of others";
            self.state.note(&self.name, text);
        }
        if !input.evidence().is_empty() {
            let text = format!("read as {form}: {}", input.evidence());
            self.state.detail(&self.name, &text);
        }
        if input.ignored_lines() > 0 {
            let lines = count_text(input.ignored_lines(), "line", "lines");
            let text = format!("{lines} without bytes in the form {form}");
            if self.has_bytes || self.is_cut {
                self.state.detail(&self.name, &text);
            } else {
                self.state.problem(&self.name, &text);
            }
        }
    }
}

impl Sink for Feed<'_, '_, '_> {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        self.screen.want()
    }

    fn rules(&self) -> Option<RuleSettings> {
        self.screen.rules()
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        match &output {
            Output::Begin(run) => self.name.clone_from(&run.source().name),
            Output::Item(Item::Chunk(chunk), origin) => {
                self.has_bytes |= !chunk.bytes.is_empty();
                if let Some(plausibility) = self.plausibility(*origin) {
                    plausibility.push(*origin, chunk.bytes);
                }
            }
            Output::Item(Item::Problem(problem), _) => self.problem(problem),
            Output::Message(decoded, _) => {
                self.state.messages += 1;
                if let Some(plausibility) = self.plausibility(decoded.origin) {
                    plausibility.count(decoded);
                }
            }
            Output::Event(event, _) => self.event(event),
            Output::Note(text) => self.state.note(&self.name, text),
            Output::End(run, findings) => {
                if let Err(error) = self.end(run, findings) {
                    return ControlFlow::Break(Err(error));
                }
            }
            Output::Item(..) | Output::Pause(..) | Output::BeforeEnd(_) => {}
        }
        self.screen.take(output)
    }
}

/// Returns the note about an input that no protocol recognizes.
fn no_protocol(decoder: &Decoder<'_>) -> String {
    if decoder.undetected() == 0 {
        return "the input has no bytes to decode".to_owned();
    }
    if let Some(name) = decoder.unknown_protocol() {
        let name = escape(name);
        return format!(
            "it is a recording of {name}, which is not known here: name its description with -p FILE.toml, or with protocols = [\"FILE.toml\"] in wiretool.toml"
        );
    }
    if let Some(what) = decoder.resembles() {
        return format!("this is {what}, which no protocol here reads");
    }
    if let (Some(given), Some(guess)) = (decoder.options().framing, decoder.readable_as()) {
        return format!(
            "{START} as {}: they are {} with --framing {}",
            given.name(),
            guess.protocol,
            guess.framing.name()
        );
    }
    match looks_like(decoder.start_of_undetected()) {
        Some((what, how)) => {
            let draft = if what.contains("JSON") { DRAFT } else { "" };
            format!("{START}, which look like {what}: {how}{draft}")
        }
        None => format!("{START}: name it with -p, and the framing with --framing{DRAFT}"),
    }
}

/// Reports the evidence for the protocol, and the second candidate.
fn report_detection(source: &str, decoder: &Decoder<'_>, state: &mut InputState) {
    let Some(guess) = decoder.guess() else {
        return;
    };
    let (protocol, framing) = (&guess.protocol, guess.framing.name());
    if guess.tie {
        let other = guess.runner_up.as_deref().unwrap_or("another protocol");
        let text = format!("read as {protocol}, but it can also be {other}: name it with -p");
        state.note(source, &text);
    }
    let next = guess.runner_up.as_ref();
    let next = next.map(|r| format!("; next would be {r}"));
    let text = format!(
        "{protocol} ({framing}): {}{}",
        guess.evidence,
        next.unwrap_or_default()
    );
    state.detail(source, &text);
}

/// Reports the connections whose bytes no protocol recognises, beside others that are decoded.
fn report_unrecognised(source: &str, decoder: &Decoder<'_>, state: &mut InputState) {
    /// The maximum number of connections that are listed.
    const MAX_LISTED: usize = 8;
    let all = decoder.unrecognised_connections();
    if all.is_empty() || decoder.protocol().is_none() {
        return;
    }
    let listed: Vec<String> = all
        .iter()
        .take(MAX_LISTED)
        .map(|conn| format!("c{conn}"))
        .collect();
    let more = if all.len() > MAX_LISTED { ", …" } else { "" };
    let count = match all.len() {
        1 => "1 connection has".to_owned(),
        n => format!("{n} connections have"),
    };
    let text = format!(
        "{count} bytes that no protocol recognises ({}{more}): name it with -p, and choose with --port",
        listed.join(", ")
    );
    state.note(source, &text);
}
