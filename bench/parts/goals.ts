import { round } from '../support/client.js';

interface Goal {
  readonly what: string;
  readonly unit: string;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
}

const atLeast = (value: number, unit: string, what: string): Goal => ({
  what,
  unit,
  bound: 'at least',
  value,
});
const atMost = (value: number, unit: string, what: string): Goal => ({ what, unit, bound: 'at most', value });

/** The goals of the service on two cores with the load beside it. */
const GOALS = {
  'p50 at 15000': atMost(2, 'ms', 'search by words, 15,000 chunks, 1 client: p50'),
  'p50 at 100000': atMost(2.5, 'ms', 'the same, 100,000 chunks'),
  'p50 at 500000': atMost(4, 'ms', 'the same, 500,000 chunks'),
  'rate at 15000': atLeast(1_200, '/s', 'search by words, 15,000 chunks, 8 clients'),
  'rate at 500000': atLeast(800, '/s', 'the same, 500,000 chunks'),
  'loop delay': atMost(20, 'ms', 'event loop of the API under 8 clients: p99 of its delay'),
  'many p50': atMost(4, 'ms', '1,000 callers of 500 chunks, 1 client: p50'),
  'many rate': atLeast(800, '/s', '1,000 callers of 500 chunks, 8 clients'),
  'many loop delay': atMost(20, 'ms', '1,000 callers of 500 chunks, 8 clients: event loop of the API, p99'),
  'ready at 100000': atMost(2, 's', 'ready after a cold start, 100,000 chunks'),
  'memory of a chunk': atMost(0.8, 'KB', 'memory of an API process for each chunk of 100 words'),
  gain: atLeast(1, '× BM25', 'nDCG@10 of /retrieve/chunks beside BM25: the lowest ratio of a collection'),
  recall: atLeast(1, '× BM25', 'recall@100 of /retrieve/docs beside BM25: the lowest ratio of a collection'),
  'mean gain': atLeast(0.6, '', 'nDCG@10 of /retrieve/chunks: mean of eleven English collections'),
  'semantic on SciFact': atLeast(0.635, '', 'nDCG@10 of `semantic` on SciFact, with all-MiniLM-L6-v2'),
  'hybrid gain': atLeast(0.02, '', 'nDCG@10 of `hybrid` less that of the better of its parts: mean of all'),
  'hybrid ratio': atLeast(0.992, '×', '`hybrid` beside the better of its parts: the lowest of a collection'),
  'single ingest': atLeast(600, '/s', 'ingest to searchable, 16 clients, one text a request'),
  'batch ingest': atLeast(2_000, '/s', 'ingest to searchable, batches'),
  'provider ingest': atLeast(1_000, '/s', 'ingest in batches, with a provider that takes 100 ms'),
  growth: atLeast(0.9, '×', 'speed of ingest at 500,000 chunks beside the first 10,000'),
  'first token of a cache': atMost(
    0.05,
    '×',
    'first token from a cache of 4,096 tokens beside the same prompt without it, model of 60 MB',
  ),
  'state restore': atMost(200, 'ms', 'what a model has read of a cache, read from the disk: 16,384 tokens'),
  'pdf ratio': atLeast(
    3,
    '× pdf-parse',
    'pages of PDFs a second, with layout and tables, beside the text of pdf-parse',
  ),
  'large pdf': atMost(10, 's', 'a PDF of 600 pages, from its upload until a search finds its last page'),
  'large pdf loop delay': atMost(50, 'ms', 'event loop of the API meanwhile: p99 of its delay'),
  'idle memory': atMost(500, 'MB', 'the whole service idle, resident memory of all processes together'),
} as const satisfies Record<string, Goal>;

export type GoalName = keyof typeof GOALS;

/** The measured values of the goals. */
export type Measured = Partial<
  Record<
    GoalName,
    { readonly value: number; /** The deviation from the conditions of the goal. */ readonly but?: string }
  >
>;

export const isGoal = (name: string): name is GoalName => Object.hasOwn(GOALS, name);

/** A row for each goal. A ratio of 1 or more reaches it. */
export function goalTable(measured: Measured) {
  // @NOTE Object.entries forgets the names
  const goals = Object.entries(GOALS) as [GoalName, Goal][];
  return goals.map(([name, { what, unit, bound, value }]) => {
    const goal = `${bound} ${String(value)} ${unit}`.trim();
    const found = measured[name];
    if (!found) return { what, goal, measured: 'not measured', ratio: null, reached: null };
    const ratio = bound === 'at least' ? found.value / value : value / found.value;
    const but = found.but === undefined ? '' : ` (${found.but})`;
    // Something else than the goal says was measured: it is neither reached nor missed.
    const reached = found.but === undefined ? ratio >= 1 : null;
    return {
      what,
      goal,
      measured: `${String(found.value)} ${unit}`.trim() + but,
      ratio: round(ratio),
      reached,
    };
  });
}
