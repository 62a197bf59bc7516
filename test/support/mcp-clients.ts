import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewerStdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { inheritedEnvironment } from './service.js';

const NAME = { name: 'a test', version: '1' };
const textContent = z.tuple([z.object({ type: z.literal('text'), text: z.string() })]);
const toolResult = z.object({
  content: textContent,
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});
const toolList = z.object({
  tools: z.array(z.object({ name: z.string(), annotations: z.record(z.string(), z.unknown()) })),
});
const resourceList = z.object({
  resources: z.array(z.object({ uri: z.string(), title: z.string() })),
  nextCursor: z.string().optional(),
});
const resourceText = z.object({ contents: z.tuple([z.object({ uri: z.string(), text: z.string() })]) });

/** An official client that is connected, whichever it is. */
export interface McpClient {
  readonly version: string | undefined;
  instructions(): string | undefined;
  ping(): Promise<unknown>;
  tools(): Promise<z.infer<typeof toolList>['tools']>;
  /** Calls a tool, which has to succeed. */
  call(name: string, given: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Calls a tool, which has to fail, for its words. */
  failingCall(name: string, given: Record<string, unknown>): Promise<string>;
  resources(cursor?: string): Promise<z.infer<typeof resourceList>>;
  read(uri: string): Promise<string>;
  templates(): Promise<unknown>;
  close(): Promise<void>;
}

/** The members that the clients have in common. */
interface AnyClient {
  ping(): Promise<unknown>;
  listTools(): Promise<unknown>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  listResources(params?: { cursor: string }): Promise<unknown>;
  listResourceTemplates(): Promise<unknown>;
  readResource(params: { uri: string }): Promise<unknown>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

function viewed(client: AnyClient, version: string | undefined): McpClient {
  const call = async (name: string, given: Record<string, unknown>) =>
    toolResult.parse(await client.callTool({ name, arguments: given }));
  return {
    version,
    instructions: () => client.getInstructions(),
    ping: () => client.ping(),
    tools: async () => toolList.parse(await client.listTools()).tools,
    call: async (name, given) => {
      const { content, structuredContent, isError = false } = await call(name, given);
      const [{ text }] = content;
      if (isError || !structuredContent) throw new Error(text);
      if (JSON.stringify(structuredContent) !== text) throw new Error(`the text differs: ${text}`);
      return structuredContent;
    },
    failingCall: async (name, given) => {
      const { content, isError } = await call(name, given);
      if (isError !== true) throw new Error('the tool did not fail');
      return content[0].text;
    },
    resources: async (cursor) =>
      resourceList.parse(await client.listResources(...(cursor === undefined ? [] : [{ cursor }]))),
    read: async (uri) => resourceText.parse(await client.readResource({ uri })).contents[0].text,
    templates: () => client.listResourceTemplates(),
    close: () => client.close(),
  };
}

interface Address {
  readonly url: string;
  /** The value of the header. */
  readonly authorization?: string;
}

const httpOptions = ({ authorization }: Address) =>
  authorization === undefined ? {} : { requestInit: { headers: { authorization } } };
const urlOf = ({ url }: Address) => new URL(`${url}/mcp`);

async function connectOlder(address: Address): Promise<McpClient> {
  const client = new OlderClient(NAME);
  const transport = new OlderTransport(urlOf(address), httpOptions(address));
  await client.connect(transport);
  return viewed(client, transport.protocolVersion);
}

const connectNewer = (mode: 'legacy' | 'auto' | { pin: string }) => async (address: Address) => {
  const client = new Client(NAME, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(urlOf(address), httpOptions(address)));
  return viewed(client, client.getNegotiatedProtocolVersion());
};

/** `npx quire mcp` as a host starts it. */
const stdioOptions = ({ url, authorization }: Address) => ({
  command: process.execPath,
  args: ['dist/cli/main.js', 'mcp', '--url', url],
  env: {
    ...definedOf(inheritedEnvironment()),
    ...(authorization !== undefined && { QUIRE_TOKEN: authorization.replace('Bearer ', '') }),
  },
});

const definedOf = (variables: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

async function connectOlderByStdio(address: Address): Promise<McpClient> {
  const client = new OlderClient(NAME);
  await client.connect(new StdioClientTransport(stdioOptions(address)));
  return viewed(client, undefined);
}

async function connectNewerByStdio(address: Address): Promise<McpClient> {
  const client = new Client(NAME, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new NewerStdioClientTransport(stdioOptions(address)));
  return viewed(client, client.getNegotiatedProtocolVersion());
}

const STATELESS = '2026-07-28';

/** Ways to connect, with the revision that each must come to speak; null where the client does not tell it. */
export const MCP_CLIENTS = [
  { name: 'sdk 1 over HTTP', connect: connectOlder, version: '2025-11-25' },
  { name: 'client 2 over HTTP', connect: connectNewer('legacy'), version: '2025-11-25' },
  { name: 'client 2 over HTTP, of either era', connect: connectNewer('auto'), version: STATELESS },
  { name: 'client 2 over HTTP, stateless', connect: connectNewer({ pin: STATELESS }), version: STATELESS },
  { name: 'sdk 1 over stdio', connect: connectOlderByStdio, version: undefined },
  { name: 'client 2 over stdio, of either era', connect: connectNewerByStdio, version: STATELESS },
] as const;

/** A client as most hosts have it today. */
export const connectMcp = connectOlder;
