use super::super::tests::model_of;
use super::*;

/// A recording with two connections and a subscription with many items.
const STREAM: &str = "sael/rules/replay-many.fires.jsonl";

fn model() -> Model {
    let mut model = model_of(STREAM);
    model.height = 10;
    model
}

fn finish(model: &mut Model) {
    while model.is_busy() {
        model.work(7);
    }
}

#[test]
fn the_selection_moves_and_the_rows_follow() {
    let mut model = model();
    assert_eq!(model.row_count(), 74);
    for (command, selected, top) in [
        (Command::Move(1), 1, 0),
        (Command::Move(-5), 0, 0),
        (Command::Page(1), 9, 0),
        (Command::Move(1), 10, 1),
        (Command::Last, 73, 64),
        (Command::Move(1), 73, 64),
        (Command::First, 0, 0),
        (Command::Row(3), 3, 0),
    ] {
        assert!(model.apply(command));
        assert_eq!((model.selected, model.top), (selected, top), "{command:?}");
    }
}

#[test]
fn a_condition_leaves_its_matches_and_the_search_finds_them_among_all() {
    let mut model = model();
    model.set_condition("kind=BYE,UNS").unwrap();
    assert!(model.is_busy());
    finish(&mut model);
    assert_eq!(model.row_count(), 2);
    assert_eq!(model.conditions(), ["kind=BYE,UNS"]);
    model.apply(Command::Back);
    assert_eq!(model.row_count(), 74);
    let next = Command::Match { forward: true };
    for (command, wanted) in [
        (Command::First, 0),
        (next, 72),
        (next, 73),
        (next, 73),
        (Command::Match { forward: false }, 72),
    ] {
        model.apply(command);
        finish(&mut model);
        assert_eq!(model.selected, wanted, "{command:?}");
    }
    assert!(model.answer.is_empty());
    let error = model.set_condition("knd=BYE").unwrap_err();
    assert!(error.contains("^^^ did you mean kind?"), "{error}");
}

#[test]
fn another_condition_replaces_an_unfinished_one() {
    let mut model = model();
    model.set_condition("kind=EVT").unwrap();
    model.work(10);
    // The first matches show at once.
    assert_eq!(model.row_count(), 5);
    model.set_condition("kind=HEY").unwrap();
    finish(&mut model);
    assert_eq!(model.row_count(), 3);
    model.set_condition("").unwrap();
    assert_eq!(model.row_count(), 74);
}

#[test]
fn plain_text_matches_bytes_and_the_screen_in_any_case() {
    for text in ["\"PR\":64", "PR: 64"] {
        let mut model = model();
        model.set_condition(text).unwrap();
        finish(&mut model);
        assert_eq!(model.message_at(0), Some(70), "{text}");
    }
    // Answers show the name of their request, which their bytes do not contain.
    let mut model = model_of("mcp/session.jsonl");
    model.set_condition("SUB").unwrap();
    finish(&mut model);
    let found: Vec<_> = (0..model.row_count())
        .map(|row| model.message_at(row))
        .collect();
    assert_eq!(found, [Some(8), Some(9)]);
}

#[test]
fn findings_and_pairs_are_found() {
    let mut model = model();
    model.apply(Command::Finding { forward: true });
    assert_eq!(model.selected, 70);
    let text = "sael/replay-many: ";
    assert!(model.answer.starts_with(text), "{}", model.answer);
    model.apply(Command::Finding { forward: true });
    assert_eq!(model.selected, 70);
    assert_eq!(model.answer, "no later message has a finding");
    model.apply(Command::OtherOfPair);
    assert_eq!(model.selected, 2);
    model.apply(Command::OtherOfPair);
    assert_eq!(model.selected, 70);
}

#[test]
fn pairs_and_connections_fold() {
    let mut model = model();
    model.apply(Command::Move(4));
    model.apply(Command::FoldPair);
    finish(&mut model);
    // The response and all items of the subscription.
    assert_eq!((model.selected, model.row_count()), (2, 74 - 67));
    model.apply(Command::FoldPair);
    finish(&mut model);
    assert_eq!(model.row_count(), 74);
    model.apply(Command::FoldConnection);
    finish(&mut model);
    assert_eq!(model.row_count(), 74 - 4);
    // A message that a fold hides shows again if it is wanted.
    model.apply(Command::Last);
    model.selected = 0;
    model.apply(Command::OtherOfPair);
    assert_eq!((model.selected, model.row_count()), (1, 74));
}

#[test]
fn one_connection_and_open_requests_show_alone() {
    let mut model = model();
    model.apply(Command::OneConnection);
    finish(&mut model);
    assert_eq!((model.row_count(), model.conditions().len()), (5, 1));
    model.apply(Command::OneConnection);
    model.apply(Command::OpenOnly);
    finish(&mut model);
    let open = model.shared.store().open;
    assert_eq!(model.row_count(), open);
}

#[test]
fn a_paused_view_keeps_its_messages() {
    let mut model = model();
    model.apply(Command::Pause);
    assert!(model.is_paused());
    assert_eq!(model.message_count(), 74);
    model.apply(Command::Pause);
    assert!(!model.is_paused());
}

#[test]
fn esc_leaves_one_thing_at_a_time() {
    let mut model = model();
    model.set_condition("kind=EVT").unwrap();
    model.apply(Command::Open);
    model.apply(Command::Help);
    for (overlay, focus, filters) in [
        (None, Pane::Tree, true),
        (None, Pane::Messages, true),
        (None, Pane::Messages, false),
    ] {
        model.apply(Command::Back);
        let has = (model.overlay.clone(), model.focus, model.filters);
        assert_eq!(has, (overlay, focus, filters));
    }
    model.apply(Command::Quit);
    assert!(model.quits);
}

