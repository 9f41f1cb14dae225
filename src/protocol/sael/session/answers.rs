//! Answers of the server: LST, RES, STR, END, EVT, ERR.

use super::state::{CallEnd, SaelCall, SaelRequestKind};
use super::{SaelMessage, SaelSession, broken, envelope, rule, short};
use crate::protocol::exchange::{Found, Key, OpenRequest};
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
        if seq.node.is_none() && self.calls.open.get(&Key::one_way(session, 0)).is_none() {
            return;
        }
        let last = matches!(message.kind, "LST" | "RES" | "END");
        let (conn, state) = self.parts(message.conn);
        let key = Key::one_way(conn.session, seq.key);
        state.record_seq(seq.key);
        let replaying = conn.login.replay.is_some();
        if replaying {
            self.replayed(message, seq.key, last);
        }
        let Some((asked, call)) = self.calls.open.get_mut(&key) else {
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
        let place = || message.place(message.get("kind"));
        if !right {
            broken!(message, rule::ANSWER_KIND, place(), asked.index();
                "{} answers {}, but the answer must be {wanted}", message.kind, asked.describe());
        } else if call.sort == SaelRequestKind::Subscription {
            check_subscription(message, asked, call, replaying);
        } else if call.sort == SaelRequestKind::Call {
            check_items(message, asked, call, replaying);
        }
        check_trace(message, asked, call);
        if call.sort == SaelRequestKind::Subscription && message.kind == "RES" {
            let needs_answer = call.needs_answer();
            let granted = !std::mem::replace(&mut call.live, true);
            message.report().subscription(asked.index(), true);
            if needs_answer {
                self.leave_window(key.scope);
            }
            self.parts(message.conn).1.live += usize::from(granted);
            return;
        }
        if last && call.live {
            message.report().subscription(asked.index(), false);
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
                    && let Some(asked) = conn
                        .alive
                        .made()
                        .and_then(|alive| alive.heartbeats.newest())
                {
                    message.answers(&asked, true);
                }
                if let Some(rare) = conn.rare.made() {
                    rare.odd = None;
                }
                return;
            }
            if conn.rare.made().and_then(|rare| rare.odd.take()) == Some(seq.key) {
                return;
            }
        }
        let key = Key::one_way(conn.session, seq.key);
        let replaying = conn.login.replay.is_some();
        if seq.key == 0 && self.calls.open.get(&key).is_none() {
            return;
        }
        if replaying {
            self.replayed(message, seq.key, true);
        }
        let Some((asked, call)) = self.calls.open.get(&key) else {
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
            let place = message.place(message.get("code"));
            broken!(message, rule::CAPABILITY_DENIED, place, asked.index();
                "`{}` is refused, but the granted capabilities include it",
                short(&required.capability));
        }
        let asked = asked.clone();
        if let Some((_, call)) = self.calls.open.get_mut(&key)
            && message.get("trace_id").is_some()
        {
            check_trace(message, &asked, call);
        }
        self.close(key, message, CallEnd::Answered);
    }

    /// Reports an answer on a connection that the server has refused.
    fn report_after_refusal(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, _) = self.parts(message.conn);
        if let Some(refused) = conn.rare.refused
            && !conn.hey_answered
            && conn.reported.first(rule::REFUSED_GOES_ON)
        {
            broken!(message, rule::REFUSED_GOES_ON, message.whole(), refused;
                "{} comes on a connection that the server refused and should have closed",
                message.kind);
        }
    }

    /// Reports an answer without an open request.
    fn report_unmatched(&mut self, message: &SaelMessage<'_, '_>, seq: envelope::Seq<'_>) {
        let is_no_number = seq.node.is_some_and(|node| number(node).is_none());
        if is_no_number {
            return;
        }
        let (conn, _) = self.parts(message.conn);
        let key = Key::one_way(conn.session, seq.key);
        if conn.may_have_gaps() || conn.rare.refused.is_some() {
            return;
        }
        let (place, kind) = (message.place(seq.node), message.kind);
        let Some(done) = self.calls.ended.get(&key).cloned() else {
            if self.calls.find(&key) == Found::Never {
                broken!(message, rule::ANSWER_UNASKED, place;
                    "{kind} has seq {}, but no request has it", seq.key);
            }
            return;
        };
        if done.how == CallEnd::Answered {
            broken!(message, rule::ANSWER_AFTER_END, place, done.index;
                "{kind} comes for seq {}, which is complete", seq.key);
            return;
        }
        if let Some(asked) = done.asked.filter(|_| message.kind == "EVT") {
            message.answers(&asked, false);
            let (conn, _) = self.parts(message.conn);
            if let Some(read) = conn.read_up_to.filter(|read| *read > done.index)
                && conn.reported.first(rule::EVENT_AFTER_UNSUBSCRIBE)
            {
                broken!(message, rule::EVENT_AFTER_UNSUBSCRIBE, place, done.index;
                    "EVT comes for seq {}, although the server has read UNS: it has answered \
                    #{read}, sent after it", seq.key);
                return;
            }
        }
        let late = message.time().zip(done.time);
        if let Some((now, then)) = late
            && now.saturating_sub(then) > GRACE
            && self
                .parts(message.conn)
                .0
                .reported
                .first(rule::STILL_SENDING)
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
        state.terms.cost += number(node).filter(|usd| usd.is_finite()).unwrap_or(0.0);
        if let Some(most) = state.terms.max_cost
            && state.terms.cost > most
            && state.reported.first(rule::COST_OVER_LIMIT)
        {
            broken!(message, rule::COST_OVER_LIMIT, message.at(node);
                "the calls have cost {:.6} USD, but the token allows {most:.6}", state.terms.cost);
        }
    }
}

