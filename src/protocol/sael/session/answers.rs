//! Answers of the server: LST, RES, STR, END, EVT, ERR.

use super::state::{CallEnd, SaelCall, SaelRequestKind};
use super::{SaelMessage, SaelSession, envelope, short};
use crate::protocol::correlation::OpenRequest;
use crate::protocol::schema::check::number;
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The longest delay of frames that were sent before UNS or CAN was read: 2 s.
const GRACE: i64 = 2_000_000_000;

impl SaelSession {
    /// Handles LST, RES, STR, END or EVT of the server.
    pub(super) fn answer(&mut self, message: &SaelMessage<'_, '_>) {
        let seq = message.seq;
        if message.kind == "LST" {
            self.tools.list(message);
        }
        self.report_after_refusal(message);
        let session = self.parts(message.conn).0.session;
        // A request without a seq has the key 0.
        if seq.node.is_none() && self.calls.get(&(session, 0)).is_none() {
            return;
        }
        let last = matches!(message.kind, "LST" | "RES" | "END");
        let (conn, state) = self.parts(message.conn);
        let key = (conn.session, seq.key);
        state.record_seq(seq.key);
        let replaying = conn.replay.is_some();
        if replaying {
            self.replayed(message, seq.key, last);
        }
        let Some((asked, call)) = self.calls.get_mut(&key) else {
            if !replaying {
                self.report_unmatched(message, seq);
            }
            return;
        };
        message.answers(asked, last && call.sort != SaelRequestKind::Subscription);
        let (right, wanted) = match call.sort {
            SaelRequestKind::List => (message.kind == "LST", "LST or ERR"),
            SaelRequestKind::Call => (
                matches!(message.kind, "RES" | "STR" | "END"),
                "RES, STR, END or ERR",
            ),
            SaelRequestKind::Subscription => {
                (matches!(message.kind, "RES" | "EVT"), "RES, EVT or ERR")
            }
        };
        if !right {
            let text = format!(
                "{} answers {}, but the answer must be {wanted}",
                message.kind,
                asked.describe()
            );
            let place = message.place(message.get("kind"));
            message.broken_by("answer-kind", place, asked.place.index, text);
        } else if call.sort == SaelRequestKind::Subscription {
            let granted = message.kind == "RES";
            if !granted && !call.live && call.reported.first("event-early") && !replaying {
                let text = "EVT comes before the RES that grants its subscription";
                let place = message.place(message.get("kind"));
                message.broken_by("event-early", place, asked.place.index, text);
            }
            let named = message.get("subscriptionId");
            let other = named.filter(|id| id.as_i128() != Some(seq.key));
            if let Some(id) = other
                && call.reported.first("subscription-unknown")
            {
                let text = format!(
                    "subscriptionId is {}, but the subscription has seq {}",
                    quote(id),
                    seq.key
                );
                message.broken_by(
                    "subscription-unknown",
                    message.at(id),
                    asked.place.index,
                    text,
                );
            }
            if granted && named.is_none() {
                let text = "RES grants a subscription, but has no subscriptionId";
                let index = asked.place.index;
                message.broken_by("subscription-id", message.whole(), index, text);
            }
            if granted && call.live && !replaying {
                let text = format!("seq {} was answered before", seq.key);
                let index = asked.place.index;
                message.broken_by("answer-after-end", message.place(seq.node), index, text);
            }
        } else if call.sort == SaelRequestKind::Call {
            check_items(message, asked, call, replaying);
        }
        check_trace(message, asked, call);
        if call.sort == SaelRequestKind::Subscription && message.kind == "RES" {
            let needs_answer = call.needs_answer();
            let granted = !std::mem::replace(&mut call.live, true);
            message.report().subscription(asked.place.index, true);
            if needs_answer {
                self.leave_window(key.0);
            }
            self.parts(message.conn).1.live += usize::from(granted);
            return;
        }
        if last && call.live {
            message.report().subscription(asked.place.index, false);
        }
        self.add_cost(message);
        if last {
            self.close(key, message, CallEnd::Answered);
        }
    }

