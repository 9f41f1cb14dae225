//! Shows statistics as tables and as JSON.

mod cost;

use super::super::count_text;
use super::super::output::without_nulls;
use crate::protocol::Direction;
use crate::render::findings::{consequences, duration, millis};
use crate::render::style::{Highlight, shorten};
use crate::render::subject::masked_subject;
use crate::render::{DisplayOptions, arrow};
use crate::stat::{Latency, OTHER, OperationStat, Stat};
use serde_json::{Map, Value, json};
use std::cmp::Reverse;

/// The minimum width of a terminal for histograms, in columns.
const HISTOGRAM_WIDTH: usize = 95;
/// The maximum number of bars of the messages over time.
const MAX_BARS: usize = 40;
/// The minimum width for all columns of operations.
const WIDE_OPERATIONS: usize = 120;
/// The minimum and the maximum width for subjects with their names.
const MIN_SUBJECT: usize = 30;
const MAX_SUBJECT: usize = 48;
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
    write_total((source, protocol), stat, unanswered, display, out);
    let mut table = Table { display, out };
    if !stat.operations.is_empty() {
        write_operations(stat, &mut table);
        return;
    }
    if let Some(cost) = &stat.cost {
        cost::write(cost, &mut table);
        return;
    }
    write_rate(stat, &mut table);
    table.begin("kinds                            messages        bytes");
    for (sort, count) in &stat.kinds {
        let kind = match sort.kind.as_ref() {
            "" => "-",
            kind => kind,
        };
        table.text(&format!("  {} ", arrow(sort.direction)));
        table.wire(&format!("{:<28}", shorten(kind, 28)));
        table.text(&format!(" {:>8} {:>12}\n", count.messages, count.bytes));
    }
    write_latencies(stat, &mut table);
    write_streams_and_errors(stat, &mut table);
}

/// Writes one line about the whole capture.
fn write_total(
    (source, protocol): (&str, &str),
    stat: &Stat,
    unanswered: u64,
    display: DisplayOptions,
    out: &mut String,
) {
    let style = display.style;
    style.push_wire(out, Highlight::Plain, &format!("{source}: "));
    let lasted = stat.times.map(|(from, to)| duration(to - from));
    let lasted = lasted.map_or(String::new(), |time| format!(" in {time}"));
    let messages = count_text(stat.all.messages, "message", "messages");
    let bytes = stat.all.bytes;
    out.push_str(&format!("{protocol}, {messages}, {bytes} bytes{lasted}"));
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
    out.push('\n');
}

/// Writes how many messages came when.
fn write_rate(stat: &Stat, table: &mut Table<'_>) {
    let rate = stat.rate.as_ref().filter(|rate| rate.counts().len() > 1);
    if let Some(rate) = rate {
        let (step, steps) = rate.in_steps(MAX_BARS);
        let most = steps.iter().copied().max().unwrap_or_default();
        let most = count_text(most, "message", "messages");
        let bars = sparkline(&steps);
        let text = format!("over time  {bars}  {most} in {} at most\n", duration(step));
        table.dim(&text);
    }
}

/// Writes how long answers took, and the slowest.
fn write_latencies(stat: &Stat, table: &mut Table<'_>) {
    let display = table.display;
    let has_times = stat.times.is_some() || stat.all.messages <= 1;
    if (stat.untimed > 0 || !has_times) && stat.latencies.is_empty() {
        table.dim("\nlatency  unknown: the messages have no times; wiretool record writes them\n");
    }
    let mut latencies: Vec<(&String, &Latency)> = stat.latencies.iter().collect();
    latencies.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.count()));
    let longest = latencies.iter().map(|(what, _)| what.chars().count()).max();
    let most = match display.width {
        Some(width) => width.saturating_sub(HISTOGRAM_WIDTH - MIN_SUBJECT),
        None => MAX_SUBJECT,
    };
    let wide = longest
        .unwrap_or_default()
        .min(most)
        .clamp(MIN_SUBJECT, MAX_SUBJECT);
    table.write(
        &format!(
            "{:<1$}  count       p50       p90       p99       max",
            "latency",
            wide + 2
        ),
        &latencies,
        |table, (what, latency)| {
            table.wire(&format!("  {:<wide$} ", table.subject(what, wide)));
            table.text(&format!("{:>6}", latency.count()));
            for percent in [50_u32, 90, 99, 100] {
                // Of fewer latencies, the percentile is the maximum.
                let is_known = percent == 100 || latency.count() * u64::from(100 - percent) >= 100;
                let ns = latency.percentile(percent.into()).try_into();
                let ns = is_known.then(|| duration(ns.unwrap_or(i64::MAX)));
                table.text(&format!(" {:>9}", ns.as_deref().unwrap_or("-")));
            }
            if display.width.is_none_or(|width| width >= HISTOGRAM_WIDTH) {
                table.dim(&format!("  {}", sparkline(&latency.bars())));
            }
            table.text("\n");
        },
    );
    // Calls that take a tenth of the slowest are not slow.
    let slow = stat.slowest.iter().map(|call| call.latency).max();
    let slow: Vec<_> = stat
        .slowest
        .iter()
        .filter(|call| Some(call.latency) >= slow.map(|most| most / 10))
        .collect();
    table.write("slowest", &slow, |table, call| {
        table.text(&format!("  {:>9}  ", duration(call.latency)));
        table.wire(&table.subject(&call.what, 60));
        table.dim(&format!("  #{} ↩ #{}\n", call.answered, call.asked));
    });
}

