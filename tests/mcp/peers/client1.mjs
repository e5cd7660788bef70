// The client of before: node client1.mjs URL - FOLDER
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, , folder] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(createRequire(folder + "/x.js").resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
const info = await client.callTool({ name: "machine", arguments: { operation: "host_info" } });
const wrong = await client.callTool({ name: "fs", arguments: { operation: "read" } });
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), info, wrong }));
await client.close();
process.exit(0);
