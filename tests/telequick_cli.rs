//! `wiretool telequick schema`, as a user meets it.

mod common;

use common::Told;

fn run(args: &[&str]) -> Told {
    common::run(
        common::wiretool().args(["telequick", "schema"]).args(args),
        "",
    )
}

#[test]
fn ids() {
    insta::assert_snapshot!(run(&["id", "Barge"]).1, @"Barge: 3854301714  0xe5bbfa12  12 fa bb e5");
    insta::assert_snapshot!(run(&["id", "AllocateWt"]).1, @"
    AllocateWt: 1883317180  0x704123bc  bc 23 41 70
    the schema has 1763028449 (0x6915ade1) for it: these names do not give that id
    ");
    let own = run(&["id", "Ping", "--request", "Empty", "--response", "Empty"]);
    assert_eq!((own.0, own.2.as_str()), (0, ""));
    let (code, out, err) = run(&["id", "Nothing"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("--request"), "{err}");
    assert_eq!(run(&["id", "Ping", "--request", "Empty"]).0, 2);
}

#[test]
fn show() {
    insta::assert_snapshot!(run(&["show", "BucketActionRequest"]).1, @"
    struct BucketActionRequest version 0 compat 0 {
      string bucket_id;
      int32 action;
    }
    ");
    let (code, out, _) = run(&["show"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("3854301714  0xe5bbfa12  12 fa bb e5  BargeRequest -> Empty"),
        "{out}"
    );
    assert_eq!(run(&["show", "Nothing"]).0, 1);
}

#[test]
fn check_and_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = file(
        "good.tq",
        "struct Ping{string note;EventType kind;}; method Ping=7:Ping->Empty;",
    );
    let bad = file("bad.tq", "struct Ping {\n  strin note;\n}");
    assert_eq!(run(&["check", &good]), (0, String::new(), String::new()));
    let (code, _, err) = run(&["check", &good, &bad]);
    assert_eq!(code, 1);
    assert!(err.contains("bad.tq:2:3: wanted"), "{err}");
    assert_eq!(run(&["check", "/none"]).0, 2);
    insta::assert_snapshot!(run(&["format", &good]).1, @"
    struct Ping {
      string note;
      EventType kind;
    }
    method Ping = 7 : Ping -> Empty;
    ");
    assert_eq!(run(&["format", &good, "-o", &good]).0, 0);
    assert!(
        std::fs::read_to_string(&good)
            .unwrap()
            .starts_with("struct Ping {\n")
    );
    assert_eq!(run(&["format", &bad]).0, 1);
}
