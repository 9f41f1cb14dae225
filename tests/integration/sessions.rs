//! Real sessions under the rules: valid sessions break no rule of severity error, and known defects are found.
//!
//! Reads recordings that `tests/recordings.py` makes of the captures in `WIRETOOL_CAPTURES`. Prints a note if there are
//! none.

use crate::common::{self, captures, recordings};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Sessions of real peers without an error.
const VALID: &[&str] = &[
    "oracle-real-executor-ok",
    "oracle-real-executor-sdk_happy",
    "saikuro-09-direct-py-py.1",
    "sael-py-handshake-list",
    "sael-py-heartbeat",
    "sael-py-invoke-ok",
    "sael-py-stream",
    "sael-py-subscribe",
    "sael-py-trace",
    "sael-synthetic-delta-stream",
    "stepflow-http-runtime-0.9.0",
];

/// The defects of the other sessions: the capture, the defect, the rule that finds it.
const DEFECTS: &[(&str, &str, &str)] = &[
    (
        "saikuro-01-runtime-client-ts.1",
        "log entries have an id that is no UUID, and are refused",
        "saikuro/bad-id",
    ),
    (
        "saikuro-01-runtime-client-ts.1",
        "the runtime answers undecodable frames under a random id",
        "saikuro/random-id",
    ),
    (
        "saikuro-01-runtime-provider-py.1",
        "the runtime answers the opening of a stream",
        "saikuro/stream-answered",
    ),
    (
        "saikuro-09-direct-py-py.1",
        "the Python provider refuses what follows on a channel",
        "saikuro/channel-item-refused",
    ),
];

