//! Reads how the bytes of a message are described: its encodings, its header, the forms of its text.

use super::super::body::{Body, Header, HeaderField};
use super::super::names::Names;
use super::super::text::{TextForm, TextKind, TextMember, TextPart};
use super::Reader;
use super::values::MAX_PATTERNS;
use crate::encoding::Encoding;
use crate::framing::layout::{
    Checksum, ChecksumAlgorithm, ChecksumRange, FieldKind, HeaderLayout, LayoutField, LengthRange,
    NumberForm, Trailer,
};
use crate::framing::{Framing, FramingName};
use crate::toml_text::{Entries, Item, get};

/// The framing of messages with a header of fields.
pub(in super::super) const FIELDS: FramingName = match FramingName::new("fields") {
    Some(name) => name,
    None => unreachable!(),
};
/// The encodings that a description can name.
const ENCODINGS: [Encoding; 5] = [
    Encoding::Json,
    Encoding::MessagePack,
    Encoding::Cbor,
    Encoding::Text,
    Encoding::Bytes,
];
const HEADER_KEYS: [&str; 3] = ["fields", "checksum", "delimiter"];
const FIELD_KEYS: [&str; 10] = [
    "name", "magic", "type", "names", "length", "plus", "bytes", "checksum", "of", "order",
];
/// The maximum number of forms of a text.
const MAX_FORMS: usize = 32;
/// The maximum size of a compiled regular expression, in bytes.
const MAX_REGEX: usize = 1 << 20;

impl<'t> Reader<'t> {
    /// Reads encodings, header and text.
    pub(super) fn body(&mut self, entries: &Entries<'_, 't>) -> Body {
        let mut body = Body {
            encodings: match get(entries, "encodings") {
                Some(item) => self.encodings(item),
                None => vec![Encoding::Json],
            },
            ..Body::default()
        };
        if let Some(item) = get(entries, "header") {
            body.header = self.header(item, &mut body.names);
        }
        if let Some(item) = get(entries, "text") {
            if !body.encodings.contains(&Encoding::Text) {
                self.wrong::<()>("text", item, "encodings with text beside it");
            }
            body.texts = self.texts(item, &mut body.names);
        }
        body
    }

    fn encodings(&mut self, item: &Item<'t>) -> Vec<Encoding> {
        let names = ENCODINGS.map(Encoding::name).join(", ");
        let find = |text: &str| ENCODINGS.into_iter().find(|one| one.name() == text);
        let found = self.list("encodings", item, &format!("a list of {names}"), find);
        if found.iter().filter(|one| **one != Encoding::Json).count() > 1 {
            self.wrong::<()>("encodings", item, "json and at most one other");
        }
        found
    }

