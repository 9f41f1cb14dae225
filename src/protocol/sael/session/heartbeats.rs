//! Checks heartbeats and silence.

use super::state::SaelConnection;
use super::{Report, SaelMessage, broken, rule};
use crate::protocol::Direction;
use crate::protocol::session::heartbeat::Echo;
use crate::protocol::session::text::quote;
use crate::tape::Node;

const SECOND: i64 = 1_000_000_000;
/// A heartbeat is due every 30 s; a delay of 15 s is tolerated.
const LATE: i64 = 45 * SECOND;
/// After this time without an answer a client gives the connection up.
const GIVEN_UP: i64 = 60 * SECOND;
/// After this time without a message of the client, a server closes.
const SILENT: i64 = 90 * SECOND;
/// Seconds since 1970 reach this value in the year 5138; milliseconds reached it in 1973.
const MILLISECONDS: i128 = 100_000_000_000;

fn seconds(time: i64) -> i64 {
    time.div_euclid(SECOND)
}

/// Handles the passage of time.
pub(super) fn tick(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) {
    let client = message.side == Some(Direction::ToServer);
    if let Some(now) = message.time() {
        let silence = conn.alive.client_last.and_then(|last| {
            let gap = now.saturating_sub(last.origin.time?);
            (client && conn.hey_answered && gap > SILENT).then_some((last.index, gap))
        });
        if let Some((last, gap)) = silence {
            broken!(message, rule::CLIENT_SILENT, message.whole(), last;
                "the client sent nothing for {} s; a server closes after 90", seconds(gap));
            // A silent client sends no heartbeat either.
            conn.reported.first(rule::HEARTBEAT_LATE);
        } else if let Some((since, index)) = conn.alive.beat_at
            && conn.hey_answered
            && now.saturating_sub(since) > LATE
            && conn.reported.first(rule::HEARTBEAT_LATE)
        {
            broken!(message, rule::HEARTBEAT_LATE, message.whole(), index;
                "the client's last heartbeat, or its greeting, is {} s ago; one is due every 30",
                seconds(now.saturating_sub(since)));
        }
        unanswered(conn, now, &mut message.report());
    }
    // Silence counts from the greeting on.
    let greets = matches!(message.kind, "HEY" | "RSM");
    if client && (greets || conn.hey_answered || conn.alive.client_last.is_some()) {
        conn.alive.client_last = Some(message.whole());
    }
}

/// Reports heartbeats that have waited too long.
fn unanswered(conn: &mut SaelConnection, now: i64, report: &mut Report) {
    let mut overdue = || conn.alive.made()?.heartbeats.overdue(now, GIVEN_UP);
    while let Some(asked) = overdue() {
        broken!(report, rule::HEARTBEAT_UNANSWERED, asked.place();
            "HBT has no HBA after 60 s; a client then gives up the connection");
    }
}

/// Handles the end of a connection, which may be long after the last message.
pub(super) fn over(conn: &mut SaelConnection, now: i64, report: &mut Report) {
    unanswered(conn, now, report);
    if let Some(last) = conn.alive.client_last
        && let Some(at) = last.origin.time
        && conn.hey_answered
        && conn.rare.bye[0].is_none()
        && now.saturating_sub(at) > SILENT
    {
        broken!(report, rule::CLIENT_SILENT, last;
            "the client sent nothing more for {} s; a server closes after 90",
            seconds(now.saturating_sub(at)));
    }
}

/// Handles HBT.
pub(super) fn sent(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) {
    if let Some(ts) = message.get("ts")
        && let Some(n) = ts.as_i128().filter(|n| *n >= MILLISECONDS)
        && conn.reported.first(rule::HEARTBEAT_UNIT)
    {
        broken!(message, rule::HEARTBEAT_UNIT, message.at(ts);
            "ts is {n}, not a time in seconds; that would be {}", n / 1000);
    }
    if let Some(now) = message.time() {
        conn.alive.beat_at = Some((now, message.index));
        conn.reported.reset(rule::HEARTBEAT_LATE);
    }
    let stamp = stamp(message.get("ts"));
    conn.alive
        .heartbeats
        .sent(message.seen.stored_request(), stamp);
}

/// Handles HBA: it answers the heartbeat with the same `ts`, otherwise the oldest one.
pub(super) fn answered(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) {
    let node = message.get("ts");
    let (ts, place, index) = (stamp(node), message.place(node), message.index);
    match conn.alive.heartbeats.answered(&ts) {
        Echo::Of(asked, passed_over) => {
            for asked in passed_over {
                broken!(message, rule::HEARTBEAT_UNANSWERED, asked.place(), index;
                    "HBT has no HBA, but a later HBT has one");
            }
            message.answers(&asked, true);
        }
        Echo::Other(asked, sent) => {
            broken!(message, rule::HEARTBEAT_ECHO, place, asked.index();
                "ts is {ts}, but HBT had {sent}");
            message.answers(&asked, true);
        }
        // Its HBT may have been missed.
        Echo::Nothing if conn.may_have_gaps() => {}
        Echo::Nothing => {
            broken!(message, rule::HEARTBEAT_ECHO, place; "HBA with ts {ts} answers no HBT");
        }
    }
}

/// Formats `ts` for comparison and output; an absent one counts as null.
fn stamp(ts: Option<Node<'_>>) -> String {
    ts.map_or_else(
        || "null".to_owned(),
        |ts| ts.as_i128().map_or_else(|| quote(ts), |n| n.to_string()),
    )
}
