//! The configurations of clients: where they are, and where servers stand in them.

use std::path::{Path, PathBuf};

/// A table of servers in a configuration.
pub(super) struct ServerTable {
    /// The keys to it; `*` is any key.
    pub keys: &'static [&'static str],
    /// The protocol of its servers, if they have one.
    pub protocol: Option<&'static str>,
}

/// A configuration of a client.
pub(super) struct ClientConfig {
    /// The name for `--client`.
    pub client: &'static str,
    /// The path: `~/` is the home folder, others are in the current folder.
    path: &'static str,
    /// The path of macOS, if it differs.
    mac_path: &'static str,
    /// A variable with a folder, and the path below it that the client then reads in place of `path`.
    variable: Option<(&'static str, &'static str)>,
    pub tables: &'static [ServerTable],
}

const fn config(
    client: &'static str,
    path: &'static str,
    tables: &'static [ServerTable],
) -> ClientConfig {
    ClientConfig {
        client,
        path,
        mac_path: path,
        variable: None,
        tables,
    }
}

impl ClientConfig {
    /// Sets the variable of the client's folder.
    const fn below(self, variable: &'static str, path: &'static str) -> Self {
        Self {
            variable: Some((variable, path)),
            ..self
        }
    }
}

const fn table(keys: &'static [&'static str], protocol: &'static str) -> ServerTable {
    ServerTable {
        keys,
        protocol: Some(protocol),
    }
}

/// The variable of the folder of all configurations.
const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
const MCP_SERVERS: &[ServerTable] = &[table(&["mcpServers"], "mcp")];
const CLAUDE_CODE: &[ServerTable] = &[
    table(&["mcpServers"], "mcp"),
    table(&["projects", "*", "mcpServers"], "mcp"),
];
const VSCODE: &[ServerTable] = &[table(&["servers"], "mcp")];
const VSCODE_SETTINGS: &[ServerTable] = &[table(&["mcp", "servers"], "mcp")];
const CODEX: &[ServerTable] = &[table(&["mcp_servers"], "mcp")];
const ZED: &[ServerTable] = &[
    table(&["context_servers"], "mcp"),
    table(&["agent_servers"], "acp"),
    table(&["lsp"], "lsp"),
];
const HELIX: &[ServerTable] = &[table(&["language-server"], "lsp")];

/// All configurations that are looked for.
pub(super) const CONFIGS: &[ClientConfig] = &[
    ClientConfig {
        mac_path: "~/Library/Application Support/Claude/claude_desktop_config.json",
        ..config(
            "claude-desktop",
            "~/.config/Claude/claude_desktop_config.json",
            MCP_SERVERS,
        )
        .below(CONFIG_HOME, "Claude/claude_desktop_config.json")
    },
    config("claude-code", "~/.claude.json", CLAUDE_CODE).below("CLAUDE_CONFIG_DIR", ".claude.json"),
    config("claude-code", ".mcp.json", MCP_SERVERS),
    config("cursor", "~/.cursor/mcp.json", MCP_SERVERS),
    config("cursor", ".cursor/mcp.json", MCP_SERVERS),
    ClientConfig {
        mac_path: "~/Library/Application Support/Code/User/mcp.json",
        ..config("vscode", "~/.config/Code/User/mcp.json", VSCODE)
            .below(CONFIG_HOME, "Code/User/mcp.json")
    },
    ClientConfig {
        mac_path: "~/Library/Application Support/Code/User/settings.json",
        ..config(
            "vscode",
            "~/.config/Code/User/settings.json",
            VSCODE_SETTINGS,
        )
        .below(CONFIG_HOME, "Code/User/settings.json")
    },
    config("vscode", ".vscode/mcp.json", VSCODE),
    config("vscode", ".vscode/settings.json", VSCODE_SETTINGS),
    config(
        "windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        MCP_SERVERS,
    ),
    config("zed", "~/.config/zed/settings.json", ZED).below(CONFIG_HOME, "zed/settings.json"),
    config("zed", ".zed/settings.json", ZED),
    config("gemini-cli", "~/.gemini/settings.json", MCP_SERVERS)
        .below("GEMINI_CLI_HOME", ".gemini/settings.json"),
    config("gemini-cli", ".gemini/settings.json", MCP_SERVERS),
    config("codex", "~/.codex/config.toml", CODEX).below("CODEX_HOME", "config.toml"),
    config("codex", ".codex/config.toml", CODEX),
    config("helix", "~/.config/helix/languages.toml", HELIX)
        .below(CONFIG_HOME, "helix/languages.toml"),
    config("helix", ".helix/languages.toml", HELIX),
    config("mcphub.nvim", "~/.config/mcphub/servers.json", MCP_SERVERS),
];

/// The tables of servers in a file that no client of the list reads.
pub(super) const ANY_TABLES: &[ServerTable] = &[
    table(&["mcpServers"], "mcp"),
    ServerTable {
        keys: &["servers"],
        protocol: None,
    },
    table(&["mcp", "servers"], "mcp"),
    table(&["mcp_servers"], "mcp"),
    table(&["context_servers"], "mcp"),
    table(&["agent_servers"], "acp"),
    table(&["language-server"], "lsp"),
    table(&["lsp"], "lsp"),
    table(&["projects", "*", "mcpServers"], "mcp"),
    table(&["experimental", "modelContextProtocolServers"], "mcp"),
];

impl ClientConfig {
    /// Returns the path; `None` without a home folder. `variable` reads a variable of the environment.
    pub fn path(
        &self,
        home: Option<&Path>,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Option<PathBuf> {
        let is_usual = !cfg!(target_os = "macos") || self.mac_path == self.path;
        let own = self.variable.filter(|_| is_usual);
        let own = own.and_then(|(name, below)| Some(variable(name)?.join(below)));
        if own.is_some() {
            return own;
        }
        let path = if cfg!(target_os = "macos") {
            self.mac_path
        } else {
            self.path
        };
        match path.strip_prefix("~/") {
            Some(below) => Some(home?.join(below)),
            None => Some(PathBuf::from(path)),
        }
    }
}
