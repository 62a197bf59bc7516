import { deepStrictEqual } from 'node:assert';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { responsesOf } from '../../src/api/http/response/declared-responses.js';
import { defineRoute, type Route } from '../../src/api/http/route.js';
import { createOpenApi } from '../../src/api/pages/openapi.js';
import { errorExample } from '../../src/api/pages/error-examples.js';
import { allRoutes } from '../support/all-routes.js';

const routes = allRoutes().map((route) => ({ name: `${route.method.toUpperCase()} ${route.path}`, route }));

const mediaTypes = z.record(
  z.string(),
  z.object({
    schema: z.unknown(),
    example: z.unknown().optional(),
    examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
  }),
);
const pageSchema = z.object({
  tags: z.array(z.object({ name: z.string(), description: z.string().optional() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        summary: z.string(),
        description: z.string(),
        parameters: z
          .array(
            z.object({
              name: z.string(),
              description: z.string().optional(),
              example: z.unknown().optional(),
              schema: z.object({ examples: z.array(z.unknown()).optional() }),
            }),
          )
          .default([]),
        requestBody: z.object({ content: mediaTypes }).default({ content: {} }),
        responses: z.record(z.string(), z.object({ description: z.string(), content: mediaTypes })),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.object({ description: z.string().optional() })) }),
});

const parsePage = (from: readonly Route[]) =>
  pageSchema.parse(JSON.parse(JSON.stringify(createOpenApi(from))));

/** Places of the page where an example or a description is missing. */
function gapsOf(from: readonly Route[]): string[] {
  const { tags, paths, components } = parsePage(from);
  const withoutExample = (content: z.infer<typeof mediaTypes>, place: string) =>
    Object.entries(content)
      .filter(([, { example, examples }]) => example === undefined && examples === undefined)
      .map(([type]) => `${place}: no example of ${type}`);
  return [
    ...tags.filter(({ description }) => description === undefined).map(({ name }) => `tag ${name}`),
    ...Object.entries(components.schemas)
      .filter(([, { description }]) => description === undefined)
      .map(([name]) => `schema ${name}`),
    ...Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => {
        const place = `${method.toUpperCase()} ${path}`;
        const { parameters, requestBody, responses, description } = operation;
        return [
          ...(description.startsWith('Needs') ? [`${place}: no description`] : []),
          ...parameters
            .filter(
              ({ description: told, example, schema }) =>
                told === undefined || (example === undefined && schema.examples === undefined),
            )
            .map(({ name }) => `${place}: parameter ${name}`),
          ...withoutExample(requestBody.content, `${place}: request`),
          ...Object.entries(responses).flatMap(([status, { content }]) =>
            withoutExample(content, `${place}: ${status}`),
          ),
        ];
      }),
    ),
  ];
}

/** Fails for values that do not fit a schema, and for keys that it does not declare. */
function expectToFit(schema: z.ZodType, value: unknown): void {
  deepStrictEqual(schema.parse(value), value);
}

/** The same for requests, whose parsed values are other ones. */
function expectToParse(schema: z.ZodType | undefined, value: unknown): void {
  if (!(schema instanceof z.ZodObject)) throw new Error('an example of what the route does not take');
  schema.strict().parse(value);
}

