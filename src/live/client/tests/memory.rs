//! What a plan takes.

use super::echo::all;
use crate::cli::tests::alone::{allocated, alone};
use crate::framing::Limits;
use crate::live::plan::Plan;
use crate::protocol::registry;

/// One oracle after another, each asked one thing.
fn oracles(conns: usize) -> Vec<u8> {
    let mut out =
        "{\"wiretool\":1,\"protocol\":\"oracle\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n"
            .to_owned();
    for conn in 1..=conns {
        for (dir, line) in [
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
                "{{\"t\":{conn},\"conn\":{conn},\"dir\":\"{dir}\",\"text\":\"{line}\\n\"}}\n"
            );
        }
        out += &format!("{{\"t\":{conn},\"conn\":{conn},\"event\":\"close\"}}\n");
    }
    let chunks = 4 * conns;
    out += &format!("{{\"t\":{conns},\"event\":\"end\",\"chunks\":{chunks},\"bytes\":{{}}}}\n");
    out.into_bytes()
}

/// What a replay plans grows with its connections, not with their square: each comes after all that ended before it.
#[test]
fn a_plan_is_as_large_as_its_connections_are_many() {
    let name = "live::client::tests::memory::a_plan_is_as_large_as_its_connections_are_many";
    if !alone(name) {
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
