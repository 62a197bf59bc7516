import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
} from 'zod-openapi';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { IDEMPOTENCY_HEADER } from '../http/idempotency/about-key.js';
import { MAX_KEY_CHARACTERS } from '../http/idempotency/key.js';
import { MERGE_PATCH } from '../http/request/read-parts.js';
import type { Route } from '../http/route.js';
import { NDJSON } from '../http/request/items/receive-items.js';
import { eventSchemas, mediaType, responseObjects } from './openapi-responses.js';

const INTRODUCTION =
  'Quire stores documents and finds the passages that answer a question. Get a token from `POST /local/generate_uri` ' +
  '(the part of the URI between `:` and `@`) and enter it under Authorize. In dev mode no token is needed.\n\n' +
  'The examples tell one story: Alice ingests the lease of an office and a handover report, shares the lease with Bob, ' +
  'searches, asks a question, and builds a cache.';

const TAGS: Readonly<Record<string, string>> = {
  Health: 'The state of the service: does it run, and can it work?',
  Tokens: 'Access tokens.',
  Documents: 'Ingest documents, and read, change and delete them.',
  Sharing: 'Documents that others share with the caller.',
  Retrieval: 'Search documents, and answer questions with them.',
  Caches: 'Named sets of documents that questions are asked about again and again.',
  Usage: 'Operations of the caller, and their quotas.',
};

export type OpenApi = ReturnType<typeof createDocument>;

/** The OpenAPI document, made from the same schemas that validate requests. */
export function createOpenApi(routes: readonly Route[]): OpenApi {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  const page = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Quire',
        version: '1',
        description: INTRODUCTION,
        contact: { name: 'The operator of this service' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // The address is relative to this document, so that "Try it out" asks the server that the document came from.
      servers: [{ url: '.' }],
      tags: [...new Set(routes.map(({ tag }) => tag))].map(tagOf),
      paths,
      components: {
        schemas: eventSchemas(routes),
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
    },
    { allowEmptySchema: { unknown: true, any: true, custom: true } },
  );
  return withoutUnused(page);
}

/** Removes the schemas that nothing refers to: the library repeats the schemas of events for requests. */
function withoutUnused(page: OpenApi): OpenApi {
  const { schemas = {}, ...others } = page.components ?? {};
  const text = JSON.stringify(page);
  const used = Object.entries(schemas).filter(([id]) => text.includes(`"#/components/schemas/${id}"`));
  const isDone = used.length === Object.keys(schemas).length;
  const left = { ...page, components: { ...others, schemas: Object.fromEntries(used) } };
  return isDone ? page : withoutUnused(left);
}

function tagOf(name: string) {
  const description = TAGS[name];
  return description === undefined ? { name } : { name, description };
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { summary, tag, permission, examples } = route;
  const { path, query, fromQuery } = route.request;
  const content = requestContent(route);
  const parameters = {
    ...(path instanceof z.ZodObject ? { path: withExamples(path, examples?.path) } : {}),
    ...queryParameters([withExamples(query, examples?.query), withExamples(fromQuery, examples?.body)]),
    ...(route.idempotency ? { header: idempotencyHeader(examples?.idempotencyKey) } : {}),
  };
  return {
    operationId: `${route.method}_${route.path.replace(/\W+/g, '_').replace(/^_|_$/g, '')}`,
    summary,
    description: descriptionOf(route),
    tags: [tag],
    security: permission === 'open' ? [] : [{ bearer: [] }],
    requestParams: parameters,
    ...(Object.keys(content).length > 0
      ? { requestBody: { required: route.emptyBody === undefined, content } }
      : {}),
    responses: responseObjects(route),
  };
}

const IDEMPOTENCY_DESCRIPTION =
  'Makes it safe to send the request again when its answer was lost. For 24 hours, the same key with the same request of ' +
  'the same caller gets the first answer again, with the header `Idempotent-Replayed: true`, and nothing is done twice. ' +
  'With another body or on another route it is a 422, and while the first request is under way a 409 with `Retry-After`. ' +
  'After an error the key can be used again. Take a new key, such as a UUID, for each new request.';

function idempotencyHeader(example: string | undefined) {
  const key = z.string().min(1).max(MAX_KEY_CHARACTERS).optional().describe(IDEMPOTENCY_DESCRIPTION);
  const field = example === undefined ? key : key.meta({ param: { example } });
  return z.object({ [IDEMPOTENCY_HEADER]: field });
}

function descriptionOf({ description, permission }: Route): string {
  const access = permission === 'open' ? 'Needs no token.' : `Needs the permission \`${permission}\`.`;
  return description === undefined ? access : `${description}\n\n${access}`;
}

/** Joins the fields of all schemas that are there into one object. */
function queryParameters(schemas: readonly (z.ZodType | undefined)[]): { query?: z.ZodObject } {
  const [first, ...others] = schemas.filter((schema) => schema instanceof z.ZodObject);
  return first ? { query: others.reduce((all, schema) => all.extend(schema.shape), first) } : {};
}

/** Gives each parameter its example, written as in an address. */
function withExamples<Schema extends z.ZodType | undefined>(schema: Schema, examples: unknown) {
  if (!(schema instanceof z.ZodObject) || !isPlainObject(examples)) return schema;
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  const fields = Object.entries(shape).map(([name, field]) => {
    const value = examples[name];
    const example = isPlainObject(value) ? JSON.stringify(value) : value;
    return [name, example === undefined ? field : field.meta({ param: { example } })] as const;
  });
  return z.object(Object.fromEntries(fields));
}

function requestContent({ request, upload, items, examples }: Route): ZodOpenApiRequestBodyObject['content'] {
  const { body, form, mergePatch } = request;
  const formTypes = form ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : [];
  return {
    ...(body && (upload?.alsoJson ?? true) ? { 'application/json': mediaType(body, examples?.body) } : {}),
    ...(mergePatch ? { [MERGE_PATCH]: mediaType(mergePatch, examples?.body) } : {}),
    ...(items ? { [NDJSON]: mediaType(items, firstItem(examples?.body)) } : {}),
    ...Object.fromEntries(form ? formTypes.map((type) => [type, mediaType(form, examples?.body)]) : []),
    ...(upload ? { 'multipart/form-data': mediaType(upload.fields, examples?.upload) } : {}),
  };
}

/** The first item of the list that a body holds: the example of a line. */
function firstItem(body: unknown): unknown {
  const lists: unknown[] = isPlainObject(body) ? Object.values(body) : [];
  const list = lists.find((value) => Array.isArray(value));
  return Array.isArray(list) ? (list[0] as unknown) : undefined;
}
