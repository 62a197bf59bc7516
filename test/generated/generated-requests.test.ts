import { describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { startService } from '../support/service.js';
import { findSchemathesis, runSchemathesis } from './schemathesis.js';

const REASON = 'no schemathesis is named (QUIRE_TEST_SCHEMATHESIS, the path of its executable)';
const executable = findSchemathesis();
if (executable === null) process.stderr.write(`skipped: generated requests: ${REASON}\n`);

/** How many requests of each route are drawn; more finds more. */
const EXAMPLES = Number(process.env['QUIRE_TEST_SCHEMATHESIS_EXAMPLES'] ?? '12');
const SEED = 1;

(executable === null ? describe.skip : describe)('requests generated from the OpenAPI page', () => {
  test.each([
    ['in dev mode', {}, null],
    ['with tokens', { QUIRE_DEV_MODE: 'false' }, ['read', 'write', 'admin']],
    ['with a token that may only read', { QUIRE_DEV_MODE: 'false' }, ['read']],
    ['without a token', { QUIRE_DEV_MODE: 'false' }, null],
  ])(
    '%s fail nowhere, and are answered as the page tells',
    async (_, env, permissions) => {
      const service = await startService({ env });
      try {
        const { authorization } = createClient(
          service.url,
          permissions ? 'generated' : undefined,
          permissions ?? [],
        );
        const headers = {
          Prefer: 'wait=1',
          ...(authorization === '' ? {} : { Authorization: authorization }),
        };
        const asked = { url: service.url, headers, examples: EXAMPLES, seed: SEED };
        const { code, output } = await runSchemathesis(executable ?? '', asked);
        const failures = output.slice(Math.max(0, output.indexOf('= FAILURES =')));
        expect({ code, failures: code === 0 ? '' : failures.slice(0, 20_000) }).toEqual({
          code: 0,
          failures: '',
        });
        expect(service.api.output()).not.toMatch(/"status":500/);
      } finally {
        await service.stop();
      }
    },
    600_000,
  );
});
