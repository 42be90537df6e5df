// Drives `git idd dap` with the protocol's own client, and checks each of its messages against the protocol's own types.
//
// usage: node check.mjs <git-idd> <repository>
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { DebugClient } from "@vscode/debugadapter-testsupport";
import ts from "typescript";

const [program, repository] = process.argv.slice(2);
const file = path.join(repository, "a.c");
const messages = [];

/** A client of a server of its own; what the server says is kept. */
const start = async () => {
  const client = new DebugClient(program, "dap", "git-idd", { cwd: repository });
  client.defaultTimeout = 60000;
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (text) => {
    messages.push(JSON.parse(text));
    dispatch(text);
  };
  await client.start();
  return client;
};

const fails = async (request, text) => {
  await assert.rejects(request, (error) => {
    assert.match(error.message, text);
    return true;
  });
};

const client = await start();
const output = [];
client.on("output", (event) => output.push(event.body.output));
const stops = [];
client.on("stopped", (event) => stops.push(event.body));
const capabilities = await client.initializeRequest({ adapterID: "git-idd", supportsVariablePaging: true });
assert.equal(capabilities.body.supportsStepBack, true);
await fails(client.nextRequest({ threadId: 1 }), /`next` needs a launch before it/);
await fails(client.launchRequest({}), /nothing was recorded/);
await fails(client.launchRequest({ command: ["./a"], build: "$CC -o a missing.c" }), /the build fails/);

// Recording.
await client.launchRequest({ command: ["./a"], build: "$CC -o a a.c" });
assert.ok(output.some((line) => line.includes("instrumenting compiler")), output.join(""));
assert.ok(output.some((line) => line === "Recorded as 0001.\n"), output.join(""));

// Breakpoints.
const set = await client.setBreakpointsRequest({
  source: { path: file },
  breakpoints: [{ line: 10 }, { line: 1 }, { line: 11, condition: "n +" }, { line: 10, condition: "sum + n == 7", hitCondition: "1" }],
});
assert.deepEqual(set.body.breakpoints.map((one) => one.verified), [true, false, false, true]);
const moved = async (request, reason, line) => {
  const stopped = client.waitForEvent("stopped");
  await request;
  const { body } = await stopped;
  assert.equal(body.reason, reason);
  const trace = await client.stackTraceRequest({ threadId: body.threadId, startFrame: 0, levels: 20 });
  const [frame] = trace.body.stackFrames;
  assert.deepEqual([frame.line, frame.source.path], [line, file]);
  return trace.body.stackFrames;
};
await moved(client.configurationDoneRequest(), "exception", 31);
const info = await client.exceptionInfoRequest({ threadId: 1 });
assert.equal(info.body.exceptionId, "SIGSEGV");
await moved(client.reverseContinueRequest({ threadId: 1 }), "breakpoint", 10);
await moved(client.stepBackRequest({ threadId: 1 }), "step", 9);
await moved(client.nextRequest({ threadId: 1 }), "step", 10);
await moved(client.stepOutRequest({ threadId: 1 }), "step", 30);
const [main] = await moved(client.stepBackRequest({ threadId: 1 }), "step", 29);

// Variables.
const scopes = await client.scopesRequest({ frameId: main.id });
const list = async (reference, rest = {}) =>
  (await client.variablesRequest({ variablesReference: reference, ...rest })).body.variables;
const named = (name) => scopes.body.scopes.find((scope) => scope.name === name).variablesReference;
const locals = [...(await list(named("Locals"))), ...(await list(named("Globals")))];
const local = (name) => locals.find((one) => one.name === name);
const row = await list(local("rows").variablesReference, { filter: "indexed", start: 1, count: 1 });
assert.deepEqual([row[0].name, row[0].evaluateName, row[0].indexedVariables], ["[1]", "rows[1]", 3]);
const cells = await list(row[0].variablesReference);
assert.deepEqual(cells.map((one) => [one.evaluateName, one.value]), [["rows[1][0]", "4"], ["rows[1][1]", "5"], ["rows[1][2]", "6"]]);
assert.equal(local("many").indexedVariables, 5000);
const many = await list(local("many").variablesReference);
assert.deepEqual([many.length, many[1000].name, many[1000].value], [1001, "[1000..]", "4000 more elements"]);
const page = await list(local("many").variablesReference, { filter: "indexed", start: 4998, count: 100 });
assert.deepEqual(page.map((one) => one.name), ["[4998]", "[4999]"]);
const pair = await list(local("pair").variablesReference);
assert.deepEqual(pair.map((one) => one.name), ["kind", "low", "whole", "inner", "narrow", "wide"]);
assert.equal(pair[0].value, "RED");
const target = await list(local("at").variablesReference);
assert.deepEqual(target.map((one) => one.evaluateName), ["kind", "low", "whole", "inner", "narrow", "wide"].map((name) => `at->${name}`));
// Arrays on the heap.
const heap = await list(local("heap").variablesReference);
assert.deepEqual(heap.slice(6).map((one) => one.evaluateName), ["heap[1]", "heap[2]"]);
assert.deepEqual((await list(local("heap").variablesReference, { start: 7, count: 5 })).map((one) => one.name), ["[2]"]);
const third = await list(heap[7].variablesReference);
assert.deepEqual([third[2].evaluateName, third[2].value], ["heap[2].whole", "9"]);
const flex = await list(local("flex").variablesReference);
assert.deepEqual([flex.length, flex[1].name, flex[1].indexedVariables], [2, "data", 2]);
assert.equal((await list(flex[1].variablesReference))[1].evaluateName, "flex->data[1]");
assert.equal(local("four").indexedVariables, 4);
for (const one of [...locals, ...row, ...cells, ...page, ...pair, ...target, ...heap, ...third, ...flex]) {
  const again = await client.evaluateRequest({ expression: one.evaluateName, frameId: main.id, context: "hover" });
  assert.equal(again.body.result, one.value, one.evaluateName);
}
for (const [expression, value] of [
  ["rows[1][2] * 2", "12"],
  ["pair.kind == RED", "1"],
  ["at->low + 1", "-1"],
  ["*rows[1] + rows[0][0]", "5"],
  ["pair.inner.deep ? 1 : 2", "1"],
  ["&pair == at", "1"],
  ["pair.wide || at->narrow", "0"],
]) {
  assert.equal((await client.evaluateRequest({ expression, frameId: main.id })).body.result, value, expression);
}
await fails(client.evaluateRequest({ expression: "add(1)", frameId: main.id }), /cannot be called/);

