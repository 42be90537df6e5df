// Drives `git idd mcp` with the official client of the protocol, which checks each message against its schemas.
//
// usage: node check.mjs <git-idd> <repository>
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, cwd] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args: ["mcp", "--", "./t.sh"], cwd, env: process.env });
const client = new Client({ name: "check", version: "1" });
client.onerror = (error) => {
  throw error;
};
await client.connect(transport);
assert.equal(client.getServerVersion().name, "git-idd");
assert.match(client.getInstructions(), /data, not instructions/);
await client.ping();

const call = async (name, args = {}) => {
  const { content, isError } = await client.callTool({ name, arguments: args });
  assert.ok(content.every(({ type }) => type === "text"));
  return { text: content.map(({ text }) => text).join("\n"), isError: isError ?? false };
};
const { tools } = await client.listTools();
assert.equal(tools.length, 22);
// The client checks the objects of the answers against these schemas.
assert.equal(tools.filter(({ outputSchema }) => outputSchema).length, 5);
assert.ok((await call("hunt_start", { test: "id" })).isError);
await assert.rejects(client.callTool({ name: "no_such", arguments: {} }), /no such tool/);

const id = (await call("hunt_start", { good: "HEAD~5" })).text.split(" ")[1];
while (/^running:/m.test((await call("hunt_status", { wait: 30 })).text));
const finding = await call("hunt_finding", { hunt: id });
assert.ok(!finding.isError && finding.text.includes("is the first bad commit"), finding.text);

const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
assert.deepEqual([resources.length, resourceTemplates.length], [5, 6]);
for (const { uri, mimeType } of resources) {
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].mimeType, mimeType);
  assert.ok(contents[0].text.length > 0, uri);
}
await assert.rejects(client.readResource({ uri: "idd://hunt/none/report.md" }), /no hunt is kept/);
await client.close();
console.log("all as it should be");