fn report_still_sending(message: &SaelMessage<'_, '_>, seq: i128, (index, age): (u64, i64)) {
    broken!(message, rule::STILL_SENDING, message.whole(), index;
        "{} comes for seq {seq}, {} ms after it was cancelled", message.kind, age / 1_000_000);
}

/// Checks an answer to a subscription.
fn check_subscription(
    message: &SaelMessage<'_, '_>,
    asked: &OpenRequest,
    call: &mut SaelCall,
    replaying: bool,
) {
    let granted = message.kind == "RES";
    if !granted && !call.live && call.reported.first(rule::EVENT_EARLY) && !replaying {
        broken!(message, rule::EVENT_EARLY, message.place(message.get("kind")), asked.index();
            "EVT comes before the RES that grants its subscription");
    }
    let named = message.get("subscriptionId");
    let other = named.filter(|id| id.as_i128() != Some(message.seq.key));
    if let Some(id) = other
        && call.reported.first(rule::SUBSCRIPTION_UNKNOWN)
    {
        broken!(message, rule::SUBSCRIPTION_UNKNOWN, message.at(id), asked.index();
            "subscriptionId is {}, but the subscription has seq {}", quote(id), message.seq.key);
    }
    if granted && named.is_none() {
        broken!(message, rule::SUBSCRIPTION_ID, message.whole(), asked.index();
            "RES grants a subscription, but has no subscriptionId");
    }
    if granted && call.live && !replaying {
        broken!(message, rule::ANSWER_AFTER_END, message.place(message.seq.node), asked.index();
            "seq {} was answered before", message.seq.key);
    }
}