// Who wrote it last?
const data = await client.dataBreakpointInfoRequest({ variablesReference: local("pair").variablesReference, name: "low" });
assert.ok(data.body.dataId, JSON.stringify(data.body));
await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: data.body.dataId, accessType: "write" }] });
await client.setBreakpointsRequest({ source: { path: file }, breakpoints: [] });
await moved(client.reverseContinueRequest({ threadId: 1 }), "data breakpoint", 26);
await client.threadsRequest();
await client.sourceRequest({ sourceReference: 1 });

// The walk.
const first = await client.customRequest("gitIdd/recommend", { from: "crash" });
assert.deepEqual([first.body.line, first.body.reason, first.body.judged], [31, "failure", 0]);
const wrong = first.body.used.find((used) => used.value === "NULL");
assert.ok(wrong, JSON.stringify(first.body));
let told = await client.customRequest("gitIdd/answer", { answer: "wrongValue", values: [wrong.index] });
for (let answers = 1; !told.body.found; answers++) {
  assert.ok(answers < 20 && !told.body.exhausted, JSON.stringify(told.body));
  const stopped = client.waitForEvent("stopped");
  // Only the line of the fault does something wrong.
  told = await client.customRequest("gitIdd/answer", { answer: told.body.line === 23 ? "wrongResult" : "correct" });
  assert.equal((await stopped).body.reason, "recommendation");
}
assert.equal(told.body.line, 23);
const trace = await client.stackTraceRequest({ threadId: 1 });
assert.equal(trace.body.stackFrames[0].line, 23);
await client.customRequest("gitIdd/answer", { answer: "undo" });
await fails(client.customRequest("gitIdd/answer", { answer: "maybe" }), /`answer` is correct, wrongValue/);
await fails(client.customRequest("gitIdd/other", {}), /not supported/);
await client.terminateRequest();
await client.disconnectRequest();

// Types.
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const typeOf = (message) => {
  if (message.type === "event") return `${capital(message.event)}Event`;
  if (!message.success) return "ErrorResponse";
  return message.command.startsWith("gitIdd/") ? "Response" : `${capital(message.command)}Response`;
};
const lines = messages.map((one, index) => `export const m${index}: DebugProtocol.${typeOf(one)} = ${JSON.stringify(one)};`);
const here = path.dirname(fileURLToPath(import.meta.url));
const name = path.join(here, "messages.ts");
/** What the compiler says of a text that stands in this directory. */
const complaints = (text) => {
  const options = { noEmit: true, strict: true, types: [], lib: ["lib.es2020.d.ts"], moduleResolution: ts.ModuleResolutionKind.Node10 };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (wanted, ...rest) =>
    wanted === name ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2020) : read(wanted, ...rest);
  const found = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host));
  return found.map((one) => {
    const line = one.file?.text.slice(0, one.start).split("\n").length ?? 0;
    return `${one.file?.text.split("\n")[line - 1]}\n    ${ts.flattenDiagnosticMessageText(one.messageText, "\n    ")}`;
  });
};
const head = 'import { DebugProtocol } from "@vscode/debugprotocol";';
const found = complaints([head, ...lines].join("\n"));
assert.deepEqual(found, []);
// The check can fail.
const bad = { seq: 1, type: "response", request_seq: 1, success: true, command: "threads", body: { threads: [{ id: "1" }] } };
assert.equal(complaints(`${head}\nexport const m: DebugProtocol.ThreadsResponse = ${JSON.stringify(bad)};`).length, 1);
const seqs = messages.map((one) => one.seq);
assert.deepEqual(seqs, seqs.map((_, index) => index + 1));
console.log(`${messages.length} messages as they should be`);
process.exit(0);
