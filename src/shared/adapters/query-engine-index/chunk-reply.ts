import { UnavailableError } from '../../errors.js';
import { keys } from '../../redis/keys.js';
import { refuseWarnings } from './engine.js';

export interface ChunkReply {
  readonly candidates: FoundChunk[];
  /** The number of chunks that were found. There are fewer candidates when a chunk was unlinked before it could be read. */
  readonly found: number;
  /** The number of all matches, however many were asked for; it means nothing for a search of the nearest. */
  readonly total: number;
}

/**
 * Reads the reply of FT.SEARCH in RESP3, with maps as lists of names and values. Versions 2.10 and 8 answer alike.
 *
 * @throws UnavailableError when the reply is incomplete
 */
export function readChunkReply(reply: unknown): ChunkReply {
  refuseWarnings(listAt(reply, 'warning').map(String));
  const rows = listAt(reply, 'results');
  refuseZero(valueAt(rows[0], 'score'));
  const candidates: FoundChunk[] = [];
  for (const row of rows) {
    const id = valueAt(row, 'id');
    // The fields are null for a chunk that is gone, where the engine searches in threads (`search-workers` of Redis 8).
    const fields = valueAt(row, 'extra_attributes');
    const [distance, terms] = [bytesOf(valueAt(fields, 'distance')), bytesOf(valueAt(fields, 'terms'))];
    if (!(id instanceof Buffer) || !(distance ?? terms)) continue;
    candidates.push(new FoundChunk(id, distance, terms));
  }
  return { candidates, found: rows.length, total: Number(valueAt(reply, 'total_results')) };
}

/**
 * Refuses a reply to a search by terms whose best score is 0: nothing was ranked
 * then, and any chunks may have been returned.
 */
function refuseZero(score: unknown): void {
  const isTold = typeof score === 'number' || score instanceof Buffer;
  if (isTold && Number(score) === 0)
    throw new UnavailableError('index', { cause: new Error('the engine scores no word of the query') });
}

const NAMES = {
  results: Buffer.from('results'),
  total_results: Buffer.from('total_results'),
  warning: Buffer.from('warning'),
  id: Buffer.from('id'),
  score: Buffer.from('score'),
  extra_attributes: Buffer.from('extra_attributes'),
  distance: Buffer.from('distance'),
  terms: Buffer.from('terms'),
};
const NO_TERMS = new Uint8Array();

/** A found chunk that reads keys and numbers only when asked for, since few of hundreds are looked at closely. */
export class FoundChunk {
  /** @param distance in the engine's digits; null where it was not asked for */
  constructor(
    private readonly key: Buffer,
    private readonly distance: Buffer | null,
    private readonly packedTerms: Buffer | null,
  ) {}

  get terms(): Uint8Array {
    return this.packedTerms ?? NO_TERMS;
  }

  get similarity(): number {
    return this.distance ? 1 - Number(this.distance.toString('latin1')) : Number.NaN;
  }

  get documentId(): string {
    const { generation } = this;
    return generation.slice(0, generation.indexOf('.'));
  }

  get generation(): string {
    return this.key.toString('latin1', keys.chunkPrefix.length, this.key.lastIndexOf(COLON));
  }

  get number(): number {
    return Number(this.key.toString('latin1', this.key.lastIndexOf(COLON) + 1));
  }
}

const COLON = ':'.charCodeAt(0);

function bytesOf(value: unknown): Buffer | null {
  return value instanceof Buffer ? value : null;
}

/** Reads a value of a map. Names are text or bytes, depending on the version and the place. */
function valueAt(map: unknown, name: keyof typeof NAMES): unknown {
  if (!Array.isArray(map)) return null;
  const bytes = NAMES[name];
  for (let at = 0; at < map.length; at += 2) {
    const found: unknown = map[at];
    const isIt =
      found instanceof Buffer ? found.length === bytes.length && found.equals(bytes) : found === name;
    if (isIt) return map[at + 1];
  }
  return null;
}

function listAt(map: unknown, name: keyof typeof NAMES): readonly unknown[] {
  const value = valueAt(map, name);
  if (!Array.isArray(value)) throw new TypeError(`FT.SEARCH answered without ${name}`);
  return value;
}
