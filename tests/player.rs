//! The player without sockets: recordings of every protocol played against their own other side, and against others.
//!
//! The mirror says what the recording's other side said, as soon as it has as many bytes as that had.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use wiretool::capture::{Form, Input, Item};
use wiretool::conversation::actor::{Actor, Ended, Order};
use wiretool::conversation::carrier::Carriage;
use wiretool::framing::Limits;
use wiretool::player::{Choice, How, Outcome, Plan, Player, Settings, Tell, Teller, passed_over};
use wiretool::protocol::peer::Manner;
use wiretool::protocol::{Direction, Protocol, registry};
use wiretool::select::Filter;

const MILLI: i64 = 1_000_000;

/// What answers a player: bytes by connection.
trait Other {
    fn opened(&mut self, _: u32) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }
    fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)>;
}

/// Says what was said then, when it has heard as much.
struct Mirror {
    /// Connection, whether it is ours to say, bytes.
    chunks: VecDeque<(u32, bool, Vec<u8>)>,
    heard: BTreeMap<u32, usize>,
    open: Vec<u32>,
}

impl Mirror {
    fn of(recording: &[u8]) -> Self {
        let mut chunks = VecDeque::new();
        let mut input = Input::new(Form::Recording);
        let mut item = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                let ours = chunk.direction == Some(Direction::ToClient);
                chunks.push_back((chunk.conn, ours, chunk.bytes.to_vec()));
            }
        };
        input.push(recording, &mut item);
        input.finish(&mut item);
        Self {
            chunks,
            heard: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    fn says(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut says = Vec::new();
        while let Some((conn, ours, bytes)) = self.chunks.front() {
            if *ours {
                if !self.open.contains(conn) {
                    break;
                }
                says.push((*conn, bytes.clone()));
            } else {
                let heard = self.heard.entry(*conn).or_default();
                if *heard < bytes.len() {
                    break;
                }
                *heard -= bytes.len();
            }
            self.chunks.pop_front();
        }
        says
    }
}

impl Other for Mirror {
    fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
        self.open.push(conn);
        self.says()
    }

    fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        *self.heard.entry(conn).or_default() += bytes.len();
        self.says()
    }
}

/// What came of a run, and what was told.
struct Ran {
    outcome: Outcome,
    told: Vec<String>,
    /// What the player said, by connection.
    said: BTreeMap<u32, Vec<u8>>,
}

fn settings(protocol: &dyn Protocol) -> Settings {
    Settings {
        manner: Manner {
            seed: 7,
            ..Manner::default()
        },
        keep_ids: true,
        in_order: false,
        speed: None,
        timeout: 1000 * MILLI,
        keep_going: false,
        ignore: passed_over(protocol, false, []),
        limits: Limits::default(),
    }
}

fn all() -> Choice {
    Choice {
        first: None,
        last: None,
        filter: Filter::default(),
    }
}

/// Plays a plan until it is over; time passes only where nothing else happens.
fn play(plan: &Plan<'static>, settings: &Settings, other: &mut dyn Other) -> Ran {
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller: Teller<'_> = {
        let told = Arc::clone(&told);
        Box::new(move |tell, _| {
            let text = match tell {
                Tell::Heard(..) => return,
                Tell::Note(text) => text,
                Tell::Hangs(hang) => format!("hangs: {:?}, owed {:?}", hang.held, hang.owed),
                Tell::Diverged(divergence) => format!("{divergence:?}"),
            };
            told.lock().unwrap().push(text);
        })
    };
    let carriage = Carriage::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut player = Player::new(plan, carriage, settings, teller);
    let (mut now, mut said) = (1_800_000_000_000_000_000, BTreeMap::<u32, Vec<u8>>::new());
    let mut orders = Vec::new();
    player.begin(now, &mut orders);
    let mut todo: VecDeque<Order> = orders.drain(..).collect();
    for _ in 0..100_000 {
        let Some(order) = todo.pop_front() else {
            let Some(due) = player.due() else {
                break;
            };
            now = due.max(now + 1);
            player.tick(now, &mut orders);
            todo.extend(orders.drain(..));
            continue;
        };
        let mut heard = Vec::new();
        match order {
            Order::Dial(conn) => {
                player.opened(conn, now, &mut orders);
                heard = other.opened(conn);
            }
            Order::Send(conn, bytes) => {
                said.entry(conn).or_default().extend_from_slice(&bytes);
                heard = other.hears(conn, &bytes);
            }
            Order::Close(conn) => player.ended(conn, &Ended::Closed, now, &mut orders),
            Order::Stop => break,
            _ => {}
        }
        for (conn, bytes) in heard {
            player.heard(conn, &bytes, now, &mut orders);
        }
        todo.extend(orders.drain(..));
    }
    let told = told.lock().unwrap().clone();
    Ran {
        outcome: player.outcome().clone(),
        told,
        said,
    }
}

fn plan(recording: &[u8]) -> Result<Plan<'static>, String> {
    Plan::of(recording, &registry::all(), None, Limits::default(), all())
}

/// Plays a recording against its own mirror.
fn reflected(recording: &[u8]) -> Ran {
    let plan = plan(recording).unwrap();
    play(&plan, &settings(plan.protocol), &mut Mirror::of(recording))
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn try_all() {
    let folder = std::env::var("REC").unwrap();
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    for path in names {
        let recording = std::fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let plan = match plan(&recording) {
            Ok(plan) => plan,
            Err(e) => {
                println!("{name}: UNFIT {e}");
                continue;
            }
        };
        let ran = play(&plan, &settings(plan.protocol), &mut Mirror::of(&recording));
        let mut then = BTreeMap::<u32, Vec<u8>>::new();
        for (conn, ours, bytes) in Mirror::of(&recording).chunks {
            if !ours {
                then.entry(conn).or_default().extend(bytes);
            }
        }
        if ran.outcome.hangs || ran.outcome.differ > 0 {
            for (conn, said) in &ran.said {
                let then = &then[conn];
                if let Some(at) = said.iter().zip(then).position(|(a, b)| a != b) {
                    println!(
                        "  conn {conn} differs at {at}: {} / {}",
                        String::from_utf8_lossy(
                            &said[at.saturating_sub(60)..(at + 60).min(said.len())]
                        )
                        .escape_debug(),
                        String::from_utf8_lossy(
                            &then[at.saturating_sub(60)..(at + 60).min(then.len())]
                        )
                        .escape_debug()
                    );
                }
            }
        }
        println!(
            "{name}: {:?} steps {} sent {} told {} compared {} differ {} hangs {} {:?}\n     {:?}",
            plan.framing,
            plan.steps.len(),
            ran.outcome.sent,
            plan.told.len(),
            ran.outcome.compared,
            ran.outcome.differ,
            ran.outcome.hangs,
            ran.outcome.trouble,
            ran.told
        );
    }
}
