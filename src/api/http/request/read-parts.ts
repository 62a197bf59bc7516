import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { ValidationItem } from '../../../shared/errors.js';
import { isPlainObject } from '../../../shared/json-values.js';
import { parseInto } from '../validation/validation-errors.js';
import { HttpError } from '../http-error.js';
import type { Route } from '../route.js';
import type { IgnoredFields } from '../unknown-fields.js';
import { isNdjson, NDJSON } from './items/receive-items.js';
import { checkEncoding, hasBody, isJson, mediaTypeOf, readBytes, type BodyReading } from './body.js';
import { readForm } from './form.js';
import { isMultipart } from './upload.js';

export const MERGE_PATCH = 'application/merge-patch+json';

/** A body before it is validated. With `upload` and `items`, the handler receives it. */
export type RawBody =
  | { readonly type: 'none' | 'upload' }
  /** The bytes of a body in JSON; null for a stream of lines, which is not read yet. */
  | { readonly type: 'items'; readonly bytes: Buffer | null }
  | { readonly type: 'json' | 'merge-patch' | 'form'; readonly value: unknown };

/** Reads the body in the form that the route takes. @throws HttpError 413, 415, 422 (malformed JSON) */
export async function readBody(
  request: IncomingMessage,
  route: Route,
  options: BodyReading,
): Promise<RawBody> {
  if (route.upload && isMultipart(request)) {
    checkEncoding(request);
    return { type: 'upload' };
  }
  if (route.items) {
    if (hasBody(request)) checkEncoding(request);
    if (isNdjson(request)) return { type: 'items', bytes: null };
    if (!hasBody(request)) return { type: 'items', bytes: Buffer.alloc(0) };
    if (!isJson(mediaTypeOf(request))) throw unsupported(route);
    const bytes = await readBytes(request, options);
    options.onBytes?.(bytes);
    return { type: 'items', bytes };
  }
  const takesJson = route.request.body !== undefined && (route.upload?.alsoJson ?? true);
  if (!takesJson) {
    if (route.upload && hasBody(request)) throw unsupported(route);
    return route.upload ? { type: 'json', value: undefined } : { type: 'none' };
  }
  if (!hasBody(request)) return { type: 'json', value: emptyValue(route) };
  if (route.request.form && isForm(request)) {
    return { type: 'form', value: await readForm(request, options) };
  }
  checkEncoding(request);
  const isEmptyAllowed = route.emptyBody !== undefined && mediaTypeOf(request) === '';
  if (!isJson(mediaTypeOf(request)) && !isEmptyAllowed) throw unsupported(route);
  const bytes = await readBytes(request, options);
  options.onBytes?.(bytes);
  const text = bytes.length <= 16 ? bytes.toString('latin1').trim() : null;
  if (text === '' || (text === '""' && route.emptyBody !== undefined))
    return { type: 'json', value: emptyValue(route) };
  if (!isJson(mediaTypeOf(request))) throw unsupported(route);
  return { type: jsonTypeOf(route, mediaTypeOf(request)), value: await options.readJson(bytes) };
}

/** Returns the type of a JSON body. A merge patch is JSON like any other as the body of a route that takes no patches. */
const jsonTypeOf = (route: Route, mediaType: string) =>
  route.request.mergePatch && mediaType === MERGE_PATCH ? 'merge-patch' : 'json';

const emptyValue = (route: Route): unknown => (route.emptyBody === undefined ? undefined : {});

const isForm = (request: IncomingMessage) =>
  mediaTypeOf(request) === 'application/x-www-form-urlencoded' || isMultipart(request);

function unsupported(route: Route): HttpError {
  const forms = route.request.form ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : [];
  const upload = route.upload ? ['multipart/form-data'] : [];
  const json =
    route.request.body !== undefined && (route.upload?.alsoJson ?? true) ? ['application/json'] : [];
  const lines = route.items ? [NDJSON] : [];
  const patches = route.request.mergePatch ? [MERGE_PATCH] : [];
  return new HttpError(
    415,
    `Content-Type must be ${[...json, ...patches, ...lines, ...forms, ...upload].join(' or ')}`,
  );
}

