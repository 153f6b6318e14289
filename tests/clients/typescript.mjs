// Drive a server with a client of the TypeScript SDK and print what it answered, as JSON.
//   typescript.mjs PACKAGE MODE '[[tool, arguments], …]' command args…
// PACKAGE: "sdk" (version 1) or "client" (version 2). MODE, for version 2: "legacy", "auto" or a protocol version.
const [kind, mode, calls, command, ...args] = process.argv.slice(2);

const load = {
  sdk: async () => [
    await import("@modelcontextprotocol/sdk/client/index.js"),
    await import("@modelcontextprotocol/sdk/client/stdio.js"),
  ],
  client: async () => [
    await import("@modelcontextprotocol/client"),
    await import("@modelcontextprotocol/client/stdio"),
  ],
};
const [{ Client }, { StdioClientTransport }] = await load[kind]();
const options = kind === "sdk" ? {} : { versionNegotiation: { mode: mode.includes("-") ? { pin: mode } : mode } };
const client = new Client({ name: `typescript-${kind}`, version: "1" }, options);
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));

const tools = (await client.listTools()).tools.map((tool) => tool.name);
const results = [];
for (const [name, given] of JSON.parse(calls)) {
  try {
    results.push(await client.callTool({ name, arguments: given }));
  } catch (error) {
    results.push({ code: error.code });
  }
}
const server = client.getServerVersion();
await client.close();
console.log(JSON.stringify({ server: server?.name, tools, results }));
