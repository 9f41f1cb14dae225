//! Messages that a user adds.

use crate::decoder::{DecodeOptions, Origin};
use crate::inject::{FaultPlan, Injector, InsertError, Out};
use crate::protocol::{Direction, registry};

const READY: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n";
const OTHER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ready\"}\n";

#[test]
fn a_message_is_added_between_two_messages_only() {
    // Without faults bytes pass at once; with one, they wait for the end of their message.
    for faults in [&[][..], &["nth 900: drop"]] {
        let plan = FaultPlan {
            faults: faults.iter().map(|text| text.parse().unwrap()).collect(),
            inserts: true,
            ..FaultPlan::default()
        };
        let options = DecodeOptions::new(vec![registry::find("oracle").unwrap()]);
        let mut injector = Injector::new(plan, options);
        let origin = Origin {
            conn: Some(1),
            direction: Some(Direction::ToClient),
            ..Origin::default()
        };
        let mut out = Vec::new();
        let unknown = injector.insert(origin, OTHER, &mut out);
        assert_eq!(unknown, Err(InsertError::Unknown));
        let (half, rest) = READY.split_at(20);
        injector.push(origin, READY, &mut out);
        injector.push(origin, half, &mut out);
        out.clear();
        let inside = injector.insert(origin, OTHER, &mut out);
        assert_eq!((inside, out.len()), (Err(InsertError::InsideMessage), 0));
        injector.push(origin, rest, &mut out);
        out.clear();
        injector.insert(origin, OTHER, &mut out).unwrap();
        let [Out::Event(event), Out::Bytes(bytes)] = &out[..] else {
            panic!("{out:?}");
        };
        let offset = 2 * READY.len();
        assert_eq!(
            (&event["fault"], &event["offset"]),
            (&"sent".into(), &offset.into())
        );
        assert_eq!(bytes, OTHER);
        // The rest is not changed.
        out.clear();
        injector.push(origin, READY, &mut out);
        assert_eq!(out, [Out::Bytes(READY.to_vec())]);
        injector.close(1);
        let closed = injector.insert(origin, OTHER, &mut out);
        assert_eq!(closed, Err(InsertError::Unknown));
    }
}
