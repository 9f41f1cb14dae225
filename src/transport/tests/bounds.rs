//! Where nothing may be lost, traffic waits.

use crate::capture::Header;
use crate::common::programs::{LIMIT, dial, fill, receive};
use crate::conversation::tap::Settings;
use crate::transport::{Address, Bound, Options, Policy, Setup, Sink, View};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::spawn;

#[test]
fn where_nothing_may_be_lost_traffic_waits_for_who_looks_on() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = Address::parse(&format!("tcp://{address}")).unwrap();
    // A recording into a pipe that nobody reads, for now.
    let (mut reader, into) = std::io::pipe().unwrap();
    let file = std::fs::File::from(std::os::fd::OwnedFd::from(into));
    let proxy = Bound::to(&Address::loopback(0)).unwrap();
    let Address::Tcp { port, .. } = *proxy.address() else {
        panic!("{}", proxy.address())
    };
    let running = spawn(move || {
        let setup = Setup {
            tap: Settings {
                header: Header::new(0),
                record: true,
                decode: None,
                judge: None,
                guard: None,
            },
            recording: Some(Sink {
                file,
                name: "a pipe".into(),
            }),
            view: None::<View>,
            policy: Policy::Wait,
            say: Arc::new(|text| panic!("{text}")),
        };
        let options = Options {
            client: None,
            server: None,
            faults: None,
            connect,
            once: true,
            idle: None,
        };
        proxy.proxy(options, setup).unwrap()
    });
    let mut client = dial(port);
    let (mut server, _) = listener.accept().unwrap();
    // The server reads all that it can get, and still the sender is held back.
    let (give, got) = channel();
    spawn(move || {
        give.send(receive(&mut server).len()).unwrap();
    });
    let sent = fill(&mut client);
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    drop(client);
    let recording = receive(&mut reader);
    assert_eq!(got.recv_timeout(LIMIT).unwrap(), sent);
    let outcome = running.join().unwrap();
    assert_eq!((outcome.seen.lost, outcome.seen.trouble), (0, false));
    let text = String::from_utf8(recording).unwrap();
    let end = text.lines().last().unwrap();
    assert!(end.contains(&format!("\"c2s\":{sent}")), "{end}");
}
