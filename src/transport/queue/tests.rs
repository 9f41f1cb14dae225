use super::*;

#[test]
fn queue_does_not_wait_for_hanging_recorder() {
    let queue = Queue::new(Policy::Drop, None);
    let much = vec![0; 2 << 20];
    let offer = || queue.offer(0, 1, ChunkSource::S2c, &much, false);
    assert_eq!(offer(), OfferResult::Done);
    assert_eq!(offer(), OfferResult::Full);
    queue.writing.store(1, Ordering::Relaxed);
    while !queue.is_hanging() {
        std::hint::spin_loop();
    }
    assert_eq!(offer(), OfferResult::Done);
    assert_eq!(queue.lost(), 2 << 20);
}

#[test]
fn times_count_from_the_header() {
    let second: Time = 1_000_000_000;
    for (before, wanted) in [(0, 0..1), (3, 3..4), (-5, 0..1), (1000, 10..11)] {
        let started = super::super::now() - before * second;
        let seconds = Queue::new(Policy::Drop, Some(started)).now() / 1_000_000_000;
        assert!(wanted.contains(&seconds), "{before}: {seconds}");
    }
}
