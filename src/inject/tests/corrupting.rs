//! Tests: a value is changed, and everything around it is unchanged.

use super::*;

#[test]
fn corrupted_value_is_still_a_value() {
    let bodies: [(&str, &[u8], Framing); 5] = [
        (".method", br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#, Framing::Lines),
        (".id", br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#, Framing::Lines),
        (".params", br#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":[true,false,null,"\u0041b\n"]}}"#, Framing::Http),
        (".target", b"\x85\xa7version\x01\xa4type\xa4call\xa2id\xd9\x2400000000-0000-4000-8000-000000000001\xa6target\xa8math.add\xa4args\x92\x01\xc3", Framing::Prefix),
        (".args", b"\x85\xa7version\x01\xa4type\xa4call\xa2id\xd9\x2400000000-0000-4000-8000-000000000001\xa6target\xa8math.add\xa4args\x92\x01\xc3", Framing::Prefix),
    ];
    for (path, body, framing) in bodies {
        let mut frame = Vec::new();
        framing::write(framing, body, &Wire::default(), &mut frame);
        let fault = format!("nth 2: corrupt {path}");
        for seed in 0..40 {
            let plan = FaultPlan {
                seed,
                ..plan(&[&fault])
            };
            let stream = frame.repeat(3);
            let options = options(name(framing), Some(framing));
            let (out, events) = run(
                plan,
                options.clone(),
                Direction::ToServer,
                &mut std::iter::once(&stream[..]),
            );
            assert!(!events[0].contains("undone"), "{events:?}");
            assert_eq!(out.len(), stream.len());
            let differs: Vec<usize> = (0..out.len()).filter(|i| out[*i] != stream[*i]).collect();
            assert!(!differs.is_empty() && differs.len() <= 5, "{differs:?}");
            let (first, last) = (differs[0], differs[differs.len() - 1]);
            assert!(frame.len() <= first && last < 2 * frame.len());
            let mut decoder = crate::decoder::Decoder::new(options);
            let (mut frames, mut faulty) = (0, 0);
            let mut see = |decoded: &crate::decoder::Decoded<'_>| {
                frames += 1;
                faulty += usize::from(!decoded.message.valid);
            };
            decoder.push(crate::decoder::Origin::default(), &out, &mut see);
            decoder.finish(&mut see);
            assert_eq!(
                (frames, faulty),
                (3, 0),
                "{path} {seed} {}",
                out.escape_ascii()
            );
        }
    }
}

#[test]
fn corruption_finds_its_byte_under_mask_and_in_fragments() {
    let body = br#"{"topic":"a.b","payload":{"text":"hello"}}"#;
    for fragments in [vec![], vec![3, 4, 35]] {
        let wire = Wire {
            mask: Some(vec![[0x37, 0xfa, 0x21, 0x3d]]),
            opcode: Some(1),
            fragments,
            ..Wire::default()
        };
        let mut frame = Vec::new();
        framing::write(Framing::WebSocket, body, &wire, &mut frame);
        let options = options("sael", Some(Framing::WebSocket));
        let plan = plan(&["*: corrupt .payload.text"]);
        let (out, events) = run(
            plan,
            options.clone(),
            Direction::ToServer,
            &mut std::iter::once(&frame[..]),
        );
        let differs = (0..out.len()).filter(|i| out[*i] != frame[*i]).count();
        assert_eq!((out.len(), differs), (frame.len(), 1));
        let mut decoder = crate::decoder::Decoder::new(options);
        let mut text = String::new();
        let mut see = |decoded: &crate::decoder::Decoded<'_>| {
            text = String::from_utf8(decoded.frame.view.body().to_vec()).unwrap();
        };
        decoder.push(crate::decoder::Origin::default(), &out, &mut see);
        let is: serde_json::Value = serde_json::from_str(&events[0]).unwrap();
        let changed = (0..body.len()).filter(|i| text.as_bytes()[*i] != body[*i]);
        let changed: Vec<usize> = changed.collect();
        assert_eq!(changed.len(), 1, "{text}");
        assert!((34..39).contains(&changed[0]), "{text}");
        let byte = format!("{:02x}", text.as_bytes()[changed[0]]);
        assert_eq!(is["is"], byte.as_str());
    }
}
