import { STATUS_CODES } from 'node:http';
import { Router, type RequestHandler } from 'express';
import swaggerUi from 'swagger-ui-express';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { isPlainObject } from '../../shared/json-values.js';
import { NDJSON } from '../http/request/items/receive-items.js';
import { responsesOf, streamError } from '../http/response/declared-responses.js';
import { errorShapeOf } from '../http/response/error-shapes.js';
import type { ResponseShape } from '../http/response/reply.js';
import { sendText } from '../http/response/write.js';
import type { Route } from '../http/route.js';
import { pagePolicy } from '../http/security-headers.js';
import { filterSchemas } from '../http/validation/filter-schemas.js';
import { describeRequest, firstOf, idOf, mediaType, referenceTo } from './describe-request.js';
import { errorDescriptions, errorExample } from './error-examples.js';

const INTRODUCTION =
  'Quire stores documents and finds the passages that answer a question. Get a token from `POST /local/generate_uri` ' +
  '(the part of the URI between `:` and `@`) and enter it under Authorize. In dev mode no token is needed.\n\n' +
  'The examples tell one story: Alice ingests the lease of an office and a handover report, shares the lease with Bob, ' +
  'searches, asks a question, and builds a cache. Filled in is the least that a request needs; the example `whole` says more.';

/** The tags, in the order in which somebody who is new here wants them. */
const TAGS: Readonly<Record<string, string>> = {
  Ingest: 'Put texts and files in, one by one or many at once.',
  Search: 'Find the passages and the documents that fit a query.',
  Ask: 'Answer questions from what is found, with the sources.',
  Documents: 'Read, change and delete documents.',
  Caches: 'Named sets of documents that questions are asked about again and again.',
  Collections: 'Saved scopes of searches, into which documents are put.',
  Sharing: 'Documents that others share with the caller.',
  Usage: 'Operations of the caller, and their quotas.',
  Protocols: 'Other interfaces to the same service, for assistants and programs that speak them.',
  Tokens: 'Access tokens.',
  OpenAI:
    'Everything for clients of OpenAI, below `/v1`: set their base URL to this service with `/v1` at its end.',
  'Other protocols': 'Reranking as Cohere has it, and searches as Dify and Open WebUI make them.',
  Health: 'The state of the service: does it run, and can it work?',
};

export type OpenApi = ReturnType<typeof createDocument>;

/** The OpenAPI document, made from the same schemas that validate requests. */
export function createOpenApi(allRoutes: readonly Route[]): OpenApi {
  const routes = [...allRoutes].sort((a, b) => placeOf(a.tag) - placeOf(b.tag));
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
        schemas: { ...eventSchemas(routes), ...filterSchemas },
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
    },
    { allowEmptySchema: { unknown: true, any: true, custom: true } },
  );
  return withTidySchemas(page);
}

function placeOf(tag: string): number {
  const names = Object.keys(TAGS);
  return names.includes(tag) ? names.indexOf(tag) : names.length;
}

/** Removes the schemas that no path leads to: the library repeats the schemas of events for requests. */
function withTidySchemas(page: OpenApi): OpenApi {
  const { schemas = {}, ...others } = page.components ?? {};
  const used = new Set(namedIn(page.paths));
  // A set goes on with what is added meanwhile.
  for (const id of used) for (const inner of namedIn(schemas[id])) used.add(inner);
  const left = Object.entries(schemas).filter(([id]) => used.has(id));
  const tidied = left.map(([id, schema]) => [id, withDefaultsInWords(schema)] as const);
  return { ...page, components: { ...others, schemas: Object.fromEntries(tidied) } };
}

/** The ids of the schemas that a part of the document refers to. */
const namedIn = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, id = '']) => id);

/**
 * Tells the defaults of a named schema in its descriptions. Makers of types take a field with the keyword `default` for
 * one that is always there, and some cannot read one that is an object.
 */
