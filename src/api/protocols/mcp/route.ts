import { z } from 'zod';
import { loadOnce } from '../../../shared/tools/coalesce-runs.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { McpParts } from './exchange.js';

/** A batch could ask for any number of things at the price of one request, and the protocol has dropped batches. */
const NO_MESSAGE = 'value is not one JSON-RPC message, an object; batches are not taken';

/** Only what makes it one message: the library of the protocol tells the rest in the protocol's own errors. */
const message = z
  .object(
    {
      jsonrpc: z.unknown().describe('`2.0`'),
      id: z
        .unknown()
        .describe('A text or a number, which the answer repeats; none where no answer is wanted.'),
      method: z.unknown().describe('Such as `tools/call`.'),
      params: z.unknown().describe('An object.'),
      result: z.unknown().describe('Of an answer.'),
      error: z.unknown().describe('Of an answer.'),
    },
    { error: NO_MESSAGE },
  )
  .partial()
  .meta({ id: 'McpMessage', description: 'A message of JSON-RPC 2.0.' });

const answer = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]).optional().describe('The id of the request.'),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({ id: 'McpAnswer', description: 'A result or an error of JSON-RPC 2.0.' });

const DESCRIPTION =
  'The Model Context Protocol (Streamable HTTP), by which assistants search, read and add documents. It has no sessions: ' +
  'each request stands alone, whether it is of the revision 2026-07-28 or of one of those before, from 2024-11-05. Each ' +
  'answer is one JSON text. A message that is no request is a 202 without a body. A tool that fails answers a result ' +
  'with `isError`, and the words that this interface has for it elsewhere.';

const examples = {
  body: { jsonrpc: '2.0', id: 1, method: 'ping' },
  responses: {
    200: { jsonrpc: '2.0' as const, id: 1, result: {} },
    202: '',
    400: {
      jsonrpc: '2.0' as const,
      id: null,
      error: { code: -32_600, message: 'Invalid Request: not a valid JSON-RPC message' },
    },
    404: { jsonrpc: '2.0' as const, id: 1, error: { code: -32_601, message: 'Method not found' } },
  },
};

/** The route of the protocol, which is loaded by its first request. */
export function createMcpRoute(parts: McpParts): Route {
  const load = loadOnce(async () => (await import('./exchange.js')).createExchange(parts));
  return defineRoute({
    method: 'post',
    tag: 'Protocols',
    permission: 'any',
    path: '/mcp',
    audit: null,
    summary: 'Speak MCP, the Model Context Protocol',
    description: DESCRIPTION,
    request: { body: message },
    responses: { 200: answer, 202: 'empty', 400: answer, 404: answer },
    examples,
    handle: async (request, reply) => {
      const exchange = await load();
      const { status, text, headers } = await exchange(request);
      return reply.message(status, text, headers);
    },
  });
}
