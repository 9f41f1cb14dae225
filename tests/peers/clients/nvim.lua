-- A session of Neovim with the language server of LSP_COMMAND, on LSP_FILE. Writes what it got to LSP_OUT.
local file = vim.env.LSP_FILE
vim.cmd('edit ' .. file)
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({ name = 'test', cmd = vim.split(vim.env.LSP_COMMAND, ' '), root_dir = vim.fn.fnamemodify(file, ':h') })
vim.lsp.buf_attach_client(buffer, id)
vim.wait(10000, function()
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.initialized
end, 20)
local document = { uri = vim.uri_from_bufnr(buffer) }
local symbols = vim.lsp.buf_request_sync(buffer, 'textDocument/documentSymbol', { textDocument = document }, 10000)
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '<p>ö €</p>' })
local position = { line = 0, character = 1 }
local hover = vim.lsp.buf_request_sync(buffer, 'textDocument/hover', { textDocument = document, position = position }, 10000)
vim.lsp.stop_client(id)
vim.wait(10000, function() return vim.lsp.client_is_stopped(id) end, 20)
local got = function(answers) return answers ~= nil and next(answers) ~= nil end
vim.fn.writefile({ tostring(got(symbols)), tostring(got(hover)) }, vim.env.LSP_OUT)
vim.cmd('qa!')
