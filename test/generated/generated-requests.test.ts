import { describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService, type SharedService } from '../support/shared/use-service.js';
import { findSchemathesis, runSchemathesis } from './schemathesis.js';

const REASON = 'no schemathesis is named (QUIRE_TEST_SCHEMATHESIS, the path of its executable)';
const executable = findSchemathesis();
if (executable === null) process.stderr.write(`skipped: generated requests: ${REASON}\n`);

/** The number of requests of each route that are drawn; more finds more. */
const EXAMPLES = Number(process.env['QUIRE_TEST_SCHEMATHESIS_EXAMPLES'] ?? '12');
const SEED = 1;

async function expectNoFailure(service: SharedService, permissions: readonly string[] | null) {
  const loggedBefore = (await service.apiOutput()).length;
  const { authorization } = permissions
    ? service.client('generated', permissions)
    : createClient(service.url);
  const headers = {
    Prefer: 'wait=1',
    ...(authorization === '' ? {} : { Authorization: authorization }),
  };
  const asked = { url: service.url, headers, examples: EXAMPLES, seed: SEED };
  const { code, output } = await runSchemathesis(executable ?? '', asked);
  const failures = output.slice(Math.max(0, output.indexOf('= FAILURES =')));
  expect({ code, failures: code === 0 ? '' : failures.slice(0, 20_000) }).toEqual({ code: 0, failures: '' });
  expect((await service.apiOutput()).slice(loggedBefore)).not.toMatch(/"status":500/);
}

(executable === null ? describe.skip : describe)('requests generated from the OpenAPI page', () => {
  describe('in dev mode', () => {
    // Not that of other files, since without a token it is the caller of all of them.
    const service = useService();

    test('fail nowhere, and are answered as the page tells', () => expectNoFailure(service, null), 600_000);
  });

  describe('outside dev mode', () => {
    const service = useService({ env: GUARDED });

    test.each([
      ['with tokens', ['read', 'write', 'admin']],
      ['with a token that may only read', ['read']],
      ['without a token', null],
    ])(
      '%s fail nowhere, and are answered as the page tells',
      (_, permissions) => expectNoFailure(service, permissions),
      600_000,
    );
  });
});