describe('the OpenAPI page', () => {
  test('describes everything, and has an example of every request and every response', () => {
    expect(gapsOf(routes.map(({ route }) => route))).toEqual([]);
  });

  test('describes what goes wrong within an answer in events', () => {
    const { paths, components } = parsePage(allRoutes());
    expect(components.schemas).toHaveProperty('StreamError');
    for (const path of ['/query', '/cache/{name}/query']) {
      const content = paths[path]?.['post']?.responses['200']?.content['text/event-stream'];
      expect(JSON.stringify(content?.schema)).toContain('#/components/schemas/StreamError');
      expect(content?.examples?.['error']?.value).toEqual({
        event: 'error',
        data: '{"type":"error","status":503,"detail":"completion provider is unavailable"}',
      });
    }
  });

  test('shows where a new route has no examples and no description', () => {
    const added = defineRoute({
      method: 'post',
      path: '/things/{thing_id}',
      summary: 'Make a thing',
      tag: 'Things',
      audit: null,
      permission: 'write',
      request: {
        path: z.object({ thing_id: z.string() }),
        body: z.object({ a: z.string() }).meta({ id: 'A' }),
      },
      responses: { 200: z.object({ b: z.string() }) },
      handle: () => Promise.reject(new Error('nobody asks')),
    });
    expect(gapsOf([added])).toEqual([
      'tag Things',
      'schema A',
      'POST /things/{thing_id}: no description',
      'POST /things/{thing_id}: parameter thing_id',
      'POST /things/{thing_id}: request: no example of application/json',
      'POST /things/{thing_id}: 200: no example of application/json',
    ]);
  });

  test('has examples only of the types that the schemas of a route have', () => {
    const schemas = {
      request: { body: z.object({ a: z.string() }) },
      responses: { 200: z.object({ b: z.string() }) },
    };
    const handle = () => Promise.reject(new Error('nobody asks'));
    const route = {
      method: 'post',
      path: '/things',
      summary: '',
      tag: '',
      audit: null,
      permission: 'read',
      handle,
    } as const;
    defineRoute({ ...route, ...schemas, examples: { body: { a: 'x' }, responses: { 200: { b: 'x' } } } });
    // @ts-expect-error the body holds a string
    defineRoute({ ...route, ...schemas, examples: { body: { a: 1 }, responses: { 200: { b: 'x' } } } });
    // @ts-expect-error the response holds a string
    defineRoute({ ...route, ...schemas, examples: { body: { a: 'x' }, responses: { 200: { b: 1 } } } });
    // @ts-expect-error the declared status has no example
    defineRoute({ ...route, ...schemas, examples: { body: { a: 'x' }, responses: {} } });
    expect.assertions(0);
  });

  test('refers to nothing that it does not hold, and holds nothing that it does not refer to', () => {
    const text = JSON.stringify(createOpenApi(routes.map(({ route }) => route)));
    const known = new Set(Object.keys(parsePage(routes.map(({ route }) => route)).components.schemas));
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference);
    const named = new Set(references.map((each) => each.replace('#/components/schemas/', '')));
    expect([...named].sort()).toEqual([...known].sort());
  });

  test('stays small enough to be read at once', () => {
    const bytes = JSON.stringify(createOpenApi(routes.map(({ route }) => route))).length;
    expect(bytes).toBeLessThan(250_000);
  });
});

describe('the examples of responses fit their schemas, with no key more:', () => {
  test.each(routes)('$name', ({ route }) => {
    const { responses, events = [] } = route.examples ?? { responses: {} };
    for (const [status, shape] of responsesOf(route)) {
      const example = responses[status] ?? errorExample(route, status);
      if (typeof shape === 'string') expect(typeof example).toBe('string');
      else expectToFit(shape, example);
    }
    expect(Object.keys(responses)).toEqual(Object.keys(route.responses));
    if (route.events) for (const event of events) expectToFit(route.events, event);
    expect(events.length > 0).toBe(route.events !== undefined);
  });
});

describe('the examples of requests are such as the route takes, with no field more:', () => {
  test.each(routes)('$name', ({ route }) => {
    const { path, query, body, form } = route.request;
    const { examples, upload } = route;
    if (examples?.path !== undefined) expectToParse(path, examples.path);
    if (examples?.query !== undefined) expectToParse(query, textsOf(examples.query));
    if (examples?.body !== undefined) expectToParse(body, examples.body);
    if (examples?.plain !== undefined) expectToParse(body, examples.plain);
    if (form) expectToParse(form, textsOf(examples?.body));
    if (examples?.upload !== undefined) expectToParse(upload?.fields, examples.upload);
  });
});

/** Values as a query string or a form holds them. */
function textsOf(values: unknown): Record<string, string> {
  const fields = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).parse(values);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}
