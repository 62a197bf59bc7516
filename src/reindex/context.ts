import { createIndexBuilder } from '../shared/adapters/query-engine-index/lifecycle.js';
import { createEmbedder } from '../shared/create-adapters.js';
import { algorithmOf, chooseIndex } from '../shared/data-set/choose-index.js';
import { IncompatibleDataError } from '../shared/errors.js';
import { inspectServer } from '../shared/data-set/data-set.js';
import { FIRST_VECTORS, type VectorSet } from '../shared/data-set/stored-vectors.js';
import type { OnMalformed } from '../shared/documents/record-fields.js';
import { createRecords } from '../shared/documents/records.js';
import { createEmbedding } from '../shared/models/embedding.js';
import { createRedis } from '../shared/redis/client.js';
import { isEmbedderRemote } from '../shared/settings/chosen-adapters.js';
import type { Settings } from '../shared/settings/schema.js';
import type { Say } from './report.js';

export type ReindexContext = Awaited<ReturnType<typeof createReindexContext>>;

/** The time to wait for Redis. A service that stops also stops its own Redis. */
const PATIENCE_MILLISECONDS = 30_000;

interface Reports {
  readonly say: Say;
  /** Called when Redis has been unavailable for so long that it may not return. */
  readonly onLost: () => void;
}

/** Everything that reindexing needs, wired once. */
export async function createReindexContext(settings: Settings, { say, onLost }: Reports) {
  let awaySince: number | null = null;
  const redis = createRedis(settings.redis.url, {
    failFast: false,
    onError: (error) => {
      awaySince ??= Date.now();
      say(`Redis: ${error.message}`, { often: true });
      if (Date.now() - awaySince > PATIENCE_MILLISECONDS) onLost();
    },
  });
  redis.on('ready', () => {
    awaySince = null;
  });
  await redis.connect();
  const { problems } = await inspectServer(redis);
  if (problems.length > 0) throw new IncompatibleDataError(problems.join('; '));
  const leftOut = createLeftOut(say);
  const embedder = await createEmbedder(settings, {
    onWaiting: ({ message }) => say(message, { often: true }),
  });
  const engine = await chooseIndex(redis, settings.index);
  const builder = createIndexBuilder(redis);
  const algorithm = algorithmOf(settings.queryEngine);
  return {
    redis,
    say,
    records: createRecords(redis, FIRST_VECTORS, { onMalformed: leftOut.add }),
    leftOut,
    embedding: createEmbedding(embedder, {
      maxWaitMilliseconds: isEmbedderRemote(settings) ? 20 : 0,
    }),
    target: { model: embedder.model, vectorType: settings.embedding.vectorType },
    /** Creates the index that the settings name, if it is missing. Resolves with its name; null when none is used. */
    createIndex: (of: { model: string; dimensions: number; vectors: VectorSet }): Promise<string | null> =>
      engine.name === 'query-engine' ? builder.create({ ...of, algorithm }) : Promise.resolve(null),
    untilIndexed: builder.untilWhole,
    dropOtherIndexes: builder.dropOthers,
    close: () => redis.close(),
  };
}

interface LeftOut {
  readonly add: OnMalformed;
  /** Says how many documents were left out, if any. */
  readonly sum: () => void;
}

/** Says which documents a run leaves out because their records are malformed. They keep their old vectors. */
function createLeftOut(say: Say): LeftOut {
  const ids = new Set<string>();
  return {
    add: (id) => {
      if (ids.has(id)) return;
      ids.add(id);
      say(`Document ${id} is left out: its record is malformed.`);
    },
    sum: () => {
      if (ids.size === 0) return;
      const what = ids.size === 1 ? '1 document was' : `${String(ids.size)} documents were`;
      say(`${what} left out, with a malformed record. Once it is repaired, put the content again.`);
    },
  };
}