/// The defects of each oracle session, by the rules that find them: all of them, and no others.
const ORACLE: &[(&str, &[&str])] = &[
    ("real-executor-batch", &["not-an-object"]),
    ("real-executor-blank_line", &["blank-line", "desync"]),
    ("real-executor-bom_first", &["first-byte", "not-json"]),
    ("real-executor-both", &["result-and-error"]),
    ("real-executor-brace_not_json_first", &["not-json"]),
    ("real-executor-close_stdout", &["died-in-invoke"]),
    ("real-executor-crlf", &["crlf"]),
    ("real-executor-deep", &["nesting"]),
    ("real-executor-dup_result", &["not-a-message"]),
    ("real-executor-empty_result", &[]),
    ("real-executor-error_code_float", &["error-shape"]),
    ("real-executor-error_no_code", &["error-shape"]),
    ("real-executor-error_string", &["error-shape"]),
    ("real-executor-felt_0X", &["felt-form"]),
    ("real-executor-felt_65_digits", &["felt-form"]),
    ("real-executor-felt_double_0x", &["felt-spelling"]),
    ("real-executor-felt_leading_zeros_64", &["felt-spelling"]),
    ("real-executor-felt_upper_digits", &["felt-spelling"]),
    ("real-executor-ignore_shutdown", &[]),
    ("real-executor-never_answer_4s", &["died-in-invoke"]),
    ("real-executor-never_ready_4s", &["no-ready"]),
    ("real-executor-newline_first", &["blank-line", "first-byte"]),
    ("real-executor-no_final_newline", &["left-idle"]),
    ("real-executor-no_id", &["not-a-message"]),
    ("real-executor-null_error", &["result-and-error"]),
    ("real-executor-null_id", &["answer-id"]),
    ("real-executor-null_result", &["no-result"]),
    ("real-executor-object_result", &["result-shape"]),
    ("real-executor-ok", &[]),
    ("real-executor-pretty", &["cut-line"]),
    ("real-executor-ready_big_id", &["id-form"]),
    ("real-executor-ready_empty_string_id", &[]),
    ("real-executor-ready_float_id", &["id-form"]),
    ("real-executor-ready_params_null", &[]),
    ("real-executor-ready_params_object", &[]),
    ("real-executor-ready_response", &["first-not-ready"]),
    ("real-executor-ready_string_id", &[]),
    ("real-executor-ready_twice", &["desync", "ready-twice"]),
    ("real-executor-ready_u64max_id", &[]),
    ("real-executor-ready_version_number", &["version"]),
    ("real-executor-ready_wrong_method", &["first-not-ready"]),
    ("real-executor-request_before", &["desync", "oracle-asks"]),
    ("real-executor-response_with_method", &["oracle-asks"]),
    (
        "real-executor-sdk_bytearray_pending_33",
        &["died-in-invoke"],
    ),
    ("real-executor-sdk_die_mid_invoke", &["died-in-invoke"]),
    ("real-executor-sdk_errors", &[]),
    ("real-executor-sdk_happy", &[]),
    ("real-executor-sdk_panic", &["died-in-invoke"]),
    ("real-executor-slow_shutdown", &[]),
    ("real-executor-space_first", &["blank-line", "first-byte"]),
    ("real-executor-stderr_invalid_utf8", &[]),
    ("real-executor-stderr_only_exit", &["no-ready"]),
    ("real-executor-string_id", &["answer-id"]),
    ("real-executor-string_result", &["result-shape"]),
    ("real-executor-trailing_garbage", &["trailing-bytes"]),
    ("real-executor-two_on_line", &["trailing-bytes"]),
    ("real-executor-two_responses", &["desync", "extra-line"]),
    ("real-executor-upstream_test_oracle", &["error-code"]),
    ("real-executor-wrong_id", &["answer-id"]),
    ("sdk-oracle-ack_extra_result", &[]),
    ("sdk-oracle-ack_null_result", &[]),
    ("sdk-oracle-ack_string_id", &["ack-id"]),
    ("sdk-oracle-ack_wrong_id", &["ack-id"]),
    ("sdk-oracle-blank_line", &["blank-line"]),
    ("sdk-oracle-bool_2", &[]),
    ("sdk-oracle-bytearray_dirty_pending", &[]),
    ("sdk-oracle-bytearray_pending_len_31", &[]),
    ("sdk-oracle-bytearray_pending_len_33", &["died-in-invoke"]),
    ("sdk-oracle-calldata_nested", &["felt-form"]),
    ("sdk-oracle-calldata_null", &["felt-form"]),
    ("sdk-oracle-calldata_object", &["invoke-params"]),
    ("sdk-oracle-calldata_too_few", &[]),
    ("sdk-oracle-calldata_too_many", &[]),
    ("sdk-oracle-crlf", &["crlf"]),
    ("sdk-oracle-deep_nesting_200", &["nesting"]),
    // It is never answered, and the next request is sent nevertheless.
    (
        "sdk-oracle-dup_key_id",
        &["overlap", "repeated-key", "unanswered"],
    ),
    ("sdk-oracle-dup_key_selector", &["repeated-key"]),
    ("sdk-oracle-felt_2e252", &["felt-range"]),
    ("sdk-oracle-felt_65_digits", &["felt-form"]),
    ("sdk-oracle-felt_decimal_str", &["felt-form"]),
    ("sdk-oracle-felt_double_0x", &["felt-spelling"]),
    ("sdk-oracle-felt_escaped", &[]),
    ("sdk-oracle-felt_leading_zeros_64", &["felt-spelling"]),
    ("sdk-oracle-felt_leading_zeros_65", &["felt-form"]),
    ("sdk-oracle-felt_mixed", &["felt-spelling"]),
    ("sdk-oracle-felt_nonhex", &["felt-form"]),
    ("sdk-oracle-felt_space", &["felt-form"]),
    ("sdk-oracle-felt_trailing_space", &["felt-form"]),
    ("sdk-oracle-felt_underscore", &["felt-form"]),
    ("sdk-oracle-felt_upper_digits", &["felt-spelling"]),
    ("sdk-oracle-felt_zero", &[]),
    ("sdk-oracle-garbage_instead_of_ack", &["not-json"]),
    ("sdk-oracle-garbage_line", &["not-json"]),
    ("sdk-oracle-handler_error", &[]),
    ("sdk-oracle-id_array", &["id-form"]),
    ("sdk-oracle-id_empty_string", &[]),
    ("sdk-oracle-id_integral_float", &["id-form"]),
    ("sdk-oracle-id_null", &["null-id"]),
    ("sdk-oracle-id_string", &[]),
    ("sdk-oracle-id_u64max", &[]),
    ("sdk-oracle-invoke_notification", &["invoke-no-id"]),
    ("sdk-oracle-large_length_prefix_2e40", &["died-in-invoke"]),
    ("sdk-oracle-lone_surrogate_escape", &["lone-surrogate"]),
    ("sdk-oracle-no_jsonrpc", &["version"]),
    ("sdk-oracle-nul_escape_selector", &[]),
    ("sdk-oracle-oracle_dies", &["died-in-invoke"]),
    ("sdk-oracle-params_missing", &["invoke-params"]),
    ("sdk-oracle-params_no_selector", &["invoke-params"]),
    ("sdk-oracle-params_null", &["invoke-params"]),
    ("sdk-oracle-pretty_printed", &["cut-line"]),
    ("sdk-oracle-shutdown_spaces_as_in_doc", &[]),
    ("sdk-oracle-split_writes", &[]),
    ("sdk-oracle-stray_error_response", &["stray-ack"]),
    ("sdk-oracle-unicode_selector", &[]),
    ("sdk-oracle-unknown_notification", &["unknown-method"]),
    ("sdk-oracle-unknown_param_field", &[]),
];