    pub(super) fn line_end(&mut self, item: &Item<'t>) -> String {
        match item.get_ref().as_str() {
            Some("\n") => String::new(),
            Some(end @ "\r\n") => end.to_owned(),
            _ => {
                let end = self.wrong("line-end", item, r#""\n" or "\r\n""#);
                end.unwrap_or_default()
            }
        }
    }

    /// Checks that the encodings fit the framings.
    pub(super) fn check_framings(
        &mut self,
        entries: &Entries<'_, 't>,
        framings: &[Framing],
        body: &Body,
    ) {
        if let (Some(item), Some(_)) = (get(entries, "framings"), &body.header) {
            self.wrong::<()>(
                "framings",
                item,
                "no framings: the header delimits messages",
            );
        }
        let is_open = |one: &Encoding| matches!(one, Encoding::Text | Encoding::Bytes);
        if framings.contains(&Framing::Values)
            && body.encodings.iter().any(is_open)
            && let Some(item) = get(entries, "framings")
        {
            self.wrong::<()>(
                "framings",
                item,
                "no values: texts and bytes do not say where they end",
            );
        }
    }

    fn header(&mut self, item: &Item<'t>, names: &mut Names) -> Option<Header> {
        let entries = self.toml.entries("header", item);
        let entries = self.keep(entries)?;
        self.check_keys(&entries, &HEADER_KEYS);
        let Some(list) = get(&entries, "fields") else {
            self.error(&item.span(), "header: wanted fields, a list of tables");
            return None;
        };
        let items = self.toml.list("fields", list, "a list of tables");
        let items = self.keep(items)?;
        let labels = Header::labels(names);
        let before = self.errors.len();
        let (mut layout, mut fields) = (Vec::new(), Vec::new());
        for item in &items {
            if let Some((field, known)) = self.field(item, names) {
                layout.push(field);
                fields.push(known);
            }
        }
        let delimiter = get(&entries, "delimiter").and_then(|item| self.raw("delimiter", item));
        let delimiter = delimiter.unwrap_or_default();
        let mut trailer = Trailer {
            checksum: None,
            delimiter: delimiter.clone(),
        };
        if let Some(item) = get(&entries, "checksum")
            && let Some((field, known)) = self.field(item, names)
        {
            if let FieldKind::Checksum(checksum) = field.kind {
                trailer.checksum = Some((field.name, checksum));
                fields.push(known);
            } else {
                self.wrong::<()>(
                    "checksum",
                    item,
                    "a table such as { name = \"crc\", checksum = \"crc32\" }",
                );
            }
        }
        // Later errors would follow from those before.
        if self.errors.len() > before {
            return None;
        }
        let has_length = layout
            .iter()
            .any(|field| matches!(field.kind, FieldKind::Length { .. }));
        match HeaderLayout::new(FIELDS, layout, trailer) {
            Ok(layout) => Some(Header {
                layout,
                fields,
                delimiter: if has_length { Vec::new() } else { delimiter },
                labels,
            }),
            Err(error) => {
                let place = items.iter().rev().find(|item| {
                    let name = item
                        .get_ref()
                        .get("name")
                        .and_then(|name| name.get_ref().as_str());
                    name == Some(error.field.as_str())
                });
                let span = place.map_or(list.span(), |item| item.span());
                self.error(&span, format!("header: {error}"));
                None
            }
        }
    }

    /// Reads a field: its place in the layout, and its names.
    fn field(&mut self, item: &Item<'t>, names: &mut Names) -> Option<(LayoutField, HeaderField)> {
        let entries = self.toml.entries("fields", item);
        let entries = self.keep(entries)?;
        self.check_keys(&entries, &FIELD_KEYS);
        let name = self.text_of(&entries, "name");
        if name.is_empty() {
            self.error(&item.span(), "wanted a name of the field");
            return None;
        }
        let kinds = ["magic", "type", "bytes", "checksum"];
        let mut given = entries
            .iter()
            .filter(|(key, _)| kinds.contains(&key.get_ref().as_ref()));
        let (Some((key, value)), None) = (given.next(), given.next()) else {
            self.error(
                &item.span(),
                format!("{name}: wanted one of magic, type, bytes and checksum"),
            );
            return None;
        };
        let kind: &str = key.get_ref();
        for (only, of) in [
            ("names", "type"),
            ("length", "type"),
            ("plus", "type"),
            ("of", "checksum"),
            ("order", "checksum"),
        ] {
            let found = entries.iter().find(|(key, _)| key.get_ref() == only);
            if let Some((found, _)) = found.filter(|_| of != kind) {
                self.error(&found.span(), format!("{only} is of a field with {of}"));
            }
        }
        let mut values = Vec::new();
        let read = match kind {
            "magic" => FieldKind::Magic(self.raw(kind, value)?),
            "bytes" => {
                let wanted = "a number from 1 to 1024";
                let len = self.integer(value).and_then(|n| usize::try_from(n).ok());
                match len.filter(|len| (1..=1024).contains(len)) {
                    Some(len) => FieldKind::Bytes(len),
                    None => return self.wrong(kind, value, wanted),
                }
            }
            "checksum" => FieldKind::Checksum(self.checksum(&entries, value)?),
            _ => {
                if let Some(item) = get(&entries, "names") {
                    values = self.names_of_values(item, names);
                }
                self.number(&entries, value)?
            }
        };
        let label = (kind != "magic").then(|| names.add(&name));
        let known = HeaderField {
            name: name.clone(),
            label,
            values,
        };
        Some((LayoutField { name, kind: read }, known))
    }

    fn number(&mut self, entries: &Entries<'_, 't>, item: &Item<'t>) -> Option<FieldKind> {
        let name = item.get_ref().as_str().unwrap_or_default();
        let Some(form) = NumberForm::from_name(name) else {
            return self.wrong(
                "type",
                item,
                "u8, u16le, u32be, i64 and the like, or varint",
            );
        };
        let plus = match get(entries, "plus") {
            Some(item) => match self.integer(item) {
                Some(plus) => plus,
                None => return self.wrong("plus", item, "a whole number"),
            },
            None => 0,
        };
        let Some(item) = get(entries, "length") else {
            if let Some(item) = get(entries, "plus") {
                self.wrong::<()>("plus", item, "length beside it");
            }
            return Some(FieldKind::Number(form));
        };
        let range = match item.get_ref().as_str() {
            Some("body") => LengthRange::Body,
            Some("after-length") => LengthRange::AfterLength,
            Some("from-length") => LengthRange::FromLength,
            Some("frame") => LengthRange::Frame,
            _ => return self.wrong("length", item, "body, after-length, from-length or frame"),
        };
        Some(FieldKind::Length { form, range, plus })
    }

    fn checksum(&mut self, entries: &Entries<'_, 't>, item: &Item<'t>) -> Option<Checksum> {
        let name = item.get_ref().as_str().unwrap_or_default();
        let Some(algorithm) = ChecksumAlgorithm::from_name(name) else {
            let names = ChecksumAlgorithm::ALL
                .map(ChecksumAlgorithm::name)
                .join(", ");
            return self.wrong("checksum", item, &format!("one of {names}"));
        };
        let word = |key| get(entries, key).map(|item| (item, item.get_ref().as_str()));
        let range = match word("of") {
            None | Some((_, Some("frame"))) => ChecksumRange::Frame,
            Some((_, Some("body"))) => ChecksumRange::Body,
            Some((item, _)) => return self.wrong("of", item, "body or frame"),
        };
        let little = match word("order") {
            None | Some((_, Some("big"))) => false,
            Some((_, Some("little"))) => true,
            Some((item, _)) => return self.wrong("order", item, "big or little"),
        };
        Some(Checksum {
            algorithm,
            range,
            little,
        })
    }

    /// Reads `{ 0 = "RUN_COMMAND", 0x80000000 = "workspace" }`.
    fn names_of_values(&mut self, item: &Item<'t>, names: &mut Names) -> Vec<(i128, u32)> {
        let entries = self.toml.entries("names", item);
        let mut found: Vec<(i128, u32)> = Vec::new();
        for (key, item) in self.keep(entries).unwrap_or_default() {
            let text: &str = key.get_ref();
            let number = match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            };
            let Some(number) = number else {
                self.error(
                    &key.span(),
                    format!("names: wanted a number such as 7 or 0x80, got {text}"),
                );
                continue;
            };
            let name = item.get_ref().as_str().filter(|name| !name.is_empty());
            let Some(name) = name else {
                self.wrong::<()>("names", item, "the name of the value");
                continue;
            };
            let name = names.add(name);
            if found
                .iter()
                .any(|(known, of)| *known == number.into() || *of == name)
            {
                self.wrong::<()>("names", item, "each number and each name once");
            }
            found.push((number.into(), name));
        }
        found
    }

