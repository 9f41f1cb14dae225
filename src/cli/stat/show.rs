//! Shows statistics as tables and as JSON.

use super::super::output::without_nulls;
use crate::protocol::Direction;
use crate::render::findings::{consequences, duration, millis};
use crate::render::style::{Highlight, shorten};
use crate::render::{DisplayOptions, arrow};
use crate::stat::{Latency, OTHER, Stat};
use serde_json::{Value, json};

/// The minimum width of a terminal for histograms, in columns.
const HISTOGRAM_WIDTH: usize = 95;
/// The maximum number of subjects that are shown.
const MAX_SUBJECTS: usize = 30;

/// Writes the statistics as tables.
pub fn write_tables(
    source: &str,
    protocol: &str,
    stat: &Stat,
    unanswered: u64,
    display: DisplayOptions,
    out: &mut String,
) {
    let style = display.style;
    let title =
        |name: &str, out: &mut String| style.push(out, Highlight::Key, &format!("{name}\n"));
    style.push_wire(out, Highlight::Plain, &format!("{source}: "));
    let lasted = stat
        .times
        .map(|(from, to)| format!(" in {}", duration(to - from)));
    let some = if stat.all.messages == 1 {
        "message"
    } else {
        "messages"
    };
    out.push_str(&format!(
        "{protocol}, {} {some}, {} bytes{}",
        stat.all.messages,
        stat.all.bytes,
        lasted.unwrap_or_default()
    ));
    for (n, what) in [
        (stat.faulty, "with faults"),
        (stat.dropped, "dropped by wiretool"),
        (stat.sent, "sent by wiretool"),
        (stat.id_form_differs, "answered in another id form"),
        (unanswered, "unanswered"),
    ] {
        if n > 0 {
            style.push(out, Highlight::Error, &format!(", {n} {what}"));
        }
    }
    out.push_str("\n\n");
    title(
        "kinds                            messages        bytes",
        out,
    );
    for (sort, count) in &stat.kinds {
        out.push_str(&format!("  {} ", arrow(sort.direction)));
        let kind = if sort.kind.is_empty() {
            "-"
        } else {
            &sort.kind
        };
        style.push_wire(out, Highlight::Plain, &format!("{:<28}", shorten(kind, 28)));
        out.push_str(&format!(" {:>8} {:>12}\n", count.messages, count.bytes));
    }
    if !stat.latencies.is_empty() {
        out.push('\n');
        title(
            "latency                           count       p50       p90       p99       max",
            out,
        );
        let mut all: Vec<(&String, &Latency)> = stat.latencies.iter().collect();
        all.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.count()));
        for (what, latency) in all.iter().take(MAX_SUBJECTS) {
            style.push_wire(
                out,
                Highlight::Plain,
                &format!("  {:<30} ", shorten(what, 30)),
            );
            out.push_str(&format!("{:>6}", latency.count()));
            for percent in [50.0, 90.0, 99.0, 100.0] {
                let ns = latency.percentile(percent).try_into().unwrap_or(i64::MAX);
                out.push_str(&format!(" {:>9}", duration(ns)));
            }
            if display.width.is_none_or(|width| width >= HISTOGRAM_WIDTH) {
                style.push(out, Highlight::Dim, &format!("  {}", sparkline(latency)));
            }
            out.push('\n');
        }
        write_more(all.len(), out);
        out.push('\n');
        title("slowest", out);
        for call in &stat.slowest {
            out.push_str(&format!("  {:>9}  ", duration(call.latency)));
            style.push_wire(out, Highlight::Plain, &shorten(&call.what, 60));
            style.push(
                out,
                Highlight::Dim,
                &format!("  #{} ↩ #{}\n", call.answered, call.asked),
            );
        }
    }
    if !stat.streams.is_empty() {
        out.push('\n');
        title(
            "streams                           streams     items        bytes      rate",
            out,
        );
        for (what, streams) in stat.streams.iter().take(MAX_SUBJECTS) {
            style.push_wire(
                out,
                Highlight::Plain,
                &format!("  {:<32}", shorten(what, 32)),
            );
            let rate = streams.rate().map(|rate| format!("{rate:>7.1}/s"));
            out.push_str(&format!(
                "{:>7} {:>9} {:>12} {}\n",
                streams.count,
                streams.items,
                streams.bytes,
                rate.unwrap_or_default()
            ));
        }
        write_more(stat.streams.len(), out);
    }
    for (name, counts) in [("errors", &stat.errors), ("rules broken", &stat.findings)] {
        if !counts.is_empty() {
            out.push('\n');
            title(name, out);
            let mut all: Vec<_> = counts.iter().collect();
            all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
            for (code, n) in all.iter().take(MAX_SUBJECTS) {
                out.push_str(&format!("  {n:>8}  "));
                style.push_wire(out, Highlight::Plain, &shorten(code, 60));
                out.push('\n');
            }
            write_more(all.len(), out);
        }
    }
    if !stat.follow.is_empty() {
        out.push('\n');
        for one in stat.follow.iter().take(MAX_SUBJECTS) {
            style.push(out, Highlight::Dim, &format!("{}\n", consequences(*one)));
        }
        write_more(stat.follow.len(), out);
    }
    if !stat.reads.is_empty() {
        out.push('\n');
        title("messages in a read     reads", out);
        for (messages, reads) in stat.reads.iter().take(MAX_SUBJECTS) {
            let messages = match *messages {
                u64::MAX => OTHER.to_owned(),
                n => n.to_string(),
            };
            out.push_str(&format!("  {messages:>16} {reads:>9}\n"));
        }
        write_more(stat.reads.len(), out);
    }
}