/// Writes the streams, the errors, the broken rules, and how messages arrived.
fn write_streams_and_errors(stat: &Stat, table: &mut Table<'_>) {
    let streams: Vec<_> = stat.streams.iter().collect();
    table.write(
        "streams                           streams     items        bytes      rate",
        &streams,
        |table, (what, streams)| {
            table.wire(&format!("  {:<32}", table.subject(what, 32)));
            let rate = streams.rate().map(|rate| format!("{rate:>7.1}/s"));
            let (count, items, bytes) = (streams.count, streams.items, streams.bytes);
            let rate = rate.unwrap_or_default();
            table.text(&format!("{count:>7} {items:>9} {bytes:>12} {rate}\n"));
        },
    );
    for (name, counts) in [("errors", &stat.errors), ("rules broken", &stat.findings)] {
        let mut all: Vec<_> = counts.iter().collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        table.write(name, &all, |table, (code, n)| {
            table.text(&format!("  {n:>8}  "));
            table.wire(&shorten(code, 60));
            table.text("\n");
        });
    }
    table.write("", &stat.follow, |table, one| {
        table.dim(&format!("{}\n", consequences(*one)));
    });
    let reads: Vec<_> = stat.reads.iter().collect();
    table.write(
        "messages that end in one read     reads",
        &reads,
        |table, (messages, reads)| {
            let messages = match **messages {
                u64::MAX => OTHER.to_owned(),
                n => n.to_string(),
            };
            table.text(&format!("  {messages:>27} {reads:>9}\n"));
        },
    );
}

/// Writes the operations by subject, those with the most time first.
fn write_operations(stat: &Stat, table: &mut Table<'_>) {
    let width = table.display.width;
    let is_wide = width.is_none_or(|width| width >= WIDE_OPERATIONS);
    let mut all: Vec<(&String, &OperationStat)> = stat.operations.iter().collect();
    all.sort_by_key(|(_, one)| Reverse((one.shares.values().sum::<u64>(), one.count)));
    let wide = if is_wide { MIN_SUBJECT } else { 20 };
    let mut heading = format!("{:<1$}  count", "operations", wide + 2);
    heading.push_str("       p50       p90       p99");
    if is_wide {
        heading.push_str(" errors  messages        bytes");
    }
    heading.push_str("  waits for");
    table.write(&heading, &all, |table, (what, one)| {
        table.wire(&format!("  {:<wide$} ", table.subject(what, wide)));
        table.text(&format!("{:>6}", one.count));
        for percent in [50_u32, 90, 99] {
            let is_known = percent == 50 || one.count * u64::from(100 - percent) >= 100;
            let lasted = one.durations.as_ref().filter(|_| is_known);
            // Of fewer durations, the percentile is the maximum.
            let lasted = lasted.map(|all| all.percentile(percent.into()));
            let lasted = lasted.map(|ns| duration(ns.try_into().unwrap_or(i64::MAX)));
            table.text(&format!(" {:>9}", lasted.as_deref().unwrap_or("-")));
        }
        if is_wide {
            let (errors, messages, bytes) = (one.failed, one.messages, one.bytes);
            table.text(&format!(" {errors:>6} {messages:>9} {bytes:>12}"));
        }
        let percents = one.percents().into_iter().map(|(owner, part)| match part {
            0 => format!("{owner} <1 %"),
            part => format!("{owner} {part} %"),
        });
        let mut groups = vec![percents.collect::<Vec<_>>().join(", ")];
        let errors = if is_wide { 0 } else { one.failed };
        for (n, what) in [
            (errors, "failed"),
            (one.cancelled, "cancelled"),
            (one.open, "open"),
        ] {
            if n > 0 {
                groups.push(format!("{n} {what}"));
            }
        }
        if let Some((most, last)) = one
            .unacknowledged
            .filter(|(most, last)| *most > 1 || *last > 0)
        {
            groups.push(format!("up to {most} not acknowledged"));
            groups.extend((last > 0).then(|| format!("{last} at the end")));
        }
        groups.retain(|group| !group.is_empty());
        table.dim(&format!("  {}", groups.join("; ")));
        table.text("\n");
    });
}

