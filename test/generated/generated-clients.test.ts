import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createOpenApi } from '../../src/api/pages/openapi.js';
import { allRoutes } from '../support/all-routes.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { shownRequests } from '../support/shown-requests.js';
import { compile, findTool, lint, makePythonClient, TOOLS } from './client-generators.js';

const TIMEOUT = 600_000;

/** A test that runs only where the environment names a tool of others. */
function toolTest(
  name: string,
  tool: keyof typeof TOOLS,
  check: (executable: string) => Promise<void>,
): void {
  const executable = findTool(tool);
  if (executable === null) {
    process.stderr.write(`skipped: ${tool} on the OpenAPI document: none is named (${TOOLS[tool]})\n`);
    test.skip(name, () => undefined);
  } else test(name, () => check(executable), TIMEOUT);
}

const document: unknown = JSON.parse(JSON.stringify(createOpenApi(allRoutes())));
const { paths } = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() }))) })
  .parse(document);

/** Filters that the service takes, and others that it refuses. */
const FILTERS = `
export const taken: Filters[] = [
  null,
  {},
  { topic: 'law', year: { $gte: 2020, $lt: 2030 } },
  { a: { $eq: null, $ne: 1 }, b: { $in: ['x', 2, true, null], $nin: [] }, c: { $exists: false, $startsWith: 'x', $contains: 1, $containsAny: ['x', 2, true] } },
  { $or: [{ topic: 'law' }, { $and: [{ year: { $gt: 1 } }, { $not: { year: { $lte: '2026-01-01' } } }] }] },
  { topic: 'law', $or: [{ year: 2025 }, { year: { $not: { $gt: 2025 } } }] },
];
// @ts-expect-error no such operator
export const misspelt: Filters = { year: { $gta: 2020 } };
// @ts-expect-error a list is no condition
export const list: Filters = { topic: ['law'] };
// @ts-expect-error no order of booleans
export const order: Filters = { year: { $gt: true } };
// @ts-expect-error no such field
export const field: Body<paths['/query']['post']> = { query: 'x', filter: {} };
export const least: Body<paths['/retrieve/chunks']['post']> = { query: 'x' };
export const lines: Body<paths['/ingest/batch']['post']> = { documents: [{ content: 'x' }] };
`;

describe('the OpenAPI document, read by programs of others', () => {
  toolTest("passes spectral's rules without a word", 'spectral', async (executable) => {
    const { code, output } = await lint(executable, document);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  });

  toolTest(
    'gives types by which all examples of README and docs compile',
    'openapiTypescript',
    async (executable) => {
      const requests = shownRequests(Object.keys(paths));
      expect(requests.filter(({ answer }) => answer !== undefined).length).toBeGreaterThan(10);
      const { code, output } = await compile(executable, document, { requests, statements: FILTERS });
      expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    },
  );
});

describe('the OpenAPI document, read in Python', () => {
  const service = useService({ env: GUARDED });

  toolTest(
    'gives a client in Python with every route, without a warning, which works',
    'openapiPythonClient',
    async (executable) => {
      const token = service.client('generated', ['read', 'write']).authorization.replace('Bearer ', '');
      const { made, functions, used } = await makePythonClient(executable, document, {
        url: service.url,
        token,
      });
      expect(made).toEqual({ code: 0, output: expect.not.stringMatching(/warning|unable|skipping/i) });
      const wanted = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      expect([...functions].sort()).toEqual(wanted.sort());
      expect(used).toEqual({ code: 0, output: 'used\n' });
    },
  );
});
