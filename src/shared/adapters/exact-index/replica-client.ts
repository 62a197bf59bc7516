import { createClient, ErrorReply, RESP_TYPES } from 'redis';
import { keys } from '../../keys.js';
import { RECORD_FIELDS } from './record-fields.js';

/** What one look at the change log tells. */
export interface Changes {
  /** Null before the first process opened this data set, and after FLUSHALL. */
  readonly epoch: string | null;
  readonly sequence: number;
  /** Oldest first. */
  readonly entries: readonly { readonly documentId: string; readonly sequence: number }[];
  readonly isLastPage: boolean;
}

export interface StoredVector {
  readonly vector: Buffer;
  readonly terms: Buffer;
}

/** The reads that a mirror needs; they reject while Redis is away. Connects again by itself. */
export interface ReplicaClient {
  readChanges(after: number): Promise<Changes>;
  /** Names the data set, if it has no name yet. */
  nameDataSet(epoch: string): Promise<void>;
  /** Fields of a record in the order of `RECORD_FIELDS`, nulls when there is none. */
  readRecord(documentId: string): Promise<(string | null)[]>;
  readChunk(generation: string, number: number): Promise<StoredVector | null>;
}

const PAGE_SIZE = 2_000;

export function createReplicaClient(options: {
  readonly url: string;
  /** A connection was made, to the server process of this run id; empty if it does not tell. */
  readonly onConnect: (runId: string) => void;
  readonly onError: (error: Error) => void;
}): ReplicaClient {
  const client = createClient({
    url: options.url,
    RESP: 3,
    disableOfflineQueue: true,
    // Without the client's timeouts: they are an AbortSignal for each command, which costs more than the command.
    commandOptions: { timeout: 0 },
    // The mirror asks every second: a socket that is silent for so long belongs to a server that hangs.
    socket: {
      connectTimeout: 2_000,
      socketTimeout: 5_000,
      reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, 1_000),
    },
  });
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  client.on('error', options.onError);
  const readRunId = async () => {
    try {
      return /run_id:(\w+)/.exec(await client.info('server'))?.[1] ?? '';
    } catch (error) {
      // Not everyone may ask a managed server for it.
      if (error instanceof ErrorReply) return '';
      throw error;
    }
  };

  /** Settles when it is known to which server process the present connection leads. */
  let introduced: Promise<void> = Promise.resolve();
  client.on('ready', () => {
    introduced = readRunId().then(options.onConnect);
    introduced.catch(options.onError);
  });
  client.connect().catch(options.onError);

  return {
    readChanges: async (after) => {
      await introduced;
      const range = { BY: 'SCORE', LIMIT: { offset: 0, count: PAGE_SIZE } } as const;
      const [epoch, sequence, page] = await Promise.all([
        client.get(keys.epoch),
        client.get(keys.sequence),
        client.zRangeWithScores(keys.changes, `(${String(after)}`, '+inf', range),
      ]);
      const entries = page.map(({ value, score }) => ({ documentId: value, sequence: score }));
      return { epoch, sequence: Number(sequence ?? 0), entries, isLastPage: page.length < PAGE_SIZE };
    },
    nameDataSet: async (epoch) => {
      await client.set(keys.epoch, epoch, { condition: 'NX' });
    },
    readRecord: (documentId) => client.hmGet(keys.document(documentId), [...RECORD_FIELDS]),
    readChunk: async (generation, number) => {
      const [vector, terms] = await binary.hmGet(keys.chunk(generation, number), ['vector', 'terms']);
      return vector && terms ? { vector, terms } : null;
    },
  };
}
