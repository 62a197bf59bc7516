import { describe, expect, test } from '@jest/globals';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

/** Processor time of a turn. Where time grew by squares, or without end, this was six seconds and more. */
const MAX_TURN_MILLISECONDS = 1_500;

/** Asks `/health` until `work` is done: the longest turn of the event loop meanwhile. */
async function longestTurnDuring(work: Promise<unknown>): Promise<number> {
  const state = { isDone: false };
  await service.longestTurn();
  const done = work.finally(() => {
    state.isDone = true;
  });
  do {
    const response = await fetch(`${service.url}/health`);
    expect(response.status).toBe(200);
    await response.text();
  } while (!state.isDone);
  await done;
  return service.longestTurn();
}

describe('while a stranger answers for his bytes, others are served:', () => {
  test.each([
    ['comments without end', `${'<!---->'.repeat(36)}x`],
    ['comments in comments', '<!--'.repeat(16_384)],
    ['declarations without end', '<?xml '.repeat(10_000)],
  ])('an upload of %s', async (_name, text) => {
    const client = service.client('stranger');
    const upload = client.ingestFile(Buffer.from(text), 'a.txt', { prefer: 'respond-async' });
    expect(await longestTurnDuring(upload)).toBeLessThan(MAX_TURN_MILLISECONDS);
    expect((await upload).status).toBe(202);
  });

  test('forty requests with a Prefer of 15,000 blanks', async () => {
    const headers = { prefer: `wait${' '.repeat(15_000)}x` };
    const asking = Array.from({ length: 40 }, () => fetch(`${service.url}/usage/stats`, { headers }));
    expect(await longestTurnDuring(Promise.all(asking))).toBeLessThan(MAX_TURN_MILLISECONDS);
    for (const answer of await Promise.all(asking)) expect(answer.status).toBe(200);
  });
});
