//! What is a fault, and what is said of what is none.

use super::*;

#[test]
fn faults_are_read() {
    for (text, condition, often, action) in [
        ("kind=call: drop", "kind=call", (None, None), Action::Drop),
        (": dup", "", (None, None), Action::Dup),
        ("*: stall", "", (None, None), Action::Stall),
        ("nth 3: close", "", (Some(3), None), Action::Close),
        ("kind=call:reset", "kind=call", (None, None), Action::Reset),
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
            Action::Corrupt(Spot::Byte),
        ),
        (
            "role=request: corrupt .params[0]",
            "role=request",
            (None, None),
            Action::Corrupt(Spot::At("params[0]".parse().unwrap())),
        ),
        (
            "*: corrupt [1]",
            "",
            (None, None),
            Action::Corrupt(Spot::At("[1]".parse().unwrap())),
        ),
    ] {
        let fault: Fault = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let want = match condition {
            "" => Expr::All(Vec::new()),
            text => text.parse().unwrap(),
        };
        assert_eq!(fault.condition, want, "{text}");
        assert_eq!((fault.often.nth, fault.often.every), often, "{text}");
        assert_eq!(fault.action, action, "{text}");
        assert_eq!(fault.to_string(), text.trim());
    }
    let half: Fault = "every 2 chance 50%: drop".parse().unwrap();
    let often = Often {
        every: Some(2),
        chance: Some(0.5),
        nth: None,
    };
    assert_eq!(half.often, often);
    let apart = Fault::of("kind=call", often, "delay 2s").unwrap();
    assert_eq!(apart.to_string(), "kind=call every 2 chance 0.5: delay 2s");
}

#[test]
fn what_is_no_fault_is_pointed_at() {
    let mut told = String::new();
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
        "kind=call: inject",
        "kind=call:",
    ] {
        let error = text.parse::<Fault>().unwrap_err();
        told += &format!("{error}\n");
    }
    insta::assert_snapshot!(told, @r#"
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
    wanted a span of time, such as 10ms, 2s or 1.5us, got soon
      kind=call: delay soon
                       ^^^^
    wanted a span of time, such as 10ms, 2s or 1.5us, got the end
      kind=call: delay
                      ^
    wanted nothing behind drop, got it
      kind=call: drop it
                      ^^
    wanted byte, or a place in the message, such as .params.selector, got bite
      kind=call: corrupt bite
                         ^^^^ did you mean byte?
    wanted the number of an element, or a name in quotes, got the end
      kind=call: corrupt .a[
                            ^
    wanted by how much the length lies, such as +4 or -1, got 4
      kind=call: length 4
                        ^
    wanted the name of a file, got the end
      kind=call: inject
                       ^
    wanted an action, got the end
      kind=call:
                ^ actions are delay drop dup corrupt truncate length close reset stall inject
    "#);
}
