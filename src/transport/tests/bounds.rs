//! With a policy that loses nothing, traffic waits.

use crate::capture::Header;
use crate::common::programs::{LIMIT, connect_to_port, receive, write_until_full};
use crate::conversation::tap::TapConfig;
use crate::transport::{
    Address, BoundListener, Policy, ProxyOptions, RecorderScreen, RecordingFile, Setup,
};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::spawn;

#[test]
fn wait_policy_makes_traffic_wait_for_recorder() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = Address::parse(&format!("tcp://{address}")).unwrap();
    // A recording into a pipe that is not read yet.
    let (mut reader, into) = std::io::pipe().unwrap();
    let file = std::fs::File::from(std::os::fd::OwnedFd::from(into));
    let proxy = BoundListener::bind(&Address::loopback(0)).unwrap();
    let Address::Tcp { port, .. } = *proxy.address() else {
        panic!("{}", proxy.address())
    };
    let running = spawn(move || {
        let setup = Setup {
            tap: TapConfig {
                header: Header::new(0),
                record: true,
                decode: None,
                rules: None,
                guard: None,
            },
            recording: Some(RecordingFile {
                file,
                name: "a pipe".into(),
            }),
            rotation: None,
            observer: None,
            view: None::<RecorderScreen>,
            policy: Policy::Wait,
            print: Arc::new(|text| panic!("{text}")),
        };
        let options = ProxyOptions {
            client: None,
            server: None,
            quic: None,
            faults: None,
            connect,
            once: true,
            idle: None,
        };
        proxy.proxy(options, setup).unwrap()
    });
    let mut client = connect_to_port(port);
    let (mut server, _) = listener.accept().unwrap();
    // The server reads everything it receives, and the sender waits nevertheless.
    let (give, got) = channel();
    spawn(move || {
        give.send(receive(&mut server).len()).unwrap();
    });
    let sent = write_until_full(&mut client);
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    drop(client);
    let recording = receive(&mut reader);
    assert_eq!(got.recv_timeout(LIMIT).unwrap(), sent);
    let outcome = running.join().unwrap();
    assert_eq!((outcome.seen.lost, outcome.seen.failed), (0, false));
    let text = String::from_utf8(recording).unwrap();
    let end = text.lines().last().unwrap();
    assert!(end.contains(&format!("\"c2s\":{sent}")), "{end}");
}