function withDefaultsInWords<Schema>(schema: Schema): Schema {
  if (!isPlainObject(schema) || !isPlainObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']).map(([name, property]) => {
    if (!isPlainObject(property) || property['default'] === undefined) return [name, property] as const;
    const { default: value, description, ...rest } = property;
    const words = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`;
    return [name, { ...rest, description: [description, words].join(' ').trim() }] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function tagOf(name: string) {
  const description = TAGS[name];
  return description === undefined ? { name } : { name, description };
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { summary, tag } = route;
  return {
    operationId: `${route.method}_${route.path.replace(/\W+/g, '_').replace(/^_|_$/g, '')}`,
    summary,
    description: descriptionOf(route),
    tags: [tag],
    security: securityOf(route),
    ...describeRequest(route),
    responses: responseObjects(route),
  };
}

/** Where a route decides by itself who may pass, a token is one of the ways. */
function securityOf({ permission, authorize }: Route): NonNullable<ZodOpenApiOperationObject['security']> {
  if (permission !== 'open') return [{ bearer: [] }];
  return authorize ? [{ bearer: [] }, {}] : [];
}

function descriptionOf({ description, permission, authorize }: Route): string {
  const byItself = authorize && description;
  const access = accessOf(permission);
  if (byItself !== undefined) return byItself;
  return description === undefined ? access : `${description}\n\n${access}`;
}

function accessOf(permission: Route['permission']): string {
  if (permission === 'open') return 'Needs no token.';
  return permission === 'any'
    ? 'Needs a token; its permissions say what it may do.'
    : `Needs the permission \`${permission}\`.`;
}

const SUCCESSES: Readonly<Record<number, string>> = {
  200: 'The request succeeded.',
  202: 'The work goes on after this answer. `Location`, where there is one, says where to ask for its status.',
};

/** Everything that a route may answer, by status. */
function responseObjects(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  for (const [status, shape] of responsesOf(route)) {
    const example = route.examples?.responses[status] ?? errorExample(route, status);
    const response = responseObject(status, shape, example);
    const events = status === 200 && route.events ? eventContent(route, route.events) : {};
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
  if (shape === 'empty') return { description: 'The message was taken, and has no answer.' };
  if (shape === 'download' || shape === 'png') return { description, content: bytesContent(shape, example) };
  if (shape === 'events')
    return { description, content: { 'text/event-stream': mediaType({ type: 'string' }, example) } };
  return { description, content: { 'application/json': mediaType(shape, example) } };
}

/**
 * A download has the type of its source, whatever that is. `application/octet-stream` stands beside the type of a picture
 * for makers of clients that leave out what they do not know: they read its bytes.
 */
function bytesContent(
  shape: 'download' | 'png',
  example: unknown,
): NonNullable<ZodOpenApiResponseObject['content']> {
  const isPicture = shape === 'png';
  const description = isPicture ? 'The picture.' : 'The source, byte by byte.';
  const content = mediaType({ type: 'string', format: 'binary', description }, example);
  return { [isPicture ? 'image/png' : '*/*']: content, 'application/octet-stream': content };
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
function eventContent(
  { path, examples: { events: values = [] } = { responses: {} } }: Route,
  data: z.ZodType,
) {
  const shape = errorShapeOf(path);
  const text = z.string().meta({
    description: 'JSON of one event.',
    contentMediaType: 'application/json',
    contentSchema: { anyOf: [referenceTo(data), referenceTo(shape?.body ?? streamError)] },
  });
  const type = z.string().optional().describe('`error` where the answer ends early, else absent.');
  const schema = z.object({ event: type, data: text });
  const examples = values.map((value, number) => {
    const name = `event-${String(number + 1)}`;
    return [name, { value: { data: JSON.stringify(value) } }] as const;
  });
  if (examples.length === 0) return { 'text/event-stream': { schema } };
  const told = shape ? shape.bodyOf({ ...STREAM_ERROR, hasToken: true }) : STREAM_ERROR;
  const failure = ['error', { value: { event: 'error', data: JSON.stringify(told) } }] as const;
  return { 'text/event-stream': { schema, examples: Object.fromEntries([...examples, failure]) } };
}

/** Schemas of events. Only the text of an event refers to them, so that they must be added to the document. */
function eventSchemas(routes: readonly Route[]): Record<string, z.ZodType> {
  const named = routes.flatMap(({ events }) => {
    const id = events && idOf(events);
    return events && id !== undefined ? [[id, events] as const] : [];
  });
  return Object.fromEntries(named.length > 0 ? [...named, ['StreamError', streamError]] : []);
}

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
