use super::*;
use crate::cli::watch::command::Command;
use crate::cli::watch::tests::{model_of, model_of_merged};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const PLAIN: Theme = Theme {
    color: false,
    unicode: true,
};

/// Returns the screen after these commands.
fn terminal(
    (width, height): (u16, u16),
    theme: Theme,
    model: &mut Model,
    commands: &[Command],
) -> Terminal<TestBackend> {
    terminal_of((width, height), theme, None, model, commands)
}

fn terminal_of(
    (width, height): (u16, u16),
    theme: Theme,
    sources: Option<&'static Sources>,
    model: &mut Model,
    commands: &[Command],
) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut view = View::new(theme, false, sources);
    terminal.draw(|frame| view.draw(frame, model)).unwrap();
    for command in commands {
        model.apply(*command);
        while model.is_busy() {
            model.work(1000);
        }
        terminal.draw(|frame| view.draw(frame, model)).unwrap();
    }
    terminal
}

fn screen(size: (u16, u16), theme: Theme, fixture: &str, commands: &[Command]) -> String {
    let mut model = model_of(fixture);
    text_of(&terminal(size, theme, &mut model, commands))
}

fn text_of(terminal: &Terminal<TestBackend>) -> String {
    let text = terminal.backend().to_string();
    let rows = text.lines().map(|row| row.trim_matches('"').trim_end());
    // The name of the fixture is a path of this machine.
    let rows = rows.map(|row| row.split("/fixtures/").last().unwrap_or_default());
    rows.collect::<Vec<_>>().join("\n")
}

const STREAM: &str = "sael/rules/replay-many.fires.jsonl";
const HANG: &str = "cli/hang.jsonl";

