use super::*;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"before".to_vec();
    write(&mut out);
    String::from_utf8(out.split_off(6)).unwrap()
}

#[test]
fn integers_are_written_in_decimal() {
    let powers = (0..20).map(|n| 10_u64.pow(n));
    for n in powers
        .flat_map(|p| [p - 1, p, p + 1, p / 7 * 9])
        .chain([u64::MAX])
    {
        assert_eq!(written(|out| write_int(n, out)), n.to_string());
        let low = n.cast_signed().wrapping_neg();
        assert_eq!(written(|out| write_int(low, out)), low.to_string());
        assert_eq!(
            written(|out| write_int(n as i128 - (1 << 90), out)),
            (n as i128 - (1 << 90)).to_string()
        );
    }
    for n in (0..100_000_000).step_by(977) {
        assert_eq!(written(|out| write_int(n, out)), n.to_string());
    }
}

#[test]
fn text_of_every_length_is_written() {
    for len in 0..80 {
        let text: String = ('!'..'~')
            .cycle()
            .filter(|c| !r#""\"#.contains(*c))
            .take(len)
            .collect();
        let plain = written(|out| assert_eq!(write_short(text.as_bytes(), b',', out), len <= 64));
        assert!(len > 64 || plain == format!("\"{text}\","), "{text}");
        for at in 0..len {
            for odd in [b'"', b'\\', 0, 0x1f, 0x80, 0xff] {
                let mut text = text.clone().into_bytes();
                text[at] = odd;
                assert!(!write_short(&text, b',', &mut Vec::new()), "{text:?}");
            }
        }
    }
}

#[test]
fn hex_digits_are_written() {
    for len in 0..50 {
        let bytes: Vec<u8> = (0..len).map(|n: u8| n.wrapping_mul(37)).collect();
        assert_eq!(written(|out| write_hex(&bytes, out)), hex::encode(&bytes));
    }
}
