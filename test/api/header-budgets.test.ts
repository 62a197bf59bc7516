import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { formAttacks, headerAttacks, lengthAttacks, type RawRequest } from '../support/header-attacks.js';
import { sendRaw } from '../support/send-raw.js';
import { startService, type Service } from '../support/service.js';
import { longestTurn, longestTurnOf, METERED } from '../support/turns.js';

/** Of the processor. What grows with the square of 16 KiB takes hundreds of milliseconds. */
const TURN_MILLISECONDS = 100;

let service: Service;
let authorization: string;

beforeAll(async () => {
  // Networks are asked for each address that a proxy names.
  const env = { QUIRE_DEV_MODE: 'true', QUIRE_API_TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8' };
  service = await startService({ execArgv: METERED, env: { ...env, QUIRE_INGEST_WAIT_SECONDS: '0' } });
  ({ authorization } = createClient(service.url, 'alice'));
  for (const attack of [...headerAttacks.slice(0, 20), ...formAttacks.slice(0, 5)]) await send(attack);
});

afterAll(async () => {
  await service.stop();
});

const port = () => Number(new URL(service.url).port);
const send = (request: RawRequest) => sendRaw(port(), request, authorization);

/** Those of which each time the longest turn is too long, or the answer is no good one. */
async function findBad(requests: readonly RawRequest[], isGood: (status: number) => boolean) {
  const bad: string[] = [];
  for (const request of requests) {
    let status = 0;
    const during = async () => {
      status = await send(request);
    };
    const turn = await longestTurnOf(() => longestTurn(service.api), { during, enough: TURN_MILLISECONDS });
    if (turn > TURN_MILLISECONDS) bad.push(`${request.name}: ${turn.toFixed(1)} ms`);
    if (!isGood(status)) bad.push(`${request.name}: ${String(status)}`);
  }
  return bad;
}

const isAnswer = (status: number) => status >= 200 && status < 500;

describe('over HTTP, no turn of the event loop takes long', () => {
  test('by headers of the largest size', async () => {
    expect(await findBad(headerAttacks, isAnswer)).toEqual([]);
  }, 300_000);

  test('by heads of parts, and by boundaries', async () => {
    expect(await findBad(formAttacks, isAnswer)).toEqual([]);
  }, 300_000);

  test('by lengths that are none, which are refused', async () => {
    expect(await findBad(lengthAttacks, (status) => status >= 400 && status < 500)).toEqual([]);
  });
});
