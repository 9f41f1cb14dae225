//! Builds messages from words of the command line.
//!
//! Each message lists its words, in order, by the paths of the members that they set:
//!
//! ```text
//!   component input          two required words
//!   [kind:agent.kind]        an optional word, shown as KIND
//!   target [args…]           all further words, as the elements of an array
//!   token=auth.token         KEY=VALUE sets a member; `attempt=` sets the member of that name
//! ```
//!
//! Members that no word sets have their default, if they have one.

use super::{Default, Member, MessageSchema, Presence, Type, check, members_of};
use crate::error::{Refusal, Result};
use crate::protocol::make::{
    IdGen, Made, Object, Recipe, Words, array, is_json, text, unknown_kind, value,
};
use crate::protocol::secrets::with_json;
use crate::tape::Node;

/// One part of [`MessageSchema::words`].
#[derive(Clone, Copy)]
struct WordPart {
    /// The word as help shows it, or the key.
    label: &'static str,
    /// The path of the member that it sets.
    path: &'static str,
    optional: bool,
    /// It takes all further words.
    rest: bool,
    key: bool,
}

fn parts(words: &'static str) -> impl Iterator<Item = WordPart> {
    words.split(' ').filter(|w| !w.is_empty()).map(|word| {
        let inner = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
        let optional = inner.is_some();
        let inner = inner.unwrap_or(word);
        let (rest, inner) = match inner.strip_suffix('…') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let key = inner.contains('=');
        let (label, path) = match inner.split_once(['=', ':']) {
            Some((label, "")) => (label, label),
            Some(parts) => parts,
            None => (inner.rsplit('.').next().unwrap_or(inner), inner),
        };
        WordPart {
            label,
            path,
            optional,
            rest,
            key,
        }
    })
}

/// Returns the help for a message that can be made. If `id` is set, a key of that name sets the id.
pub fn recipe(message: &MessageSchema, id: bool) -> Option<Recipe> {
    let (mut words, mut keys) = (Vec::new(), Vec::new());
    keys.extend(id.then_some("id"));
    for part in parts(message.words?) {
        if part.key {
            keys.push(part.label);
            continue;
        }
        let label = part.label.replace(['_', ' '], "-").to_uppercase();
        let more = if part.rest { "…" } else { "" };
        words.push(if part.optional {
            format!("[{label}{more}]")
        } else {
            format!("{label}{more}")
        });
    }
    Some(Recipe {
        name: message.recipe.unwrap_or(message.name).into(),
        words: words.join(" ").into(),
        keys: keys.join(" ").into(),
        about: message.about.into(),
    })
}

/// Returns the help for the messages that [`make()`] makes.
pub fn recipes<'m>(messages: impl IntoIterator<Item = &'m MessageSchema>) -> Vec<Recipe> {
    let recipes = messages.into_iter().filter_map(|one| recipe(one, false));
    recipes.collect()
}

/// Makes a message of a kind, or of the name that it has on the command line, if its type is that of the whole message.
pub fn make<'m>(
    messages: impl IntoIterator<Item = &'m MessageSchema, IntoIter: Clone>,
    kind: &str,
    words: &mut Words<'_>,
    id_gen: &mut IdGen,
) -> Result<Made> {
    let messages = messages.into_iter();
    let is_meant = |m: &&MessageSchema| m.recipe.unwrap_or(m.name) == kind && m.words.is_some();
    let message = messages.clone().find(is_meant);
    let message = message.ok_or_else(|| unknown_kind(kind, &recipes(messages)))?;
    Ok(Made {
        message: build(message, words, id_gen)?,
        direction: message.direction,
    })
}

/// Builds the content of a message in JSON; `{}` for an object without members.
pub fn build(message: &MessageSchema, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<String> {
    let mut given: Vec<(&str, String)> = Vec::new();
    for part in parts(message.words.unwrap_or_default()) {
        let ty = type_at(&message.ty, part.path);
        if part.key {
            if let Some(word) = words.key(part.label) {
                given.push((part.path, json(&ty, word, part.label, id_gen)?));
            }
            continue;
        }
        let wanted = format!("{}, {ty}", part.label);
        if part.rest {
            let item = match ty {
                Type::Array(item) | Type::Form(&Type::Array(item), _) => *item,
                _ => Type::Any,
            };
            let mut items = Vec::new();
            while let Some(word) = words.optional() {
                items.push(json(&item, word, &words.place(), id_gen)?);
            }
            if items.is_empty() && !part.optional {
                words.word(&wanted)?;
            }
            given.push((part.path, array(&items)));
            continue;
        }
        let word = if part.optional {
            words.optional()
        } else {
            Some(words.word(&wanted)?)
        };
        if let Some(word) = word {
            given.push((part.path, json(&ty, word, &words.place(), id_gen)?));
        }
    }
    words.end()?;
    Ok(filled(&message.ty, "", &given, id_gen))
}

/// Returns the only word if it is the whole content of a message: an object that has the members which must be there, and no
/// unknown ones.
pub fn content_of<'w>(message: &MessageSchema, words: &Words<'w>) -> Option<&'w str> {
    let word = words.only()?;
    let members = members_of(&message.ty);
    let is_known = |key: Node<'_>| members.iter().any(|member| key.is_text(member.name));
    let is_content = with_json(word, |node| {
        node.is_map()
            && node.members().next().is_some()
            && node.members().all(|(key, _)| is_known(key))
            && check::fits(node, &message.ty)
    });
    (is_content == Some(true)).then_some(word)
}

