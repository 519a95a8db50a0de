// Both client libraries of MCP against one server, as programs use them. Prints what they saw as one JSON document.
//
// usage: clients.mjs SPEC, a JSON object: {"command", "args", "cwd", "env"} or {"url", "token"}, and "calls", a list of
// {"name", "arguments"}
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const spec = JSON.parse(process.argv[2]);
const who = { name: 'vcm-test', version: '1' };

function transport(Stdio, Http) {
    if (!spec.url)
        return new Stdio({ command: spec.command, args: spec.args, cwd: spec.cwd, env: spec.env, stderr: 'inherit' });
    return new Http(new URL(spec.url), { requestInit: { headers: { Authorization: `Bearer ${spec.token}` } } });
}

async function session(client, wire, call) {
    const seen = { calls: [], progress: 0 };
    await client.connect(wire);
    seen.instructions = client.getInstructions();
    seen.server = client.getServerVersion();
    seen.capabilities = client.getServerCapabilities();
    seen.tools = (await client.listTools()).tools;
    seen.resources = (await client.listResources()).resources.map((r) => r.uri);
    seen.templates = (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate);
    for (const { name, arguments: args } of spec.calls) {
        try {
            seen.calls.push(await call(client, { name, arguments: args }, () => seen.progress++));
        } catch (error) {
            seen.calls.push({ thrown: String(error), code: error.code });
        }
    }
    const scopes = await client.readResource({ uri: 'vcm://scopes' });
    seen.scopes = JSON.parse(scopes.contents[0].text);
    await client.close();
    return seen;
}

const modern = (client, params, onprogress) => client.callTool(params, { onprogress });
const legacy = (client, params, onprogress) => client.callTool(params, undefined, { onprogress });
const out = {
    modern: await session(new ModernClient(who, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
        transport(ModernStdio, ModernHttp), modern),
    auto: await session(new ModernClient(who, { versionNegotiation: { mode: 'auto' } }),
        transport(ModernStdio, ModernHttp), modern),
    legacy: await session(new LegacyClient(who), transport(LegacyStdio, LegacyHttp), legacy),
};
process.stdout.write(JSON.stringify(out));
