//! Spans to a collector: `--otlp` of export, proxy and record.

use super::passing::Passing;
use crate::capture::{Header, Item};
use crate::cli::call_address::{CallAddress, parse_address};
use crate::conversation::Output;
use crate::decoder::Origin;
use crate::export::{ExportOptions, FormName};
use crate::select::Filter;
use crate::transport::{Collector, CollectorAddress, CollectorReport, TlsClient, Trust};
use anyhow::{Context as _, Result};
use std::sync::Arc;
use std::time::Duration;

/// The time for what waits at the end of live traffic.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Parses the address of a collector.
pub fn parse_collector(text: &str) -> Result<CallAddress, String> {
    let to = parse_address(text)?;
    let is_http = text.starts_with("http://") || text.starts_with("https://");
    is_http
        .then_some(to)
        .ok_or_else(|| "wanted http://HOST:PORT or https://HOST:PORT of a collector".to_owned())
}

/// Connects to a collector, when the first spans are there.
pub fn open(to: &CallAddress) -> Result<Collector> {
    let address = to.address.clone();
    let tls = address
        .is_tls()
        .then(|| TlsClient::new(&Trust::System, true));
    let tls = tls.transpose().map_err(anyhow::Error::msg)?;
    let path = to.path.as_deref().unwrap_or_default();
    let path = path.trim_end_matches('/').to_owned();
    let to = CollectorAddress { address, path, tls };
    Collector::new(to).context("cannot start the thread that sends spans")
}

/// Sends the operations of live traffic as spans. Traffic does not wait for it.
pub struct LiveSpans {
    passing: Passing,
    collector: Arc<Collector>,
    lines: Vec<u8>,
}

impl LiveSpans {
    pub fn new(collector: Arc<Collector>, header: &Header, show_secrets: bool) -> Result<Self> {
        let options = ExportOptions {
            show_secrets,
            is_live: true,
            ..ExportOptions::default()
        };
        let form = FormName::Otlp.start(options);
        let mut form = form.context("this form needs no capture")?;
        let mut lines = Vec::new();
        form.item(&Item::Header(header), Origin::default(), &mut lines);
        Ok(Self {
            passing: Passing::new(form, Filter::default()),
            collector,
            lines,
        })
    }

    pub fn take(&mut self, output: Output<'_>) {
        self.passing.take(output, &mut self.lines);
        if matches!(output, Output::End(..)) {
            // Live traffic has times, and no span is no error.
            let _ = self.passing.form.finish(&mut self.lines);
        }
        if !self.lines.is_empty() {
            self.collector.offer(&self.lines);
            self.lines.clear();
        }
    }
}

/// Ends the sending after live traffic, and says what happened.
pub fn report_end(collector: Option<&Collector>, quiet: bool, print: &dyn Fn(&str)) {
    let Some(collector) = collector else {
        return;
    };
    let report = collector.finish(END_TIMEOUT);
    if report.dropped > 0 || !quiet {
        print(&text_of(&report));
    }
}

/// Returns what happened to spans: `12 spans sent, 3 dropped: the collector answers 429`.
pub fn text_of(report: &CollectorReport) -> String {
    let sent = crate::cli::count_text(report.sent, "span", "spans");
    let dropped = match report.dropped {
        0 => String::new(),
        dropped => format!(", {dropped} dropped"),
    };
    let why = match &report.problem {
        Some(problem) if report.dropped > 0 => format!(": {problem}"),
        _ => String::new(),
    };
    format!("{sent} sent{dropped}{why}")
}