/// Converts a word to JSON of a type.
fn json(ty: &Type, word: &str, place: &str, id_gen: &mut IdGen) -> Result<String> {
    let refuse = || Refusal::new(place, wanted(ty, word), format!("`{word}`"));
    match ty {
        Type::Text | Type::OneOf(_) => Ok(text(word)),
        Type::Integer(..) | Type::Whole(..) if word.parse::<i128>().is_err() => Err(refuse()),
        Type::Object(_) | Type::Array(_) | Type::Tuple(_) | Type::Record(_) if !is_json(word) => {
            Err(refuse())
        }
        Type::Either(types @ [first, ..])
            if types.iter().all(|ty| matches!(ty, Type::Object(_))) =>
        {
            json(first, word, place, id_gen)
        }
        Type::Either(_) if !is_valid(word, ty) => Ok(text(word)),
        Type::Code(code) => (code.word)(word, id_gen),
        Type::Form(ty, _) => json(ty, word, place, id_gen),
        _ => Ok(value(word)),
    }
}

/// Names a type, with an example of a word in JSON.
fn wanted(ty: &Type, word: &str) -> String {
    let is_name = |name: &&(&str, &str)| !name.0.is_empty() && !name.0.contains(['{', '"']);
    let pair = word.split_once('=').filter(|pair| is_name(&pair));
    let (name, inner) = pair.unwrap_or(("key", "value"));
    let example = match ty {
        Type::Object(members) | Type::Record(members) if !members.iter().any(is_required) => {
            Object::default().json(name, &value(inner)).finish()
        }
        Type::Object(_) | Type::Record(_) | Type::Array(_) | Type::Tuple(_) => example(ty, word),
        _ => return ty.to_string(),
    };
    if !is_valid(&example, ty) {
        return ty.to_string();
    }
    if word.starts_with('{') {
        return format!(
            "{ty} in JSON, with \"…\" around names and texts, such as '{{\"key\":\"value\"}}'"
        );
    }
    // A shell takes single quotes literally.
    format!("{ty}, such as '{}'", example.replace('\'', "'\\''"))
}

fn is_valid(json: &str, ty: &Type) -> bool {
    with_json(json, |node| check::fits(node, ty)) == Some(true)
}

fn is_required(member: &Member) -> bool {
    member.presence == Presence::Required
}

/// Returns a value of a type, with a word where any text can be.
fn example(ty: &Type, word: &str) -> String {
    match ty {
        Type::Array(item) => array(&[example(item, word)]),
        Type::Tuple(members) => {
            let items: Vec<String> = members.iter().map(|one| example(&one.ty, word)).collect();
            array(&items)
        }
        Type::Object(members) | Type::Record(members) => {
            let members = members.iter().filter(|member| is_required(member));
            let object = members.fold(Object::default(), |object, member| {
                object.json(member.name, &example(&member.ty, word))
            });
            object.finish()
        }
        Type::Either(types) => {
            let mut examples = types.iter().map(|one| example(one, word));
            examples
                .find(|one| is_valid(one, ty))
                .unwrap_or_else(|| value(word))
        }
        Type::Form(ty, _) => example(ty, word),
        Type::OneOf([first, ..]) => text(first),
        Type::Bool => "true".to_owned(),
        Type::Number => "0".to_owned(),
        Type::Integer(least, _) | Type::Whole(least, _) => (*least).max(0).to_string(),
        Type::Text => text(word),
        _ => value(word),
    }
}

/// Returns the type of the member at a path.
fn type_at(ty: &Type, path: &str) -> Type {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let member = members_of(ty).iter().find(|member| member.name == name);
    match member {
        Some(member) if rest.is_empty() => member.ty,
        Some(member) => type_at(&member.ty, rest),
        None => Type::Any,
    }
}

/// Builds an object, or an array of members at fixed positions, from the given words and defaults.
fn filled(ty: &Type, path: &str, given: &[(&str, String)], id_gen: &mut IdGen) -> String {
    let mut object = Object::default();
    let mut items = Vec::new();
    for member in members_of(ty) {
        let path = if path.is_empty() {
            member.name.to_owned()
        } else {
            format!("{path}.{}", member.name)
        };
        if let Some(json) = part(member, &path, given, id_gen) {
            if matches!(ty, Type::Tuple(_)) {
                items.push(json);
            } else {
                object = object.json(member.name, &json);
            }
        }
    }
    if matches!(ty, Type::Tuple(_)) {
        array(&items)
    } else {
        object.finish()
    }
}

fn part(
    member: &Member,
    path: &str,
    given: &[(&str, String)],
    id_gen: &mut IdGen,
) -> Option<String> {
    if let Some((_, json)) = given.iter().find(|(of, _)| *of == path) {
        return Some(json.clone());
    }
    let below = |of: &str| of.strip_prefix(path).is_some_and(|of| of.starts_with('.'));
    if given.iter().any(|(of, _)| below(of)) {
        return Some(filled(&member.ty, path, given, id_gen));
    }
    match member.default {
        Default::Absent => None,
        Default::Json(json) => Some(json.to_owned()),
        Default::New(new) => Some(new(id_gen)),
    }
}
