// Starts `git-idd dap` in the first folder of the workspace, and has the commands that judge steps.
const vscode = require("vscode");

/** The last recommendation. */
let last;

const request = async (command, args) => {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "git-idd") {
    return vscode.window.showWarningMessage("git idd: no session is running.");
  }
  try {
    last = await session.customRequest(command, args);
  } catch (error) {
    return vscode.window.showErrorMessage(`git idd: ${error.message}`);
  }
  const where = last.step === undefined ? "" : `Step ${last.step}, line ${last.line ?? "?"}: `;
  const used = (last.used ?? []).map((one) => `${one.name} = ${one.value ?? "?"}`).join(", ");
  return vscode.window.showInformationMessage(`${where}${last.text}${used && `. It uses ${used}`}.`);
};

const answer = (name) => () => request("gitIdd/answer", { answer: name });

const wrongValue = async () => {
  const used = last?.used ?? [];
  if (used.length === 0) {
    return vscode.window.showWarningMessage("git idd: the step uses no value; ask for a recommendation first.");
  }
  const items = used.map((one) => ({ label: one.name, description: one.value ?? "?", index: one.index }));
  const options = { canPickMany: true, placeHolder: "Which values are wrong?" };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (chosen?.length > 0) {
    await request("gitIdd/answer", { answer: "wrongValue", values: chosen.map((one) => one.index) });
  }
};

const recommendFrom = async () => {
  const prompt = "Where the failure is seen: crash, end, <step>, <step>:<variable>, output:<byte>, line:<file>:<line>";
  const from = await vscode.window.showInputBox({ prompt });
  if (from) {
    await request("gitIdd/recommend", { from });
  }
};

const expect = async () => {
  const text = await vscode.window.showInputBox({ prompt: "What must hold before a line runs: n > 0 at a.c:13" });
  if (text) {
    await request("gitIdd/expect", { expect: [text] });
  }
};

const commands = {
  recommend: () => request("gitIdd/recommend", {}),
  recommendFrom,
  restart: () => request("gitIdd/recommend", { restart: true }),
  expect,
  correct: answer("correct"),
  wrongValue,
  wrongPath: answer("wrongPath"),
  wrongResult: answer("wrongResult"),
  unclear: answer("unclear"),
  undo: answer("undo"),
};

exports.activate = (context) => {
  const factory = {
    createDebugAdapterDescriptor(session) {
      const folder = session.workspaceFolder ?? vscode.workspace.workspaceFolders?.[0];
      const program = session.configuration.executable ?? "git-idd";
      return new vscode.DebugAdapterExecutable(program, ["dap"], { cwd: folder?.uri.fsPath });
    },
  };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("git-idd", factory));
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`git-idd.${name}`, run));
  }
};

exports.deactivate = () => {};
