import { STATUS_CODES } from 'node:http';
import { Router, type RequestHandler } from 'express';
import swaggerUi from 'swagger-ui-express';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
  type ZodOpenApiMediaTypeObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { isPlainObject } from '../../shared/json-values.js';
import { IDEMPOTENCY_HEADER, MAX_KEY_CHARACTERS } from '../http/request/headers.js';
import { NDJSON } from '../http/request/items/receive-items.js';
import { MERGE_PATCH } from '../http/request/read-parts.js';
import { responsesOf, streamError } from '../http/response/declared-responses.js';
import type { ResponseShape } from '../http/response/reply.js';
import { sendText } from '../http/response/write.js';
import type { Route } from '../http/route.js';
import { pagePolicy } from '../http/security-headers.js';
import { errorDescriptions, errorExample } from './error-examples.js';

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
  return firstOf(lists.find((value) => Array.isArray(value)));
}

function firstOf(list: unknown): unknown {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items[0];
}

const SUCCESSES: Readonly<Record<number, string>> = {
  200: 'The request succeeded.',
  202: 'The work goes on after this answer. `Location`, where there is one, says where to ask for its status.',
};

/** A schema, with an example if there is one. */
const mediaType = (schema: NonNullable<ZodOpenApiMediaTypeObject['schema']>, example: unknown) =>
  example === undefined ? { schema } : { schema, example };

/** Everything that a route may answer, by status. */
function responseObjects(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  for (const [status, shape] of responsesOf(route)) {
    const example = route.examples?.responses[status] ?? errorExample(route, status);
    const response = responseObject(status, shape, example);
    const events = status === 200 && route.events ? eventContent(route.events, route.examples?.events) : {};
    const lines = route.items && status < 300 ? lineContent(shape, example) : {};
    responses[String(status)] = {
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
  const { element } = shape;
  // zod types the element of an array by its core class.
  return element instanceof z.ZodType ? { [NDJSON]: mediaType(element, firstOf(example)) } : {};
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
function eventSchemas(routes: readonly Route[]): Record<string, z.ZodType> {
  const named = routes.flatMap(({ events }) => {
    const id = events && idOf(events);
    return events && id !== undefined ? [[id, events] as const] : [];
  });
  return Object.fromEntries(named.length > 0 ? [...named, ['StreamError', streamError]] : []);
}

const idOf = (schema: z.ZodType) => z.globalRegistry.get(schema)?.id;

export interface Docs {
  /** `/openapi.json` */
  readonly document: RequestHandler;
  /** Everything under `/docs`. */
  readonly page: RequestHandler;
}

/** The reference of the interface, as a document and as a page. */
export function createDocs(routes: readonly Route[]): Docs {
  const openApi = createOpenApi(routes);
  // All clients get the same bytes, so that slow ones do not each hold a copy.
  const bytes = Buffer.from(JSON.stringify(openApi));
  return {
    document: (_request, response) => {
      sendText(response, 200, bytes);
    },
    page: createDocsPage(openApi),
  };
}

const uiOptions = {
  customSiteTitle: 'Quire API',
  swaggerOptions: {
    // Without this, the page would ask a server on the internet to validate it.
    validatorUrl: null,
    persistAuthorization: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
  },
};

/** Swagger UI, served from our own files below the path that it is mounted at. It loads nothing from elsewhere. */
function createDocsPage(openApi: OpenApi): Router {
  const router = Router();
  // Under an address without a slash at its end, the files of the page are one folder down.
  const html = swaggerUi.generateHTML(openApi, uiOptions);
  const withFolder = (folder: string) => html.replaceAll(/(href|src)="\.\//g, `$1="./${folder}`);
  router.use(pagePolicy({ baseUri: ["'none'"], formAction: ["'none'"] }));
  router.get('/', (request, response) => {
    const isFolder = request.originalUrl.split('?')[0]?.endsWith('/') ?? false;
    response.type('html').send(withFolder(isFolder ? '' : 'docs/'));
  });
  // This file of the package does not belong to the page. Its handler would refuse it in plain text.
  router.get('/package.json', (_request, _response, next) => {
    next('router');
  });
  router.use(swaggerUi.serveFiles(openApi, uiOptions));
  return router;
}