/// The rules with findings, with their severity and number.
fn lint(path: &Path, flags: &[&str]) -> BTreeMap<(String, String), usize> {
    let output = common::wiretool()
        .args(["lint", "-f", "json"])
        .args(flags)
        .arg(path)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if let Some(finding) = line.get("finding") {
            let part = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            *found.entry((part("severity"), part("rule"))).or_default() += 1;
        }
    }
    found
}

#[test]
fn valid_sessions_have_no_error() {
    let Some(recordings) = recordings() else {
        return;
    };
    let mut files: Vec<PathBuf> = VALID
        .iter()
        .map(|name| recordings.join(format!("{name}.jsonl")))
        .collect();
    files.extend(captures().map(|folder| folder.join("telequick/mixed.bin")));
    for file in files {
        let errors: Vec<_> = lint(&file, &[])
            .into_keys()
            .filter(|(severity, _)| severity == "error")
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", file.display());
    }
}

#[test]
fn known_defects_are_found() {
    let Some(recordings) = recordings() else {
        return;
    };
    for (name, defect, rule) in DEFECTS {
        let found = lint(&recordings.join(format!("{name}.jsonl")), &[]);
        let rules: Vec<_> = found.keys().map(|(_, rule)| rule.as_str()).collect();
        assert!(rules.contains(rule), "{name}: {defect}: {rules:?}");
    }
}

/// Frames with deliberate defects, and the rule that each breaks.
#[test]
fn each_defective_frame_is_found() {
    const BROKEN: &[(&str, &[&str], &str)] = &[
        ("bool_2", &[], "odd-bool"),
        ("bool_255", &[], "odd-bool"),
        ("deep_10000", &[], "too-deep"),
        ("deep_64", &[], "unknown-method"),
        ("legacy_id_9999", &[], "legacy-id"),
        ("len_0", &[], "frame-length"),
        ("len_3", &[], "frame-length"),
        ("len_7fffffff", &[], "frame-limit"),
        ("len_inclusive", &[], "inclusive-length"),
        ("size_negative", &[], "negative-size"),
        ("size_too_big", &[], "envelope-overrun"),
        ("size_zero_but_bytes", &[], "trailing-bytes"),
        ("str_len_int_min", &[], "string-length"),
        ("str_len_negative", &[], "string-length"),
        ("str_nul_inside", &[], "nul-in-string"),
        ("trunc_03", &[], "cut-short"),
        ("trunc_07", &[], "cut-short"),
        ("trunc_08", &[], "cut-short"),
        ("trunc_09", &[], "cut-short"),
        ("trunc_13", &[], "cut-short"),
        ("trunc_17", &[], "cut-short"),
        // Without a direction it may be a request, whose first field is a string.
        ("vec_bomb", &["--dir", "s2c"], "vector-count"),
        ("vec_negative", &["--dir", "s2c"], "vector-count"),
        ("vec_short", &["--dir", "s2c"], "vector-count"),
    ];
    let Some(captures) = captures() else {
        return;
    };
    for (name, flags, rule) in BROKEN {
        let file = captures.join(format!("telequick/broken/{name}.bin"));
        let found = lint(&file, &[&["-p", "telequick"], *flags].concat());
        let rule = format!("telequick/{rule}");
        let rules: Vec<_> = found.keys().map(|(_, rule)| rule).collect();
        assert!(rules.contains(&&rule), "{name}: {rules:?}");
    }
}