    /// Reads bytes: a text, or a list of numbers.
    fn raw(&mut self, key: &str, item: &Item<'t>) -> Option<Vec<u8>> {
        let bytes: Option<Vec<u8>> = match (item.get_ref().as_str(), item.get_ref().as_array()) {
            (Some(text), _) => Some(text.as_bytes().to_vec()),
            (_, Some(list)) => list
                .iter()
                .map(|item| u8::try_from(self.integer(item)?).ok())
                .collect(),
            _ => None,
        };
        match bytes.filter(|bytes| !bytes.is_empty()) {
            None => self.wrong(key, item, "a text, or a list of bytes such as [0xca, 0xfe]"),
            bytes => bytes,
        }
    }

    #[allow(clippy::unused_self)] // beside the readers of other values
    fn integer(&self, item: &Item<'t>) -> Option<i64> {
        let number = item.get_ref().as_integer()?;
        i64::from_str_radix(number.as_str(), number.radix()).ok()
    }

    fn texts(&mut self, item: &Item<'t>, names: &mut Names) -> Vec<TextForm> {
        const WANTED: &str =
            "a list of templates such as \"{command} {rest...}\", or { regex = '...' }";
        let items = self.toml.list("text", item, WANTED);
        let items = self.keep(items).unwrap_or_default();
        if items.len() > MAX_FORMS {
            self.wrong::<()>("text", item, &format!("at most {MAX_FORMS} forms"));
            return Vec::new();
        }
        let mut forms = Vec::new();
        for item in items {
            let form = match item.get_ref().as_str() {
                Some(text) => self.template(item, text, names).map(TextForm::Template),
                None if item.get_ref().is_table() => self.pattern(item, names),
                None => self.wrong("text", item, WANTED),
            };
            forms.extend(form);
        }
        forms
    }