/// Writes that a table has more rows.
fn write_more(rows: usize, out: &mut String) {
    if rows > MAX_SUBJECTS {
        out.push_str(&format!(
            "  and {} more: -f json lists all\n",
            rows - MAX_SUBJECTS
        ));
    }
}

/// Returns a histogram as a line of text: from the minimum to the maximum, on a logarithmic scale.
fn sparkline(latency: &Latency) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bars = latency.bars();
    let most = bars.iter().copied().max().unwrap_or_default().max(1);
    bars.iter()
        .map(|n| match n {
            0 => ' ',
            n => LEVELS[(n * 7 / most) as usize],
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Returns the statistics as JSON.
pub fn stat_json(source: &str, protocol: &str, stat: &Stat, unanswered: u64) -> Value {
    let ms = |ns: u64| parse_number(&millis(ns.try_into().unwrap_or(i64::MAX)));
    without_nulls(json!({
        "v": 1,
        "file": source,
        "protocol": protocol,
        "messages": stat.all.messages,
        "bytes": stat.all.bytes,
        "seconds": stat.times.map(|(from, to)| parse_number(&seconds(to - from))),
        "faulty": stat.faulty,
        "id_form_differs": (stat.id_form_differs > 0).then_some(stat.id_form_differs),
        "dropped": (stat.dropped > 0).then_some(stat.dropped),
        "sent": (stat.sent > 0).then_some(stat.sent),
        "unanswered": unanswered,
        "kinds": stat.kinds.iter().map(|(sort, count)| json!({
            "dir": sort.direction.map(Direction::name),
            "kind": sort.kind,
            "messages": count.messages,
            "bytes": count.bytes,
        })).collect::<Vec<_>>(),
        "latencies": stat.latencies.iter().map(|(what, latency)| json!({
            "what": what,
            "count": latency.count(),
            "p50_ms": ms(latency.percentile(50.0)),
            "p90_ms": ms(latency.percentile(90.0)),
            "p99_ms": ms(latency.percentile(99.0)),
            "max_ms": ms(latency.max()),
            "histogram": latency.bars(),
        })).collect::<Vec<_>>(),
        "slowest": stat.slowest.iter().map(|call| json!({
            "what": call.what,
            "index": call.answered,
            "reply_to": call.asked,
            "latency_ms": parse_number(&millis(call.latency)),
        })).collect::<Vec<_>>(),
        "errors": stat.errors,
        "streams": stat.streams.iter().map(|(what, streams)| json!({
            "what": what,
            "streams": streams.count,
            "items": streams.items,
            "bytes": streams.bytes,
            "items_per_second": streams.rate(),
        })).collect::<Vec<_>>(),
        "findings": stat.findings,
        "follow": stat.follow.iter().map(|one| json!({
            "index": one.index,
            "conn": one.conn,
            "count": one.count,
        })).collect::<Vec<_>>(),
        "reads": stat.reads.iter().map(|(messages, reads)| json!({
            "messages": (*messages != u64::MAX).then_some(messages),
            "reads": reads,
        })).collect::<Vec<_>>(),
    }))
}

/// Returns nanoseconds as seconds, exactly.
fn seconds(ns: i64) -> String {
    let n = ns.max(0);
    format!("{}.{:09}", n / 1_000_000_000, n % 1_000_000_000)
}

/// Converts text to a number.
fn parse_number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
