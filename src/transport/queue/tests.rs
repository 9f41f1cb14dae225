use super::*;

const HALF: usize = CAPACITY / 2;

fn reported(queue: &Queue) -> Vec<String> {
    let mut batch = ItemBatch::default();
    queue.swap(&mut batch);
    let items = batch.items().map(|(item, bytes)| match &item.what {
        PumpItemKind::Chunk(stream) => {
            format!("{} {} {}", item.channel.conn, stream.name(), bytes.len())
        }
        PumpItemKind::Datagram(dir) => format!("datagram {}", dir.name()),
        PumpItemKind::Lost(stream, n) => {
            format!("{} lost {} {n}", item.channel.conn, stream.name())
        }
        PumpItemKind::Fin(stream, dir) => format!("{stream} fin {}", dir.name()),
        PumpItemKind::Event(event) => format!("{} {}", item.channel.conn, event.event),
    });
    items.collect()
}

#[test]
fn bytes_over_capacity_are_reported_as_lost_in_order() {
    let queue = Queue::new(Policy::Drop);
    let half = vec![0; HALF];
    let offer = |conn, bytes: &[u8], last| queue.offer(0, conn, ChunkSource::C2s, bytes, last);
    assert_eq!(offer(1, &half, false), OfferResult::Done);
    assert_eq!(
        offer(1, &half, false),
        OfferResult::Full,
        "a tap at work is waited for"
    );
    assert_eq!(offer(1, &half, true), OfferResult::Done, "but not for ever");
    // Reported as lost until the queue has space: nothing waits twice.
    assert_eq!(offer(1, &half, false), OfferResult::Done);
    assert_eq!(queue.lost(), 2 * HALF as u64);
    assert_eq!(reported(&queue), [format!("1 c2s {HALF}")]);
    assert_eq!(offer(2, b"x", false), OfferResult::Done);
    assert_eq!(offer(1, b"yz", false), OfferResult::Done);
    let lost = format!("1 lost c2s {}", 2 * HALF);
    assert_eq!(reported(&queue), ["2 c2s 1", &lost, "1 c2s 2"]);
}

#[test]
fn queue_does_not_wait_for_hanging_tap() {
    let queue = Queue::new(Policy::Drop);
    let half = vec![0; HALF];
    queue.offer(0, 1, ChunkSource::S2c, &half, false);
    queue.writing.store(1, Ordering::Relaxed);
    while !queue.is_hanging() {
        std::hint::spin_loop();
    }
    assert_eq!(
        queue.offer(0, 1, ChunkSource::S2c, &half, false),
        OfferResult::Done
    );
    assert_eq!(queue.lost(), HALF as u64);
    queue.close();
    let want = [format!("1 s2c {HALF}"), format!("1 lost s2c {HALF}")];
    assert_eq!(reported(&queue), want);
}

#[test]
fn wait_policy_loses_nothing() {
    let queue = Queue::new(Policy::Wait);
    let half = vec![0; HALF];
    queue.offer(0, 1, ChunkSource::C2s, &half, false);
    queue.writing.store(1, Ordering::Relaxed);
    for last in [false, true] {
        assert_eq!(
            queue.offer(0, 1, ChunkSource::C2s, &half, last),
            OfferResult::Full
        );
    }
    assert_eq!(reported(&queue).len(), 1);
    assert_eq!(
        queue.offer(0, 1, ChunkSource::C2s, &half, true),
        OfferResult::Done
    );
    assert_eq!(queue.lost(), 0);
}

#[test]
fn read_larger_than_batch_passes() {
    let queue = Queue::new(Policy::Wait);
    let much = vec![0; 2 * CAPACITY];
    assert_eq!(
        queue.offer(0, 1, ChunkSource::C2s, &much, false),
        OfferResult::Done
    );
    assert_eq!(
        queue.offer(0, 1, ChunkSource::C2s, b"x", false),
        OfferResult::Full
    );
}
