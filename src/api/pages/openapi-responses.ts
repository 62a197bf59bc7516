import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type {
  ZodOpenApiMediaTypeObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { NDJSON } from '../http/request/items/receive-items.js';
import type { ResponseShape } from '../http/response/reply.js';
import { responsesOf, streamError } from '../http/response/declared-responses.js';
import type { Route } from '../http/route.js';
import { errorDescriptions, errorExample } from './error-examples.js';

const SUCCESSES: Readonly<Record<number, string>> = {
  200: 'The request succeeded.',
  202: 'The work goes on after this answer. `Location`, where there is one, says where to ask for its status.',
};

/** A schema, with an example if there is one. */
export const mediaType = (schema: NonNullable<ZodOpenApiMediaTypeObject['schema']>, example: unknown) =>
  example === undefined ? { schema } : { schema, example };

/** Everything that a route may answer, by status. */
export function responseObjects(route: Route): ZodOpenApiResponsesObject {
  const responses: ZodOpenApiResponsesObject = {};
  for (const [status, shape] of responsesOf(route)) {
    const example = route.examples?.responses[status] ?? errorExample(route, status);
    const response = responseObject(status, shape, example);
    const events = status === 200 && route.events ? eventContent(route.events, route.examples?.events) : {};
    const lines = route.items && status < 300 ? lineContent(shape, example) : {};
    // @NOTE a status has three digits; the type only accepts literals.
    responses[String(status) as `2${string}`] = {
      ...response,
      content: { ...response.content, ...lines, ...events },
    };
  }
  return responses;
}

function responseObject(status: number, shape: ResponseShape, example: unknown): ZodOpenApiResponseObject {
  const description = SUCCESSES[status] ?? errorDescriptions[status] ?? STATUS_CODES[status] ?? 'Answer';
  if (shape === 'download') {
    const schema = { type: 'string', format: 'binary', description: 'The source, byte by byte.' } as const;
    // A download has the type of its source, whatever that is.
    return { description, content: { '*/*': mediaType(schema, example) } };
  }
  if (shape === 'png') {
    const schema = { type: 'string', format: 'binary', description: 'The picture.' } as const;
    return { description, content: { 'image/png': mediaType(schema, example) } };
  }
  if (shape === 'events')
    return { description, content: { 'text/event-stream': mediaType({ type: 'string' }, example) } };
  return { description, content: { 'application/json': mediaType(shape, example) } };
}

/** The items of a list as lines of JSON. The schema describes a single one. */
function lineContent(shape: ResponseShape, example: unknown) {
  if (!(shape instanceof z.ZodArray)) return {};
  // @NOTE zod types the element of an array by its core class.
  const element = shape.element as z.ZodType;
  return { [NDJSON]: mediaType(element, Array.isArray(example) ? (example[0] as unknown) : undefined) };
}

const STREAM_ERROR: z.infer<typeof streamError> = {
  type: 'error',
  status: 503,
  detail: 'completion provider is unavailable',
};

/**
 * Server-sent events. The schema describes a single one, whose `data` is JSON; an answer that ends early has an event that
 * says why.
 */
function eventContent(data: z.ZodType, values: readonly unknown[] = []) {
  const text = z.string().meta({
    description: 'JSON of one event.',
    contentMediaType: 'application/json',
    contentSchema: { anyOf: [referenceTo(data), referenceTo(streamError)] },
  });
  const type = z.string().optional().describe('`error` where the answer ends early, else absent.');
  const schema = z.object({ event: type, data: text });
  const examples = values.map((value, number) => {
    const name = `event-${String(number + 1)}`;
    return [name, { value: { data: JSON.stringify(value) } }] as const;
  });
  if (examples.length === 0) return { 'text/event-stream': { schema } };
  const failure = ['error', { value: { event: 'error', data: JSON.stringify(STREAM_ERROR) } }] as const;
  return { 'text/event-stream': { schema, examples: Object.fromEntries([...examples, failure]) } };
}

function referenceTo(schema: z.ZodType) {
  const id = idOf(schema);
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` };
  const { $schema: _, ...inline } = z.toJSONSchema(schema, { io: 'output' });
  return inline;
}

/** Schemas of events. Only the text of an event refers to them, so that they must be added to the document. */
export function eventSchemas(routes: readonly Route[]): Record<string, z.ZodType> {
  const named = routes.flatMap(({ events }) => {
    const id = events && idOf(events);
    return events && id !== undefined ? [[id, events] as const] : [];
  });
  return Object.fromEntries(named.length > 0 ? [...named, ['StreamError', streamError]] : []);
}

const idOf = (schema: z.ZodType) => z.globalRegistry.get(schema)?.id;
