//! Waits until everything that was sent has arrived.
//!
//! Closing a QUIC connection discards data that is still on its way, so that a proxy must wait before it passes on a close.
//! quinn reports the delivery of finished streams only. For all others, a congestion controller counts the bytes in flight.

use quinn::Connection;
use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval at which the bytes in flight are examined.
const INTERVAL: Duration = Duration::from_millis(2);
/// Number of consecutive examinations without bytes in flight that prove the delivery. The first may precede the sending.
const EXAMINATIONS: u32 = 5;

/// Delay of acknowledgements (RFC 9000 section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// Lost data is sent again within this number of round trips. Each time takes twice as long as the one before.
const RETRANSMISSION: u32 = 3;
/// Lost data is sent again several times within this number of round trips.
const RETRANSMISSIONS: u32 = 16;

/// Creates the controllers of connections.
#[derive(Default)]
pub(super) struct Factory(Arc<CubicConfig>);

/// Cubic with a count of the bytes in flight.
struct Counted {
    inner: Box<dyn Controller>,
    in_flight: u64,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Counted {
            inner: Arc::clone(&self.0).build(now, current_mtu),
            in_flight: 0,
        })
    }
}

impl Controller for Counted {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight = self.in_flight.saturating_add(bytes);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.in_flight = in_flight;
        let largest = largest_packet_num_acked;
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        let persistent = is_persistent_congestion;
        self.inner
            .on_congestion_event(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            in_flight: self.in_flight,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn in_flight(connection: &Connection) -> u64 {
    let controller = connection.congestion_state().into_any();
    controller
        .downcast::<Counted>()
        .map_or(0, |counted| counted.in_flight)
}

/// Waits until no byte is in flight, at most for `limit`. Data that the flow control of the peer holds back does not count.
/// Neither do acknowledgements, which nobody acknowledges, and lost probes of the path MTU: they are not sent again.
pub(super) async fn delivered(connection: &Connection, limit: Duration) {
    let until = Instant::now() + limit;
    let mut examinations = 0;
    let (mut last, mut changed) = (in_flight(connection), Instant::now());
    let mut round_trips = RETRANSMISSION;
    while examinations < EXAMINATIONS && Instant::now() < until {
        if connection.close_reason().is_some() {
            return;
        }
        let bytes = in_flight(connection);
        if bytes != last {
            (last, changed) = (bytes, Instant::now());
            round_trips = RETRANSMISSIONS.min(2 * round_trips);
        }
        let is_still = changed.elapsed() > round_trips * (connection.rtt() + MAX_ACK_DELAY);
        examinations = match bytes {
            0 => examinations + 1,
            _ if is_still => return,
            _ => 0,
        };
        tokio::time::sleep(INTERVAL).await;
    }
}
