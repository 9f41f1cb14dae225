//! The memory that printing a script takes.

use crate::cli::tests::isolated::{allocated, is_isolated};
use crate::framing::Limits;
use crate::live::script::compile::compile;
use crate::live::script::print::script;
use crate::live::speed::Speed;
use crate::protocol::{Direction, registry};

/// Twice the recording is twice the work for the script that is printed of it. Bytes that are allocated are counted, not
/// time.
#[test]
fn a_script_is_printed_in_proportion() {
    if !is_isolated("live::stub::tests::memory::a_script_is_printed_in_proportion") {
        return;
    }
    let oracle = registry::find("oracle").expect("a protocol of that name");
    let work = |count: u32| {
        let mut recording = String::from(
            "{\"wiretool\":1,\"protocol\":\"oracle\",\"started\":\"2026-01-01T00:00:00Z\"}\n",
        );
        let mut chunk = |n: u32, dir: &str, message: String| {
            let text = serde_json::to_string(&(message + "\n")).expect("JSON");
            recording += &format!("{{\"t\":{n},\"conn\":1,\"dir\":\"{dir}\",\"text\":{text}}}\n");
        };
        for n in 0..count {
            let ask = format!(
                r#"{{"jsonrpc":"2.0","id":{n},"method":"invoke","params":{{"selector":"f","calldata":["{n:#x}"]}}}}"#
            );
            chunk(2 * n + 1, "c2s", ask);
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{n},"result":["{n:#x}"]}}"#);
            chunk(2 * n + 2, "s2c", answer);
        }
        let (side, limits) = (Direction::ToClient, Limits::default());
        allocated(|| {
            let compiled = compile(recording.as_bytes(), oracle, side, limits, Speed::default());
            let script = script(&compiled.expect("a recording"), oracle);
            assert!(script.lines().count() >= count as usize, "{script}");
        })
    };
    let (once, twice) = (work(1000), work(2000));
    assert!(twice < once * 5 / 2, "{once} bytes, then {twice}");
}
