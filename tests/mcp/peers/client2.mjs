// The client of today: node client2.mjs URL legacy|auto|2026-07-28
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, mode, folder] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(createRequire(folder + "/x.js").resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const negotiation = { mode: mode === "legacy" || mode === "auto" ? mode : { pin: mode } };
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: negotiation });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
const info = await client.callTool({ name: "machine", arguments: { operation: "host_info" } });
const wrong = await client.callTool({ name: "fs", arguments: { operation: "read" } });
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), info, wrong }));
await client.close();
process.exit(0);
