-- For nvim-dap: `:luafile editors/nvim-dap.lua`, then `:DapContinue` in a C or C++ file.
-- `:lua require("dap").step_back()` and `reverse_continue()` go backward.
local dap = require("dap")
dap.adapters["git-idd"] = { type = "executable", command = "git-idd", args = { "dap" } }
for _, language in ipairs({ "c", "cpp" }) do
  dap.configurations[language] = dap.configurations[language] or {}
  table.insert(dap.configurations[language], { type = "git-idd", request = "launch", name = "git idd: newest recording" })
end