#[test]
fn two_marked_messages_are_compared() {
    let mut model = model();
    model.apply(Command::Move(4));
    model.apply(Command::Compare);
    model.apply(Command::Move(2));
    model.apply(Command::Compare);
    assert_eq!(model.overlay, Some(Overlay::Compare(4, 6)));
}

/// Returns the messages of the rows, each with its depth.
fn places(model: &Model) -> Vec<(usize, usize)> {
    let rows = 0..model.row_count();
    let place = |row| {
        let (depth, _) = model.tree_place(row).unwrap_or_default();
        (model.message_at(row).unwrap(), depth)
    };
    rows.map(place).collect()
}

#[test]
fn operations_are_a_tree_that_folds() {
    let mut model = model_of("cli/operations.jsonl");
    model.height = 10;
    let fold = Command::FoldPair;
    // An initialize, a call with a question inside, and a call without an answer.
    for (commands, selected, wanted) in [
        (
            &[Command::Operations][..],
            0,
            &[(0, 0), (2, 0), (3, 0), (8, 0)][..],
        ),
        (
            &[Command::Move(2), fold],
            3,
            &[(0, 0), (2, 0), (3, 0), (4, 1), (5, 1), (7, 1), (8, 0)],
        ),
        (
            &[Command::Move(2), fold],
            5,
            &[
                (0, 0),
                (2, 0),
                (3, 0),
                (4, 1),
                (5, 1),
                (6, 2),
                (7, 1),
                (8, 0),
            ],
        ),
        // A part folds its operation.
        (
            &[Command::Move(1), fold],
            5,
            &[(0, 0), (2, 0), (3, 0), (4, 1), (5, 1), (7, 1), (8, 0)],
        ),
        (
            &[Command::Move(1), fold],
            3,
            &[(0, 0), (2, 0), (3, 0), (8, 0)],
        ),
        // Other keys unfold what they go to: the answer of the question.
        (
            &[Command::First, Command::Move(3), Command::Operations],
            8,
            &[
                (0, 0),
                (1, 0),
                (2, 0),
                (3, 0),
                (4, 0),
                (5, 0),
                (6, 0),
                (7, 0),
                (8, 0),
            ],
        ),
    ] {
        for command in commands {
            model.apply(*command);
            finish(&mut model);
        }
        assert_eq!(places(&model), wanted, "{commands:?}");
        assert_eq!(model.selected, selected, "{commands:?}");
    }
}

#[test]
fn a_hidden_part_unfolds_what_contains_it() {
    let mut model = model_of("cli/operations.jsonl");
    model.height = 10;
    model.apply(Command::Operations);
    finish(&mut model);
    model.set_condition("\"Which day\"").unwrap();
    finish(&mut model);
    // The operations around it stay.
    assert_eq!(places(&model), [(3, 0)]);
    model.apply(Command::Match { forward: true });
    finish(&mut model);
    assert_eq!((model.selected, places(&model)), (5, vec![(3, 0), (5, 1)]));
    model.apply(Command::Back);
    finish(&mut model);
    model.selected = 5;
    model.apply(Command::OtherOfPair);
    assert_eq!(model.selected, 6);
    assert!(places(&model).contains(&(6, 2)), "{:?}", places(&model));
}

#[test]
fn one_operation_shows_alone() {
    let mut model = model_of("cli/operations.jsonl");
    model.apply(Command::Move(5));
    model.apply(Command::OneOperation);
    finish(&mut model);
    let rows: Vec<usize> = places(&model).iter().map(|(index, _)| *index).collect();
    assert_eq!(rows, [3, 4, 5, 6, 7]);
    assert_eq!(model.conditions(), ["operation #3"]);
    model.apply(Command::OneOperation);
    assert_eq!(model.row_count(), 9);
    model.set_condition("op=5").unwrap();
    finish(&mut model);
    let rows: Vec<usize> = places(&model).iter().map(|(index, _)| *index).collect();
    assert_eq!(rows, [5, 6]);
}

#[test]
fn lines_of_stderr_stay_beside_their_message() {
    use super::ScreenLine::{Message, More, Stderr};
    let mut model = model_of("oracle/real-oracle.jsonl");
    model.height = 6;
    assert!(model.apply(Command::Stderr));
    let lines = |model: &mut Model| {
        let all = model.screen_lines();
        all.iter()
            .map(|line| match line {
                Message(row) => format!("#{}", model.message_at(*row).unwrap()),
                Stderr(place) => format!("stderr {place}"),
                More(count) => format!("{count} more"),
            })
            .collect::<Vec<_>>()
            .join(", ")
    };
    insta::assert_snapshot!(lines(&mut model), @"#0, stderr 0, #1, #2, #3, #4");
    // The selected message is on the screen.
    model.apply(Command::Move(5));
    insta::assert_snapshot!(lines(&mut model), @"#3, #4, stderr 1, stderr 2, 3 more, #5");
    // Lines belong to the message before them, or to an earlier one that a condition hides.
    model.set_condition("kind=result").unwrap();
    finish(&mut model);
    model.apply(Command::First);
    insta::assert_snapshot!(lines(&mut model), @"stderr 0, #3, stderr 1, stderr 2, 6 more");
}

#[test]
fn a_condition_on_the_client_matches_its_messages() {
    for (who, wanted) in [("bot", 5), ("other", 0)] {
        let mut model = model_of("sael/rules/bind-nothing.fires.jsonl");
        model.set_condition(&format!("who={who}")).unwrap();
        finish(&mut model);
        assert_eq!(model.row_count(), wanted, "{who}");
    }
}
