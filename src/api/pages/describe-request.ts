import { z } from 'zod';
import type {
  ZodOpenApiMediaTypeObject,
  ZodOpenApiOperationObject,
  ZodOpenApiOverrideMeta,
  ZodOpenApiRequestBodyObject,
} from 'zod-openapi';
import { isPlainObject } from '../../shared/json-values.js';
import { IDEMPOTENCY_HEADER, MAX_KEY_CHARACTERS } from '../http/request/headers.js';
import { NDJSON } from '../http/request/items/receive-items.js';
import { MERGE_PATCH } from '../http/request/read-parts.js';
import type { Route } from '../http/route.js';

/** The parameters and the body of a route, with their examples. */
export function describeRequest(
  route: Route,
): Pick<ZodOpenApiOperationObject, 'requestParams' | 'requestBody'> {
  const { request, examples, idempotency, emptyBody } = route;
  const { path, query, fromQuery } = request;
  const content = requestContent(route);
  const requestParams = {
    ...(path instanceof z.ZodObject ? { path: requiredParameters(path, examples?.path) } : {}),
    ...queryParameters([withExamples(query, examples?.query), withExamples(fromQuery, examples?.body)]),
    ...(idempotency ? { header: idempotencyHeader(examples?.idempotencyKey) } : {}),
  };
  if (Object.keys(content).length === 0) return { requestParams };
  const required = emptyBody === undefined;
  return { requestParams, requestBody: { required, content, ...streamedContent(route) } };
}

const IDEMPOTENCY_DESCRIPTION =
  'Makes it safe to send the request again when its answer was lost. For 24 hours, the same key with the same request of ' +
  'the same caller gets the first answer again, with the header `Idempotent-Replayed: true`, and nothing is done twice. ' +
  'With another body or on another route it is a 422, and while the first request is under way a 409 with `Retry-After`. ' +
  'After an error the key can be used again. Take a new key, such as a UUID, for each new request.';

function idempotencyHeader(example: string | undefined) {
  const key = z.string().min(1).max(MAX_KEY_CHARACTERS).optional().describe(IDEMPOTENCY_DESCRIPTION);
  return withExamples(z.object({ [IDEMPOTENCY_HEADER]: key }), { [IDEMPOTENCY_HEADER]: example });
}

/** Joins the fields of all schemas that are there into one object. */
function queryParameters(schemas: readonly (z.ZodType | undefined)[]): { query?: z.ZodObject } {
  const [first, ...others] = schemas.filter((schema) => schema instanceof z.ZodObject);
  return first ? { query: others.reduce((all, schema) => all.extend(schema.shape), first) } : {};
}

/** The example of a parameter, written as in an address. */
function exampleOf(examples: unknown, name: string): unknown {
  const value = isPlainObject(examples) ? examples[name] : undefined;
  return isPlainObject(value) ? JSON.stringify(value) : value;
}

/** Parameters of a path. Pages fill their examples in: without a value they cannot be tried at all. */
function requiredParameters(schema: z.ZodObject, examples: unknown) {
  return mapFields(schema, (field, name) => {
    const example = exampleOf(examples, name);
    const param = { required: true, ...(example === undefined ? {} : { example }) } as const;
    return field.meta({ param, override: schemaOfParameter() });
  });
}

/**
 * Gives each parameter its example. It belongs to the schema, from which no page fills it in: whoever tries a request for
 * the first time asks for nothing beside what is needed.
 */
function withExamples<Schema extends z.ZodType | undefined>(schema: Schema, examples: unknown) {
  if (!(schema instanceof z.ZodObject)) return schema;
  return mapFields(schema, (field, name) =>
    field.meta({ override: schemaOfParameter(exampleOf(examples, name)) }),
  );
}

/** The description of a parameter stands beside its schema, and need not be in there a second time. */
const schemaOfParameter =
  (example?: unknown): ZodOpenApiOverrideMeta =>
  ({ jsonSchema }) => {
    delete jsonSchema.description;
    if (example !== undefined) jsonSchema.examples = [example];
  };

function mapFields(schema: z.ZodObject, map: (field: z.ZodType, name: string) => z.ZodType): z.ZodObject {
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  return z.object(
    Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, map(field, name)] as const)),
  );
}

function requestContent({ request, upload, examples }: Route): ZodOpenApiRequestBodyObject['content'] {
  const { body, form, mergePatch } = request;
  const formTypes = form ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : [];
  const plainFirst = (schema: z.ZodType) => withPlainFirst(schema, examples?.plain, examples?.body);
  return {
    ...(body && (upload?.alsoJson ?? true) ? { 'application/json': plainFirst(body) } : {}),
    ...(mergePatch ? { [MERGE_PATCH]: plainFirst(mergePatch) } : {}),
    ...Object.fromEntries(form ? formTypes.map((type) => [type, mediaType(form, examples?.body)]) : []),
    ...(upload
      ? { 'multipart/form-data': withPlainFirst(upload.fields, filesOf(examples?.upload), examples?.upload) }
      : {}),
  };
}

/**
 * Lines of JSON, which a route takes beside its `content`. They are not in there, because makers of clients leave out a
 * route, or complain of it, with a content type that they do not know.
 */
const streamedContent = ({ items, examples }: Route) =>
  items
    ? {
        'x-streamed-content': {
          [NDJSON]: { schema: referenceTo(items), example: firstItem(examples?.body) },
        },
      }
    : {};

/** The fields of an upload that hold files. */
const filesOf = (upload: NonNullable<Route['examples']>['upload']) =>
  upload && Object.fromEntries(Object.entries(upload).filter(([name]) => name.startsWith('file')));

/** A schema with two examples, of which pages fill in the first. */
function withPlainFirst(schema: z.ZodType, plain: unknown, whole: unknown): ZodOpenApiMediaTypeObject {
  if (plain === undefined || JSON.stringify(plain) === JSON.stringify(whole)) return mediaType(schema, whole);
  return {
    schema,
    examples: {
      plain: { summary: 'The least that is needed', value: plain },
      whole: { summary: 'With more said', value: whole },
    },
  };
}

/** The first item of the list that a body holds: the example of a line. */
function firstItem(body: unknown): unknown {
  const lists: unknown[] = isPlainObject(body) ? Object.values(body) : [];
  return firstOf(lists.find((value) => Array.isArray(value)));
}

export function firstOf(list: unknown): unknown {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items[0];
}

/** A schema, with an example if there is one. */
export const mediaType = (schema: NonNullable<ZodOpenApiMediaTypeObject['schema']>, example: unknown) =>
  example === undefined ? { schema } : { schema, example };

export function referenceTo(schema: z.ZodType) {
  const id = idOf(schema);
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` };
  const { $schema: _, ...inline } = z.toJSONSchema(schema, { io: 'output' });
  return inline;
}

export const idOf = (schema: z.ZodType) => z.globalRegistry.get(schema)?.id;
