// Starts `git-idd dap` in the first folder of the workspace.
const vscode = require("vscode");

exports.activate = (context) => {
  const factory = {
    createDebugAdapterDescriptor(session) {
      const folder = session.workspaceFolder ?? vscode.workspace.workspaceFolders?.[0];
      const program = session.configuration.executable ?? "git-idd";
      return new vscode.DebugAdapterExecutable(program, ["dap"], { cwd: folder?.uri.fsPath });
    },
  };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("git-idd", factory));
};

exports.deactivate = () => {};
