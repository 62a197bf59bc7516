import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const shared = [process.env['QUIRE_SHARED'], '../shared'].filter((path) => path !== undefined);
const folders = shared.map((path) => join(path, 'data'));

/** Names of all collections in `QUIRE_SHARED` and `../shared`. */
export function findCollections(): string[] {
  const names = folders.filter((folder) => existsSync(folder)).flatMap((folder) => readdirSync(folder));
  const unique = [...new Set(names)].filter((name) => pathOf(name) !== null);
  if (unique.length === 0) console.log(`skipped: no collections at ${folders.join(' or ')}`);
  return unique.sort();
}

/** The collections that the command line names, or all of them. Those that are absent are left out, with a line each. */
export function* collectionsToMeasure(): Generator<Collection> {
  const named = process.argv.slice(2);
  for (const name of named.length > 0 ? named : findCollections()) {
    const collection = loadCollection(name);
    if (collection) yield collection;
  }
}

function pathOf(name: string): string | null {
  const paths = folders.map((folder) => join(folder, name));
  return paths.find((path) => existsSync(join(path, 'corpus.jsonl'))) ?? null;
}

export interface Collection {
  readonly name: string;
  readonly documents: readonly {
    readonly id: string;
    readonly text: string;
    /** The name of its file, where the collection has names. */
    readonly filename?: string | null;
  }[];
  readonly queries: readonly { readonly id: string; readonly text: string }[];
  /** Ids of relevant documents by query id. */
  readonly relevant: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Null, and a line that says so, where the shared collections are absent. */
export function loadCollection(name: string): Collection | null {
  const path = pathOf(name);
  if (path === null) {
    console.log(`skipped: no collection ${name} at ${folders.join(' or ')}`);
    return null;
  }
  const relevant = new Map<string, Set<string>>();
  for (const line of readFileSync(join(path, 'qrels.tsv'), 'utf8').trim().split('\n')) {
    const [query = '', document = '', relevance = '1'] = line.split('\t');
    if (Number(relevance) > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  const documents = readLines(join(path, 'corpus.jsonl')).map(
    ({ id = '', title = '', text = '', filename = null }) => ({
      id,
      text: title === '' ? text : `${title}\n${text}`,
      filename,
    }),
  );
  const queries = readLines(join(path, 'queries.jsonl')).map(({ id = '', text = '' }) => ({ id, text }));
  return { name, documents, queries: queries.filter(({ id }) => relevant.has(id)), relevant };
}

function readLines(path: string): Record<string, string>[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  // @NOTE the collections are flat objects of strings; a wrong field shows as a score of 0
  return lines.map((line) => JSON.parse(line) as Record<string, string>);
}

/** Mean nDCG@10, with binary relevance (Järvelin and Kekäläinen 2002). */
export function ndcgAt10(ranked: readonly string[], relevant: ReadonlySet<string>): number {
  const gain = (hits: readonly boolean[]) =>
    hits.reduce((sum, isHit, i) => sum + (isHit ? 1 / Math.log2(i + 2) : 0), 0);
  const ideal = gain(Array.from({ length: Math.min(10, relevant.size) }, () => true));
  return gain(ranked.slice(0, 10).map((id) => relevant.has(id))) / ideal;
}

export function recallAt(k: number, ranked: readonly string[], relevant: ReadonlySet<string>): number {
  return ranked.slice(0, k).filter((id) => relevant.has(id)).length / relevant.size;
}
