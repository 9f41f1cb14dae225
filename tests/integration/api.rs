//! Compares the public items of the library with `tests/api.txt`, so that a change of the API shows in a diff.
//!
//! `WIRETOOL_BLESS=1 cargo test --test integration api` rewrites the list. A line is a path and a declaration. The
//! items of the default features are included; trait implementations are not, derived or written.

use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, ImplItem, Item, ItemUse, TraitItem, Type, UseTree, Visibility};

/// A module of the library with its items.
struct Module {
    items: Vec<Item>,
}

/// Modules by path, such as `decoder::run`; the root is the empty path.
type Modules = BTreeMap<String, Module>;

fn join_tokens(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}::{name}")
    }
}

fn has_word(attributes: &[Attribute], what: &str) -> bool {
    attributes
        .iter()
        .any(|a| a.to_token_stream().to_string().replace(' ', "") == what)
}

fn is_excluded(attributes: &[Attribute]) -> bool {
    has_word(attributes, "#[doc(hidden)]")
        || attributes.iter().any(|a| {
            let text = a.to_token_stream().to_string().replace(' ', "");
            text.starts_with("#[cfg(") && text.contains("test")
        })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Reads the file of a module and the files of its submodules.
fn read(file: &Path, folder: &Path, path: String, modules: &mut Modules) {
    let text = fs::read_to_string(file).expect("a source file");
    let items = syn::parse_file(&text).expect("Rust").items;
    add(items, folder, path, modules);
}

fn add(items: Vec<Item>, folder: &Path, path: String, modules: &mut Modules) {
    let mut kept = Vec::new();
    for item in items {
        if let Item::Mod(module) = &item
            && !is_excluded(&module.attrs)
        {
            let name = module.ident.to_string();
            let below = folder.join(&name);
            let of = join_tokens(&path, &name);
            if let Some((_, items)) = &module.content {
                add(items.clone(), &below, of, modules);
            } else {
                let file = folder.join(format!("{name}.rs"));
                let file = if file.exists() {
                    file
                } else {
                    below.join("mod.rs")
                };
                read(&file, &below, of, modules);
            }
        }
        kept.push(item);
    }
    modules.insert(path, Module { items: kept });
}

/// Tokens with the usual spaces.
fn text(tokens: impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        ("' ", "'"),
        (" ,", ","),
        (" ;", ";"),
        (" :", ":"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        ("< ", "<"),
        (" !", "!"),
        ("->(", "-> ("),
        ("dyn(", "dyn ("),
        ("=(", "= ("),
    ] {
        text = text.replace(from, to);
    }
    text
}

struct Listing<'m> {
    modules: &'m Modules,
    lines: BTreeSet<String>,
    done: BTreeSet<(String, String)>,
}

