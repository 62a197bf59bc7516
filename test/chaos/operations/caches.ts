import { z } from 'zod';
import { ask, type Actor, type TimedOutcome } from '../arena.js';
import { holds } from '../register.js';
import type { ModelCache } from '../world.js';
import { patience } from './ingest.js';

const NAMES = ['deals', 'notes'] as const;
const MODEL = { model: 'some-model', gguf_file: 'some-model.gguf' };

export async function useCache(actor: Actor): Promise<void> {
  const { arena, name, random } = actor;
  const cache = arena.world.cache(name, random.pick(NAMES));
  const doing = random.weighted({ create: 4, update: 2, add: 2, query: 8, delete: 1, get: 2, list: 1 });
  switch (doing) {
    case 'create':
      return build(actor, cache, { operation: 'create_cache', ...createRequest(actor, cache) });
    case 'update':
      return build(actor, cache, {
        operation: 'update_cache',
        path: `/cache/${cache.name}/update`,
        json: {},
      });
    case 'add':
      return build(actor, cache, {
        operation: 'add_docs_to_cache',
        path: `/cache/${cache.name}/add_docs`,
        json: { docs: someIds(actor) },
      });
    case 'query':
      return query(actor, cache);
    case 'delete':
      return remove(actor, cache);
    case 'get':
      return look(actor, cache);
    case 'list':
      await ask(actor, { method: 'GET', path: '/caches', label: 'list caches', about: null });
  }
}

function createRequest(actor: Actor, { name }: ModelCache) {
  const { random } = actor;
  const selection = random.chance(0.5)
    ? { docs: someIds(actor) }
    : { filters: { group: `g${String(random.whole(0, 3))}` } };
  return { path: '/cache/create', json: { name, ...MODEL, ...selection } };
}

function someIds({ arena, name, random }: Actor): string[] {
  const own = arena.world.documentsOf(name).slice(-20);
  return own.filter(() => random.chance(0.15)).map(({ id }) => id);
}

const aboutOf = ({ owner, name }: ModelCache) => `cache ${owner}/${name}`;

async function build(
  actor: Actor,
  cache: ModelCache,
  { operation, path, json }: { operation: string; path: string; json: unknown },
): Promise<void> {
  const { arena, name } = actor;
  arena.ledger.begin(name, operation);
  const isCreate = operation === 'create_cache';
  const write = isCreate ? cache.exists.begin(true, arena.history.tick()) : null;
  const label = `${operation} ${JSON.stringify(json)}`;
  const request = { method: 'POST', path, json, label, about: aboutOf(cache), ...patience(actor) };
  const asked = await ask(actor, request);
  const { outcome, end } = asked;
  if (outcome.type === 'refused') arena.ledger.end(name, operation, 'refused');
  if (outcome.type === 'broken') {
    void outcome.over.then(() => {
      if (write) write.end = arena.history.tick();
    });
    return;
  }
  if (write) write.end = end;
  if (outcome.type === 'refused') {
    if (write) write.outcome = 'undone';
    return;
  }
  if (outcome.status === 200) arena.ledger.end(name, operation, 'recorded');
  if (outcome.status === 200 || outcome.status === 202) {
    if (write) write.outcome = 'done';
  } else if (![400, 404, 409, 429, 503].includes(outcome.status)) {
    arena.history.violate('a cache is built or refused for a reason', `${name} ${label}: ${outcome.text}`);
  }
  if (!isCreate) checkKnown(actor, cache, { asked, label });
}

async function query(actor: Actor, cache: ModelCache): Promise<void> {
  const { arena, name, random } = actor;
  arena.ledger.begin(name, 'query_cache');
  const json = { query: random.pick(['What does the badger do?', 'Who repairs the violin?'] as const) };
  const label = 'query cache';
  const path = `/cache/${cache.name}/query`;
  const asked = await ask(actor, { method: 'POST', path, json, label, about: aboutOf(cache) });
  const { outcome } = asked;
  if (outcome.type === 'refused') arena.ledger.end(name, 'query_cache', 'refused');
  if (outcome.type !== 'answer' || outcome.status === 503) return;
  arena.ledger.end(name, 'query_cache', outcome.status === 200 ? 'success' : 'refused');
  if (outcome.status === 200) arena.ledger.read(name, 'query_cache', asked.api);
  if (![200, 404, 409, 429].includes(outcome.status))
    arena.history.violate('a cache answers or says why not', `${name}: ${outcome.text}`, aboutOf(cache));
  checkKnown(actor, cache, { asked, label });
}

async function remove(actor: Actor, cache: ModelCache): Promise<void> {
  const { arena, name } = actor;
  const write = cache.exists.begin(false, arena.history.tick());
  const label = 'DELETE cache';
  const asked = await ask(actor, {
    method: 'DELETE',
    path: `/cache/${cache.name}`,
    label,
    about: aboutOf(cache),
  });
  const { outcome, end } = asked;
  if (outcome.type === 'broken') {
    void outcome.over.then(() => {
      write.end = arena.history.tick();
    });
    return;
  }
  write.end = end;
  if (outcome.type === 'answer' && outcome.status === 503) return;
  write.outcome = 'undone';
  checkKnown({ arena, name }, cache, { asked, label });
  if (outcome.type === 'answer' && outcome.status === 200) write.outcome = 'done';
}

const existence = z.object({ exists: z.boolean() });

async function look(actor: Actor, cache: ModelCache): Promise<void> {
  const label = 'GET cache';
  const asked = await ask(actor, {
    method: 'GET',
    path: `/cache/${cache.name}`,
    label,
    about: aboutOf(cache),
  });
  const { outcome } = asked;
  if (outcome.type !== 'answer' || outcome.status !== 200) return;
  checkExistence(actor, cache, { asked, label, exists: existence.parse(outcome.json).exists });
}

interface Seen {
  readonly asked: TimedOutcome;
  readonly label: string;
}

/** Checks answers of the routes that answer 404 for an unknown cache. A 404 may also be for a document. */
function checkKnown(actor: Pick<Actor, 'arena' | 'name'>, cache: ModelCache, { asked, label }: Seen): void {
  const { outcome } = asked;
  if (outcome.type !== 'answer') return;
  if (outcome.status === 404 && outcome.text.includes(`Cache '${cache.name}'`))
    checkExistence(actor, cache, { asked, label, exists: false });
  if (outcome.status === 200) checkExistence(actor, cache, { asked, label, exists: true });
}

function checkExistence(
  { arena, name }: Pick<Actor, 'arena' | 'name'>,
  cache: ModelCache,
  { asked: { start, end }, label, exists }: Seen & { exists: boolean },
): void {
  // Before the first write that counts there was none.
  const written = cache.exists.possible(start, end);
  const isSettled = cache.exists.writes.some((each) => each.outcome === 'done' && each.end < start);
  const possible = isSettled ? written : [false, ...written];
  if (holds(possible, (each) => each === exists) === 'never')
    arena.history.violate(
      exists ? 'a deleted cache is gone' : 'an acknowledged cache stays',
      `${name} ${label}: ${exists ? 'there' : 'not there'}`,
      aboutOf(cache),
    );
}
