import { describe, expect, test } from '@jest/globals';
import ajv from 'ajv';
import fc from 'fast-check';
import { z } from 'zod';
import { createOpenApi } from '../../src/api/pages/openapi.js';
import { parseFilter } from '../../src/shared/filters/parse.js';
import { allRoutes } from '../support/all-routes.js';
import { filter } from '../support/filter-arbitraries.js';
import { shownRequests } from '../support/shown-requests.js';

const record = z.record(z.string(), z.unknown());
const contentSchema = z.record(
  z.string(),
  z.object({
    schema: record,
    example: z.unknown().optional(),
    examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
  }),
);
const pageSchema = z.object({
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        tags: z.array(z.string()),
        security: z.array(record),
        description: z.string(),
        parameters: z
          .array(
            z.object({
              name: z.string(),
              in: z.string(),
              required: z.boolean().optional(),
              example: z.unknown().optional(),
              examples: z.unknown().optional(),
              schema: record,
            }),
          )
          .default([]),
        requestBody: z
          .object({ content: contentSchema, 'x-streamed-content': contentSchema.optional() })
          .optional(),
        responses: z.record(z.string(), z.object({ content: contentSchema })),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), record) }),
});

/** The document as it is published. */
const published: unknown = JSON.parse(JSON.stringify(createOpenApi(allRoutes())));
const page = pageSchema.parse(published);
const operations = Object.entries(page.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    ...operation,
  })),
);
const operationOf = (name: string) => {
  const operation = operations.find((each) => each.name === name);
  if (!operation) throw new Error(`the page has no ${name}`);
  return operation;
};

/** A validator that knows nothing of zod; `#/…` refers to the published document. */
// It warns of each example that has an `id`, which a schema of an older draft would be named by.
const validator = ajv({ logger: false, validateSchema: false, unknownFormats: ['binary'], extendRefs: true });
validator.addSchema({ ...record.parse(published), $id: 'page.json' });

/** Returns what is wrong with a value by a schema of the document; null for nothing. */
function faultsOf(schema: Readonly<Record<string, unknown>>, value: unknown): string | null {
  const inPage: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"page.json#/'));
  return validator.validate(record.parse(inPage), value) === true ? null : validator.errorsText();
}

const named = (id: string) => ({ $ref: `#/components/schemas/${id}` });

