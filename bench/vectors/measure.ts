import { chooseEffort, type SearchEffort } from '../../src/shared/adapters/query-engine-index/chunk-query.js';
import { loadSettings } from '../../src/shared/settings/load.js';
import { percentile, round } from '../support/client.js';
import type { EngineIndex } from './engine-index.js';
import type { ExactIndex } from './exact-index.js';
import { READERS, type ReaderName } from './readers.js';
import type { Truth } from './truth.js';

/** Candidates that the service asks for: for ten hits, for fifty, and for a hybrid ranking. */
const LIMITS = [26, 66, 400] as const;
/** The number of hits. */
const K = 10;
/** Every eighth query is enough where every vector is compared. */
const SPARSE = 8;
const MAX_IN_VIEW = 4_000;

interface Of {
  readonly count: number;
  readonly queries: readonly Float32Array[];
  readonly truth: Truth;
}

export type Row = Awaited<ReturnType<typeof measureQueries>> & {
  readonly effort: string;
  readonly inView?: number;
  readonly isServices?: boolean;
};

export async function measureExact(index: ExactIndex, of: Of): Promise<Row[]> {
  const rows: Row[] = [];
  for (const limit of LIMITS) {
    const asked = { ...of, reader: 'all', limit, every: SPARSE } as const;
    const row = await measureQueries(asked, index, (vector) => index.ask(vector, 'all', limit));
    rows.push({ effort: 'exact', ...row });
  }
  return rows;
}

export async function measureFlat(index: EngineIndex, of: Of): Promise<Row[]> {
  const rows: Row[] = [];
  for (const limit of LIMITS) {
    for (const { name: reader } of limit === LIMITS[0] ? READERS : READERS.slice(0, 1)) {
      const ask = { reader, limit, effort: { type: 'flat' } } as const;
      const row = await measureQueries({ ...of, ...ask, every: SPARSE }, index, (vector) =>
        index.ask(vector, ask),
      );
      rows.push({ effort: 'flat', ...row });
    }
  }
  return rows;
}

/** Walks for ten hits with each of `efRuntimes`, and with the graph of the default settings all that readers may ask. */
export async function measureGraph(
  index: EngineIndex,
  of: Of & {
    readonly algorithm: { readonly m: number; readonly efConstruction: number };
    readonly efRuntimes: readonly number[];
  },
): Promise<Row[]> {
  const rows: Row[] = [];
  const [limit] = LIMITS;
  for (const inView of of.efRuntimes) {
    const ask = { reader: 'all', limit, effort: { type: 'graph', inView } } as const;
    const row = await measureQueries({ ...of, ...ask, every: 1 }, index, (vector) => index.ask(vector, ask));
    rows.push({ effort: 'graph', inView, ...row });
  }
  const { hnswM, hnswEfConstruction, hnswEfRuntime } = loadSettings({}).queryEngine;
  const isDefault = of.algorithm.m === hnswM && of.algorithm.efConstruction === hnswEfConstruction;
  return isDefault ? [...rows, ...(await measureReaders(index, of, hnswEfRuntime))] : rows;
}

/** Each way to ask, for each reader and limit, and which of them the service takes. */
async function measureReaders(index: EngineIndex, of: Of, efRuntime: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const limit of LIMITS) {
    for (const { name: reader, share } of READERS) {
      const inView = Math.ceil(Math.max(efRuntime, limit) / share);
      const readable = Math.round(share * of.count);
      const chosen = chooseEffort({ efRuntime, limit, readable, total: of.count });
      const ways: readonly Way[] = [
        { effort: { type: 'all' } },
        // With more in view, a walk takes much longer than comparing.
        ...(inView <= MAX_IN_VIEW ? [{ effort: { type: 'graph', inView } } as const] : []),
        { effort: { type: 'graph', inView: efRuntime }, isEnginesChoice: true },
      ];
      for (const way of ways) {
        const { effort, isEnginesChoice = false } = way;
        const ask = { reader, limit, ...way };
        const row = await measureQueries({ ...of, ...ask, every: SPARSE }, index, (vector) =>
          index.ask(vector, ask),
        );
        const isServices = !isEnginesChoice && effort.type === chosen.type;
        rows.push({ ...columnsOf(way), ...row, isServices });
      }
    }
  }
  return rows;
}

interface Way {
  readonly effort: SearchEffort;
  /** The engine may compare with all. */
  readonly isEnginesChoice?: boolean;
}

function columnsOf({ effort, isEnginesChoice = false }: Way) {
  const inView = effort.type === 'graph' ? { inView: effort.inView } : {};
  return { effort: isEnginesChoice ? "the engine's choice" : effort.type, ...inView };
}

/** Recall, and milliseconds of one client that asks one query after the other: processor time of a query, and latencies. */
async function measureQueries(
  {
    queries,
    truth,
    reader,
    limit,
    every,
  }: Omit<Of, 'count'> & {
    readonly reader: ReaderName;
    readonly limit: number;
    /** 2 for every second query. */
    readonly every: number;
  },
  { processorMilliseconds }: Pick<EngineIndex | ExactIndex, 'processorMilliseconds'>,
  ask: (vector: Float32Array) => Promise<{ readonly rows: readonly number[]; readonly milliseconds: number }>,
) {
  const times: number[] = [];
  let [recall, recallOfAll, worst] = [0, 0, 1];
  for (const vector of queries.slice(0, 10)) await ask(vector);
  const before = await processorMilliseconds();
  for (const [query, vector] of queries.entries()) {
    if (query % every !== 0) continue;
    const { rows, milliseconds } = await ask(vector);
    times.push(milliseconds);
    const share = truth.recall({ query, reader, k: K }, rows);
    recall += share;
    recallOfAll += truth.recall({ query, reader, k: limit }, rows);
    worst = Math.min(worst, share);
  }
  const processor = (await processorMilliseconds()) - before;
  const mean = (sum: number) => round(sum / times.length, 4);
  return {
    reader,
    limit,
    recallAt10: mean(recall),
    worst: round(worst, 2),
    recallOfLimit: mean(recallOfAll),
    processorMs: round(processor / times.length),
    p50: round(percentile(times, 0.5)),
    p95: round(percentile(times, 0.95)),
  };
}
