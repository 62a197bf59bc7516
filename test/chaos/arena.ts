import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import type { Exchange, Outcome, Sent } from './exchange.js';
import type { History } from './history.js';
import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import { checkSight } from './sight.js';
import type { Troubles } from './troubles.js';
import type { World } from './world.js';

/** Everything that callers act in. */
export interface Arena {
  readonly cluster: Cluster;
  readonly world: World;
  readonly history: History;
  readonly ledger: Ledger;
  readonly exchange: Exchange;
  readonly callers: readonly string[];
  readonly troubles: Troubles;
}

/** Sends the requests of a caller one after the other. Each caller has several actors. */
export interface Actor {
  readonly arena: Arena;
  readonly name: string;
  readonly others: readonly string[];
  readonly random: Random;
}

export interface TimedOutcome {
  readonly outcome: Outcome;
  /** The API process that was asked last. */
  readonly api: string;
  /** The ticks of the clock before and after the request. */
  readonly start: number;
  readonly end: number;
}

export interface Ask extends Omit<Sent, 'api' | 'caller'> {
  /** The document or cache that the request is about, for the history. */
  readonly about: string | null;
  /** The name of the request in the history. */
  readonly label: string;
  /** True if texts in the answer are the caller's own words, of whatever time. */
  readonly isEcho?: boolean;
}

const AGAIN_AFTER_MS = 250;
const MAX_TRIES = 40;

/** Sends a request of an actor to one of the APIs, notes it, and checks that nothing foreign came back. */
export async function ask(
  actor: Actor,
  { about, label, isEcho = false, ...sent }: Ask,
): Promise<TimedOutcome> {
  const { arena, name, random } = actor;
  const { history } = arena;
  const start = history.tick();
  const startedAt = history.elapsed();
  let api = random.whole(0, 1);
  let outcome = await arena.exchange({ ...sent, api, caller: name });
  // Nobody was there to take it: the other may be.
  for (let tries = 0; outcome.type === 'refused' && tries < MAX_TRIES; tries += 1) {
    await sleep(AGAIN_AFTER_MS);
    api = 1 - api;
    outcome = await arena.exchange({ ...sent, api, caller: name });
  }
  const end = history.tick();
  history.note(`${name} ${label} by api ${String(api)} (from ${String(startedAt)}): ${tell(outcome)}`, about);
  if (outcome.type === 'answer' && outcome.status < 400 && !isEcho)
    checkSight(arena, { caller: name, label, text: outcome.text, start, end });
  return { outcome, api: arena.cluster.api(api).name, start, end };
}

function tell(outcome: Outcome): string {
  if (outcome.type !== 'answer') return outcome.type;
  const { status, text } = outcome;
  return status < 400 ? String(status) : `${String(status)} ${text.slice(0, 160)}`;
}