/// Checks STR, END or RES of a call.
fn check_items(
    message: &SaelMessage<'_, '_>,
    asked: &OpenRequest,
    call: &mut SaelCall,
    replaying: bool,
) {
    let place = || message.place(message.get("kind"));
    let index = asked.index();
    let streams = matches!(message.kind, "STR" | "END");
    if streams && call.streaming == Some(false) && call.reported.first(rule::STREAM_UNDECLARED) {
        broken!(message, rule::STREAM_UNDECLARED, place(), index;
            "{} answers a tool that is listed with streaming false", message.kind);
    }
    if message.kind == "RES" && call.items > 0 {
        broken!(message, rule::STREAM_ENDS_WITH_RESULT, place(), index;
            "RES ends a stream of {} STR; it must end with END", call.items);
    } else if message.kind == "RES" && call.streaming == Some(true) {
        broken!(message, rule::STREAM_NOT_STREAMED, place(), index;
            "RES answers a tool that is listed with streaming true");
    }
    if let Some(required) = &call.required
        && required.lacking
        && call.reported.first(rule::CAPABILITY_IGNORED)
    {
        broken!(message, rule::CAPABILITY_IGNORED, message.whole(), index;
            "the call is answered, but requires `{}`, which was not granted",
            short(&required.capability));
    }
    if let Some(first_mismatch) = &call.first_mismatch
        && call.reported.first(rule::INPUT_UNCHECKED)
    {
        broken!(message, rule::INPUT_UNCHECKED, message.whole(), index;
            "the call is answered, but its input does not fit: {first_mismatch}");
    }
    if message.kind != "STR" {
        return;
    }
    if call.released
        && call.cancelled.is_none()
        && !replaying
        && call.reported.first(rule::STREAM_SURVIVED)
    {
        broken!(message, rule::STREAM_SURVIVED, message.whole(), index;
            "STR continues a call of the connection before the resume");
    }
    if let Some((by, Some(then))) = call.cancelled
        && let Some(now) = message.time()
        && now.saturating_sub(then) > GRACE
        && call.reported.first(rule::STILL_SENDING)
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
            if call.reported.first(rule::DELTA_MIXED) {
                let names = ["data", "delta"];
                broken!(message, rule::DELTA_MIXED, message.place(delta.or(data)), index;
                    "STR has {}, but earlier items of this call have {}",
                    names[usize::from(patch)], names[usize::from(before)]);
            }
            return;
        }
        _ => call.patches = Some(patch),
    }
    let Some(delta) = delta else { return };
    if call.delta == Some(false) && call.reported.first(rule::DELTA_UNDECLARED) {
        broken!(message, rule::DELTA_UNDECLARED, message.at(delta), index;
            "STR has delta, but the tool is not listed with delta true");
    }
    if call.items == 0 && !call.released && !delta.is_map() {
        broken!(message, rule::DELTA_SNAPSHOT, message.at(delta), index;
            "the first delta is {}; it must be an object", delta.describe());
    }
}

/// Compares the trace of the answer with that of the request.
fn check_trace(message: &SaelMessage<'_, '_>, asked: &OpenRequest, call: &mut SaelCall) {
    let Some(wanted) = &call.trace else {
        // The request had no valid trace: the server made this one. An error in an echoed trace was reported with the
        // request.
        if call.reported.first(rule::TRACE_ID) {
            envelope::check_traces(message);
        }
        return;
    };
    let node = message.get("trace_id");
    if node.is_some_and(|node| node.is_text(wanted)) {
        return;
    }
    let got = node.and_then(Node::text);
    let index = asked.index();
    match got.as_deref() {
        Some(got) => {
            if call.reported.first(rule::TRACE_MISMATCH) {
                broken!(message, rule::TRACE_MISMATCH, message.place(node), index;
                    "trace_id is {}, but the request has {}", short(got), short(wanted));
            }
        }
        // Events never had a trace; no peer passes it on there.
        None if matches!(message.kind, "EVT" | "ERR") || call.sort != SaelRequestKind::Call => {}
        None => {
            if call.reported.first(rule::TRACE_DROPPED) {
                broken!(message, rule::TRACE_DROPPED, message.whole(), index;
                    "{} has no trace_id, but the request has one", message.kind);
            }
        }
    }
}