impl Listing<'_> {
    /// Lists the public items of a module under their public paths.
    fn module(&mut self, of: &str, path: &str) {
        for item in &self.modules[of].items {
            match item {
                Item::Mod(m) if is_public(&m.vis) && !is_excluded(&m.attrs) => {
                    let name = m.ident.to_string();
                    self.lines
                        .insert(format!("mod {}", join_tokens(path, &name)));
                    self.module(&join_tokens(of, &name), &join_tokens(path, &name));
                }
                Item::Use(item) => self.uses(item, of, path),
                item => self.public_item(item, of, path, None),
            }
        }
    }

    fn uses(&mut self, item: &ItemUse, of: &str, path: &str) {
        if is_public(&item.vis) {
            self.tree(&item.tree, Vec::new(), of, path);
        }
    }

    fn tree(&mut self, tree: &UseTree, mut from: Vec<String>, of: &str, path: &str) {
        match tree {
            UseTree::Path(part) => {
                from.push(part.ident.to_string());
                self.tree(&part.tree, from, of, path);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, from.clone(), of, path);
                }
            }
            UseTree::Name(name) => self.add_item(&name.ident.to_string(), None, &from, of, path),
            UseTree::Rename(name) => {
                let new = name.rename.to_string();
                self.add_item(&name.ident.to_string(), Some(&new), &from, of, path);
            }
            UseTree::Glob(_) => panic!("pub use of everything in {of}"),
        }
    }

    /// Adds one re-exported name.
    fn add_item(&mut self, name: &str, new: Option<&str>, from: &[String], of: &str, path: &str) {
        let relative = join_tokens(of, &from.join("::"));
        let (first, rest) = from.split_first().map_or(("", &[][..]), |(f, r)| (f, r));
        let module = match first {
            "crate" => rest.join("::"),
            "super" => {
                let parent = of.rsplit_once("::").map_or("", |(parent, _)| parent);
                join_tokens(parent, &rest.join("::"))
            }
            _ if from.is_empty() => of.to_owned(),
            _ => relative,
        };
        let module = module.trim_end_matches(':').to_owned();
        let Some(found) = self.modules.get(&module) else {
            panic!("{of} hands on {name} of {module}, which is no module");
        };
        for item in &found.items {
            match item {
                // Exported twice.
                Item::Use(item) if names(&item.tree, name) => {
                    self.tree(&reduce_use(&item.tree, name), Vec::new(), &module, path);
                }
                item => self.public_item(item, &module, path, Some((name, new.unwrap_or(name)))),
            }
        }
    }

    /// Returns an item if it is public or is the requested one.
    fn public_item(&mut self, item: &Item, of: &str, path: &str, only: Option<(&str, &str)>) {
        let (name, visibility, attributes) = match item {
            Item::Const(i) => (&i.ident, &i.vis, &i.attrs),
            Item::Static(i) => (&i.ident, &i.vis, &i.attrs),
            Item::Enum(i) => (&i.ident, &i.vis, &i.attrs),
            Item::Struct(i) => (&i.ident, &i.vis, &i.attrs),
            Item::Fn(i) => (&i.sig.ident, &i.vis, &i.attrs),
            Item::Trait(i) => (&i.ident, &i.vis, &i.attrs),
            Item::Type(i) => (&i.ident, &i.vis, &i.attrs),
            _ => return,
        };
        let name = name.to_string();
        if !is_public(visibility)
            || is_excluded(attributes)
            || only.is_some_and(|(only, _)| only != name)
        {
            return;
        }
        let path = join_tokens(path, only.map_or(name.as_str(), |(_, new)| new));
        let open = if has_word(attributes, "#[non_exhaustive]") {
            "#[non_exhaustive] "
        } else {
            ""
        };
        let mut lines = Vec::new();
        match item {
            Item::Const(i) => lines.push(format!("const {path}: {}", text(&i.ty))),
            Item::Static(i) => lines.push(format!("static {path}: {}", text(&i.ty))),
            Item::Type(i) => lines.push(format!(
                "type {path}{} = {}",
                text(&i.generics),
                text(&i.ty)
            )),
            Item::Fn(i) => lines.push(signature(&path, &i.sig)),
            Item::Enum(i) => {
                lines.push(format!("{open}enum {path}{}", text(&i.generics)));
                for v in &i.variants {
                    let mut variant = v.clone();
                    variant.attrs.clear();
                    strip(&mut variant.fields);
                    lines.push(format!("variant {path}::{}", text(&variant)));
                }
            }
            Item::Struct(i) => {
                lines.push(format!("{open}struct {path}{}", text(&i.generics)));
                for (n, field) in i.fields.iter().enumerate() {
                    if is_public(&field.vis) {
                        let name = field
                            .ident
                            .as_ref()
                            .map_or(n.to_string(), ToString::to_string);
                        lines.push(format!("field {path}::{name}: {}", text(&field.ty)));
                    }
                }
            }
            Item::Trait(i) => {
                lines.push(format!("trait {path}{}", text(&i.generics)));
                for item in &i.items {
                    match item {
                        TraitItem::Fn(f) if !is_excluded(&f.attrs) => {
                            let optional = if f.default.is_some() { "provided " } else { "" };
                            lines.push(format!("{optional}{}", method(&path, &f.sig)));
                        }
                        TraitItem::Const(c) => {
                            lines.push(format!("const {path}::{}: {}", c.ident, text(&c.ty)));
                        }
                        TraitItem::Type(t) => lines.push(format!("type {path}::{}", t.ident)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        self.lines.extend(lines);
        if matches!(item, Item::Enum(_) | Item::Struct(_))
            && self.done.insert((of.to_owned(), path.clone()))
        {
            self.methods(&name, of, &path);
        }
    }

    /// The public methods of a type. They may be in its module or in its parent, sibling or child modules.
    fn methods(&mut self, name: &str, of: &str, path: &str) {
        let near = of.rsplit_once("::").map_or(of, |(parent, _)| parent);
        let is_type = |item: &Item| match item {
            Item::Struct(i) => i.ident == name,
            Item::Enum(i) => i.ident == name,
            _ => false,
        };
        for (module, found) in self.modules {
            let is_near = module == near || module.starts_with(&format!("{near}::"));
            let has_own = module != of && found.items.iter().any(is_type);
            if !is_near || has_own {
                continue;
            }
            for item in &found.items {
                let Item::Impl(i) = item else { continue };
                let Type::Path(own) = &*i.self_ty else {
                    continue;
                };
                let last = own.path.segments.last().map(|s| s.ident.to_string());
                if i.trait_.is_some() || last.as_deref() != Some(name) || is_excluded(&i.attrs) {
                    continue;
                }
                for item in &i.items {
                    match item {
                        ImplItem::Fn(f) if is_public(&f.vis) && !is_excluded(&f.attrs) => {
                            self.lines.insert(method(path, &f.sig));
                        }
                        ImplItem::Const(c) if is_public(&c.vis) => {
                            let line = format!("const {path}::{}: {}", c.ident, text(&c.ty));
                            self.lines.insert(line);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn strip(fields: &mut Fields) {
    for field in fields.iter_mut() {
        field.attrs.clear();
    }
}

/// `fn path(...)`: the name of the function is replaced by its path.
fn signature(path: &str, signature: &syn::Signature) -> String {
    let text = text(signature);
    let (before, after) = text.split_once("fn ").expect("a function");
    let after = after.strip_prefix(&signature.ident.to_string());
    format!("{before}fn {path}{}", after.expect("its name"))
}

fn method(path: &str, of: &syn::Signature) -> String {
    signature(&format!("{path}::{}", of.ident), of)
}

/// Returns `true` if a `use` names this item.
fn names(tree: &UseTree, name: &str) -> bool {
    match tree {
        UseTree::Path(part) => names(&part.tree, name),
        UseTree::Group(group) => group.items.iter().any(|tree| names(tree, name)),
        UseTree::Name(n) => n.ident == name,
        UseTree::Rename(n) => n.rename == name,
        UseTree::Glob(_) => false,
    }
}

/// Reduces a `use` to this name.
fn reduce_use(tree: &UseTree, name: &str) -> UseTree {
    match tree {
        UseTree::Path(part) => {
            let mut part = part.clone();
            *part.tree = reduce_use(&part.tree, name);
            UseTree::Path(part)
        }
        UseTree::Group(group) => {
            let one = group.items.iter().find(|tree| names(tree, name));
            reduce_use(one.expect("the name"), name)
        }
        other => other.clone(),
    }
}

fn listing(src: &Path) -> String {
    let mut modules = Modules::new();
    read(&src.join("lib.rs"), src, String::new(), &mut modules);
    let mut listing = Listing {
        modules: &modules,
        lines: BTreeSet::new(),
        done: BTreeSet::new(),
    };
    listing.module("", "");
    listing.lines.into_iter().map(|line| line + "\n").collect()
}

#[test]
fn public_items_equal_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let src = std::env::var_os("WIRETOOL_API_OF").map_or(root.join("src"), PathBuf::from);
    let listed = listing(&src);
    let path = root.join("tests/api.txt");
    if crate::common::bless() {
        fs::write(&path, &listed).expect("the list is written");
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    let (listed, want): (BTreeSet<&str>, BTreeSet<&str>) =
        (listed.lines().collect(), want.lines().collect());
    let added: Vec<_> = listed.difference(&want).collect();
    let gone: Vec<_> = want.difference(&listed).collect();
    assert!(
        added.is_empty() && gone.is_empty(),
        "tests/api.txt: new {added:#?}, gone {gone:#?}; WIRETOOL_BLESS=1 writes it"
    );
}
