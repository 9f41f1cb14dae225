//! The help of every command, walked from the binary's own.

/// What one command says of itself.
pub struct Page {
    /// The words that lead to it, `wiretool` left out.
    pub path: Vec<String>,
    /// `--help`.
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

    /// The lines below `title`, up to the next empty one.
    pub fn block(&self, title: &str) -> Vec<&str> {
        let lines = self.help.lines().skip_while(|line| *line != title);
        lines.skip(1).take_while(|line| !line.is_empty()).collect()
    }

    /// Its examples, less what is said of them.
    pub fn examples(&self) -> Vec<&str> {
        let lines = self.block("Examples:");
        lines.into_iter().map(|line| command(line.trim())).collect()
    }
}

/// Every command's, the main one first.
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
            // Deeper lines go on with what was said.
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

/// What comes before the first two spaces outside of quotes.
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