/** All schemas of the document with properties, each with its place. */
function objectSchemas(part: unknown, place = ''): { place: string; schema: Record<string, unknown> }[] {
  if (typeof part !== 'object' || part === null) return [];
  const inner = Object.entries(part).flatMap(([key, value]) => objectSchemas(value, `${place}/${key}`));
  const own = record.safeParse(part).data;
  return own && 'properties' in own ? [{ place, schema: own }, ...inner] : inner;
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

describe('the examples of requests and answers fit the published schemas', () => {
  test.each(operations)('$name', ({ parameters, requestBody, responses }) => {
    for (const { schema, example } of parameters)
      if (example !== undefined) expect(faultsOf(schema, example)).toBeNull();
    for (const { schema } of parameters)
      for (const example of z.array(z.unknown()).parse(schema['examples'] ?? []))
        expect(faultsOf(schema, example)).toBeNull();
    const contents = [
      requestBody?.content,
      requestBody?.['x-streamed-content'],
      ...Object.values(responses).map(({ content }) => content),
    ];
    for (const { schema, example, examples } of contents.flatMap((content) => Object.values(content ?? {}))) {
      if (example !== undefined) expect(faultsOf(schema, example)).toBeNull();
      for (const { value } of Object.values(examples ?? {})) expect(faultsOf(schema, value)).toBeNull();
    }
  });

  const shown = shownRequests(Object.keys(page.paths)).filter(({ body }) => body !== undefined);
  test.each(shown)('$page: $method $path', ({ method, path, body }) => {
    const { requestBody } = operationOf(`${method.toUpperCase()} ${path}`);
    expect(faultsOf(requestBody?.content['application/json']?.schema ?? {}, body)).toBeNull();
  });

  test('are found in README and docs', () => {
    expect(shown.filter(({ page: place }) => place === 'README.md')).toHaveLength(8);
    expect(shown.length).toBeGreaterThan(8);
  });
});

describe('the schema of filters', () => {
  const isAccepted = (value: unknown) => 'filter' in parseFilter(value);
  const fits = (value: unknown) => faultsOf(named('Filters'), value) === null;

  test('takes whatever the service takes', () => {
    fc.assert(
      fc.property(filter, (value) => {
        // Depth and the sum of all conditions are limits that no schema can express.
        if (isAccepted(value)) expect(faultsOf(named('Filters'), value)).toBeNull();
      }),
    );
  });

  test.each([
    [null],
    [{}],
    [{ topic: 'books', year: { $gte: 2020, $lt: 2030 } }],
    [{ kind: 'lease', $or: [{ year: 2025 }, { year: { $exists: false } }] }],
    [{ $not: { 'items.sku': { $in: ['A1', null, 2, true] } } }],
    [{ created_at: { $gt: '2026-01-01', $lte: '2026-11-28T10:00:00Z' }, a: { $not: { $nin: [] } } }],
    [{ a: { $eq: null, $ne: 1 }, '': 1 }],
    [{ path: { $startsWith: '/docs' }, tags: { $contains: 1 }, t: { $containsAny: ['a', null, 2] } }],
    [{ created_at: { $gte: 'now-7d/d' } }],
  ])('takes %j, as the service does', (value) => {
    expect({ isAccepted: isAccepted(value), fits: fits(value) }).toEqual({ isAccepted: true, fits: true });
  });

  test.each([
    ['a text'],
    [[]],
    [{ year: {} }],
    [{ year: { $gta: 2020 } }],
    [{ year: { $gt: true } }],
    [{ year: { gt: 2020 } }],
    [{ topic: ['books'] }],
    [{ topic: { $eq: ['books'] } }],
    [{ topic: { $in: 'books' } }],
    [{ topic: { $in: Array.from({ length: 1_001 }, () => 1) } }],
    [{ topic: { $exists: 1 } }],
    [{ topic: { $startsWith: 1 } }],
    [{ topic: { $startsWith: '' } }],
    [{ topic: { $contains: ['books'] } }],
    [{ topic: { $contains: 'x'.repeat(257) } }],
    [{ topic: { $containsAny: 'books' } }],
    [{ topic: { $containsAny: Array.from({ length: 65 }, () => 1) } }],
    [{ topic: { $not: 'books' } }],
    [{ $or: [] }],
    [{ $or: {} }],
    [{ $and: [{ year: { $gta: 1 } }] }],
    [{ $not: [] }],
    [{ $nor: [{}] }],
    [{ $topic: 'books' }],
  ])('refuses %j, as the service does', (value) => {
    expect({ isAccepted: isAccepted(value), fits: fits(value) }).toEqual({ isAccepted: false, fits: false });
  });
});

describe('makers of clients get by with', () => {
  test('parameters in paths, all of which are required', () => {
    const inPaths = operations.flatMap(({ name, parameters }) =>
      parameters.filter((each) => each.in === 'path').map(({ required }) => ({ name, required })),
    );
    expect(inPaths.length).toBeGreaterThan(20);
    expect(inPaths.filter(({ required }) => required !== true)).toEqual([]);
  });

  test('bodies of types that they know; lines of JSON are named beside them', () => {
    const types = operations.flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {}));
    expect([...new Set(types)].sort()).toEqual([
      'application/json',
      'application/merge-patch+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]);
    const streamed = operations.filter(({ requestBody }) => requestBody?.['x-streamed-content']);
    expect(streamed.map(({ name }) => name)).toEqual(['POST /ingest/batch']);
    expect(Object.keys(streamed[0]?.requestBody?.['x-streamed-content'] ?? {})).toEqual([
      'application/x-ndjson',
    ]);
  });

  test('an answer of a type that they know, for each status', () => {
    const known = ['application/json', 'application/octet-stream'];
    const unknown = operations.flatMap(({ name, responses }) =>
      Object.entries(responses)
        .filter(([, { content }]) => Object.keys(content).length > 0)
        .filter(([, { content }]) => !known.some((type) => type in content))
        .map(([status]) => `${name} ${status}`),
    );
    expect(unknown).toEqual([]);
  });

  test('named schemas without defaults, whose fields they would take for required', () => {
    const stated = objectSchemas(page.components.schemas).flatMap(({ place, schema }) =>
      Object.entries(record.parse(schema['properties']))
        .filter(([, property]) => isObject(property) && 'default' in record.parse(property))
        .map(([name]) => `${place}: ${name}`),
    );
    expect(stated).toEqual([]);
    expect(page.components.schemas['IngestText']).toMatchObject({
      properties: {
        metadata: { description: expect.stringMatching(/ Default: `\{\}`\.$/) },
        on_duplicate: { description: expect.stringMatching(/ Default: `new`\.$/) },
      },
    });
  });

  test('no schema whose properties have to fit one for all other keys', () => {
    const mixed = objectSchemas(published).filter(
      ({ schema }) => isObject(schema['additionalProperties']) || 'patternProperties' in schema,
    );
    expect(mixed.map(({ place }) => place)).toEqual([]);
  });

  test('objects of the same shape under one name', () => {
    const { CompletionEvent, CacheAnswerEvent } = page.components.schemas;
    for (const event of [CompletionEvent, CacheAnswerEvent])
      expect(JSON.stringify(event)).toContain('"usage":{"$ref":"#/components/schemas/TokenCounts');
  });

  test('null for the metadata of a merge patch, as the service does', () => {
    expect(faultsOf(named('DocumentMergePatch'), { metadata: null })).toBeNull();
    expect(faultsOf(named('DocumentMergePatch'), { metadata: 1 })).not.toBeNull();
  });
});

describe('a first try', () => {
  test('begins with ingesting, searching and asking', () => {
    const names = page.tags.map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual(['Ingest', 'Search', 'Ask', 'Documents']);
    const inOrder = operations.map(({ tags: [tag = ''] }) => names.indexOf(tag));
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
  });

  /** Pages fill in `example`, the first of `examples`, and a default; for the field of a form also those of its schema. */
  test('has nothing filled in but what a request needs', () => {
    for (const { name, parameters } of operations) {
      const optional = parameters.filter((each) => each.in !== 'path');
      const filledIn = optional.filter(
        ({ example, examples, schema }) => (example ?? examples ?? schema['example']) !== undefined,
      );
      expect({ name, filledIn: filledIn.map((each) => each.name) }).toEqual({ name, filledIn: [] });
    }
  });

  test('shares with nobody, and says nothing of metadata', () => {
    const firsts = operations.flatMap(({ name, requestBody }) =>
      Object.values(requestBody?.content ?? {}).map(({ example, examples }) => ({
        name,
        first: JSON.stringify(examples ? Object.values(examples)[0]?.value : example),
      })),
    );
    expect(firsts.length).toBeGreaterThan(15);
    for (const { name, first } of firsts)
      expect({ name, first }).toEqual({
        name,
        first: expect.not.stringMatching(/access_control|readers|bob|metadata|kind/),
      });
  });

  test('shows beside it what else may be said', () => {
    const { examples } = operationOf('POST /ingest/text').requestBody?.content['application/json'] ?? {};
    expect(Object.keys(examples ?? {})).toEqual(['plain', 'whole']);
    expect(JSON.stringify(examples?.['whole'])).toContain('access_control');
    const { parameters } = operationOf('POST /ingest/text');
    expect(parameters.find((each) => each.name === 'Idempotency-Key')?.schema['examples']).toHaveLength(1);
  });

  test.each(['IngestFile', 'IngestFiles'])('has no access in the form of %s', (id) => {
    const { properties } = page.components.schemas[id] ?? {};
    const firstOf = (name: string) => {
      const field = record.parse(record.parse(properties)[name]);
      return { example: field['example'], first: z.array(z.unknown()).parse(field['examples'] ?? [])[0] };
    };
    expect(firstOf('metadata')).toEqual({ first: '{}' });
    expect(firstOf('access_control')).toEqual({ first: '{}' });
  });
});

test('a token is one of the ways to get one, and never needed for it', () => {
  const { security, description } = operationOf('POST /local/generate_uri');
  expect(security).toEqual([{ bearer: [] }, {}]);
  expect(description).not.toContain('Needs no token');
  expect(operationOf('GET /health').security).toEqual([]);
  expect(operationOf('POST /query').security).toEqual([{ bearer: [] }]);
});
