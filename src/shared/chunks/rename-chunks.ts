import { packedLength, packedTerms } from '../../index/index.js';
import { at, addTo } from '../at.js';
import { BATCH_SIZE } from '../batches.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import {
  isHeld,
  countFields,
  countFieldsOf,
  groupTerms,
  readState,
  writeState,
  type CountState,
} from '../term-statistics/count-steps.js';
import {
  marksName,
  readNamed,
  storedChunk,
  STORED_FIELDS,
  termFields,
  type ChunkMarks,
  type StoredChunk,
} from './fields.js';
import type { BinaryClient } from './read-chunks.js';
import { renameScript } from './scripts.js';

/** A chunk whose terms hold another name of its file than they are to hold. */
export interface OtherName {
  /** The mark of the name that its terms hold. */
  readonly named: string;
  readonly chunk: StoredChunk;
  /** Its packed terms; null while it has none. */
  readonly terms: Uint8Array | null;
}

/** Chunks of one batch with another name, and the owner whose statistics count the batch. */
export interface OtherNames {
  readonly state: CountState;
  readonly chunks: readonly OtherName[];
}

/** The terms that chunks get, by their number; null where they have none yet. */
export interface Renaming extends OtherNames {
  readonly terms: ReadonlyMap<number, Uint8Array | null>;
}

export async function readOtherNames(
  binary: BinaryClient,
  generation: string,
  { numbers, named }: { readonly numbers: readonly number[]; readonly named: string },
): Promise<OtherNames | null> {
  const marks = await Promise.all(numbers.map((n) => binary.hGet(keys.chunk(generation, n), 'named')));
  const others = numbers.filter((_, i) => readNamed(marks[i]) !== named);
  if (others.length === 0) return null;
  const fields = ['named', 'terms', ...STORED_FIELDS];
  const [counted, ...rows] = await Promise.all([
    binary.hmGet(keys.generation(generation), countFields(batchOf(others))),
    ...others.map((n) => binary.hmGet(keys.chunk(generation, n), fields)),
  ]);
  const state = readState(counted.map(textOf));
  const chunks = rows.flatMap(([held, terms, ...stored], i): OtherName[] => {
    const chunk = storedChunk(at(others, i), stored.map(textOf));
    const known = terms instanceof Buffer ? terms : null;
    return chunk ? [{ named: readNamed(held), chunk, terms: known }] : [];
  });
  return { state, chunks };
}

const textOf = (value: unknown): string | null => (value instanceof Buffer ? value.toString() : null);
const batchOf = (numbers: readonly number[]): number => Math.floor(at(numbers, 0) / BATCH_SIZE);

interface RenamedGroup {
  readonly group: readonly number[];
  readonly of: { readonly documentId: string; readonly revision: number };
  readonly renaming: Renaming;
  readonly marks: ChunkMarks;
}

/** Writes the tags of some chunks, and the terms of the renamed ones among them. @returns the answer of the script */
export async function renameGroup(
  redis: Redis,
  generation: string,
  { group, of, renaming, marks }: RenamedGroup,
): Promise<number> {
  const { state } = renaming;
  // A count that is under way holds only a part of the terms, and whoever counts goes on with it.
  if (isHeld(state) && state.kind !== 'counted') throw new Error('the terms of the batch are being counted');
  const owner = state.kind === 'counted' ? state.owner : null;
  const [counted, part] = writeState(state);
  return renameScript.run(redis, {
    keys: {
      generation: keys.generation(generation),
      record: keys.document(of.documentId),
      statistics: keys.statistics(owner),
      chunks: group.map((number) => keys.chunk(generation, number)),
    },
    args: {
      revision: of.revision,
      tags: marks.tags,
      tagsName: marksName(marks),
      from: at(group, 0),
      ...countFieldsOf(batchOf(group)),
      counted,
      part,
      ...(owner === null ? { lengthChange: 0, terms: [] } : changesOf(group, renaming)),
      expected: expectedOf(group, renaming),
      rows: group.map((number) => fieldsOf(number, { renaming, named: marks.named })),
    },
  });
}

/** The expectation for a chunk that only gets tags. */
const ANYTHING = '*';

/** Returns the mark of a name that each chunk must still hold, with a sign where there are terms. */
function expectedOf(group: readonly number[], { chunks }: Renaming): string[] {
  const others = new Map(chunks.map((each) => [each.chunk.number, each]));
  return group.map((number) => {
    const other = others.get(number);
    return other ? `${other.named}${other.terms ? '+' : ''}` : ANYTHING;
  });
}

function fieldsOf(
  number: number,
  { renaming, named }: { readonly renaming: Renaming; readonly named: string },
): (string | Buffer)[] {
  const terms = renaming.terms.get(number) ?? null;
  return ['named', named, ...(terms ? termFields(terms) : [])];
}

/** Returns the changes of the owner's statistics: of the length, and groups of terms. */
function changesOf(group: readonly number[], { chunks, terms }: Renaming) {
  const frequencies = new Map<number, number>();
  let length = 0;
  const add = (packed: Uint8Array, by: 1 | -1) => {
    length += by * packedLength(packed);
    for (const term of packedTerms(packed)) addTo(frequencies, term, by);
  };
  for (const { chunk, terms: before } of chunks) {
    const after = terms.get(chunk.number);
    if (!before || !after || !group.includes(chunk.number)) continue;
    add(before, -1);
    add(after, 1);
  }
  return { lengthChange: length, terms: groupTerms([...frequencies].filter(([, by]) => by !== 0)) };
}