    /// Handles ERR.
    pub(super) fn error(&mut self, message: &SaelMessage<'_, '_>) {
        let code = message.text("code").unwrap_or_default();
        if self.refuses(message, &code) {
            return;
        }
        let seq = message.seq;
        let misunderstood = matches!(code.as_ref(), "INVALID_FRAME" | "UNKNOWN_KIND");
        let (conn, state) = self.parts(message.conn);
        state.record_seq(seq.key);
        if misunderstood {
            if seq.key == 0 {
                if std::mem::take(&mut conn.beat_last)
                    && let Some(asked) = conn.heartbeats.newest()
                {
                    message.answers(&asked, true);
                }
                conn.odd = None;
                return;
            }
            if conn.odd.take() == Some(seq.key) {
                return;
            }
        }
        let key = (conn.session, seq.key);
        let replaying = conn.replay.is_some();
        if seq.key == 0 && self.calls.get(&key).is_none() {
            return;
        }
        if replaying {
            self.replayed(message, seq.key, true);
        }
        let Some((asked, call)) = self.calls.get(&key) else {
            if !replaying && !misunderstood {
                self.report_unmatched(message, seq);
            }
            return;
        };
        message.answers(asked, true);
        if let Some(required) = &call.required
            && required.granted
            && code == "MISSING_CAPABILITY"
        {
            let text = format!(
                "`{}` is refused, but the granted capabilities include it",
                short(&required.capability)
            );
            let place = message.place(message.get("code"));
            message.broken_by("capability-denied", place, asked.place.index, text);
        }
        let asked = asked.clone();
        if let Some((_, call)) = self.calls.get_mut(&key)
            && message.get("trace_id").is_some()
        {
            check_trace(message, &asked, call);
        }
        self.close(key, message, CallEnd::Answered);
    }

    /// Reports an answer on a connection that the server has refused.
    fn report_after_refusal(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, _) = self.parts(message.conn);
        if let Some(refused) = conn.refused
            && !conn.greeted
            && conn.reported.first("refused-goes-on")
        {
            let text = format!(
                "{} comes on a connection that the server refused and should have closed",
                message.kind
            );
            message.broken_by("refused-goes-on", message.whole(), refused, text);
        }
    }

    /// Reports an answer without an open request.
    fn report_unmatched(&mut self, message: &SaelMessage<'_, '_>, seq: envelope::Seq<'_>) {
        let is_no_number = seq.node.is_some_and(|node| number(node).is_none());
        if self.calls.refused() > 0 || is_no_number {
            return;
        }
        let (conn, _) = self.parts(message.conn);
        let key = (conn.session, seq.key);
        if conn.may_have_gaps() || conn.refused.is_some() {
            return;
        }
        let (place, kind) = (message.place(seq.node), message.kind);
        let Some(done) = self.ended.get(&key).cloned() else {
            let text = format!("{kind} has seq {}, but no request has it", seq.key);
            message.broken("answer-unasked", place, text);
            return;
        };
        if done.how == CallEnd::Answered {
            let text = format!("{kind} comes for seq {}, which is complete", seq.key);
            message.broken_by("answer-after-end", place, done.index, text);
            return;
        }
        if let Some(asked) = done.asked.filter(|_| message.kind == "EVT") {
            message.answers(&asked, false);
            let (conn, _) = self.parts(message.conn);
            if let Some(read) = conn.read_up_to.filter(|read| *read > done.index)
                && conn.reported.first("event-after-unsubscribe")
            {
                let text = format!(
                    "EVT comes for seq {}, although the server has read UNS: it has answered #{read}, sent after it",
                    seq.key
                );
                message.broken_by("event-after-unsubscribe", place, done.index, text);
                return;
            }
        }
        let late = message.time().zip(done.time);
        if let Some((now, then)) = late
            && now.saturating_sub(then) > GRACE
            && self.parts(message.conn).0.reported.first("still-sending")
        {
            report_still_sending(message, seq.key, (done.index, now.saturating_sub(then)));
        }
    }

    /// Adds up the costs of calls.
    fn add_cost(&mut self, message: &SaelMessage<'_, '_>) {
        let cost = message.get("cost").or_else(|| message.get("cost_used"));
        let Some(node) = cost.and_then(|cost| cost.get("usd").or_else(|| cost.get("USD"))) else {
            return;
        };
        let (_, state) = self.parts(message.conn);
        state.cost += number(node).filter(|usd| usd.is_finite()).unwrap_or(0.0);
        if let Some(most) = state.max_cost
            && state.cost > most
            && state.reported.first("cost-over-limit")
        {
            let text = format!(
                "the calls have cost {:.6} USD, but the token allows {most:.6}",
                state.cost
            );
            message.broken("cost-over-limit", message.at(node), text);
        }
    }
}

fn report_still_sending(message: &SaelMessage<'_, '_>, seq: i128, since: (u64, i64)) {
    let (index, age) = since;
    let text = format!(
        "{} comes for seq {seq}, {} ms after it was cancelled",
        message.kind,
        age / 1_000_000
    );
    message.broken_by("still-sending", message.whole(), index, text);
}

