import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { errorShapeOf } from '../../src/api/http/response/error-shapes.js';
import { allRoutes } from '../support/all-routes.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

const pageSchema = z.object({
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]),
        requestBody: z.object({ content: z.record(z.string(), z.unknown()) }).optional(),
      }),
    ),
  ),
});
const propertiesSchema = z.object({ properties: z.record(z.string(), z.unknown()) });
const contentSchema = z.object({ schema: z.union([propertiesSchema, z.object({ $ref: z.string() })]) });

/** Swaps the last two letters; null for what is too short to be told by the rest, or ends in the same letter twice. */
function misspelt(name: string): string | null {
  const swapped = `${name.slice(0, -2)}${name.slice(-1)}${name.slice(-2, -1)}`;
  return name.length < 4 || swapped === name ? null : swapped;
}

interface Sent {
  readonly query?: string;
  readonly body?: string | URLSearchParams | FormData;
  readonly type?: string;
}

function bodyOf(type: string, field: string, file: 'file' | 'files'): Sent {
  if (type === 'multipart/form-data') {
    const form = new FormData();
    form.set(field, '1');
    form.set(file, new Blob(['An otter swims.']), 'otter.txt');
    return { body: form };
  }
  if (type === 'application/x-www-form-urlencoded') return { body: new URLSearchParams({ [field]: '1' }) };
  return { body: JSON.stringify({ [field]: 1 }), type };
}

let document: string;
beforeAll(async () => {
  const made = await service.client('speller').ingestText('An otter swims.');
  document = made.body.external_id;
});

/** Lines are refused one by one, and each line of the answer says why. */
const LINES = 'application/x-ndjson';

describe.each(allRoutes().map(({ method, path }) => [method.toUpperCase(), path]))(
  '%s %s',
  (method, path) => {
    const client = () => service.client('speller');
    const send = (sent: Sent, prefer: string) => {
      // Forms are read for documents that there are.
      const id = path.endsWith('/content') ? document : '1';
      const address = path.replace('{document_id}', id).replaceAll(/\{\w+\}/g, '1');
      const headers = { prefer, ...(sent.type !== undefined && { 'content-type': sent.type }) };
      const init = { headers, ...(sent.body !== undefined && { body: sent.body }) };
      return client().send<unknown>(method, `${address}${sent.query ?? ''}`, init);
    };
    const operation = async () => {
      const { body } = await client().get('/openapi.json');
      const { paths, components } = pageSchema.parse(body);
      const found = paths[path]?.[method.toLowerCase()];
      if (!found) throw new Error('no such operation');
      return { ...found, components };
    };
    const expectNamed = async (field: string, sent: () => Sent, meant: string | null) => {
      const lenient = await send(sent(), 'respond-async');
      expect({ field, ignored: lenient.headers.get('quire-ignored') }).toEqual({ field, ignored: field });
      const strict = await send(sent(), 'respond-async, handling=strict');
      const shape = errorShapeOf(path);
      expect({ field, status: strict.status }).toEqual({ field, status: shape?.statusOf(422) ?? 422 });
      const hint = meant === null ? '' : `; did you mean '${meant}'?`;
      const told = JSON.stringify(strict.body);
      // Other protocols have one sentence for all mistakes.
      expect(told).toContain(`${shape ? `${field}: ` : '"msg":"'}extra fields not permitted${hint}`);
      if (!shape) expect(told).toContain(`"${field}"]`);
    };

    test('names a misspelt parameter, and refuses it where a request is strict', async () => {
      const { parameters } = await operation();
      const known = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
      if (known.length === 0) await expectNamed('zzz', () => ({ query: '?zzz=1' }), null);
      for (const name of known) {
        const field = misspelt(name);
        if (field !== null) await expectNamed(field, () => ({ query: `?${field}=1` }), name);
      }
    });

    test('does so with each field of a body', async () => {
      const { requestBody, components } = await operation();
      for (const [type, content] of Object.entries(requestBody?.content ?? {})) {
        if (type === LINES) continue;
        const file = path === '/ingest/files' ? 'files' : 'file';
        const { schema } = contentSchema.parse(content);
        const named = '$ref' in schema ? components.schemas[schema.$ref.replace(/^.*\//, '')] : schema;
        const names = Object.keys(propertiesSchema.parse(named).properties);
        const fields = names.flatMap((name) => ({ name, field: misspelt(name) ?? [] }));
        expect(fields).not.toEqual([]);
        for (const { name, field } of fields)
          if (typeof field === 'string') await expectNamed(field, () => bodyOf(type, field, file), name);
      }
    });
  },
);
