//! The configurations of clients: where they are, and where servers stand in them.

use std::path::{Path, PathBuf};

/// A configuration of a client.
pub(super) struct ClientConfig {
    /// The name for `--client`.
    pub client: &'static str,
    /// The path: `~/` is the home folder, others are in the current folder.
    path: &'static str,
    /// The path of macOS, if it differs.
    mac_path: &'static str,
    /// The tables of servers: keys, or `*` for any key.
    pub tables: &'static [&'static [&'static str]],
}

const fn config(
    client: &'static str,
    path: &'static str,
    tables: &'static [&'static [&'static str]],
) -> ClientConfig {
    ClientConfig {
        client,
        path,
        mac_path: path,
        tables,
    }
}

const MCP_SERVERS: &[&[&str]] = &[&["mcpServers"]];
const ZED: &[&[&str]] = &[&["context_servers"], &["agent_servers"], &["lsp"]];
const HELIX: &[&[&str]] = &[&["language-server"]];

/// All configurations that are looked for.
pub(super) const CONFIGS: &[ClientConfig] = &[
    ClientConfig {
        mac_path: "~/Library/Application Support/Claude/claude_desktop_config.json",
        ..config(
            "claude-desktop",
            "~/.config/Claude/claude_desktop_config.json",
            MCP_SERVERS,
        )
    },
    config(
        "claude-code",
        "~/.claude.json",
        &[&["mcpServers"], &["projects", "*", "mcpServers"]],
    ),
    config("claude-code", ".mcp.json", MCP_SERVERS),
    config("cursor", "~/.cursor/mcp.json", MCP_SERVERS),
    config("cursor", ".cursor/mcp.json", MCP_SERVERS),
    ClientConfig {
        mac_path: "~/Library/Application Support/Code/User/mcp.json",
        ..config("vscode", "~/.config/Code/User/mcp.json", &[&["servers"]])
    },
    ClientConfig {
        mac_path: "~/Library/Application Support/Code/User/settings.json",
        ..config(
            "vscode",
            "~/.config/Code/User/settings.json",
            &[&["mcp", "servers"]],
        )
    },
    config("vscode", ".vscode/mcp.json", &[&["servers"]]),
    config("vscode", ".vscode/settings.json", &[&["mcp", "servers"]]),
    config(
        "windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        MCP_SERVERS,
    ),
    config("zed", "~/.config/zed/settings.json", ZED),
    config("zed", ".zed/settings.json", ZED),
    config("gemini-cli", "~/.gemini/settings.json", MCP_SERVERS),
    config("gemini-cli", ".gemini/settings.json", MCP_SERVERS),
    config("codex", "~/.codex/config.toml", &[&["mcp_servers"]]),
    config("codex", ".codex/config.toml", &[&["mcp_servers"]]),
    config("helix", "~/.config/helix/languages.toml", HELIX),
    config("helix", ".helix/languages.toml", HELIX),
    config("mcphub.nvim", "~/.config/mcphub/servers.json", MCP_SERVERS),
];

/// The tables of servers in a file that no client of the list reads.
pub(super) const ANY_TABLES: &[&[&str]] = &[
    &["mcpServers"],
    &["servers"],
    &["mcp", "servers"],
    &["mcp_servers"],
    &["context_servers"],
    &["agent_servers"],
    &["language-server"],
    &["lsp"],
    &["projects", "*", "mcpServers"],
];

impl ClientConfig {
    /// Returns the path; `None` without a home folder.
    pub fn path(&self, home: Option<&Path>) -> Option<PathBuf> {
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