/// Checks STR, END or RES of a call.
fn check_items(
    message: &SaelMessage<'_, '_>,
    asked: &OpenRequest,
    call: &mut SaelCall,
    replaying: bool,
) {
    let place = || message.place(message.get("kind"));
    let index = asked.place.index;
    let streams = matches!(message.kind, "STR" | "END");
    if streams && call.streaming == Some(false) && call.reported.first("stream-undeclared") {
        let text = format!(
            "{} answers a tool that is listed with streaming false",
            message.kind
        );
        message.broken_by("stream-undeclared", place(), index, text);
    }
    if message.kind == "RES" && call.items > 0 {
        let text = format!(
            "RES ends a stream of {} STR; it must end with END",
            call.items
        );
        message.broken_by("stream-ends-with-result", place(), index, text);
    } else if message.kind == "RES" && call.streaming == Some(true) {
        let text = "RES answers a tool that is listed with streaming true";
        message.broken_by("stream-not-streamed", place(), index, text);
    }
    if let Some(required) = &call.required
        && required.lacking
        && call.reported.first("capability-ignored")
    {
        let text = format!(
            "the call is answered, but requires `{}`, which was not granted",
            short(&required.capability)
        );
        message.broken_by("capability-ignored", message.whole(), index, text);
    }
    if let Some(first_mismatch) = &call.first_mismatch
        && call.reported.first("input-unchecked")
    {
        let text = format!("the call is answered, but its input does not fit: {first_mismatch}");
        message.broken_by("input-unchecked", message.whole(), index, text);
    }
    if message.kind != "STR" {
        return;
    }
    if call.released
        && call.cancelled.is_none()
        && !replaying
        && call.reported.first("stream-survived")
    {
        let text = "STR continues a call of the connection before the resume";
        message.broken_by("stream-survived", message.whole(), index, text);
    }
    if let Some((by, Some(then))) = call.cancelled
        && let Some(now) = message.time()
        && now.saturating_sub(then) > GRACE
        && call.reported.first("still-sending")
    {
        report_still_sending(message, message.seq.key, (by, now.saturating_sub(then)));
    }
    check_contents(message, call, index);
    call.items += 1;
}

/// Checks the content of a STR.
fn check_contents(message: &SaelMessage<'_, '_>, call: &mut SaelCall, index: u64) {
    let (data, delta) = (message.get("data"), message.get("delta"));
    let patch = match (data, delta) {
        (Some(_), None) => false,
        (None, Some(_)) => true,
        // The schema requires one of them.
        (None, None) | (Some(_), Some(_)) => return,
    };
    match call.patches {
        Some(before) if before != patch => {
            if call.reported.first("delta-mixed") {
                let (now, then) = if patch {
                    ("delta", "data")
                } else {
                    ("data", "delta")
                };
                let text = format!("STR has {now}, but earlier items of this call have {then}");
                let place = message.place(delta.or(data));
                message.broken_by("delta-mixed", place, index, text);
            }
            return;
        }
        _ => call.patches = Some(patch),
    }
    let Some(delta) = delta else { return };
    if call.delta == Some(false) && call.reported.first("delta-undeclared") {
        let text = "STR has delta, but the tool is not listed with delta true";
        message.broken_by("delta-undeclared", message.at(delta), index, text);
    }
    if call.items == 0 && !call.released && !delta.is_map() {
        let text = format!(
            "the first delta is {}; it must be an object",
            delta.describe()
        );
        message.broken_by("delta-snapshot", message.at(delta), index, text);
    }
}

/// Compares the trace of the answer with that of the request.
fn check_trace(message: &SaelMessage<'_, '_>, asked: &OpenRequest, call: &mut SaelCall) {
    let Some(wanted) = &call.trace else {
        // The request had no valid trace: the server made this one. An error in an echoed trace was reported with the
        // request.
        if call.reported.first("trace-id") {
            envelope::check_traces(message);
        }
        return;
    };
    let node = message.get("trace_id");
    if node.is_some_and(|node| node.is_text(wanted)) {
        return;
    }
    let got = node.and_then(Node::text);
    let index = asked.place.index;
    match got.as_deref() {
        Some(got) => {
            if call.reported.first("trace-mismatch") {
                let text = format!(
                    "trace_id is {}, but the request has {}",
                    short(got),
                    short(wanted)
                );
                message.broken_by("trace-mismatch", message.place(node), index, text);
            }
        }
        // Events never had a trace; no peer passes it on there.
        None if matches!(message.kind, "EVT" | "ERR") || call.sort != SaelRequestKind::Call => {}
        None => {
            if call.reported.first("trace-dropped") {
                let text = format!("{} has no trace_id, but the request has one", message.kind);
                message.broken_by("trace-dropped", message.whole(), index, text);
            }
        }
    }
}
