//! Histograms of durations, as the JSON of OTLP.
//!
//! ```text
//!   {"resourceMetrics":[{"resource":..,"scopeMetrics":[{"scope":..,"metrics":[
//!       {"name":"mcp.client.operation.duration","unit":"s","histogram":{"aggregationTemporality":2,"dataPoints":[..]}} ]}]}]}
//! ```

use super::attributes::Attributes;
use super::names;
use crate::encoding::json::write_str;
use std::collections::BTreeMap;
use std::io::Write as _;

/// The bounds of the buckets in seconds, as the conventions advise.
const BOUNDS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];
/// The maximum number of series; the rest is one more.
const MAX_SERIES: usize = 2000;

/// The durations with the same metric and the same attributes.
#[derive(Debug, Default)]
struct Histogram {
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
    buckets: [u64; BOUNDS.len() + 1],
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        if self.count == 0 {
            (self.least, self.most) = (seconds, seconds);
        }
        self.count += 1;
        self.sum += seconds;
        self.least = self.least.min(seconds);
        self.most = self.most.max(seconds);
        let at = BOUNDS.partition_point(|bound| seconds > *bound);
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket += 1;
        }
    }

    fn write(&self, attributes: &[u8], [start, end]: [i64; 2], out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"attributes\":");
        out.extend_from_slice(attributes);
        let Self {
            count,
            sum,
            least,
            most,
            buckets,
        } = self;
        // Writing to memory does not fail.
        let _ = write!(
            out,
            ",\"startTimeUnixNano\":\"{start}\",\"timeUnixNano\":\"{end}\",\"count\":\"{count}\",\"sum\":{sum},\
             \"min\":{least},\"max\":{most},\"bucketCounts\":["
        );
        for (n, bucket) in buckets.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\"{bucket}\"");
        }
        let _ = write!(out, "],\"explicitBounds\":{BOUNDS:?}}}");
    }
}

/// The histograms of all metrics.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// By metric, then by attributes.
    all: BTreeMap<String, BTreeMap<Vec<u8>, Histogram>>,
    series: usize,
    /// The first start and the last end of an operation.
    times: Option<[i64; 2]>,
    /// The time of the last output.
    written: i64,
    is_changed: bool,
}

impl Metrics {
    /// Adds the duration of an operation between two times, in nanoseconds.
    pub(super) fn add(&mut self, name: &str, attributes: &Attributes, [start, end]: [i64; 2]) {
        let [first, last] = self.times.unwrap_or([start, end]);
        self.times = Some([first.min(start), last.max(end)]);
        self.is_changed = true;
        let mut key = Vec::new();
        attributes.write(&mut key);
        if !self.all.contains_key(name) {
            self.all.insert(name.to_owned(), BTreeMap::new());
        }
        let Some(series) = self.all.get_mut(name) else {
            return;
        };
        if !series.contains_key(&key) {
            if self.series >= MAX_SERIES {
                key = names::OVERFLOW.to_vec();
            }
            self.series += 1;
        }
        #[allow(clippy::cast_precision_loss)] // durations in nanoseconds are below 2^53
        let seconds = end.saturating_sub(start) as f64 / 1e9;
        series.entry(key).or_default().add(seconds);
    }

    /// Writes a line if something has changed, and the last line is as old as that, in nanoseconds.
    pub(super) fn write_after(&mut self, pause: i64, out: &mut Vec<u8>) {
        let last = self.times.map_or(0, |[_, last]| last);
        if self.is_changed && last.saturating_sub(self.written) >= pause {
            self.written = last;
            self.write(out);
        }
    }

    /// Writes a line with everything so far, if something has changed.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        let Some(times) = self.times.filter(|_| self.is_changed) else {
            return;
        };
        self.is_changed = false;
        let mut resource = Attributes::default();
        resource.text(names::SERVICE_NAME, "wiretool");
        out.extend_from_slice(b"{\"resourceMetrics\":[{\"resource\":{\"attributes\":");
        resource.write(out);
        out.extend_from_slice(
            b"},\"scopeMetrics\":[{\"scope\":{\"name\":\"wiretool\",\"version\":",
        );
        write_str(env!("CARGO_PKG_VERSION"), out);
        out.extend_from_slice(b"},\"metrics\":[");
        for (n, (name, series)) in self.all.iter().enumerate() {
            out.extend_from_slice(if n == 0 {
                b"{\"name\":"
            } else {
                b",{\"name\":"
            });
            write_str(name, out);
            out.extend_from_slice(
                b",\"unit\":\"s\",\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[",
            );
            for (n, (attributes, histogram)) in series.iter().enumerate() {
                out.extend_from_slice(if n == 0 { b"" } else { b"," });
                histogram.write(attributes, times, out);
            }
            out.extend_from_slice(b"]}}");
        }
        out.extend_from_slice(b"],\"schemaUrl\":");
        write_str(names::SCHEMA_URL, out);
        out.extend_from_slice(b"}],\"schemaUrl\":");
        write_str(names::SCHEMA_URL, out);
        out.extend_from_slice(b"}]}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_by_bucket() {
        let mut histogram = Histogram::default();
        for seconds in [0.0, 0.01, 0.011, 300.0, 301.0] {
            histogram.add(seconds);
        }
        let mut wanted = [0; 15];
        (wanted[0], wanted[1], wanted[13], wanted[14]) = (2, 1, 1, 1);
        assert_eq!((histogram.buckets, histogram.count), (wanted, 5));
        assert_eq!((histogram.least, histogram.most), (0.0, 301.0));
    }

    #[test]
    fn the_number_of_series_is_limited() {
        let mut metrics = Metrics::default();
        for n in 0..MAX_SERIES + 9 {
            let mut attributes = Attributes::default();
            attributes.text("tool", &n.to_string());
            metrics.add("duration", &attributes, [0, 1_000_000]);
        }
        let series = metrics.all.get("duration").unwrap();
        assert_eq!(series.len(), MAX_SERIES + 1);
        assert_eq!(series.get(names::OVERFLOW).unwrap().count, 9);
    }
}
