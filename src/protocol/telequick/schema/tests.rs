//! Schema texts: their definitions and their errors.

use super::*;
use crate::protocol::schema::Fresh;
use crate::protocol::tests::rows;
use crate::tape;

#[test]
fn the_builtin_text_is_valid() {
    let schema = Schema::parse(Schema::BUILTIN).unwrap();
    assert_eq!(schema.types.structs.len(), 30);
    assert_eq!(schema.types.enums.len(), 4);
    assert_eq!(schema.methods.len(), 17);
    assert_eq!(schema.frame_limit, Some(1 << 20));
    for (id, method) in [
        (3_854_301_714, "Barge"),
        (9999, "AudioFrame"),
        (10000, "StreamEvents"),
        (2_856_173_042, "SuperviseSubscribe"),
        (3_514_036_100, "ExecuteDialplan"),
    ] {
        let found = schema.method(id).unwrap();
        assert_eq!(schema.types.name(found.name), method, "{id}");
    }
    let dial = schema.struct_named("OriginateRequest").unwrap();
    let dial = schema.types.layout(dial).unwrap();
    let since: Vec<_> = dial.fields.iter().map(|f| f.since).collect();
    assert_eq!((dial.version, dial.compat_version, since.len()), (1, 0, 16));
    assert_eq!(since.get(12..), Some(&[0, 1, 1, 1][..]));
}

#[test]
fn parsing_time_grows_linearly() {
    let mut text = "struct S0 version 0 compat 0 { int32 a; }\n".to_owned();
    for n in 1..200_000 {
        text += &format!("struct S{n} version 0 compat 0 {{ S{} a; }}\n", n - 1);
    }
    let (done, finished) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(Schema::builtin().extend(&text).is_ok()));
    // A few seconds at most; minutes if each name is compared with all others.
    let limit = std::time::Duration::from_secs(30);
    assert_eq!(finished.recv_timeout(limit), Ok(true));
}

#[test]
fn fixed_names_have_the_indexes_of_their_labels() {
    let names = NameTable::default().list;
    for (id, name) in [
        (label::METHOD, "method"),
        (label::METHOD_ID, "method_id"),
        (label::STRUCT, "struct"),
        (label::LENGTH_MODE, "length_mode"),
        (label::AFTER, "after"),
        (label::EXCLUSIVE, "exclusive"),
        (label::INCLUSIVE, "inclusive"),
    ] {
        assert_eq!(
            names.get(id as usize).map(tape::KeyName::as_str),
            Some(name)
        );
    }
}

#[test]
fn ids_are_derived_from_names() {
    for [method, id, input, output] in rows(
        r"
Originate | 1430677891 | OriginateRequest | OriginateResponse
OriginateBulk | 721069100 | BulkRequest | BulkResponse
AbortBulk | 3861915064 | AbortBulkRequest | BulkResponse
Terminate | 3834253405 | TerminateRequest | TerminateResponse
StreamEvents | 959835745 | EventStreamRequest | CallEvent
SetInboundRouting | 1933986897 | SetInboundRoutingRequest | Empty
GetIncomingCalls | 1161946746 | GetIncomingCallsRequest | GetIncomingCallsResponse
AnswerIncomingCall | 2990157256 | AnswerIncomingCallRequest | AnswerIncomingCallResponse
GetActiveBuckets | 2624504207 | Empty | ListBucketsResponse
GetBucketCalls | 1217351135 | BucketRequest | BucketCallList
ExecuteBucketAction | 4030863293 | BucketActionRequest | BucketActionResponse
ExecuteDialplan | 80147304 | ExecuteDialplanRequest | ExecuteDialplanResponse
Barge | 3854301714 | BargeRequest | Empty
SuperviseSubscribe | 425376200 | SuperviseSubscribeRequest | SuperviseSubscribeResponse
",
    ) {
        let id = id.parse().unwrap();
        let derived = method_id("clutchcall::api", "clutchcall", method, input, output);
        assert_eq!(derived, id, "{method}");
        let known = Schema::builtin().method(id).unwrap();
        assert_eq!(Schema::builtin().types.name(known.name), method);
    }
}