/// Each case has one defect and is named after it; its rule and the implied ones have findings.
#[test]
fn oracle_cases_break_exactly_their_rules() {
    let Some(recordings) = recordings() else {
        return;
    };
    let mut wrong = Vec::new();
    for (name, rules) in ORACLE {
        let found = lint(&recordings.join(format!("oracle-{name}.jsonl")), &[]);
        let found: BTreeSet<String> = found.into_keys().map(|(_, rule)| rule).collect();
        let wanted: BTreeSet<String> = rules.iter().map(|r| format!("oracle/{r}")).collect();
        if found != wanted {
            wrong.push(format!("{name}: wanted {wanted:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each frame that deliberately breaks a rule, by its direction and offset.
#[test]
fn each_violation_of_document_is_found() {
    const EXAMPLES: &[(&str, &str)] = &[
        ("version must be 1", "bad-version"),
        ("args required", "missing-args"),
        ("target must be namespace.function", "bad-target"),
        ("unknown type", "unknown-type"),
        ("id reused while in flight", "id-reused"),
        ("ok true without result", "result-missing"),
        ("second response for one call", "second-answer"),
        ("response to unknown id", "unknown-id"),
        ("ok false without error", "error-missing"),
        ("unknown error code", "unknown-error-code"),
        ("response to a cast", "cast-answered"),
        ("seq must start at 0", "seq-start"),
        ("seq repeated", "seq-repeated"),
        ("seq gap", "seq-gap"),
        ("frame after end", "after-end"),
        ("client frame on a stream", "item-from-opener"),
        ("data after own close", "after-own-close"),
        ("batch results out of order", "batch-order"),
        ("duplicate id inside batch", "batch-duplicate-id"),
        ("batch ok true with a failed item", "batch-ok"),
        ("empty batch", "empty-batch"),
        ("ack for a namespace not announced", "ack-namespace"),
        ("not MessagePack", "not-messagepack"),
        ("empty frame", "empty-frame"),
        ("channel never closed by both sides", "channel-not-closed"),
    ];
    let (Some(recordings), Some(captures)) = (recordings(), captures()) else {
        return;
    };
    let output = common::wiretool()
        .args(["lint", "-f", "json", "--dialect", "document"])
        .arg(recordings.join("saikuro-13-doc-violations.1.jsonl"))
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let findings: Vec<serde_json::Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|line| line.get("finding").cloned())
        .collect();
    let wanted = std::fs::read_to_string(captures.join("saikuro/13-doc-violations.rules.jsonl"))
        .expect("the list of violations");
    let frames =
        std::fs::read_to_string(captures.join("saikuro/13-doc-violations.1.c2s.expected.jsonl"))
            .expect("the frames")
            + &std::fs::read_to_string(
                captures.join("saikuro/13-doc-violations.1.s2c.expected.jsonl"),
            )
            .expect("the frames");
    let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let frames: Vec<serde_json::Value> = frames.lines().map(parse).collect();
    for line in wanted.lines() {
        let violation = parse(line);
        let (dir, offset) = (&violation["dir"], violation["offset"].as_u64().unwrap());
        let words = violation["rule"].as_str().unwrap();
        let (_, rule) = EXAMPLES
            .iter()
            .find(|(w, _)| *w == words)
            .unwrap_or_else(|| panic!("nothing is known of {words}"));
        let end = frames
            .iter()
            .filter(|f| f["dir"] == *dir)
            .filter_map(|f| f["offset"].as_u64())
            .find(|o| *o > offset)
            .unwrap_or(u64::MAX);
        // The defect of an empty frame is at its end.
        let here = |f: &&serde_json::Value| {
            let at = f["offset"].as_u64().unwrap_or_default();
            f["dir"] == *dir && (offset..=end).contains(&at)
        };
        let rules: Vec<_> = findings.iter().filter(here).map(|f| &f["rule"]).collect();
        let name = format!("saikuro/{rule}");
        assert!(
            rules.iter().any(|r| **r == name),
            "{dir} at {offset}: {words}: wanted {name}, got {rules:?}"
        );
    }
}

#[test]
fn examples_of_document_are_clean() {
    let Some(recordings) = recordings() else {
        return;
    };
    for name in ["saikuro-11-doc-shaped.1", "sael-synthetic-parallel"] {
        let path = recordings.join(format!("{name}.jsonl"));
        let found = lint(&path, &["--dialect", "document"]);
        let worse: Vec<_> = found.keys().filter(|(s, _)| s != "info").collect();
        assert!(worse.is_empty(), "{name}: {worse:?}");
    }
}
