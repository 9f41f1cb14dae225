//! The participants of a diagram: the sides of each connection, if there are few connections, and of all otherwise.

use crate::capture::{Header, Sources};
use crate::escape::shorten;

/// The maximum number of connections with participants of their own.
const MAX_LANES: usize = 4;
/// The number of pairs of sides that are told apart.
const MAX_SIDES: usize = 8;
/// The maximum number of characters of the name of a capture.
const MAX_NAME: usize = 32;

/// The sides of a protocol that does not name them.
pub(super) const USUAL_SIDES: [&str; 2] = ["client", "server"];

/// A connection of a capture, with the names of its sides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DiagramLane {
    capture: usize,
    conn: Option<u32>,
    sides: [String; 2],
}

/// The connections that were seen.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    sources: Option<&'static Sources>,
    /// The name of each capture, if there are several.
    captures: Vec<String>,
    /// Whether one server has all connections of the capture.
    has_one_server: Vec<bool>,
    all: Vec<DiagramLane>,
    /// There are more connections than lanes: a lane is then one of all connections, whose sides have these names.
    are_many: bool,
}

/// The participants, once all connections are known.
pub(super) struct Participants {
    /// Their names.
    pub names: Vec<String>,
    /// Those of each lane.
    of_lane: Vec<[usize; 2]>,
    /// A step must name its connection.
    pub names_connections: bool,
}

impl Participants {
    /// Returns client and server of a lane.
    pub fn of(&self, lane: usize) -> [usize; 2] {
        self.of_lane.get(lane).copied().unwrap_or_default()
    }
}

impl Lanes {
    pub fn new(sources: Option<&'static Sources>) -> Self {
        let mut lanes = Self {
            sources,
            ..Self::default()
        };
        if let Some(sources) = sources {
            lanes.captures = sources.short_names().map(short).collect();
            lanes.has_one_server = vec![true; lanes.captures.len()];
        }
        lanes
    }

    /// Begins a capture. `name`: its name, if there are several.
    pub fn begin(&mut self, name: Option<&str>) {
        if self.sources.is_none() {
            let name = name.map(|name| name.rsplit('/').next().unwrap_or(name));
            self.captures.push(name.map(short).unwrap_or_default());
            self.has_one_server.push(false);
        }
    }

    /// Reads the header of a recording.
    pub fn header(&mut self, header: &Header) {
        if self.sources.is_none()
            && let Some(one) = self.has_one_server.last_mut()
        {
            *one = header.captured().is_none();
        }
    }

    /// Returns the number of the lane of a connection.
    pub fn of(&mut self, conn: Option<u32>, sides: [&str; 2]) -> usize {
        let capture = match self.sources {
            Some(sources) => sources.number_of(conn).map_or(0, usize::from),
            None => self.captures.len().saturating_sub(1),
        };
        let is_it = |lane: &DiagramLane| {
            self.are_many && lane.sides == sides
                || !self.are_many && lane.capture == capture && lane.conn == conn
        };
        if let Some(at) = self.all.iter().rposition(is_it) {
            return at;
        }
        let connections = self.all.len();
        if !self.are_many && connections >= MAX_LANES {
            self.are_many = true;
            // Earlier steps keep their lanes, whose participants then are those of all.
            return self.of(conn, sides);
        }
        if self.are_many && connections >= MAX_LANES + MAX_SIDES {
            return connections - 1;
        }
        self.all.push(DiagramLane {
            capture,
            conn,
            sides: sides.map(str::to_owned),
        });
        connections
    }

    /// Returns the lane of a connection that messages may have named.
    pub fn known(&mut self, conn: Option<u32>) -> usize {
        let is_it = |lane: &DiagramLane| lane.conn == conn;
        match self.all.iter().rposition(is_it) {
            Some(at) => at,
            None if self.are_many => 0,
            None => self.of(conn, USUAL_SIDES),
        }
    }

    /// Names the participants.
    pub fn finish(self) -> Participants {
        let mut all = Participants {
            names: Vec::new(),
            of_lane: Vec::new(),
            names_connections: self.are_many,
        };
        let captures = self.all.iter().map(|lane| lane.capture);
        let has_captures = captures.collect::<std::collections::BTreeSet<_>>().len() > 1;
        for lane in &self.all {
            let pair = [0, 1].map(|side| {
                let name = self.participant(lane, side, has_captures);
                let known = all.names.iter().position(|known| *known == name);
                known.unwrap_or_else(|| {
                    all.names.push(name);
                    all.names.len() - 1
                })
            });
            all.of_lane.push(pair);
        }
        all
    }

    /// Returns the name of a side: with its capture if there are several, and with its connection if a capture has several.
    fn participant(&self, lane: &DiagramLane, side: usize, has_captures: bool) -> String {
        let names = [
            lane.sides.get(side).map(String::as_str),
            USUAL_SIDES.get(side).copied(),
        ];
        let mut names = names.into_iter().flatten();
        let name = names.find(|name| !name.is_empty()).unwrap_or_default();
        if self.are_many {
            return name.to_owned();
        }
        // The process that serves one connection is the client of another one.
        let inner = u16::try_from(lane.capture).ok();
        if side == 0
            && let Some(caller) = self
                .sources
                .zip(inner)
                .and_then(|(all, inner)| all.caller(inner))
            && let Some(outer) = self.all.iter().find(|one| one.conn == Some(caller))
            && outer != lane
        {
            return self.participant(outer, 1, has_captures);
        }
        let capture = self.captures.get(lane.capture).filter(|_| has_captures);
        let same = |one: &&DiagramLane| one.capture == lane.capture;
        let is_shared = side == 1 && self.has_one_server.get(lane.capture) == Some(&true);
        let conn = lane
            .conn
            .filter(|_| !is_shared && self.all.iter().filter(same).count() > 1);
        let mut text = name.to_owned();
        for part in [capture.cloned(), conn.map(|conn| format!("c{conn}"))] {
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                text.push(' ');
                text.push_str(&part);
            }
        }
        text
    }
}

/// Returns the name of a capture as diagrams show it.
fn short(name: &str) -> String {
    crate::escape::escape(&shorten(name, MAX_NAME)).into_owned()
}
