//! Checks that no two files import each other, also not through other files.
//!
//! A name belongs to the file that defines it, also if `pub use` exports it elsewhere. A file may use the modules that
//! it is part of: in Rust the methods of one type are often spread over the files of its submodules.

use super::{Source, module, report_violations, sources, tree};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

type Path = Vec<String>;

/// The definitions of one file, and the names of other files that it uses.
struct File {
    path: String,
    defines: BTreeSet<String>,
    /// The names that `use` brings into scope, with their paths.
    scope: BTreeMap<String, Path>,
    /// The paths that its code needs; paths that it only exports with `pub use` are not included.
    needs: Vec<Path>,
}

struct Files(BTreeMap<Path, File>);

impl Files {
    fn new(sources: &[Source]) -> Self {
        let sources = sources
            .iter()
            .filter(|source| !source.bare.trim().is_empty());
        let modules: BTreeSet<Path> = sources.clone().map(|s| module(&s.path)).collect();
        let files = sources.map(|source| (module(&source.path), File::new(source, &modules)));
        Self(files.collect())
    }

    /// The module of the file that defines the item of a path. At most `steps` `use` are followed.
    fn resolve(&self, path: &[String], steps: usize) -> Option<Path> {
        let lengths = (0..=path.len()).rev();
        let at = lengths
            .into_iter()
            .find(|at| self.0.contains_key(&path[..*at]))?;
        let (module, rest) = path.split_at(at);
        let (file, name) = (&self.0[module], rest.first()?);
        match file
            .scope
            .get(name)
            .filter(|_| !file.defines.contains(name))
        {
            Some(target) if steps > 0 => {
                self.resolve(&[target.as_slice(), &rest[1..]].concat(), steps - 1)
            }
            _ => Some(module.to_vec()),
        }
    }

    /// The modules that a file imports from.
    fn imports(&self, here: &Path) -> BTreeSet<Path> {
        let file = &self.0[here];
        let named = file
            .needs
            .iter()
            .map(|path| match file.scope.get(&path[0]) {
                Some(target) => [target.as_slice(), &path[1..]].concat(),
                None => path.clone(),
            });
        let modules = named.filter_map(|path| self.resolve(&path, 8));
        modules.filter(|other| !here.starts_with(other)).collect()
    }
}

impl File {
    fn new(source: &Source, modules: &BTreeSet<Path>) -> Self {
        let here = module(&source.path);
        let uses = Regex::new(r"\b(pub(?:\([a-z]+\))?\s+)?use\s+([^;]+);").unwrap();
        let items = Regex::new(r"\b(?:fn|struct|enum|trait|type|const|static)\s+(\w+)").unwrap();
        let paths = Regex::new(r"(?:^|[^\w:.])(\w+(?:::\w+)+)").unwrap();
        let code = uses.replace_all(&source.bare, "").into_owned();
        let words: BTreeSet<&str> = code
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let (mut scope, mut needs) = (BTreeMap::new(), Vec::new());
        for found in uses.captures_iter(&source.bare) {
            let mut imported = Vec::new();
            tree(&mut &found[2], &[], &mut imported);
            for path in imported
                .into_iter()
                .filter_map(|path| absolute(&path, &here, modules))
            {
                let Some(name) = path.last().cloned() else {
                    continue;
                };
                if found.get(1).is_none() || words.contains(name.as_str()) {
                    needs.push(path.clone());
                }
                scope.insert(name, path);
            }
        }
        for found in paths.captures_iter(&code) {
            let path: Path = found[1].split("::").map(str::to_owned).collect();
            needs.push(absolute(&path, &here, modules).unwrap_or(path));
        }
        Self {
            path: source.path.clone(),
            defines: items
                .captures_iter(&code)
                .map(|found| found[1].to_owned())
                .collect(),
            scope,
            needs,
        }
    }
}

/// A path from the root of the crate; `None` if it starts with another crate.
fn absolute(path: &Path, here: &Path, modules: &BTreeSet<Path>) -> Option<Path> {
    let first = path.first()?;
    let child = [here.as_slice(), std::slice::from_ref(first)].concat();
    match first.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([here.as_slice(), &path[1..]].concat()),
        "super" => {
            let ups = path.iter().take_while(|name| *name == "super").count();
            let base = &here[..here.len().checked_sub(ups)?];
            Some([base, &path[ups..]].concat())
        }
        _ => modules
            .contains(&child)
            .then(|| [here.as_slice(), path].concat()),
    }
}

#[test]
fn import_cycles_do_not_exist() {
    let sources = sources();
    let files = Files::new(&sources);
    let imports: BTreeMap<&Path, BTreeSet<Path>> = files
        .0
        .keys()
        .map(|here| (here, files.imports(here)))
        .collect();
    assert!(
        imports.values().map(BTreeSet::len).sum::<usize>() > 1000,
        "imports are not found"
    );
    let mut breaches = String::new();
    for (here, others) in &imports {
        for other in others {
            let (mut seen, mut next) = (BTreeSet::new(), vec![other]);
            while let Some(module) = next.pop() {
                if seen.insert(module) {
                    next.extend(&imports[module]);
                }
            }
            if seen.contains(here) {
                let (from, to) = (&files.0[*here].path, &files.0[other].path);
                let _ = writeln!(
                    breaches,
                    "src/{from}:1: imports from src/{to}, which leads back to it"
                );
            }
        }
    }
    report_violations(&breaches);
}
