import { z } from 'zod';
import { ask, type Actor, type TimedOutcome } from '../arena.js';
import { exists, may, visibleContents, type ModelDocument } from '../world.js';
import { groupOf } from './ingest.js';

const RANKINGS = ['lexical', 'semantic', 'hybrid'] as const;
const COMMON = ['badger lantern', 'the violin of the orchard', 'measures the glacier', 'number 3'] as const;

interface Search {
  readonly query: string;
  readonly k: number;
  readonly ranking?: (typeof RANKINGS)[number];
  readonly filters?: Record<string, unknown>;
  /** Document that the filter names, if it names one. */
  readonly only: ModelDocument | null;
  /** Group that all results must be of. */
  readonly group: string | null;
}

const chunkResults = z.array(
  z.object({ score: z.number(), document_id: z.string(), metadata: z.record(z.string(), z.unknown()) }),
);
const completion = z.object({ sources: z.array(z.object({ score: z.number(), document_id: z.string() })) });

const ROUTES = {
  retrieve_chunks: '/retrieve/chunks',
  retrieve_docs: '/retrieve/docs',
  query: '/query',
} as const;

export async function search(actor: Actor, document: ModelDocument | undefined): Promise<void> {
  const { arena, name, random } = actor;
  const operation = random.weighted({ retrieve_chunks: 5, retrieve_docs: 3, query: 2 });
  const wanted = makeSearch(actor, document);
  const { only, group, ...body } = wanted;
  const label = `${operation} ${JSON.stringify(body)}`;
  const wasPublished = only !== null && isSurelyPublished(only, arena.history.tick());
  arena.ledger.begin(name, operation);
  const asked = await ask(actor, {
    method: 'POST',
    path: ROUTES[operation],
    json: body,
    label,
    about: only?.id ?? null,
  });
  const { outcome } = asked;
  if (outcome.type === 'refused') arena.ledger.end(name, operation, 'refused');
  if (outcome.type !== 'answer') return;
  if (outcome.status === 503) return;
  if (outcome.status !== 200) {
    arena.ledger.end(name, operation, 'refused');
    if (outcome.status !== 429)
      arena.history.violate('a search is answered', `${label}: ${outcome.text.slice(0, 200)}`);
    return;
  }
  arena.ledger.end(name, operation, 'success');
  arena.ledger.read(name, operation, asked.api);
  if (outcome.json === undefined) {
    arena.history.violate('a search is answered', `${label}: 200 without JSON`);
    return;
  }
  const results =
    operation === 'query' ? completion.parse(outcome.json).sources : chunkResults.parse(outcome.json);
  const isFindable = wasPublished && operation !== 'query';
  checkResults(actor, { wanted, results, label, asked, isFindable });
}

function makeSearch({ arena, name, random }: Actor, document: ModelDocument | undefined): Search {
  const now = arena.history.tick();
  const contents = document ? visibleContents(document, { start: now, end: now }) : [];
  const marker = random.pickAny(contents)?.marker;
  const query = marker !== undefined && random.chance(0.7) ? marker : random.pick(COMMON);
  const ranking = random.pickAny([undefined, ...RANKINGS]);
  const common = {
    query,
    k: random.pick([1, 4, 20, 100] as const),
    only: null,
    group: null,
    ...(ranking === undefined ? {} : { ranking }),
  };
  const group = groupOf(random.whole(0, 3));
  switch (random.weighted({ none: 3, key: 4, group: 2, or: 1, not: 1 })) {
    case 'none':
      return common;
    case 'key':
      return document ? { ...common, filters: { key: document.key }, only: document } : common;
    case 'group':
      return { ...common, filters: { group, n: { $gte: 0 } }, group };
    case 'or':
      return { ...common, filters: { $or: [{ group }, { group: { $in: [group, name] } }] }, group };
    case 'not':
      return { ...common, filters: { group, $not: { key: 'none' } }, group };
  }
}

/** Tells whether a version was published before, whichever, so that there is text to be found. */
function isSurelyPublished(document: ModelDocument, now: number): boolean {
  return [...document.publishedAt.values()].some((tick) => tick < now);
}

interface Found {
  readonly wanted: Search;
  readonly results: readonly { score: number; document_id: string; metadata?: Record<string, unknown> }[];
  readonly label: string;
  readonly asked: TimedOutcome;
  readonly isFindable: boolean;
}

function checkResults({ arena: { history }, name }: Actor, found: Found): void {
  const { wanted, results, label, asked, isFindable } = found;
  const { start, end } = asked;
  const { only } = wanted;
  const scores = results.map(({ score }) => score);
  const isOrdered = scores.every((score, i) => score >= 0 && score <= 1 && score <= (scores[i - 1] ?? 1));
  if (!isOrdered) history.violate('results are in the order of their scores', `${label}: ${scores.join()}`);
  if (results.length > wanted.k) history.violate('at most k results come', label);
  const strangers = results.filter(
    ({ document_id: id, metadata }) =>
      (only !== null && id !== only.id) ||
      (wanted.group !== null && metadata !== undefined && metadata['group'] !== wanted.group),
  );
  if (strangers.length > 0)
    history.violate('a filter is never widened', `${name} ${label}: ${JSON.stringify(strangers[0])}`);
  if (only === null || !isFindable || results.length > 0) return;
  const isThere = exists(only, { start, end }) === 'always';
  if (isThere && may('read', name, { document: only, start, end }) === 'always' && name === only.owner)
    history.violate('what was published is found', `${name} ${label}`, only.id);
}
