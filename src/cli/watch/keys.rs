//! Keys and mouse: what they ask for.

use super::command::{Command, CopyForm, Overlay};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The effect of a key: a command, or a change of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKey {
    Char(char),
    Backspace,
    RemoveWord,
    Clear,
    Complete,
    Earlier,
    Accept,
    Cancel,
}

/// Returns true for the keys that stop the program, and those that suspend it.
pub(super) fn is_control(key: KeyEvent, c: char) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    control && key.code == KeyCode::Char(c) && key.kind != KeyEventKind::Release
}

/// Returns the command of a key; most keys have none.
pub(super) fn command(key: KeyEvent, overlay: Option<&Overlay>) -> Option<Command> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let c = match key.code {
        KeyCode::Down => return Some(Command::Move(1)),
        KeyCode::Up => return Some(Command::Move(-1)),
        KeyCode::Right => return Some(Command::Scroll { right: true }),
        KeyCode::Left => return Some(Command::Scroll { right: false }),
        KeyCode::PageDown => return Some(Command::Page(1)),
        KeyCode::PageUp => return Some(Command::Page(-1)),
        KeyCode::Home => return Some(Command::First),
        KeyCode::End => return Some(Command::Last),
        KeyCode::Tab => return Some(Command::NextPane),
        KeyCode::BackTab => return Some(Command::PreviousPane),
        KeyCode::Enter => return Some(Command::Open),
        KeyCode::Esc => return Some(Command::Back),
        KeyCode::Char(c) => c,
        _ => return None,
    };
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match c {
            'f' | 'd' => Some(Command::Page(1)),
            'b' | 'u' => Some(Command::Page(-1)),
            _ => None,
        };
    }
    if overlay == Some(&Overlay::Copy) {
        let form = match c {
            'h' => CopyForm::Hex,
            'j' => CopyForm::Json,
            's' => CopyForm::Send,
            'e' => CopyForm::Encode,
            _ => return Some(Command::Back),
        };
        return Some(Command::CopyAs(form));
    }
    Some(match c {
        'j' => Command::Move(1),
        'k' => Command::Move(-1),
        'g' => Command::First,
        'G' => Command::Last,
        'q' => Command::Quit,
        '?' => Command::Help,
        '/' => Command::Prompt,
        'n' => Command::Match { forward: true },
        'N' => Command::Match { forward: false },
        'f' => Command::Finding { forward: true },
        'F' => Command::Finding { forward: false },
        'r' => Command::OtherOfPair,
        'o' => Command::OpenOnly,
        'c' => Command::OneConnection,
        'i' => Command::OneOperation,
        'O' => Command::Operations,
        't' => Command::Delta,
        'E' => Command::Stderr,
        'W' => Command::Wrap,
        '=' => Command::Zoom,
        's' => Command::Stats,
        'd' => Command::Compare,
        'y' => Command::Copy,
        'w' => Command::Save,
        'e' => Command::Edit,
        ' ' => Command::Pause,
        'z' => Command::FoldPair,
        'Z' => Command::FoldConnection,
        _ => return None,
    })
}

/// Returns the change of the prompt that a key asks for.
pub(super) fn prompt_key(key: KeyEvent) -> Option<PromptKey> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Char('w') if control => Some(PromptKey::RemoveWord),
        KeyCode::Char('u') if control => Some(PromptKey::Clear),
        KeyCode::Char(c) if !control => Some(PromptKey::Char(c)),
        KeyCode::Backspace => Some(PromptKey::Backspace),
        KeyCode::Tab => Some(PromptKey::Complete),
        KeyCode::Up => Some(PromptKey::Earlier),
        KeyCode::Enter => Some(PromptKey::Accept),
        KeyCode::Esc => Some(PromptKey::Cancel),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn keys_ask_for_commands() {
        for (code, wanted) in [
            (KeyCode::Char('j'), Some(Command::Move(1))),
            (KeyCode::Up, Some(Command::Move(-1))),
            (KeyCode::PageDown, Some(Command::Page(1))),
            (KeyCode::Char('G'), Some(Command::Last)),
            (KeyCode::Char('W'), Some(Command::Wrap)),
            (KeyCode::Char('='), Some(Command::Zoom)),
            (KeyCode::Char('O'), Some(Command::Operations)),
            (KeyCode::Char('E'), Some(Command::Stderr)),
            (KeyCode::Char('i'), Some(Command::OneOperation)),
            (KeyCode::Right, Some(Command::Scroll { right: true })),
            (KeyCode::Esc, Some(Command::Back)),
            (KeyCode::Char('x'), None),
            (KeyCode::F(1), None),
        ] {
            assert_eq!(command(plain(code), None), wanted, "{code:?}");
        }
        let key = plain(KeyCode::Char('s'));
        let copy = Some(Command::CopyAs(CopyForm::Send));
        assert_eq!(command(key, Some(&Overlay::Copy)), copy);
        assert_eq!(command(key, Some(&Overlay::Help)), Some(Command::Stats));
    }

    #[test]
    fn letters_go_to_the_prompt_and_control_keys_edit_it() {
        let key = |c, modifiers| prompt_key(KeyEvent::new(KeyCode::Char(c), modifiers));
        assert_eq!(key('q', KeyModifiers::NONE), Some(PromptKey::Char('q')));
        assert_eq!(key('w', KeyModifiers::CONTROL), Some(PromptKey::RemoveWord));
        assert_eq!(key('x', KeyModifiers::CONTROL), None);
        assert!(is_control(
            KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
            'c'
        ));
    }
}
