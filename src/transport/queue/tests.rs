use super::*;

const HALF: usize = CAPACITY / 2;

fn told(queue: &Queue) -> Vec<String> {
    let mut batch = Batch::default();
    queue.swap(&mut batch);
    let items = batch.items().map(|(item, bytes)| match &item.what {
        What::Chunk(stream) => format!("{} {} {}", item.conn, stream.name(), bytes.len()),
        What::Lost(stream, n) => format!("{} lost {} {n}", item.conn, stream.name()),
        What::Event(event) => format!("{} {}", item.conn, event.event),
    });
    items.collect()
}

#[test]
fn what_finds_no_room_is_told_as_lost_where_it_is_missing() {
    let queue = Queue::new(Policy::Drop);
    let half = vec![0; HALF];
    let offer = |conn, bytes: &[u8], last| queue.offer(0, conn, Stream::C2s, bytes, last);
    assert_eq!(offer(1, &half, false), Offer::Done);
    assert_eq!(
        offer(1, &half, false),
        Offer::Full,
        "a tap at work is waited for"
    );
    assert_eq!(offer(1, &half, true), Offer::Done, "but not for ever");
    // What was lost once is lost until there is room: nobody waits twice.
    assert_eq!(offer(1, &half, false), Offer::Done);
    assert_eq!(queue.lost(), 2 * HALF as u64);
    assert_eq!(told(&queue), [format!("1 c2s {HALF}")]);
    assert_eq!(offer(2, b"x", false), Offer::Done);
    assert_eq!(offer(1, b"yz", false), Offer::Done);
    let lost = format!("1 lost c2s {}", 2 * HALF);
    assert_eq!(told(&queue), ["2 c2s 1", &lost, "1 c2s 2"]);
}

#[test]
fn a_tap_that_hangs_in_a_write_is_not_waited_for() {
    let queue = Queue::new(Policy::Drop);
    let half = vec![0; HALF];
    queue.offer(0, 1, Stream::S2c, &half, false);
    queue.writing.store(1, Ordering::Relaxed);
    while !queue.hangs() {
        std::hint::spin_loop();
    }
    assert_eq!(queue.offer(0, 1, Stream::S2c, &half, false), Offer::Done);
    assert_eq!(queue.lost(), HALF as u64);
    queue.close();
    let want = [format!("1 s2c {HALF}"), format!("1 lost s2c {HALF}")];
    assert_eq!(told(&queue), want);
}

#[test]
fn where_nothing_may_be_lost_there_is_no_room_until_there_is() {
    let queue = Queue::new(Policy::Wait);
    let half = vec![0; HALF];
    queue.offer(0, 1, Stream::C2s, &half, false);
    queue.writing.store(1, Ordering::Relaxed);
    for last in [false, true] {
        assert_eq!(queue.offer(0, 1, Stream::C2s, &half, last), Offer::Full);
    }
    assert_eq!(told(&queue).len(), 1);
    assert_eq!(queue.offer(0, 1, Stream::C2s, &half, true), Offer::Done);
    assert_eq!(queue.lost(), 0);
}

#[test]
fn one_read_larger_than_the_batch_still_passes() {
    let queue = Queue::new(Policy::Wait);
    let much = vec![0; 2 * CAPACITY];
    assert_eq!(queue.offer(0, 1, Stream::C2s, &much, false), Offer::Done);
    assert_eq!(queue.offer(0, 1, Stream::C2s, b"x", false), Offer::Full);
}
