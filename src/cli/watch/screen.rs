//! The loop of the screen: keys and new messages change the model, the view draws it.

use super::command::{Command, Pane};
use super::condition::complete;
use super::copies;
use super::edit::Editing;
use super::keys::{self, PromptKey};
use super::model::Model;
use super::terminal::FullScreen;
use super::view::View;
use crate::cli::interrupt::Stop;
use crate::cli::output::as_file;
use crate::transport::now;
use anyhow::{Context as _, Result, anyhow};
use crossterm::event::{self, Event, KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;
use std::fs::File;
use std::io::IsTerminal as _;
use std::time::Duration;

/// The maximum time that a wait for a key delays new messages and signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The number of messages that a condition checks between two looks at the keys.
const WORK_STEP: usize = 1 << 6;
/// The time for conditions between two redraws, if no key is pressed, in nanoseconds.
const WORK_TIME: i128 = 30_000_000;
/// The number of lines of a turn of the mouse wheel.
const WHEEL_LINES: isize = 3;

/// Returns the terminal for the screen: stdout, or with a child, whose stdout may be forwarded, also `/dev/tty`.
pub(super) fn screen_file(has_child: bool) -> Result<File> {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    anyhow::ensure!(
        !is_dumb,
        "watch needs a terminal that can move its cursor, and TERM says otherwise; decode prints lines"
    );
    let stdout = std::io::stdout();
    if stdout.is_terminal() {
        return as_file(stdout).context("cannot use stdout");
    }
    anyhow::ensure!(
        has_child,
        "watch needs a terminal, and stdout is not one: decode writes to a pipe or a file"
    );
    let file = crate::system::open_terminal();
    file.context("watch needs a terminal: cannot open /dev/tty")
}

/// Shows the model until the user quits, or a signal comes.
pub(super) fn run_screen(
    screen: &mut FullScreen,
    view: &mut View,
    model: &mut Model,
    editing: &mut Option<Editing>,
    stop: &Stop,
) -> Result<()> {
    let mut shown = None;
    while !model.quits && stop.exit().is_none() {
        if screen.is_suspended() {
            screen.suspend()?;
            shown = None;
        }
        let is_busy = model.is_busy();
        let state = (model.content_state(), is_busy);
        // The first matches show while others are searched.
        if is_busy || shown.as_ref() != Some(&state) {
            screen.draw(|frame| view.draw(frame, model))?;
            shown = Some(state);
        }
        let mut wait = if is_busy {
            Duration::ZERO
        } else {
            POLL_INTERVAL
        };
        while screen.has_event(wait)? {
            let event = event::read().context("cannot read from the terminal")?;
            handle(&event, screen, view, model, editing)?;
            (wait, shown) = (Duration::ZERO, None);
        }
        work(model, screen)?;
    }
    Ok(())
}

/// Applies conditions until the next redraw or key.
fn work(model: &mut Model, screen: &FullScreen) -> Result<()> {
    let until = now() + WORK_TIME;
    loop {
        model.work(WORK_STEP);
        if !model.is_busy() || now() >= until || screen.has_event(Duration::ZERO)? {
            return Ok(());
        }
    }
}

fn handle(
    event: &Event,
    screen: &mut FullScreen,
    view: &View,
    model: &mut Model,
    editing: &mut Option<Editing>,
) -> Result<()> {
    match event {
        Event::Key(key) => handle_key(*key, screen, model, editing),
        Event::Mouse(mouse) => {
            if let Some(command) = mouse_command(*mouse, view) {
                model.apply(command);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn handle_key(
    key: KeyEvent,
    screen: &mut FullScreen,
    model: &mut Model,
    editing: &mut Option<Editing>,
) -> Result<()> {
    if keys::is_control(key, 'c') {
        model.quits = true;
        return Ok(());
    }
    if keys::is_control(key, 'z') {
        return screen.suspend();
    }
    if model.prompt.is_some() {
        if let Some(key) = keys::prompt_key(key) {
            change_prompt(key, model);
        }
        return Ok(());
    }
    let Some(command) = keys::command(key, model.overlay.as_ref()) else {
        return Ok(());
    };
    if model.apply(command) {
        return Ok(());
    }
    match command {
        Command::CopyAs(form) => {
            if let Some((text, what)) = copies::text_to_copy(model, form) {
                screen.copy(&text)?;
                let count = text.chars().count();
                model.answer = format!("copied {what}, {count} characters");
            }
        }
        Command::Save => {
            model.answer = match copies::save(model) {
                Ok(text) => text,
                Err(error) => format!("{error:#}"),
            };
        }
        Command::Edit => {
            let edited = match editing {
                Some(editing) => editing.edit(model, screen),
                None => Err(anyhow!("e sends only live traffic of watch --allow-edit")),
            };
            model.answer = edited.unwrap_or_else(|error| format!("{error:#}"));
        }
        _ => {}
    }
    Ok(())
}

fn change_prompt(key: PromptKey, model: &mut Model) {
    let Some(mut prompt) = model.prompt.take() else {
        return;
    };
    match key {
        PromptKey::Char(c) => prompt.push(c),
        PromptKey::Backspace => prompt.backspace(),
        PromptKey::RemoveWord => prompt.remove_word(),
        PromptKey::Clear => prompt.set(""),
        PromptKey::Earlier => prompt.set(&model.condition_text),
        PromptKey::Complete => {
            let shared = model.shared.clone();
            prompt.complete(|text| complete(text, &shared, &mut model.reader));
        }
        PromptKey::Cancel => return,
        PromptKey::Accept => match model.set_condition(&prompt.text) {
            Ok(()) => return,
            Err(error) => prompt.error = Some(error),
        },
    }
    model.prompt = Some(prompt);
}

fn mouse_command(mouse: MouseEvent, view: &View) -> Option<Command> {
    match mouse.kind {
        MouseEventKind::ScrollDown => Some(Command::Move(WHEEL_LINES)),
        MouseEventKind::ScrollUp => Some(Command::Move(-WHEEL_LINES)),
        MouseEventKind::Down(MouseButton::Left) => {
            let position = Position::new(mouse.column, mouse.row);
            Some(match view.pane_at(position)? {
                (Pane::Messages, line) => Command::Row(view.message_row(line)?),
                (Pane::Tree, line) => Command::Line(Pane::Tree, view.tree_line(line)),
                (pane, line) => Command::Line(pane, line),
            })
        }
        _ => None,
    }
}
