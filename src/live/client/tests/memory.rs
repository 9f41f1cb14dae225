//! The size of a plan.

use super::recorded_peer::all;
use crate::cli::tests::isolated::{allocated, is_isolated};
use crate::framing::Limits;
use crate::live::plan::Plan;
use crate::protocol::registry;

/// Returns a recording of consecutive oracles with one request each.
fn oracles(conns: usize) -> Vec<u8> {
    let mut out =
        "{\"wiretool\":1,\"protocol\":\"oracle\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n"
            .to_owned();
    for conn in 1..=conns {
        for (dir, connection) in [
            (
                "s2c",
                r#"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}"#,
            ),
            ("c2s", r#"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}"#),
            (
                "c2s",
                r#"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}"#,
            ),
            ("s2c", r#"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[]}"#),
        ] {
            out += &format!(
                "{{\"t\":{conn},\"conn\":{conn},\"dir\":\"{dir}\",\"text\":\"{connection}\\n\"}}\n"
            );
        }
        out += &format!("{{\"t\":{conn},\"conn\":{conn},\"event\":\"close\"}}\n");
    }
    let chunks = 4 * conns;
    out += &format!("{{\"t\":{conns},\"event\":\"end\",\"chunks\":{chunks},\"bytes\":{{}}}}\n");
    out.into_bytes()
}

/// The size of a plan is linear in the number of connections, although each one waits for all that ended before it.
#[test]
fn the_size_of_a_plan_is_linear_in_its_connections() {
    let name = "live::client::tests::memory::the_size_of_a_plan_is_linear_in_its_connections";
    if !is_isolated(name) {
        return;
    }
    let planned = |conns: usize| {
        let recording = oracles(conns);
        let oracle = [registry::find("oracle").expect("a protocol of that name")];
        let bytes = allocated(|| {
            let plan = Plan::of(&recording, &oracle, None, Limits::default(), all());
            let plan = plan.expect("a recording that can be played");
            assert_eq!(
                (plan.connections.len(), plan.steps.len()),
                (conns, 2 * conns)
            );
        });
        bytes / conns
    };
    let (few, many) = (planned(500), planned(8000));
    assert!(
        many * 4 < few * 5,
        "{few} bytes for each of few, {many} of many"
    );
}
