//! How frames that pass are shown, and where.

use super::{Format, Screen, WAITING};
use crate::cli::options::{self, Shared};
use crate::cli::output::stream;
use crate::conversation::tap::Shown;
use crate::protocol::Notes;
use crate::render::style::Tone;
use crate::render::{Look, findings, hex, json, live, tree};
use crate::transport::{Render, Sink, View};
use anyhow::{Context as _, Result};
use std::fs::File;
use std::os::fd::AsFd as _;

/// Where frames are shown, and how.
pub(super) fn view(screen: &Screen, shared: &Shared) -> Result<View> {
    use std::io::IsTerminal as _;
    let (file, name, look) = match screen.path.as_ref().filter(|_| screen.is_elsewhere()) {
        None => {
            let stdout = std::io::stdout().as_fd().try_clone_to_owned();
            (
                stdout.map(File::from),
                "stdout".to_owned(),
                options::look(shared),
            )
        }
        Some(path) if path.as_os_str() == "stderr" => {
            let stderr = std::io::stderr();
            let mut look = options::look_on(shared, stderr.is_terminal());
            look.width = None;
            let stderr = stderr.as_fd().try_clone_to_owned();
            (stderr.map(File::from), "stderr".to_owned(), look)
        }
        Some(path) => {
            let mut look = options::look_on(shared, false);
            look.width = None;
            let is_device = path.metadata().is_ok_and(|m| !m.is_file());
            let file = if is_device {
                stream(path)
            } else {
                File::create(path)
            };
            (file, path.display().to_string(), look)
        }
    };
    let file = file.with_context(|| format!("cannot write {name}"))?;
    let look = Look {
        show_secrets: screen.show_secrets,
        ..look
    };
    Ok(View {
        sink: Sink { file, name },
        render: render(screen.format, look),
    })
}

fn render(format: Option<Format>, look: Look) -> Render {
    let (mut notes, mut text) = (Notes::default(), String::new());
    Box::new(move |shown, out| {
        text.clear();
        let (decoded, verdict) = match shown {
            Shown::Frame(decoded, verdict) => (decoded, verdict),
            // JSON is a line a message.
            Shown::Finding(finding) if format != Some(Format::Json) => {
                findings::below(finding, None, look, &mut text);
                return out.extend_from_slice(text.as_bytes());
            }
            Shown::Waiting(waiting, sides, now) if format != Some(Format::Json) => {
                for one in waiting.iter().take(WAITING) {
                    findings::waiting(one, now, sides, look, &mut text);
                }
                if waiting.len() > WAITING {
                    text.push_str(&format!("  and {} more\n", waiting.len() - WAITING));
                }
                return out.extend_from_slice(text.as_bytes());
            }
            Shown::Follow(one) if format != Some(Format::Json) => {
                let line = findings::consequences(one);
                look.style.put(&mut text, Tone::Dim, &format!("{line}\n"));
                return out.extend_from_slice(text.as_bytes());
            }
            Shown::Finding(_) | Shown::Follow(_) | Shown::Waiting(..) | Shown::Remark(_) => return,
        };
        match format {
            None => {
                for finding in verdict.map_or(&[][..], |v| v.findings) {
                    findings::line(finding, decoded.protocol.name(), look, &mut text);
                }
            }
            Some(Format::Json) => json::write(decoded, verdict, look, out),
            Some(Format::Line) => live::line(decoded, verdict, look, &mut text),
            Some(Format::Tree) => tree::write(decoded, verdict, look, &mut notes, &mut text),
            Some(Format::Hex) => hex::write(decoded, verdict, look, &mut notes, &mut text),
        }
        out.extend_from_slice(text.as_bytes());
    })
}