#[test]
fn small_screens_show_messages_and_a_tree() {
    let commands = [Command::Move(2)];
    insta::assert_snapshot!(screen((80, 24), PLAIN, STREAM, &commands), @r#"
    ─ messages  3 of 74 ───────────────────────────────────────────────────────────
        #0 c0 → HEY
        #1 c0 ← HEY      ↩ #0 1 ms
        #2 c0 → SUB  prs 5
        #3 c0 ← RES  prs 5    1 ms
        #4 c0 ← EVT  prs 5    2 ms {pr: 1}
        #5 c1 → RSM
        #6 c1 ← EVT      5    4 ms {pr: 0}
        #7 c1 ← EVT      5    5 ms {pr: 1}
        #8 c1 ← EVT      5    6 ms {pr: 2}
        #9 c1 ← EVT      5    7 ms {pr: 3}
       #10 c1 ← EVT      5    8 ms {pr: 4}
    ─ tree  #2 ────────────────────────────────────────────────────────────────────
    #2 c0 → SUB prs  id 5  (sael, lines, request, 36 bytes at 281)
      281..317  {3}
      289..294    kind  "SUB"
      301..302    seq  5
      311..316    topic  "prs"





    74 messages  0 open  1 finding  ? help  q quit
    "#);
}

#[test]
fn large_screens_show_bytes_and_state_beside() {
    let commands = [Command::Move(2), Command::Open, Command::Move(4)];
    insta::assert_snapshot!(screen((160, 48), PLAIN, STREAM, &commands), @r#"
    ─ messages  3 of 74 ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        #0    0 c0 bot (ann) 00:00:00.001 → HEY
        #1    0 c0 bot (ann)        +1 ms ← HEY      ↩ #0  1 ms
        #2  281 c0 bot (ann)        +1 ms → SUB  prs 5
        #3  151 c0 bot (ann)        +1 ms ← RES  prs 5     1 ms
        #4  193 c0 bot (ann)        +1 ms ← EVT  prs 5     2 ms {pr: 1}
        #5    0 c1 bot (ann)        +1 ms → RSM
        #6    0 c1 bot (ann)        +1 ms ← EVT      5     4 ms {pr: 0}
        #7   39 c1 bot (ann)        +1 ms ← EVT      5     5 ms {pr: 1}
        #8   78 c1 bot (ann)        +1 ms ← EVT      5     6 ms {pr: 2}
        #9  117 c1 bot (ann)        +1 ms ← EVT      5     7 ms {pr: 3}
       #10  156 c1 bot (ann)        +1 ms ← EVT      5     8 ms {pr: 4}
       #11  195 c1 bot (ann)        +1 ms ← EVT      5     9 ms {pr: 5}
       #12  234 c1 bot (ann)        +1 ms ← EVT      5    10 ms {pr: 6}
       #13  273 c1 bot (ann)        +1 ms ← EVT      5    11 ms {pr: 7}
       #14  312 c1 bot (ann)        +1 ms ← EVT      5    12 ms {pr: 8}
       #15  351 c1 bot (ann)        +1 ms ← EVT      5    13 ms {pr: 9}
       #16  390 c1 bot (ann)        +1 ms ← EVT      5    14 ms {pr: 10}
       #17  430 c1 bot (ann)        +1 ms ← EVT      5    15 ms {pr: 11}
       #18  470 c1 bot (ann)        +1 ms ← EVT      5    16 ms {pr: 12}
       #19  510 c1 bot (ann)        +1 ms ← EVT      5    17 ms {pr: 13}
       #20  550 c1 bot (ann)        +1 ms ← EVT      5    18 ms {pr: 14}
       #21  590 c1 bot (ann)        +1 ms ← EVT      5    19 ms {pr: 15}
       #22  630 c1 bot (ann)        +1 ms ← EVT      5    20 ms {pr: 16}
       #23  670 c1 bot (ann)        +1 ms ← EVT      5    21 ms {pr: 17}
       #24  710 c1 bot (ann)        +1 ms ← EVT      5    22 ms {pr: 18}
       #25  750 c1 bot (ann)        +1 ms ← EVT      5    23 ms {pr: 19}
       #26  790 c1 bot (ann)        +1 ms ← EVT      5    24 ms {pr: 20}
       #27  830 c1 bot (ann)        +1 ms ← EVT      5    25 ms {pr: 21}
       #28  870 c1 bot (ann)        +1 ms ← EVT      5    26 ms {pr: 22}
       #29  910 c1 bot (ann)        +1 ms ← EVT      5    27 ms {pr: 23}
       #30  950 c1 bot (ann)        +1 ms ← EVT      5    28 ms {pr: 24}
       #31  990 c1 bot (ann)        +1 ms ← EVT      5    29 ms {pr: 25}
       #32 1030 c1 bot (ann)        +1 ms ← EVT      5    30 ms {pr: 26}
       #33 1070 c1 bot (ann)        +1 ms ← EVT      5    31 ms {pr: 27}
       #34 1110 c1 bot (ann)        +1 ms ← EVT      5    32 ms {pr: 28}
    ─ tree  #2 ───────────────────────────────────────────────────────────────  ─ bytes  #2 ──────────────────────────────  ─ state  #2 ───────────────────────────
    #2 c0 → SUB prs  id 5  (sael, lines, request, 36 bytes at 281)              00000119  7b 22 6b 69 6e 64 22 3a  {"kind": time 00:00:00.003
      281..317  {3}                                                             00000121  22 53 55 42 22 2c 22 73  "SUB","s 1 open request
      289..294    kind  "SUB"                                                   00000129  65 71 22 3a 35 2c 22 74  eq":5,"t   #2 SUB prs  0 ns
      301..302    seq  5                                                        00000131  6f 70 69 63 22 3a 22 70  opic":"p 1 open connection
      311..316    topic  "prs"                                                  00000139  72 73 22 7d              rs"}       c0
                                                                                                                            versions
                                                                                                                              #1 version 1.0.0



    74 messages  0 open  1 finding  ? help  q quit
    "#);
}

#[test]
fn a_blocked_session_names_the_peer_that_must_send_next() {
    let text = screen((80, 24), PLAIN, HANG, &[]);
    insta::assert_snapshot!(text.lines().last().unwrap_or_default(), @"3 messages  the oracle must send next: #2 c0 → invoke pow id 1 …  ? help  q quit");
    // A request inside the handling of another one comes first.
    let text = screen((80, 24), PLAIN, "cli/nested.jsonl", &[]);
    insta::assert_snapshot!(text.lines().last().unwrap_or_default(), @"5 messages  the client must send next: #4 c1 ← request sampling…  ? help  q quit");
}

#[test]
fn ascii_terminals_get_ascii() {
    let theme = Theme {
        color: false,
        unicode: false,
    };
    for fixture in [STREAM, HANG, "cli/mixed.jsonl"] {
        for overlay in [Command::Help, Command::Stats, Command::Move(1)] {
            let text = screen((160, 48), theme, fixture, &[overlay]);
            assert!(text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn screens_without_color_have_none() {
    for (theme, wanted) in [
        (PLAIN, false),
        (
            Theme {
                color: true,
                unicode: true,
            },
            true,
        ),
    ] {
        let mut model = model_of(STREAM);
        let terminal = terminal((120, 40), theme, &mut model, &[]);
        let buffer = terminal.backend().buffer();
        let mut cells = buffer.content.iter();
        let has_color = cells.any(|cell| cell.fg != ratatui::style::Color::Reset);
        assert_eq!(has_color, wanted);
    }
}

#[test]
fn every_size_is_drawn() {
    for width in [1, 20, 79, 80, 81, 119, 120, 300] {
        for height in [1, 19, 20, 24, 35, 36, 100] {
            let commands = [
                Command::Last,
                Command::NextPane,
                Command::NextPane,
                Command::Help,
            ];
            let text = screen((width, height), PLAIN, STREAM, &commands);
            assert_eq!(
                text.split('\n').count(),
                usize::from(height),
                "{width}x{height}"
            );
        }
    }
    let text = screen((60, 20), PLAIN, STREAM, &[]);
    assert!(
        text.starts_with("the terminal has 60x20; 80x20 are needed"),
        "{text}"
    );
}

#[test]
fn overlays_cover_the_panes() {
    let commands = [
        Command::Move(4),
        Command::Compare,
        Command::Move(2),
        Command::Compare,
    ];
    insta::assert_snapshot!(screen((80, 24), PLAIN, STREAM, &commands), @"
    ─ differences between #4 and #6  esc closes ───────────────────────────────────
    A: #4 EVT prs
    B: #6 EVT
        data.pr  1 → 0  (bytes 228..229 and 35..36)



















    74 messages  0 open  1 finding  ? help  q quit
    ");
    let stats = screen((100, 30), PLAIN, STREAM, &[Command::Stats]);
    assert!(stats.contains("latency"), "{stats}");
    let help = screen((80, 24), PLAIN, STREAM, &[Command::Help]);
    assert!(
        help.contains("q   quit") && help.contains("Marks"),
        "{help}"
    );
}

#[test]
fn wire_text_cannot_reach_the_terminal_unescaped() {
    let mut model = model_of(STREAM);
    model
        .shared
        .store()
        .status
        .note("a\u{1b}[31m\u{202e}b\n".into());
    model.answer = "c\u{1b}]52;d".into();
    let terminal = terminal((80, 24), PLAIN, &mut model, &[Command::Help, Command::Back]);
    for cell in &terminal.backend().buffer().content {
        assert!(!cell.symbol().contains(crate::escape::is_active));
    }
}

#[test]
fn the_state_lists_subscriptions_until_they_end() {
    let state = [Command::NextPane; 3];
    for (message, wanted) in [(2, false), (3, true), (5, true)] {
        let mut model = model_of(STREAM);
        model.apply(Command::Move(message));
        let terminal = terminal((80, 24), PLAIN, &mut model, &state);
        let text = terminal.backend().to_string();
        let found = text.contains("1 subscription") && text.contains("#2 SUB prs");
        assert_eq!(found, wanted, "{message}: {text}");
    }
}

#[test]
fn the_help_fits_the_smallest_screen() {
    let text = screen((80, 24), PLAIN, STREAM, &[Command::Help]);
    let wide = screen((120, 24), PLAIN, STREAM, &[Command::Help]);
    let inner = |text: &str| {
        text.lines()
            .skip(1)
            .take(22)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(inner(&text), inner(&wide));
    assert!(text.contains("d marked"), "{text}");
}

#[test]
fn lines_of_stderr_show_between_the_messages() {
    let commands = [Command::Stderr, Command::Move(3)];
    insta::assert_snapshot!(screen((80, 24), PLAIN, "oracle/real-oracle.jsonl", &commands), @r#"
    ─ messages  4 of 9 ────────────────────────────────────────────────────────────
        #0 c1 ← ready           0
               06:18:30.885 c1 stderr: send: {"jsonrpc":"2.0","id":0,"method":"read…
        #1 c1 → ack             0 183.3 µs {}
        #2 c1 → invoke   square 0          ["0xc"]
        #3 c1 ← result   square 0 128.2 µs ["0x90"]
        #4 c1 → invoke   square 1          ["0x10000000000"]
               06:18:30.886 c1 stderr: recv: {"jsonrpc":"2.0","id":0,"result":{}}
               06:18:30.886 c1 stderr: recv: {"jsonrpc":"2.0","id":0,"method":"invo…
               06:18:30.886 c1 stderr: send: {"jsonrpc":"2.0","id":0,"result":["0x9…
               06:18:30.886 c1 stderr: recv: {"jsonrpc":"2.0","id":1,"method":"invo…
               06:18:30.886 c1 stderr: send: {"jsonrpc":"2.0","id":1,"error":{"code…
        #5 c1 ← error    square 1  45.7 µs -32603: value is too large
        #6 c1 → invoke   cube   2          ["0x3"]
        #7 c1 ← error    cube   2  34.4 µs -32602: unknown selector: "cube", this o…
    ─ tree  #3 ────────────────────────────────────────────────────────────────────
    #3 c1 ← result  id 0  (oracle, lines, response, 42 bytes at 42)  ↩ #2 128.2 µs
      42..84  {3}
      53..58    jsonrpc  "2.0"
      64..65    id  0
      75..83    result  [1]
      76..82      [0]  "0x90"  = 144

    9 messages  0 open  0 findings  ? help  q quit
    "#);
    // A child that wrote no message.
    let never = "cli/never-ready.jsonl";
    let text = screen((80, 24), PLAIN, never, &[Command::Stderr]);
    assert!(text.contains("c0 stderr: loading"), "{text}");
    let again = screen((80, 24), PLAIN, never, &[Command::Stderr, Command::Stderr]);
    assert!(!again.contains("loading"), "{again}");
    let none = screen((80, 24), PLAIN, STREAM, &[Command::Stderr]);
    assert!(
        none.contains("no line of stderr is recorded so far"),
        "{none}"
    );
}

#[test]
fn long_lines_are_cut_wrapped_or_scrolled() {
    let rows = |commands: &[Command]| {
        let commands = [&[Command::Move(1), Command::Open], commands].concat();
        let text = screen((80, 24), PLAIN, "lsp/session.jsonl", &commands);
        let rows = text.lines().skip_while(|row| !row.starts_with("─ tree"));
        rows.skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let cut = rows(&[]);
    let long = cut.iter().position(|row| row.ends_with('…')).unwrap();
    let wrapped = rows(&[Command::Wrap]);
    assert!(!wrapped[long].ends_with('…'), "{wrapped:#?}");
    let start = cut[long]
        .trim_end_matches('…')
        .split_whitespace()
        .last()
        .unwrap();
    let both = [wrapped[long].as_str(), wrapped[long + 1].trim_start()].concat();
    assert!(both.contains(start), "{start}: {both}");
    let scrolled = rows(&[Command::Scroll { right: true }]);
    assert!(scrolled[long].starts_with('…'), "{scrolled:#?}");
    assert_ne!(scrolled[long], cut[long]);
    let back = [
        Command::Scroll { right: true },
        Command::Scroll { right: false },
    ];
    assert_eq!(rows(&back), cut);
}

#[test]
fn a_zoomed_pane_has_the_screen() {
    for (pane, title) in Pane::ALL
        .into_iter()
        .zip(["messages", "tree", "bytes", "state"])
    {
        let mut commands =
            vec![Command::NextPane; Pane::ALL.iter().position(|p| *p == pane).unwrap()];
        commands.push(Command::Zoom);
        let text = screen((120, 40), PLAIN, STREAM, &commands);
        let titles: Vec<&str> = text.lines().filter(|row| row.starts_with('─')).collect();
        assert_eq!(titles.len(), 1, "{text}");
        assert!(titles[0].starts_with(&format!("─ {title}")), "{text}");
        // Esc shows all panes again.
        commands.push(Command::Back);
        let text = screen((120, 40), PLAIN, STREAM, &commands);
        assert!(
            text.contains("─ messages") && text.contains("─ state"),
            "{text}"
        );
    }
}

#[test]
fn few_messages_leave_their_space_to_the_tree() {
    let height = |fixture: &str| {
        let text = screen((80, 24), PLAIN, fixture, &[]);
        text.lines()
            .position(|row| row.starts_with("─ tree"))
            .unwrap()
    };
    assert_eq!(height(HANG), 4);
    assert_eq!(height(STREAM), 12);
}

#[test]
fn the_status_line_keeps_the_count_of_messages() {
    let mut model = model_of(STREAM);
    model.answer = "a long answer ".repeat(20);
    let terminal = terminal((80, 24), PLAIN, &mut model, &[]);
    let text = terminal.backend().to_string();
    let status = text.lines().last().unwrap().trim_matches('"').to_owned();
    assert!(status.starts_with("74 messages  a long"), "{status}");
    assert!(status.ends_with('…'), "{status}");
}

#[test]
fn a_note_stays_in_the_status_line_until_the_next_key() {
    for (commands, shown) in [
        (&[][..], "a note  ? help  q quit"),
        (&[Command::Move(1)], "1 finding  ? help  q quit"),
    ] {
        let mut model = model_of("mcp/session.jsonl");
        model.shared.store().status.note("a note".to_owned());
        let terminal = terminal((80, 24), PLAIN, &mut model, commands);
        let text = terminal.backend().to_string();
        let status = text.lines().last().unwrap().trim_matches('"').trim_end();
        assert!(status.ends_with(shown), "{status}");
    }
}

#[test]
fn a_selected_error_is_red() {
    let theme = Theme {
        color: true,
        unicode: true,
    };
    let mut model = model_of("mcp/session.jsonl");
    let count = model.message_count();
    let mut found = 0;
    for index in 0..count {
        model.apply(Command::First);
        model.apply(Command::Move(isize::try_from(index).unwrap()));
        let terminal = terminal((100, 30), theme, &mut model, &[]);
        let buffer = terminal.backend().buffer();
        let row = buffer.area.rows().find(|row| {
            let cell = buffer.cell((row.x + 3, row.y)).unwrap();
            row.y > 0 && cell.modifier.contains(Modifier::REVERSED)
        });
        let row = row.unwrap();
        let text: String = row
            .columns()
            .map(|cell| buffer.cell((cell.x, cell.y)).unwrap().symbol())
            .collect();
        let is_red = row
            .columns()
            .skip(3)
            .all(|cell| buffer.cell((cell.x, cell.y)).unwrap().fg == ratatui::style::Color::Red);
        let is_error = text.contains("← error");
        assert_eq!(is_red, is_error, "{text}");
        found += usize::from(is_error);
    }
    assert!(found > 0);
}

const CHAIN: [&str; 3] = [
    "cli/merge/planner.jsonl",
    "cli/merge/search.jsonl",
    "cli/merge/index.jsonl",
];

#[test]
fn operations_of_several_captures_are_one_tree() {
    for (width, commands) in [
        (80, &[Command::Operations][..]),
        (
            80,
            &[
                Command::Operations,
                Command::FoldPair,
                Command::Move(1),
                Command::FoldPair,
            ],
        ),
        (
            200,
            &[
                Command::Operations,
                Command::FoldPair,
                Command::Move(1),
                Command::FoldPair,
            ],
        ),
    ] {
        let (mut model, sources) = model_of_merged(&CHAIN);
        let terminal = terminal_of((width, 24), PLAIN, Some(sources), &mut model, commands);
        let text = text_of(&terminal);
        let rows: Vec<&str> = text.lines().take(8).collect();
        match (width, commands.len()) {
            (80, 1) => insta::assert_snapshot!(rows.join("\n"), @r#"
            ─ messages  1 of 2  operations ────────────────────────────────────────────────
            ▸!     #0 planner c1 tools/call plan          answered     890 ms index server …
            ▸      #6 planner c1 ping                     answered       1 ms planner server

            ─ tree  #0 ────────────────────────────────────────────────────────────────────
            #0 c1 → request tools/call plan  id 1  (mcp, lines, request, 180 bytes at 0)
                0..180  {4}
               11..16     jsonrpc  "2.0"
            "#),
            (80, _) => insta::assert_snapshot!(rows.join("\n"), @r#"
            ─ messages  2 of 6  operations ────────────────────────────────────────────────
            ▾!     #0 planner c1 tools/call plan          answered     890 ms index server …
            ▾!       #1 search  c2 tools/call find          answered     820 ms index serve…
            ▸!        ~#2 index   c3 tools/call look          answered     800 ms index ser…
                    #4 search     ← response tools/call find 1 820 ms "shelf"
                  #5 planner    ← response tools/call plan 1 890 ms "done"
            ▸      #6 planner c1 ping                     answered       1 ms planner server
            ─ tree  #1 ────────────────────────────────────────────────────────────────────
            "#),
            _ => insta::assert_snapshot!(rows.join("\n"), @r#"
            ─ messages  2 of 6  operations ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            ▾!     #0 planner c1 10:00:00.010 tools/call plan                                  answered     890 ms index server 800 ms, planner server 70 ms, search server 20 ms; 1 tools/call
            ▾!       #1 search  c2 10:00:00.040 tools/call find                                  answered     820 ms index server 800 ms, search server 20 ms; ~1 tools/call; 4 messages, 435 bytes
            ▸!        ~#2 index   c3 10:00:00.050 tools/call look                                  answered     800 ms index server; 2 messages, 174 bytes
                    #4   0 search  c2      +810 ms ← response tools/call find 1 820 ms "shelf"
                  #5   0 planner c1       +40 ms ← response tools/call plan 1 890 ms "done"
            ▸      #6 planner c1 10:00:01.000 ping                                             answered       1 ms planner server; 2 messages, 76 bytes
            ─ tree  #1 ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            "#),
        }
    }
}

/// An answer names its request, also if that is above the first row from the start.
#[test]
fn answers_of_requests_above_the_screen_have_their_subject() {
    let mut model = model_of("mcp/session.jsonl");
    model.apply(Command::Move(7));
    let text = text_of(&terminal((80, 20), PLAIN, &mut model, &[]));
    let rows: Vec<&str> = text
        .lines()
        .skip(1)
        .take_while(|row| !row.starts_with('─'))
        .collect();
    let answer = rows.iter().find(|row| row.contains("#7 "));
    assert!(
        answer.is_some_and(|row| row.contains("tools/call add")),
        "{text}"
    );
    assert!(!rows.iter().any(|row| row.contains("#5 ")), "{text}");
}
