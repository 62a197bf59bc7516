import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import type { ResponseShape } from '../http/response/reply.js';
import { responsesOf } from '../http/response/declared-responses.js';
import type { Route } from '../http/route.js';

const INTRODUCTION =
  'Documents in, the right passages out. Get a token from `POST /local/generate_uri` (the part of the URI between `:` ' +
  'and `@`) and enter it under Authorize; in dev mode no token is needed.';

export type OpenApi = ReturnType<typeof createDocument>;

/** The OpenAPI page, made from the very schemas that validate. */
export function createOpenApi(routes: readonly Route[]): OpenApi {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  return createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Quire', version: '1', description: INTRODUCTION },
      // Relative to this page, so that "try it out" asks the server that it came from, whatever its address.
      servers: [{ url: '.' }],
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
      paths,
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    { allowEmptySchema: { unknown: true, any: true, custom: true } },
  );
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { summary, tag, permission } = route;
  const { path, query, fromQuery } = route.request;
  const content = requestContent(route);
  const queryFields = [query, fromQuery].filter((schema) => schema instanceof z.ZodObject);
  const [first, ...others] = queryFields;
  const queries = first && others.reduce((all, schema) => all.extend(schema.shape), first);
  return {
    operationId: `${route.method}_${route.path.replace(/\W+/g, '_').replace(/^_|_$/g, '')}`,
    summary,
    tags: [tag],
    ...(permission === 'open' ? { security: [] } : { security: [{ bearer: [] }] }),
    ...(permission === 'open' ? {} : { description: `Needs the permission \`${permission}\`.` }),
    requestParams: {
      ...(path instanceof z.ZodObject ? { path } : {}),
      ...(queries ? { query: queries } : {}),
    },
    ...(Object.keys(content).length > 0
      ? { requestBody: { required: route.emptyBody === undefined, content } }
      : {}),
    responses: responseObjects(route),
  };
}

function requestContent({ request, upload }: Route): Record<string, { schema: z.ZodType }> {
  const { body, form } = request;
  const formTypes = form ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : [];
  return {
    ...(body && (upload?.alsoJson ?? true) ? { 'application/json': { schema: body } } : {}),
    ...Object.fromEntries(form ? formTypes.map((type) => [type, { schema: form }]) : []),
    ...(upload ? { 'multipart/form-data': { schema: upload.fields } } : {}),
  };
}

function responseObjects(route: Route): ZodOpenApiResponsesObject {
  const responses: ZodOpenApiResponsesObject = {};
  for (const [status, shape] of responsesOf(route)) {
    const response = responseObject(status, shape);
    const events =
      status === 200 && route.events ? { 'text/event-stream': { schema: eventOf(route.events) } } : {};
    // @NOTE statuses are three digits, which the type wants to read from a literal.
    responses[String(status) as `2${string}`] = { ...response, content: { ...response.content, ...events } };
  }
  return responses;
}

/** One server-sent event, whose `data` is JSON. */
function eventOf(data: z.ZodType): z.ZodType {
  const { $schema: _, ...contentSchema } = z.toJSONSchema(data, { io: 'output' });
  const text = z.string().meta({ contentMediaType: 'application/json', contentSchema });
  return z.object({ event: z.string().optional(), data: text });
}

function responseObject(status: number, shape: ResponseShape): ZodOpenApiResponseObject {
  const description = STATUS_CODES[status] ?? 'Answer';
  if (shape === 'download') {
    const schema = { type: 'string', format: 'binary' } as const;
    // Of whatever type its source has.
    return { description, content: { '*/*': { schema } } };
  }
  if (shape === 'events')
    return { description, content: { 'text/event-stream': { schema: { type: 'string' } } } };
  return { description, content: { 'application/json': { schema: shape } } };
}