export interface RawParts {
  readonly path: unknown;
  readonly query: Readonly<Record<string, string>>;
  readonly body: RawBody;
}

export interface ParsedParts {
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/**
 * Validates all parts of a request, and notes fields that its route does not know.
 * @throws HttpError 422 that lists the failures of all of them
 */
export type ParseParts = (raw: RawParts, ignored: IgnoredFields) => ParsedParts;

/** The schema of the parameters is made once for all requests of a route: making it takes longer than using it. */
export function createParseParts(route: Route): ParseParts {
  const fields = queryFields(route);
  return (raw, ignored) => parseParts(route, raw, { ignored, fields });
}

function parseParts(
  route: Route,
  raw: RawParts,
  { ignored, fields }: { readonly ignored: IgnoredFields; readonly fields: z.ZodObject },
): ParsedParts {
  const { request } = route;
  const items: ValidationItem[] = ignored.check(fields, raw.query, 'query');
  const bodySchema = schemaOf(request, raw.body);
  if ('value' in raw.body && bodySchema) items.push(...ignored.check(bodySchema, raw.body.value, 'body'));
  const collect = parseInto(items);
  const parse = (
    schema: z.ZodType | undefined,
    value: unknown,
    location: 'body' | 'query' | 'path',
  ): unknown => schema && collect(schema, value, location);
  const path = parse(request.path, raw.path, 'path');
  const query = parse(request.query, raw.query, 'query');
  const body = parseBody(route, raw, parse);
  if (items.length > 0) throw new HttpError(422, items);
  return { path, query, body };
}

/** All parameters that the query string of a route may have. */
const queryFields = ({ request: { query, fromQuery } }: Route): z.ZodObject =>
  z.object({ ...(query instanceof z.ZodObject ? query.shape : {}), ...fromQuery?.shape });

function schemaOf({ body, form, mergePatch }: Route['request'], { type }: RawBody): z.ZodType | undefined {
  if (type === 'form') return form;
  return type === 'merge-patch' ? mergePatch : body;
}

type Parse = (schema: z.ZodType | undefined, value: unknown, location: 'body' | 'query') => unknown;

function parseBody({ request }: Route, { body, query }: RawParts, parse: Parse): unknown {
  switch (body.type) {
    case 'none':
    case 'upload':
    case 'items':
      return undefined;
    case 'form':
    case 'merge-patch':
      return parse(schemaOf(request, body), body.value, 'body');
    case 'json':
      if (!request.fromQuery || !isPlainObject(body.value)) return parse(request.body, body.value, 'body');
      return parse(request.body, fillFrom(body.value, request.fromQuery, query, parse), 'body');
  }
}

/** Parses each field separately, so that a wrong parameter matters only where the body has no value for its field. */
function fillFrom(
  body: Record<string, unknown>,
  fields: z.ZodObject,
  query: RawParts['query'],
  parse: Parse,
): Record<string, unknown> {
  const filled = { ...body };
  for (const [name, field] of Object.entries<z.ZodType>(fields.shape)) {
    const isMissing = filled[name] === undefined || filled[name] === null;
    // Some HTTP libraries send an argument that was left out as an empty parameter.
    if (!isMissing || query[name] === undefined || query[name] === '') continue;
    const parsed = parse(z.object({ [name]: field }), { [name]: query[name] }, 'query');
    if (isPlainObject(parsed)) filled[name] = parsed[name];
  }
  return filled;
}

/** Returns the parameters of the query string; the last value of a repeated one counts. */
export function queryOf(url: string): Record<string, string> {
  const start = url.indexOf('?');
  return start === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(start + 1)));
}
