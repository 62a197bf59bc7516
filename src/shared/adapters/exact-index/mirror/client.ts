import { createClient, ErrorReply, RESP_TYPES } from 'redis';
import type { ChunkAddress } from '../../../chunks/fields.js';
import { decodeVector, encodeVector, type VectorSet } from '../../../data-set/stored-vectors.js';
import { tellOfMirror } from '../../../mirror-preparation/mirror-preparation.js';
import { keys } from '../../../redis/keys.js';
import { reconnectDelay } from '../../../redis/client.js';
import { readChunkHashes, readChunkTerms, readRecordHashes } from './hash-scripts.js';
import type { RecordTexts } from './record-parser.js';

/** The name of the data set, and how many changes it had seen at one moment. */
export interface Head {
  /** Null before the first process opened this data set, and after FLUSHALL. */
  readonly epoch: string | null;
  readonly sequence: number;
}

/** A page of the change log. */
export interface Changes extends Head {
  /** Oldest first. */
  readonly entries: readonly { readonly documentId: string; readonly sequence: number }[];
  readonly isLastPage: boolean;
}

/** A chunk as the mirror keeps it. */
export interface ChunkBytes {
  /** Little-endian FLOAT32, whatever type the hash holds; empty where vectors are not asked for. */
  readonly vector: Buffer;
  readonly terms: Buffer;
}

/** The reads of a mirror from Redis. All calls reject while Redis is away; the client reconnects by itself. */
export interface MirrorClient {
  readHead(): Promise<Head>;
  readChanges(after: number): Promise<Changes>;
  /** Gives the data set this name if it has none. */
  nameDataSet(epoch: string): Promise<void>;
  /** Null for a record that does not exist. */
  readRecords(documentIds: readonly string[]): Promise<(RecordTexts | null)[]>;
  readChunks(addresses: readonly ChunkAddress[]): Promise<(ChunkBytes | null)[]>;
  /** Says that this mirror lives, and which generations it has prepared. */
  tell(mirror: string, prepared: readonly string[]): Promise<void>;
}

const PAGE_SIZE = 5_000;

export interface MirrorClientOptions {
  readonly url: string;
  /** Null when vectors are not read. */
  readonly vectors: VectorSet | null;
  /** Called for each connection with the run id of the server process; empty if the server does not tell it. */
  readonly onConnect: (runId: string) => void;
  readonly onError: (error: Error) => void;
}

export function createMirrorClient(options: MirrorClientOptions): MirrorClient {
  const { vectors } = options;
  const client = createScriptClient(options.url);
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const introduction = connect(client, options);
  const addressed = (addresses: readonly ChunkAddress[]) =>
    addresses.map(({ generation, number }) => keys.chunk(generation, number));
  return {
    readHead: () => readHead(client, introduction),
    readChanges: (after) => readChanges(client, introduction, after),
    nameDataSet: async (epoch) => {
      await client.set(keys.epoch, epoch, { condition: 'NX' });
    },
    readRecords: (documentIds) =>
      readPairs(
        documentIds.map(keys.document),
        (names) => client.readRecordHashes(names),
        (access, fields) =>
          typeof access === 'string' && typeof fields === 'string' ? { access, fields } : null,
      ),
    readChunks: vectors
      ? (addresses) =>
          readPairs(
            addressed(addresses),
            (names) => binary.readChunkHashes(names, [vectors.field]),
            (vector, terms) =>
              vector instanceof Buffer && terms instanceof Buffer
                ? { vector: inFull(vector, vectors.type), terms }
                : null,
          )
      : (addresses) =>
          readEach(
            addressed(addresses),
            (names) => binary.readChunkTerms(names),
            (terms) => (terms instanceof Buffer ? { vector: NO_VECTOR, terms } : null),
          ),
    tell: (mirror, prepared) => tellOfMirror(client, mirror, prepared),
  };
}

async function readHead(client: ScriptClient, introduction: Readonly<Introduction>): Promise<Head> {
  await introduction.known;
  const [epoch = null, sequence = null] = await client.mGet([keys.epoch, keys.sequence]);
  // The reply may come from another server than the one that was known before.
  await introduction.known;
  return { epoch, sequence: parseSequence(sequence) };
}

async function readChanges(
  client: ScriptClient,
  introduction: Readonly<Introduction>,
  after: number,
): Promise<Changes> {
  await introduction.known;
  const range = { BY: 'SCORE', LIMIT: { offset: 0, count: PAGE_SIZE } } as const;
  const [epoch, sequence, page] = await Promise.all([
    client.get(keys.epoch),
    client.get(keys.sequence),
    client.zRangeWithScores(keys.changes, `(${String(after)}`, '+inf', range),
  ]);
  await introduction.known;
  const entries = page.map(({ value, score }) => ({ documentId: value, sequence: score }));
  return { epoch, sequence: parseSequence(sequence), entries, isLastPage: page.length < PAGE_SIZE };
}

function createScriptClient(url: string) {
  return createClient({
    url,
    RESP: 3,
    scripts: { readChunkHashes, readChunkTerms, readRecordHashes },
    disableOfflineQueue: true,
    // The client's timeouts are off: each command would get an AbortSignal, which costs more than the command.
    commandOptions: { timeout: 0 },
    // The mirror asks every second, so that a socket that is silent for this long belongs to a server that hangs.
    socket: {
      connectTimeout: 2_000,
      socketTimeout: 5_000,
      reconnectStrategy: reconnectDelay,
    },
  });
}

type ScriptClient = ReturnType<typeof createScriptClient>;

/** `known` settles once the server process behind the present connection is known. */
interface Introduction {
  known: Promise<void>;
}

function connect(
  client: ScriptClient,
  { onConnect, onError }: Pick<MirrorClientOptions, 'onConnect' | 'onError'>,
): Readonly<Introduction> {
  const introduction: Introduction = { known: Promise.resolve() };
  client.on('error', onError);
  client.on('ready', () => {
    introduction.known = readRunId(client).then(onConnect);
    introduction.known.catch(onError);
  });
  client.connect().catch(onError);
  return introduction;
}

async function readRunId(client: ScriptClient): Promise<string> {
  try {
    return /run_id:(\w+)/.exec(await client.info('server'))?.[1] ?? '';
  } catch (error) {
    // Managed servers may forbid INFO.
    if (error instanceof ErrorReply) return '';
    throw error;
  }
}

/** A data set without changes has no counter. */
const parseSequence = (text: string | null): number => (text === null ? 0 : Number(text));

function inFull(vector: Buffer, type: VectorSet['type']): Buffer {
  return type === 'float32' ? vector : encodeVector(decodeVector(vector, type), 'float32');
}

const NO_VECTOR = Buffer.alloc(0);

type Value = string | Buffer | null | undefined;

/** Reads a value for each name, asking again for names that a reply left out because it was full. */
async function readEach<Item>(
  names: readonly string[],
  read: (names: string[]) => Promise<Value[]>,
  make: (value: Value) => Item,
): Promise<Item[]> {
  const items: Item[] = [];
  while (items.length < names.length)
    for (const value of await read(names.slice(items.length))) items.push(make(value));
  return items;
}

/** Reads two values for each name, asking again for names that a reply left out because it was full. */
async function readPairs<Item>(
  names: readonly string[],
  read: (names: string[]) => Promise<Value[]>,
  make: (first: Value, second: Value) => Item,
): Promise<Item[]> {
  const items: Item[] = [];
  while (items.length < names.length) {
    const values = await read(names.slice(items.length));
    for (let at = 0; at < values.length; at += 2) items.push(make(values[at], values[at + 1]));
  }
  return items;
}
