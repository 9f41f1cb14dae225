//! Tests: valid faults, and errors of invalid ones.

use super::*;

#[test]
fn faults_are_parsed() {
    for (text, condition, frequency, action) in [
        ("kind=call: drop", "kind=call", (None, None), Action::Drop),
        (": dup", "", (None, None), Action::Dup),
        ("*: stall", "", (None, None), Action::Stall),
        (": close 7", "", (None, None), Action::Close(Some(7))),
        (": reset 0x10c", "", (None, None), Action::Reset(Some(268))),
        ("nth 3: close", "", (Some(3), None), Action::Close(None)),
        (
            "kind=call:reset",
            "kind=call",
            (None, None),
            Action::Reset(None),
        ),
        (
            "kind=call nth 2: delay 1.5ms",
            "kind=call",
            (Some(2), None),
            Action::Delay(1_500_000),
        ),
        (
            "subject=a:b every 4 : truncate 1K",
            "subject=a:b",
            (None, Some(4)),
            Action::Truncate(1024),
        ),
        (
            "subject=\"x: drop\": length -4",
            "subject=\"x: drop\"",
            (None, None),
            Action::Length(-4),
        ),
        (
            "subject~/a: drop/ fault: length +0x10",
            "subject~/a: drop/ fault",
            (None, None),
            Action::Length(16),
        ),
        (
            ".a.b=1: corrupt byte",
            ".a.b=1",
            (None, None),
            Action::Corrupt(CorruptSpot::Byte),
        ),
        (
            "role=request: corrupt .params[0]",
            "role=request",
            (None, None),
            Action::Corrupt(CorruptSpot::At("params[0]".parse().unwrap())),
        ),
        (
            "*: corrupt [1]",
            "",
            (None, None),
            Action::Corrupt(CorruptSpot::At("[1]".parse().unwrap())),
        ),
    ] {
        let fault: InjectedFault = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let want = match condition {
            "" => Expr::All(Vec::new()),
            text => text.parse().unwrap(),
        };
        assert_eq!(fault.condition, want, "{text}");
        assert_eq!(
            (fault.frequency.nth, fault.frequency.every),
            frequency,
            "{text}"
        );
        assert_eq!(fault.action, action, "{text}");
        assert_eq!(fault.to_string(), text.trim());
    }
    let half: InjectedFault = "every 2 chance 50%: drop".parse().unwrap();
    let frequency = Frequency {
        every: Some(2),
        chance: Some(0.5),
        nth: None,
    };
    assert_eq!(half.frequency, frequency);
    let apart = InjectedFault::of("kind=call", frequency, "delay 2s").unwrap();
    assert_eq!(apart.to_string(), "kind=call every 2 chance 0.5: delay 2s");
}

#[test]
fn invalid_faults_are_reported_with_position() {
    let mut reported = String::new();
    for text in [
        "kind=call drop",
        "kind=call: drpo",
        "knd=call: drop",
        "kind=call nth 0: drop",
        "kind=call chance 2: drop",
        "nth 1 nth 2: drop",
        "nth kind=call: drop",
        "kind=call: delay soon",
        "kind=call: delay",
        "kind=call: drop it",
        "kind=call: corrupt bite",
        "kind=call: corrupt .a[",
        "kind=call: length 4",
        "kind=call: reset now",
        "kind=call: inject",
        "kind=call:",
    ] {
        let error = text.parse::<InjectedFault>().unwrap_err();
        reported += &format!("{error}\n");
    }
    insta::assert_snapshot!(reported, @r#"
    wanted a colon and an action, got the end
      kind=call drop
                    ^ actions are delay drop dup corrupt truncate length close reset stall inject
    wanted an action, got drpo
      kind=call: drpo
                 ^^^^ did you mean drop?
    wanted a key, got knd
      knd=call: drop
      ^^^ did you mean kind?
    wanted a whole number, from 1 on, got 0
      kind=call nth 0: drop
                    ^
    wanted a chance from 0 to 1, or 0% to 100%, got 2
      kind=call chance 2: drop
                       ^
    wanted nth once, got nth
      nth 1 nth 2: drop
      ^^^
    wanted a whole number, from 1 on, got kind=call
      nth kind=call: drop
          ^^^^^^^^^
    wanted a time, such as 10ms, 2s or 1.5us, got soon
      kind=call: delay soon
                       ^^^^
    wanted a time, such as 10ms, 2s or 1.5us, got the end
      kind=call: delay
                      ^
    wanted nothing after drop, got it
      kind=call: drop it
                      ^^
    wanted byte, or a place in the message, such as .params.selector, got bite
      kind=call: corrupt bite
                         ^^^^ did you mean byte?
    wanted the number of an element, or a name in quotes, got the end
      kind=call: corrupt .a[
                            ^
    wanted the difference to the correct length, such as +4 or -1, got 4
      kind=call: length 4
                        ^
    wanted nothing, or a code below 2^62, such as 7 or 0x10c, got now
      kind=call: reset now
                       ^^^
    wanted the name of a file, got the end
      kind=call: inject
                       ^
    wanted an action, got the end
      kind=call:
                ^ actions are delay drop dup corrupt truncate length close reset stall inject
    "#);
}
