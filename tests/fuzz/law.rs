//! The assertions of every target.

use crate::common::{Setup, assert_same, check_all, cut, json_of};
use wiretool::framing::Framing;

/// The last three bytes select the framing and the split of the stream; the rest is the stream.
#[allow(dead_code, reason = "one target reads inputs, the others streams")]
pub fn stream(protocol: &'static str, data: &[u8]) {
    let Some((bytes, [framing, high, low])) = data.split_last_chunk() else {
        return;
    };
    let framing = Framing::ALL.get(usize::from(framing % 16)).copied();
    let setup = Setup {
        framing,
        ..Setup::of(protocol)
    };
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    check_all(&setup, bytes);
    let whole = json_of(&setup, [bytes]);
    let split = json_of(&setup, cut(bytes, &[at]));
    assert_same(&whole, &split, || format!("{setup:?} cut at {at}"));
    // A limit that small inputs reach.
    if high % 4 == 0 {
        let setup = setup.limited(u32::from(*low) + 1);
        let whole = json_of(&setup, [bytes]);
        let split = json_of(&setup, cut(bytes, &[at]));
        assert_same(&whole, &split, || format!("{setup:?} cut at {at}"));
    }
}
