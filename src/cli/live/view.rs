//! Shows the messages of live traffic.

use super::LiveScreen;
use crate::capture::{Event, EventKind};
use crate::cli::operation_lines::OperationLines;
use crate::cli::options::{self, SharedArgs};
use crate::cli::output::{as_file, open_stream};
use crate::cli::report::FilePlace;
use crate::conversation::{Conversation, Finding, Output};
use crate::render::findings::MAX_WAITING;
use crate::render::style::Highlight;
use crate::render::{DisplayOptions, Format, Renderer, findings, line};
use crate::transport::{RecorderScreen, RecordingFile, Render};
use anyhow::{Context as _, Result};
use std::fs::File;

/// Opens the output for messages and creates the renderer.
pub(super) fn open_view(screen: &LiveScreen, shared: &SharedArgs) -> Result<RecorderScreen> {
    use std::io::IsTerminal as _;
    let path = screen.path.as_ref().filter(|_| screen.leaves_stdout_free());
    let (file, name, mut display) = match path {
        None => (
            as_file(std::io::stdout()),
            "stdout".to_owned(),
            options::display_of_stdout(shared),
        ),
        Some(path) if path.as_os_str() == "stderr" => {
            let stderr = std::io::stderr();
            let display = options::display_options(shared, stderr.is_terminal());
            (as_file(stderr), "stderr".to_owned(), display)
        }
        Some(path) => {
            let is_device = path.metadata().is_ok_and(|m| !m.is_file());
            let file = if is_device {
                open_stream(path)
            } else {
                File::create(path)
            };
            // Without a terminal there is no width.
            let display = options::display_options(shared, false);
            (file, path.display().to_string(), display)
        }
    };
    let file = file.with_context(|| format!("cannot write {name}"))?;
    display.show_secrets = screen.show_secrets;
    Ok(RecorderScreen {
        sink: RecordingFile { file, name },
        render: match screen.format.filter(|_| screen.ops) {
            Some(format) => render_operations(format, display),
            None => render(screen.format, display),
        },
    })
}

/// Opens stderr for findings alone, which follow the messages: they are written at the end, or if they are many.
pub(super) fn open_findings(show_secrets: bool, shared: &SharedArgs) -> Result<RecorderScreen> {
    const MAX_HELD: usize = 64 << 10;
    let screen = LiveScreen {
        path: Some("stderr".into()),
        format: None,
        ops: false,
        show_secrets,
    };
    let RecorderScreen { sink, mut render } = open_view(&screen, shared)?;
    let mut held = Vec::new();
    let render: Render = Box::new(move |output, out| {
        let is_end = matches!(output, Output::End(..));
        render(output, &mut held);
        if is_end || held.len() > MAX_HELD {
            out.append(&mut held);
        }
    });
    Ok(RecorderScreen { sink, render })
}

fn render(format: Option<Format>, display: DisplayOptions) -> Render {
    let (mut renderer, mut text, mut now) = (Renderer::default(), String::new(), None);
    let shows_events = matches!(format, Some(Format::Line | Format::Tree));
    Box::new(move |output, out| {
        text.clear();
        match output {
            Output::Message(decoded, verdict) => match format {
                Some(format) => renderer.write(format, decoded, verdict, display, out),
                None => {
                    for finding in output.findings() {
                        let at = FilePlace::of(decoded.protocol.name());
                        let at = at.text(finding.place.offset);
                        findings::write_line(finding, &[], &at, display, &mut text);
                    }
                }
            },
            // The JSON output has one line per message.
            _ if format == Some(Format::Json) => {}
            Output::Event(event, verdict) => {
                now = event.origin().time.or(now);
                let opens = event.what == EventKind::Open;
                if shows_events && opens {
                    write_event(event, display, &mut text);
                }
                write_findings(verdict.findings, display, &mut text);
                if shows_events && !opens {
                    write_event(event, display, &mut text);
                }
            }
            Output::BeforeEnd(run) => {
                if let Some(conversation) = run.conversation() {
                    write_waiting(conversation, now, display, &mut text);
                }
            }
            Output::End(run, found) => {
                write_findings(found, display, &mut text);
                let all = run.conversation().into_iter();
                for one in all.flat_map(Conversation::consequences) {
                    let line = format!("{}\n", findings::consequences(one));
                    display.style.push(&mut text, Highlight::Dim, &line);
                }
            }
            _ => {}
        }
        out.extend_from_slice(text.as_bytes());
    })
}

/// Returns what shows operations when they end, and findings below them.
fn render_operations(format: Format, display: DisplayOptions) -> Render {
    let (mut operations, mut text) = (OperationLines::new(format, false), String::new());
    Box::new(move |output, out| {
        let (ended, found) = match output {
            Output::Message(_, verdict) => {
                operations.select(verdict);
                (
                    verdict.map_or(&[][..], |verdict| verdict.ended),
                    output.findings(),
                )
            }
            Output::Event(_, verdict) => (verdict.ended, verdict.findings),
            Output::End(run, found) => {
                let conversation = run.conversation();
                (
                    conversation.map_or(&[][..], Conversation::ended_operations),
                    found,
                )
            }
            _ => return,
        };
        for line in operations.end(ended, display) {
            out.extend_from_slice(&line);
        }
        if format != Format::Json {
            text.clear();
            write_findings(found, display, &mut text);
            out.extend_from_slice(text.as_bytes());
        }
    })
}

fn write_findings(found: &[Finding], display: DisplayOptions, out: &mut String) {
    for finding in found {
        findings::write_below(finding, None, display, out);
    }
}

/// Writes the messages that are awaited at the end.
fn write_waiting(
    conversation: &Conversation<'_>,
    now: Option<i64>,
    display: DisplayOptions,
    out: &mut String,
) {
    let (waiting, sides) = (
        conversation.unanswered(true, MAX_WAITING),
        conversation.sides(),
    );
    for one in &waiting.first {
        findings::write_waiting(one, now, sides, display, out);
    }
    if waiting.count > MAX_WAITING {
        out.push_str(&format!("  and {} more\n", waiting.count - MAX_WAITING));
    }
}

/// Writes a connection that opened or closed: `10:00:00.120 c1 opened`.
fn write_event(event: &Event<'_>, display: DisplayOptions, out: &mut String) {
    let what = match event.what {
        // One stream of a connection.
        _ if event.stream.is_some() => return,
        EventKind::Open => "opened",
        EventKind::Close => "closed",
        EventKind::Reset => "reset",
        EventKind::Exit => "the child ended",
        _ => return,
    };
    let time = event.origin().time.map_or(String::new(), line::clock);
    let mut text = format!("{time} c{} {what}", event.conn);
    for name in [
        "peer",
        "pid",
        "code",
        "signal",
        "reason",
        "error",
        "forwarded",
    ] {
        if let Some(value) = event.more.and_then(|more| more.get(name)) {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!(", {name} {value}"));
        }
    }
    display.style.push_wire(out, Highlight::Dim, &text);
    out.push('\n');
}