/// Writes tables one below the other.
struct Table<'o> {
    display: DisplayOptions,
    out: &'o mut String,
}

impl Table<'_> {
    /// Starts a table; its heading may be empty.
    fn begin(&mut self, heading: &str) {
        self.out.push('\n');
        if !heading.is_empty() {
            let heading = format!("{heading}\n");
            self.display.style.push(self.out, Highlight::Key, &heading);
        }
    }

    /// Writes a table, if it has rows.
    fn write<R>(&mut self, heading: &str, rows: &[R], write_row: impl Fn(&mut Self, &R)) {
        if rows.is_empty() {
            return;
        }
        self.begin(heading);
        for row in rows.iter().take(MAX_SUBJECTS) {
            write_row(self, row);
        }
        if rows.len() > MAX_SUBJECTS {
            let more = rows.len() - MAX_SUBJECTS;
            self.text(&format!("  and {more} more: -f json lists all\n"));
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn dim(&mut self, text: &str) {
        self.display.style.push(self.out, Highlight::Dim, text);
    }

    /// Returns a subject without secrets, cut at a width.
    fn subject(&self, subject: &str, wide: usize) -> String {
        let subject = masked_subject(subject, self.display.show_secrets);
        shorten(&subject, wide).into_owned()
    }

    /// Writes text from the wire.
    fn wire(&mut self, text: &str) {
        self.display
            .style
            .push_wire(self.out, Highlight::Plain, text);
    }
}

/// Returns numbers as a line of text.
fn sparkline(bars: &[u64]) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
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
        "rate": stat.rate.as_ref().map(|rate| json!({
            "step_ms": parse_number(&millis(rate.step())),
            "messages": rate.counts(),
        })),
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
        "operations": (!stat.operations.is_empty()).then(|| {
            let all = stat.operations.iter();
            all.map(|(what, one)| operation_json(what, one)).collect::<Vec<_>>()
        }),
        "cost": stat.cost.as_deref().map(cost::json),
        "findings": stat.findings,
        "follow": stat.follow.iter().map(|one| json!({
            "index": one.index,
            "conn": one.origin.conn,
            "count": one.count,
        })).collect::<Vec<_>>(),
        "reads": stat.reads.iter().map(|(messages, reads)| json!({
            "messages": (*messages != u64::MAX).then_some(messages),
            "reads": reads,
        })).collect::<Vec<_>>(),
    }))
}

/// Returns the operations of a subject as JSON.
fn operation_json(what: &str, one: &OperationStat) -> Value {
    let ms = |ns: u64| parse_number(&millis(ns.try_into().unwrap_or(i64::MAX)));
    let percentile = |percent| {
        let lasted = one.durations.as_ref();
        lasted.map(|all| ms(all.percentile(percent)))
    };
    let owners = one.shares.iter().filter(|(_, ns)| **ns > 0);
    let owners: Map<String, Value> = owners.map(|(owner, ns)| (owner.clone(), ms(*ns))).collect();
    json!({
        "what": what,
        "count": one.count,
        "failed": one.failed,
        "cancelled": one.cancelled,
        "open": one.open,
        "p50_ms": percentile(50.0),
        "p90_ms": percentile(90.0),
        "p99_ms": percentile(99.0),
        "shares_ms": one.durations.as_ref().map(|_| owners),
        "messages": one.messages,
        "bytes": one.bytes,
        "unacknowledged": one.unacknowledged.map(|(most, last)| json!({"most": most, "last": last})),
    })
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
