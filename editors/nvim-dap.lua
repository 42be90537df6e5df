-- For nvim-dap: `:luafile editors/nvim-dap.lua`, then `:DapContinue` in a C or C++ file.
-- `:lua require("dap").step_back()` and `reverse_continue()` go backward.
-- `:GitIddRecommend [criterion]` asks which step to look at, `:GitIddAnswer <answer>` judges it.
local dap = require("dap")
dap.adapters["git-idd"] = { type = "executable", command = "git-idd", args = { "dap" } }
local input = function(prompt)
  return function()
    local text = vim.fn.input(prompt)
    return text ~= "" and text or nil
  end
end
for _, language in ipairs({ "c", "cpp" }) do
  dap.configurations[language] = dap.configurations[language] or {}
  table.insert(dap.configurations[language], { type = "git-idd", request = "launch", name = "git idd: newest recording" })
  table.insert(dap.configurations[language], {
    type = "git-idd",
    request = "launch",
    name = "git idd: record a test",
    command = input("test command: "),
    build = input("build command: "),
  })
end

local answers = { "correct", "wrongValue", "wrongPath", "wrongResult", "unclear", "undo" }
-- The last recommendation.
local last

local request = function(command, arguments)
  local session = dap.session()
  if not session or session.config.type ~= "git-idd" then
    return vim.notify("git idd: no session is running", vim.log.levels.WARN)
  end
  session:request(command, arguments, function(failure, body)
    vim.schedule(function()
      if failure then
        return vim.notify("git idd: " .. (failure.message or vim.inspect(failure)), vim.log.levels.ERROR)
      end
      last = body
      local text = { body.step and ("step %d, line %s: %s"):format(body.step, body.line or "?", body.text) or body.text }
      for _, used in ipairs(body.used or {}) do
        local value = type(used.value) == "string" and used.value or "?"
        table.insert(text, ("  %d: uses %s = %s"):format(used.index, used.name, value))
      end
      vim.notify(table.concat(text, "\n"))
    end)
  end)
end

local M = {}

-- Goes to the step to look at next; a criterion (as of `git idd debug --from`) begins a new walk.
M.recommend = function(from)
  request("gitIdd/recommend", from and from ~= "" and { from = from } or vim.empty_dict())
end

-- Judges the recommended step: one of `answers`, and for `wrongValue` the numbers of the values.
M.answer = function(answer, values)
  if answer ~= "wrongValue" or values and #values > 0 then
    return request("gitIdd/answer", { answer = answer, values = values and #values > 0 and values or nil })
  end
  local used = last and last.used or {}
  if #used == 0 then
    return vim.notify("git idd: the step uses no value; `:GitIddRecommend` shows the step", vim.log.levels.WARN)
  end
  local show = function(one)
    return one.name .. " = " .. (type(one.value) == "string" and one.value or "?")
  end
  vim.ui.select(used, { prompt = "Which value is wrong?", format_item = show }, function(one)
    if one then
      request("gitIdd/answer", { answer = "wrongValue", values = { one.index } })
    end
  end)
end

vim.api.nvim_create_user_command("GitIddRecommend", function(command)
  M.recommend(command.args)
end, { nargs = "?" })
vim.api.nvim_create_user_command("GitIddRestart", function()
  request("gitIdd/recommend", { restart = true })
end, {})
-- What must hold before a line runs: `:GitIddExpect n > 0 at a.c:13`.
vim.api.nvim_create_user_command("GitIddExpect", function(command)
  request("gitIdd/expect", { expect = { command.args } })
end, { nargs = 1 })
vim.api.nvim_create_user_command("GitIddAnswer", function(command)
  local values = {}
  for index = 2, #command.fargs do
    table.insert(values, tonumber(command.fargs[index]))
  end
  M.answer(command.fargs[1], values)
end, {
  nargs = "+",
  complete = function(begin)
    return vim.tbl_filter(function(answer)
      return vim.startswith(answer, begin)
    end, answers)
  end,
})
package.loaded["git_idd"] = M
return M
