//! Reads the help of every command of the binary, and the pages that show commands.

use std::path::{Path, PathBuf};

/// The help of one command.
pub struct Page {
    /// The words of the command without `wiretool`.
    pub path: Vec<String>,
    /// The output of `--help`.
    pub help: String,
}

impl Page {
    /// `wiretool sael token`.
    pub fn name(&self) -> String {
        std::iter::once("wiretool")
            .chain(self.path.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The lines below `title`, up to the next empty line.
    pub fn block(&self, title: &str) -> Vec<&str> {
        let lines = self.help.lines().skip_while(|line| *line != title);
        lines.skip(1).take_while(|line| !line.is_empty()).collect()
    }

    /// The examples without their descriptions.
    pub fn examples(&self) -> Vec<&str> {
        let lines = self.block("Examples:");
        lines.into_iter().map(|line| command(line.trim())).collect()
    }
}

/// The help of all commands, the main one first.
pub fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    let mut paths = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        let output = super::wiretool()
            .args(&path)
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{path:?} --help");
        let help = String::from_utf8(output.stdout).unwrap();
        let page = Page { path, help };
        for line in page.block("Commands:").into_iter().rev() {
            // More deeply indented lines continue the description.
            if let Some(line) = line.strip_prefix("  ").filter(|l| !l.starts_with(' ')) {
                let mut path = page.path.clone();
                path.extend(line.split(' ').next().map(str::to_owned));
                paths.push(path);
            }
        }
        pages.push(page);
    }
    pages
}

/// The text before the first two spaces outside of quotes.
fn command(line: &str) -> &str {
    let mut quote = None;
    let mut before = '\0';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') && before != '\\' => quote = Some(c),
            None if c == ' ' && before == ' ' => return line[..at].trim_end(),
            _ => {}
        }
        before = c;
    }
    line
}

/// The README and the topics of `wiretool help`.
pub fn guide_pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let topics = std::fs::read_dir(root.join("src/cli/topics")).unwrap();
    let topics = topics.map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = topics
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    pages.insert(0, root.join("README.md"));
    pages
}
