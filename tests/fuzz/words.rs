//! The small languages of flags and messages.

use crate::shape;
use wiretool::protocol::oracle::cairo_serde::{CairoType, Signature};
use wiretool::protocol::oracle::felt::Felt;
use wiretool::protocol::sael::filter::{FilterDialect, ItemFilter};
use wiretool::protocol::sael::token::Token;
use wiretool::select::{Expr, Path};

pub const CONDITIONS: &[&str] = &[
    "kind=call,cast subject~\"math.*\" latency>10ms (fault or not .params.calldata[0]=0x1)",
    "a.b!=\"x\\\"y\" && !(len>=4K || time<10:04:24) or subject~/^math\\./i",
    ".params[\"a b\"].c[3]=true and .result=null",
    "time>=2026-11-27T10:00:00.5Z time<0.5s findings=seq-gap,mcp:unknown-method op=12 link=recorded",
    "dir=c2s id=7 id!=\"7\" offset<1_000 message.x<-1.5e3 who~'a' src=b role=request,response",
];

pub const PATHS: &[&str] = &[
    "params.calldata[0]",
    "meta[\"a b\"].x",
    "[\"*\"]",
    "[2].id",
    ".params.\"a \\\" b\"['c']",
];

pub const CAIRO: &[&str] = &[
    "fn move(direction: Direction, to: (u8, felt252)) -> Array<ByteArray>",
    "Option<core::integer::u256>",
    "struct P { x: u32, y: Span<felt252> }",
    "enum E { A, B: (u8, bool), C: Result<i128, ()> }",
    "0x800000000000011000000000000000000000000000000000000000000000000",
    "[u8; 3]",
    "@Array<ContractAddress>",
];

pub const SAEL: &[&str] = &[
    "status == 'open' && (count >= 3 || tags contains \"x\") and not name matches '^a.*$'",
    "a.b[0] in [1, 'two', null, now() - 3600 * 2] or x notIn [true]",
    "!(price / 2 > -1.5e3) || name startsWith foo || name endsWith 'bar'",
    "qct.v1.eyJpc3MiOiJzYWVsIiwic3ViIjoiYSIsImV4cCI6MTc5NTI1NTIwMCwic2NvcGUiOlsidG9vbHM6KiJdfQ.jMSua7H16b0",
];

/// A place of an error is a range of the text, at the boundaries of characters.
fn check_place(text: &str, at: &std::ops::Range<usize>) {
    assert!(at.start <= at.end, "{at:?}");
    assert!(at.end <= text.len(), "{at:?} of {}", text.len());
    assert!(
        text.is_char_boundary(at.start) && text.is_char_boundary(at.end),
        "{at:?}"
    );
}

/// A printed condition reads back as the same condition.
pub fn check_condition(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    match text.parse::<Expr>() {
        Ok(expr) => {
            let printed = expr.to_string();
            let again = printed.parse::<Expr>();
            assert_eq!(
                again.as_ref(),
                Ok(&expr),
                "{text:?} is printed as {printed:?}"
            );
            let _ = (expr.want(), expr.needs_session(), expr.since(7));
            shape::of(&(
                printed.matches('=').count().min(4),
                printed.matches('(').count().min(4),
            ))
        }
        Err(error) => {
            check_place(&text, &error.at);
            assert!(!error.wanted.is_empty() && !error.to_string().is_empty());
            shape::of(&error.wanted)
        }
    }
}

/// A printed path reads back as the same path.
pub fn check_path(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    match text.parse::<Path>() {
        Ok(path) => {
            let printed = path.to_string();
            let again = printed.parse::<Path>();
            assert_eq!(
                again.as_ref(),
                Ok(&path),
                "{text:?} is printed as {printed:?}"
            );
            shape::of(&path.len().min(8))
        }
        Err(error) => {
            check_place(&text, &error.at);
            assert!(!error.wanted.is_empty() && !error.to_string().is_empty());
            shape::of(error.wanted)
        }
    }
}

/// Types and field elements are printed as they are read.
pub fn check_cairo(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let place = match CairoType::parse(&text) {
        Ok(kind) => {
            let _ = kind.least();
            let printed = kind.to_string();
            // A definition is printed as its name.
            if let Ok(again) = CairoType::parse(&printed) {
                assert_eq!(again.to_string(), printed, "{text:?}");
            }
            None
        }
        Err(error) => {
            check_place(&text, &(error.at..error.at));
            Some(error.wanted)
        }
    };
    if let Ok(signature) = Signature::parse(&text) {
        let _ = signature.to_string();
    }
    if let Ok(felt) = Felt::parse(&text) {
        assert_eq!(Felt::parse(&felt.to_string()), Ok(felt), "{text:?}");
    }
    let _ = (
        Felt::parse_modulo(&text),
        Felt::from_decimal(&text),
        Felt::from_short_string(&text),
    );
    shape::of(&place)
}

/// A filter can be applied in each dialect; a token can be checked.
pub fn check_sael(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let token = Token::parse(&text);
    assert_eq!(token.text(), text);
    let _ = (
        token.scope(),
        token.verify(b"secret", 1_795_000_000, Some("a")),
    );
    let problems: Vec<_> = token.problems().iter().map(|p| p.place.clone()).collect();
    let Ok(filter) = ItemFilter::parse(&text) else {
        return shape::of(&problems);
    };
    let item = serde_json::json!({"status": "open", "count": 3, "tags": ["x", 1.5], "a": {"b": [null, true]}, "name": "foobar", "price": -0.0});
    for dialect in FilterDialect::ALL {
        let _ = filter.keeps(&item, 1_795_000_000, dialect);
    }
    let _ = filter.judge(&item, 1_795_000_000);
    let lines = filter.to_string().lines().count().min(16);
    let mistakes: Vec<_> = filter.problems().iter().map(|p| p.text).collect();
    shape::of(&(problems, lines, mistakes))
}
