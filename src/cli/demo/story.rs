//! Tells a session in six steps, from its recording.

use super::cases::Case;
use super::play::Played;
use crate::capture::{CaptureInput, Form};
use crate::conversation::{Output, RuleSettings, Run, Source, Verdict};
use crate::decoder::{DecodeOptions, Decoded};
use crate::protocol::registry;
use crate::render::style::Highlight;
use crate::render::wrap::write_wrapped;
use crate::render::{DisplayOptions, Format, Renderer, findings, operation};
use anyhow::{Context as _, Result};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// The maximum number of lines of a message whose fields are shown.
const MAX_FIELDS: usize = 12;
/// The maximum number of lines after the lost answer.
const MAX_LAST: usize = 5;

/// The steps of a session.
pub struct Story {
    steps: Vec<String>,
    display: DisplayOptions,
}

/// What a recording shows.
#[derive(Default)]
struct Shown {
    /// One for each message.
    lines: Vec<String>,
    trees: Vec<String>,
    /// The request whose answer was lost.
    asked: usize,
    waiting: String,
}

impl Story {
    /// Reads the recording of a session, which has this name in commands.
    pub fn read(case: &Case, played: &Played, name: &str, display: DisplayOptions) -> Result<Self> {
        let shown = Shown::read(case, played, display)?;
        let mut story = Self {
            steps: Vec::new(),
            display,
        };
        let (before, after) = shown.lines.split_at(shown.asked.min(shown.lines.len()));
        story.step("A client calls a server through a proxy. All three are wiretool.");
        for line in commands(case) {
            story.command(&line, "");
        }
        story.step("The proxy records what passes. One line is one message:");
        for line in before {
            story.add(line);
        }
        story.step("Then it loses an answer, as --fault says. The client waits, and gives up:");
        after.iter().take(MAX_LAST).for_each(|line| story.add(line));
        let hangs = played.client.lines().find(|line| line.contains("hangs"));
        story.note(&format!("  client: {}", hangs.unwrap_or_default()));
        story.step("What did it ask for? Each field, with its place in the stream:");
        let tree = shown
            .trees
            .get(shown.asked)
            .context("no request has lost its answer")?;
        let fields: String = tree.split_inclusive('\n').take(MAX_FIELDS).collect();
        let mut cut = String::new();
        operation::write_parts(fields.as_bytes(), display, &mut cut);
        story.add(&cut);
        story.step("Which side must send next, and why does nothing come? lint knows the rules:");
        story.add(&shown.waiting);
        story.step("Your turn. The recording stays:");
        let stub = format!(
            "wiretool stub {} --from-recording {name} --print-script",
            case.protocol
        );
        let decode = format!("wiretool decode --lint {name}");
        story.command(&decode, "all messages, with their times");
        story.command(&format!("wiretool lint {name}"), "step 5 once more");
        story.command(&stub, "");
        Ok(story)
    }

    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// Begins a step with its sentence.
    fn step(&mut self, sentence: &str) {
        let number = format!("{}/6 ", self.steps.len() + 1);
        let mut text = String::from(if self.steps.is_empty() { "" } else { "\n" });
        write_wrapped(self.display, 4, &mut text, |out| {
            self.display.style.push(out, Highlight::Dim, &number);
            self.display.style.push(out, Highlight::Kind, sentence);
        });
        self.steps.push(text);
    }

    /// Adds lines that were rendered.
    fn add(&mut self, lines: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.push_str(lines);
        }
    }

    fn note(&mut self, line: &str) {
        let mut text = String::new();
        self.display
            .style
            .push_wire(&mut text, Highlight::Note, line);
        self.add(&format!("{text}\n"));
    }

    /// Adds a command, and what it shows.
    fn command(&mut self, command: &str, about: &str) {
        let mut text = String::new();
        write_wrapped(self.display, 6, &mut text, |out| {
            self.display
                .style
                .push_wire(out, Highlight::Key, &format!("  {command:<32}"));
            if !about.is_empty() {
                self.display
                    .style
                    .push(out, Highlight::Dim, &format!("  {about}"));
            }
        });
        self.add(&text);
    }
}

/// Returns the commands that were run, without the paths of their files.
fn commands(case: &Case) -> Vec<String> {
    let (protocol, fault) = (case.protocol, case.fault());
    let client = format!("wiretool send {protocol} --file calls.txt");
    let proxy = format!("wiretool record -p {protocol} --fault '{fault}'");
    let server = format!("wiretool stub {protocol} --script server.toml");
    match case.scheme {
        None => vec![
            format!("{client} -- \\"),
            format!("  {proxy} -- \\"),
            format!("    {server}"),
        ],
        Some(_) => vec![
            format!("{server} --listen :0"),
            format!("{proxy} --connect SERVER --listen :0"),
            format!("{client} --connect PROXY"),
        ],
    }
}

impl Shown {
    fn read(case: &Case, played: &Played, display: DisplayOptions) -> Result<Self> {
        let bytes = std::fs::read(&played.recording).context("cannot read the recording")?;
        let protocol = registry::find(case.protocol).context("no such protocol")?;
        let source = Source {
            // They differ in each run.
            without_times: true,
            ..Source::default()
        };
        let input = Some(CaptureInput::new(Form::Recording));
        let options = DecodeOptions::new(vec![protocol]);
        let mut run = Run::of_source(source, input, options, Some(RuleSettings::default()));
        let (mut shown, mut renderer, mut held) =
            (Self::default(), Renderer::default(), Vec::new());
        renderer.hold();
        let ControlFlow::Continue(()) = run.read_all(&bytes, &mut |output: Output<'_>| {
            match output {
                Output::Message(decoded, verdict) => {
                    let verdict = verdict.unwrap_or_default().without_findings();
                    shown.message(decoded, verdict, display);
                    renderer.write(Format::Line, decoded, Some(verdict), display, &mut held);
                }
                Output::BeforeEnd(run) => shown.wait(run, display),
                _ => {}
            }
            ControlFlow::<Infallible>::Continue(())
        });
        let mut lines = Vec::new();
        renderer.lay_out(&held, display, &mut lines);
        let lines = String::from_utf8_lossy(&lines);
        shown.lines = lines.split_inclusive('\n').map(str::to_owned).collect();
        Ok(shown)
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, display: DisplayOptions) {
        let mut tree = Vec::new();
        Renderer::default().write(Format::Tree, decoded, Some(verdict), display, &mut tree);
        self.trees.push(String::from_utf8_lossy(&tree).into_owned());
        let lost = verdict.answer.filter(|_| decoded.injected.is_some());
        let asked = lost.and_then(|answer| usize::try_from(answer.to).ok());
        self.asked = asked.unwrap_or(self.asked);
    }

    fn wait(&mut self, run: &Run<'_>, display: DisplayOptions) {
        if let Some(conversation) = run.conversation() {
            let waiting = conversation.unanswered(true, 1);
            for one in &waiting.first {
                findings::write_waiting(
                    one,
                    None,
                    conversation.sides(),
                    display,
                    &mut self.waiting,
                );
            }
        }
    }
}