#[test]
fn errors_have_positions() {
    let table = r#"
strukt A {} | 1:1: wanted `framing`, `limit`, `service`, `enum`, `struct`, `method`, `stream`, `alias` or `mark`, got `strukt`
struct A {\n  string 7;\n} | 2:10: wanted the field's name, got 7
struct A { string a } | 1:21: wanted `;`, got `}`
struct A { | 1:11: wanted a field's type or `}`, got the end of the text
struct A { strin a; } | 1:12: wanted a built-in type, a struct or an enum, got `strin`
struct A {} struct A {} | 1:20: wanted a type that is not there yet, got `A` again
struct A { int32 a; int32 a; } | 1:27: wanted a field that is not there yet, got `a` again
struct string {} | 1:8: wanted a name that no built-in type has, got `string`
struct A version 300 {} | 1:18: wanted a version of 0 to 255, got 300
struct A version 2 { int8 a @2; int8 b @1; } | 1:41: wanted a version of 2 to 2, the struct's own, got 1
struct A version 2 { int8 a @3; } | 1:30: wanted a version of 0 to 2, the struct's own, got 3
struct A version 2 { int8 a @1; int8 b; } | 1:39: wanted `@1` or later, as the field before has, got `;`
struct A { B b; }\nstruct B { A a; } | 2:12: wanted a struct that does not hold itself (a vector of it may), got `A`
enum E { A = 1; B = 1; } | 1:21: wanted a value that no other constant has, got 1
enum E { A = 3000000000; } | 1:14: wanted an int32, got 3000000000
struct A {} method M : A -> A; | 1:20: wanted `= id`, or a `service` to derive it from, got neither
struct A {} method M = 1 : A -> B; | 1:33: wanted a struct, got `B`
struct A {} method M = 1 : A -> A; stream S = 1 : A; | 1:47: wanted an id that nothing else has, got 1
framing length = inclusive; | 1:18: wanted `exclusive` or `auto`; readers recognise inclusive lengths, got `inclusive`
alias 5 = M; | 1:11: wanted a method or stream, got `M`
alias 4294967296 = M; | 1:7: wanted an id of 0 to 4294967295, got 4294967296
enum E { A = 1; } mark a = volatile; | 1:24: wanted a field or a constant, got `a`
struct S { int8 a; } struct T { int8 b; } mark T.a = volatile; | 1:50: wanted a field of T, got `a`
struct S { int8 a; } mark a = generated b new; | 1:43: wanted `id`, `time`, `given` or `same`, got `new`
struct S { int8 a; } mark a = names x; | 1:37: wanted a name in quotes, got `x`
struct S { int8 a; } mark a = names "x; | 1:37: wanted `"` at the end of the text in quotes, got none
/* x | 1:1: wanted `*/` after `/*`, got the end of the text
limit frame = 0xzz; | 1:15: wanted a number, decimal or 0x and hex, got `0xzz`
struct é {} | 1:8: wanted a name, a number or punctuation, got 'é'
"#;
    let cases = rows(table).map(|[text, want]| (text.replace("\\n", "\n"), want));
    let hostile = [
        (
            "/// di\u{1b}[31mals\nstruct A {}".to_owned(),
            "1:1: wanted text without control characters, got '\\u{1b}'",
        ),
        (
            "mark a = names \"x\u{202e}\";".to_owned(),
            "1:16: wanted text without control characters, got '\\u{202e}'",
        ),
    ];
    for (text, want) in cases.chain(hostile) {
        let error = Schema::parse(&text).err().map(|e| e.to_string());
        assert_eq!(error.as_deref(), Some(want), "{text}");
    }
    let deep = format!("struct A {{ {} a; }}", "vector<".repeat(100_000));
    assert!(Schema::parse(&deep).is_err());
    let mut chain = String::new();
    for n in 0..3000 {
        let next = (n + 1) % 3000;
        chain.extend([
            "struct S",
            &n.to_string(),
            " { S",
            &next.to_string(),
            " a; }",
        ]);
    }
    assert!(Schema::parse(&chain).is_err());
}

#[test]
fn a_later_definition_replaces_the_earlier_one() {
    let schema = Schema::builtin()
        .extend(
            "struct BargeRequest version 1 { string call_sid; string to @1; }
             struct Tree { string stream; vector<Tree> kids; };
             method Grow : Tree -> stream Tree;
             alias 77 = Grow;
             method Reload = 3357922138 : Empty -> Tree;",
        )
        .unwrap();
    let barge = schema.struct_named("BargeRequest").unwrap();
    assert_eq!(schema.types.layout(barge).unwrap().fields.len(), 2);
    let grow = schema.method(77).unwrap();
    let id = method_id("clutchcall::api", "clutchcall", "Grow", "Tree", "Tree");
    assert_eq!((grow.id, grow.streaming), (id, true));
    assert!(schema.method_named("ReloadCertificates").is_none());
    assert!(schema.method_named("Reload").is_some());
    assert_eq!(schema.method(3_854_301_714).unwrap().input, Some(barge));
    let circle = schema.extend("struct IncomingCallInfo { Big b; } struct Big { vector<Big> v; BargeRequest r; IncomingCallInfo i; }");
    assert_eq!(
        circle.unwrap_err().to_string(),
        "1:80: wanted a struct that does not hold itself (a vector of it may), got `IncomingCallInfo`"
    );
}

#[test]
fn unknown_ids_have_likely_meanings() {
    for (id, want) in [
        (
            0xe5b0_6412,
            Some("the document's misprint of Barge, 0xe5bbfa12 (bytes 12 fa bb e5)"),
        ),
        (
            0x12fa_bbe5,
            Some("Barge with its bytes in the wrong order: 0xe5bbfa12 (bytes 12 fa bb e5)"),
        ),
        (
            0xe5bc_fa12,
            Some("1 byte away from Barge, 0xe5bbfa12 (bytes 12 fa bb e5)"),
        ),
        (0xe5bb_fa12, None),
        (0xdead_beef, None),
    ] {
        assert_eq!(Schema::builtin().near_miss(id).as_deref(), want, "{id:x}");
    }
}

#[test]
fn names_in_the_code_are_in_the_text() {
    let schema = Schema::builtin();
    for kind in [name::AUDIO, name::EVENT, name::DIALPLAN] {
        assert!(KINDS.iter().any(|known| known.name == kind), "{kind}");
    }
    let fields = schema.types.structs.iter().flat_map(|s| &s.fields);
    let mut known: Vec<u32> = fields.map(|field| field.name).collect();
    let constants = schema.types.enums.iter().flat_map(|e| &e.values);
    known.extend(constants.map(|(_, name)| *name));
    for name in [
        name::CALL,
        name::CLIENT,
        name::ERROR,
        name::WHY,
        name::NUMBER,
        name::PAYLOAD,
        name::CODEC,
        name::ACTION,
        name::SEND_DTMF,
    ] {
        let mut known = known.iter().map(|known| schema.types.name(*known));
        assert!(known.any(|known| known == name), "{name}");
    }
}

#[test]
fn facts_follow_from_a_users_schema() {
    let text = "
        /// rings
        struct Ring { string bell; string pin; }
        struct Rung { vector<string> who; int64 at; }
        /// whoever is there
        method Ring = 7 : Ring -> Rung;
        mark Ring.bell = generated bell same, volatile;
        mark pin = secret;
        mark who = unordered;
        mark at = generated rung time;
        mark sequence_number = generated number id;";
    let schema = &Schema::builtin().extend(text).unwrap();
    let kind = |name: &str| {
        let kinds = kinds(schema);
        let kind = kinds.iter().find(|kind| kind.name == name).unwrap();
        (kind.role, kind.about.to_string())
    };
    assert_eq!(kind("Ring"), (Some(Role::Request), "rings".into()));
    assert_eq!(kind("Rung"), (Some(Role::Response), String::new()));
    let recipes = recipes(schema);
    let recipe = recipes.iter().find(|recipe| recipe.name == "Ring").unwrap();
    assert_eq!(
        (&*recipe.keys, &*recipe.about),
        ("bell pin", "whoever is there")
    );
    let marks = marks::collect(schema);
    let found = |path: &str| {
        let found = marks.generated.iter().find(|one| one.path == path);
        found.map(|one| (&*one.group, one.fresh, one.volatile))
    };
    let bell = Some(("bell", Some(Fresh::Same), true));
    assert_eq!(found("Ring:fields.bell"), bell);
    assert_eq!(found("**.at"), Some(("rung", Some(Fresh::Time), false)));
    // A later mark replaces an earlier one, and others stay.
    let number = Some(("number", Some(Fresh::Id), false));
    assert_eq!(found("**.sequence_number"), number);
    assert!(found("**.call_sid").is_some());
    assert_eq!(
        (marks.secrets, marks.unordered),
        (vec!["pin".into()], vec!["**.who".into()])
    );
}
