import { randomUUID } from 'node:crypto';
import { createClient, ErrorReply, RESP_TYPES, defineScript, type CommandParser } from 'redis';
import type { ChunkAddress } from '../../../chunks/fields.js';
import { decodeVector, encodeVector, type VectorSet } from '../../../data-set/stored-vectors.js';
import { tellOfMirror } from '../../../mirror-preparation/mirror-preparation.js';
import { keys } from '../../../redis/keys.js';
import { reconnectDelay } from '../../../redis/client.js';
import { declareScript } from '../../../redis/script.js';
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
  /** The highest sequence number of a deletion that the log does not have any more. */
  readonly forgotten: number;
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
  close(): void;
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
    close: client.destroy.bind(client),
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
  const [epoch, sequence, page, forgotten] = await Promise.all([
    client.get(keys.epoch),
    client.get(keys.sequence),
    client.zRangeWithScores(keys.changes, `(${String(after)}`, '+inf', range),
    // It is read after the page, which may lack a deletion that has just left the log.
    client.get(keys.forgotten),
  ]);
  await introduction.known;
  const entries = page.map(({ value, score }) => ({ documentId: value, sequence: score }));
  return {
    epoch,
    sequence: parseSequence(sequence),
    entries,
    isLastPage: page.length < PAGE_SIZE,
    forgotten: parseSequence(forgotten),
  };
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

/*
 * Scripts that read many hashes at once, because a command for each hash would take most of the time. A reply is a flat list
 * with two values for each hash, both null where there is none. It ends after the hash that makes it so large that Redis is
 * held up for a millisecond or two; the client then asks for the rest.
 */
const ENOUGH_BYTES = 2 ** 19;

const readHashes = declareScript({
  keys: { hashes: 'keys' },
  args: { enough: 'number', fields: 'list' },
});

const define = (fields: readonly string[], lua: string) => {
  const { source, pack } = readHashes.lua(`
local values, bytes = {}, 0
for i, hash in ipairs(hashes) do
  ${lua}
  if bytes >= enough then break end
end
return values
`);
  return defineScript({
    SCRIPT: source,
    // The script is not marked as read-only, because EVALSHA_RO needs Redis 7.
    parseCommand(parser: CommandParser, names: string[], more: readonly string[] = []) {
      const args = { enough: ENOUGH_BYTES, fields: [...fields, ...more] };
      const call = pack({ keys: { hashes: names }, args });
      parser.pushKeysLength(call.keys);
      parser.push(...call.arguments);
    },
    transformReply: (reply: (string | Buffer | null)[]) => reply,
  });
};

/** Reads two values for each hash, which some Lua makes of the `row` of fields. */
const definePairs = (fields: readonly string[], lua: string) =>
  define(
    fields,
    `local row = redis.call('HMGET', hash, unpack(fields))
  local first, second = false, false
  ${lua}
  values[2 * i - 1], values[2 * i] = first, second
  if first and second then bytes = bytes + #first + #second end`,
  );

/** Reads vectors and packed terms of chunks. Takes the name of the vector's field. */
const readChunkHashes = definePairs(['terms'], 'first, second = row[2], row[1]');

/** Reads the packed terms of chunks alone: one value for each, null where there is none. */
const readChunkTerms = define(
  ['terms'],
  `values[i] = redis.call('HGET', hash, fields[1])
  if values[i] then bytes = bytes + #values[i] end`,
);

/** Reads the access lists of records, one a line, and a JSON list of the other fields that the mirror keeps. */
const readRecordHashes = definePairs(
  [
    'readers',
    'writers',
    'admins',
    'createdAt',
    'ownerId',
    'metadata',
    'published',
    'pending',
    'prepared',
    'updatedAt',
    'retag',
    'collections',
  ],
  `if row[4] then
    for j = 1, #row do row[j] = row[j] or 'null' end
    first = table.concat(row, '\\n', 1, 3)
    second = '[' .. table.concat(row, ',', 4) .. ']'
  end`,
);

/** Tells workers that this mirror lives, and which generations it has loaded for them before they publish these. */
interface Presence {
  /** Remembers that nothing is left to be done for a generation before it is published. */
  note(generation: string): void;
  /** @throws the error that Redis rejects with; the next call tells the same again */
  tell(): Promise<void>;
}

export function createPresence(client: Pick<MirrorClient, 'tell'>): Presence {
  const mirror = randomUUID();
  const untold = new Set<string>();
  return {
    note: (generation) => {
      untold.add(generation);
    },
    tell: async () => {
      const told = [...untold];
      await client.tell(mirror, told);
      for (const generation of told) untold.delete(generation);
    },
  };
}
