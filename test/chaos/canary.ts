import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { watchSlowdown } from '../support/slowdown.js';
import { drawPdf, line } from '../support/drawn-pdf.js';
import { ask, type Actor, type Ask } from './arena.js';
import { plantFile, type Loot } from './attackers/documents.js';

/** A caller who does hardly anything, and is served all the same. */
export const CANARY = 'piet';

const AGAIN_AFTER_MS = 200;
const PAGES = 120;
/** For its document to be found, while nothing is wrong yet. */
const MAX_FIRST_TRIES = 600;

interface Probe {
  readonly name: 'search' | 'answer' | 'page';
  /**
   * It succeeds within this many milliseconds in which everything that it needs is there, however often it is to be
   * repeated; on a machine that others use, within as many times more as this process waits for a processor.
   */
  readonly withinMs: number;
  /** The pause after one. */
  readonly everyMs: number;
  readonly ask: (document: string, round: number) => Pick<Ask, 'method' | 'path' | 'json'>;
}

const found = z.array(z.unknown()).min(1);

function search() {
  return { method: 'POST', path: '/retrieve/chunks', json: { query: 'canary', k: 1 } };
}

const PROBES: readonly Probe[] = [
  {
    name: 'search',
    withinMs: 15_000,
    everyMs: 300,
    ask: search,
  },
  {
    name: 'answer',
    withinMs: 30_000,
    everyMs: 2_000,
    ask: () => ({ method: 'POST', path: '/query', json: { query: 'Where is the canary?', max_tokens: 20 } }),
  },
  {
    name: 'page',
    withinMs: 60_000,
    everyMs: 3_000,
    // Each page once: a picture that was made is kept.
    ask: (document, round) => ({
      method: 'GET',
      path: `/documents/${document}/pages/${String((round % PAGES) + 1)}.png`,
    }),
  },
];

/** The longest time of a probe, with and without the time in which the service was down. */
export interface Served {
  count: number;
  longestMs: number;
  longestCalmMs: number;
}
export type Canary = Record<Probe['name'], Served>;

const none = (): Served => ({ count: 0, longestMs: 0, longestCalmMs: 0 });

/** Asks for small things one after the other, each until it is served, and holds each against its time. */
export async function keepCanary(actor: Actor, document: string, signal: AbortSignal): Promise<Canary> {
  const canary: Canary = { search: none(), answer: none(), page: none() };
  await Promise.all(
    PROBES.map(async (probe) => {
      for (let round = 0; !signal.aborted; round += 1) {
        await serve(actor, { probe, canary, signal, sent: probe.ask(document, round) });
        await sleep(probe.everyMs, undefined, { signal }).catch(() => undefined);
      }
    }),
  );
  return canary;
}

/** Ingests the document that it asks for, before anything goes wrong. */
export async function settleCanary(actor: Actor): Promise<string> {
  const loot: Loot = [];
  const pages = Array.from({ length: PAGES }, (_, n) => ({
    content: line(60, 700, `The canary sings ${String(n)}.`),
  }));
  await plantFile(actor, loot, { bytes: drawPdf({ pages }), extension: 'pdf' });
  const [id] = loot;
  if (id === undefined) throw new Error('the canary has no document');
  for (let tries = 0; tries < MAX_FIRST_TRIES; tries += 1) {
    const { outcome } = await ask(actor, { ...search(), label: 'canary search', about: null });
    if (outcome.type === 'answer' && found.safeParse(outcome.json).success) return id;
    await sleep(AGAIN_AFTER_MS);
  }
  throw new Error('the document of the canary is not found');
}

interface Serving {
  readonly probe: Probe;
  readonly canary: Canary;
  readonly signal: AbortSignal;
  readonly sent: ReturnType<Probe['ask']>;
}

async function serve(actor: Actor, { probe, canary, signal, sent }: Serving): Promise<void> {
  const { arena } = actor;
  const { name, withinMs } = probe;
  const [start, calmStart] = [performance.now(), arena.troubles.calmMs()];
  const slowdown = await watchSlowdown('self');
  const calm = () => arena.troubles.calmMs() - calmStart;
  const isTooLate = async () => calm() > withinMs && calm() > withinMs * (await slowdown());
  let told = 'nothing';
  let isLate = false;
  while (!signal.aborted) {
    const { outcome } = await ask(actor, { ...sent, label: `canary ${name}`, about: null });
    told =
      outcome.type === 'answer' ? `${String(outcome.status)} ${outcome.text.slice(0, 100)}` : outcome.type;
    const isServed = outcome.type === 'answer' && outcome.status === 200;
    if (isServed && (name !== 'search' || found.safeParse(outcome.json).success)) break;
    if (!isLate && (await isTooLate())) {
      isLate = true;
      arena.history.violate(
        'who does little is served',
        `no ${name} in ${String(Math.round(calm()))} ms: ${told}`,
      );
    }
    await sleep(AGAIN_AFTER_MS);
  }
  if (signal.aborted) return;
  const served = canary[name];
  served.count += 1;
  served.longestMs = Math.max(served.longestMs, performance.now() - start);
  served.longestCalmMs = Math.max(served.longestCalmMs, calm());
  if (!isLate && (await isTooLate()))
    arena.history.violate('who does little is served', `a ${name} took ${String(Math.round(calm()))} ms`);
}