    /// Reads `{command} {rest...}`.
    fn template(
        &mut self,
        item: &Item<'t>,
        template: &str,
        names: &mut Names,
    ) -> Option<Vec<TextPart>> {
        let (mut parts, mut rest): (Vec<TextPart>, &str) = (Vec::new(), template);
        while !rest.is_empty() {
            let (literal, after) = rest
                .split_once('{')
                .map_or((rest, None), |(l, a)| (l, Some(a)));
            if !literal.is_empty() {
                parts.push(TextPart::Literal(literal.to_owned()));
            }
            let Some((member, after)) =
                after.map(|after| after.split_once('}').unwrap_or(("", "")))
            else {
                break;
            };
            rest = after;
            let (name, kind) = match (member.strip_suffix("..."), member.strip_suffix(":int")) {
                (Some(name), _) => (name, TextKind::Rest),
                (_, Some(name)) => (name, TextKind::Int),
                _ => (member, TextKind::Word),
            };
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(is_name) {
                return self.wrong(
                    "text",
                    item,
                    "members such as {name}, {name:int} or {name...}",
                );
            }
            if matches!(parts.last(), Some(TextPart::Member(_))) {
                return self.wrong("text", item, "a character between two members");
            }
            let member = TextMember {
                label: names.add(name),
                kind,
            };
            let is_member = |part: &TextPart| matches!(part, TextPart::Member(one) if one.label == member.label);
            if parts.iter().any(is_member) {
                return self.wrong("text", item, "each member once");
            }
            parts.push(TextPart::Member(member));
        }
        if !parts.iter().any(|part| matches!(part, TextPart::Member(_))) {
            return self.wrong("text", item, "a template with a member such as {command}");
        }
        Some(parts)
    }

    /// Reads `{ regex = '...' }`.
    fn pattern(&mut self, item: &Item<'t>, names: &mut Names) -> Option<TextForm> {
        let entries = self.toml.entries("text", item);
        let entries = self.keep(entries)?;
        self.check_keys(&entries, &["regex"]);
        let (_, item) = entries.first()?;
        let text = self.toml.string("regex", item).map(str::to_owned);
        let text = self.keep(text)?;
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            self.error(
                &item.span(),
                format!("wanted at most {MAX_PATTERNS} regular expressions in all"),
            );
        }
        let mut builder = regex::bytes::RegexBuilder::new(&text);
        let built = builder
            .size_limit(MAX_REGEX)
            .dfa_size_limit(MAX_REGEX)
            .build();
        let Ok(regex) = built else {
            return self.wrong("regex", item, "a regular expression");
        };
        let groups: Vec<_> = regex
            .capture_names()
            .map(|name| name.map(|name| names.add(name)))
            .collect();
        if groups.iter().all(Option::is_none) {
            return self.wrong("regex", item, "a named group, such as (?<level>\\w+)");
        }
        Some(TextForm::Pattern(regex, groups))
    }
}
