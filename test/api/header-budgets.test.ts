import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  formAttacks as attacksByForm,
  headerAttacks,
  lengthAttacks,
  type RawRequest,
} from '../support/header-attacks.js';
import { sendRaw } from '../support/send-raw.js';
import { LIMITED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { longestTurnOf } from '../support/turns.js';

/** Processor time of a turn. Work that grows with the square of 16 KiB takes hundreds of milliseconds. */
const TURN_MILLISECONDS = 100;

/** Nobody waits for what becomes of those that are stored. */
const formAttacks = attacksByForm.map((each) => ({ ...each, headers: [...each.headers, 'Prefer: wait=0'] }));

const service = useService({ env: LIMITED });
let authorization: string;

beforeAll(async () => {
  ({ authorization } = service.client('alice'));
  for (const attack of [...headerAttacks.slice(0, 20), ...formAttacks.slice(0, 5)]) await send(attack);
});

const port = () => Number(new URL(service.url).port);
const send = (request: RawRequest) => sendRaw(port(), request, authorization);

/** The requests whose longest turn is too long each time, or whose answer is no good one. */
async function findBad(requests: readonly RawRequest[], isGood: (status: number) => boolean) {
  const bad: string[] = [];
  for (const request of requests) {
    let status = 0;
    const during = async () => {
      status = await send(request);
    };
    const turn = await longestTurnOf(service.longestTurn, { during, enough: TURN_MILLISECONDS });
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
