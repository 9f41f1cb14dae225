use super::*;

#[test]
fn queue_does_not_wait_for_hanging_recorder() {
    let queue = Queue::new(Policy::Drop);
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
