import { formAttacks, headerAttacks, lengthAttacks, type RawRequest } from '../../support/header-attacks.js';
import { sendRaw } from '../../support/send-raw.js';
import { isSane, observed, oneOf, type Attack } from '../attack.js';

/** A few at a time, so that each turn of the event loop meets some of them. */
const AT_ONCE = 5;

const each = (
  name: string,
  requests: readonly RawRequest[],
  isAllowed: (status: number | string) => boolean,
): Attack => ({
  name,
  patienceSeconds: 300,
  run: async ({ port, attacker, isShort }) => {
    const chosen = requests.filter((_, n) => !isShort || n % 4 === 0);
    const statuses: number[] = [];
    for (let sent = 0; sent < chosen.length; sent += AT_ONCE) {
      const some = chosen.slice(sent, sent + AT_ONCE);
      statuses.push(...(await Promise.all(some.map((one) => sendRaw(port, one, attacker.authorization)))));
    }
    return observed(statuses, isAllowed);
  },
});

/** Attacks on the readers of heads of requests and of the parts of forms, over HTTP. */
export const headAttacks = [
  each('headers of 15,000 letters', headerAttacks, isSane),
  each('heads of parts, and boundaries', formAttacks, isSane),
  each('lengths that are none', lengthAttacks, oneOf(400, 411, 413, 415, 422, 431, 501)),
] satisfies readonly Attack[];
