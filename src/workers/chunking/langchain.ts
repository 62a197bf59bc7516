import { at } from '../../shared/at.js';
import type { Splitter } from '../../shared/chunking.js';
import { countTokens } from '../../shared/text/token-count.js';
import { chunkText, requireRoomForChunk, type Chunk, type ChunkOptions } from './chunk.js';

/** A splitter of LangChain. */
export type LangChainSplitter = Exclude<Splitter, 'quire'>;

interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** Cuts a text, and returns where its chunks stand, in their order. */
type Split = (text: string) => Promise<readonly Bounds[]>;

/**
 * Cuts `text` as the splitters of @langchain/textsplitters do, with lengths in tokens, so that who comes from there gets the
 * chunks they know. Each of the parts is split by itself, as LangChain's loaders make a document of each page or sheet. A
 * chunk that would only repeat the end of the one before is left out. LangChain adds up the tokens of pieces, so that a chunk
 * may have some more than `size`; one of more than twice as many is cut.
 *
 * @param parts the positions where chunks must begin, in ascending order
 */
export async function chunkLikeLangChain(
  text: string,
  { splitter, ...options }: ChunkOptions & { readonly splitter: LangChainSplitter },
  parts: readonly number[] = [],
): Promise<Chunk[]> {
  const split = await openSplitter(splitter, options);
  const chunks: Chunk[] = [];
  const borders = [...parts.filter((position) => position > 0 && position < text.length), text.length];
  let start = 0;
  for (const end of borders) {
    for (const bounds of await split(text.slice(start, end)))
      addChunks(text, chunks, { bounds: { start: start + bounds.start, end: start + bounds.end }, options });
    start = end;
  }
  return chunks;
}

/** The most tokens of a chunk, for each token of its size: pieces may have fewer tokens apart than together. */
export const MOST_EXCESS = 2;

function addChunks(
  text: string,
  chunks: Chunk[],
  { bounds, options }: { readonly bounds: Bounds; readonly options: ChunkOptions },
): void {
  const last = chunks.at(-1);
  const freshFrom = last?.end ?? 0;
  const { start: begin, end } = wholeCharacters(text, bounds);
  // Only behind a chunk that was cut.
  const start = Math.max(begin, last?.start ?? 0);
  if (text.slice(Math.max(start, freshFrom), end).trim() === '') return;
  const tokenCount = countTokens(text.slice(start, end));
  const found =
    tokenCount <= MOST_EXCESS * options.size
      ? [{ start, end, tokenCount }]
      : chunkText(text.slice(start, end), { size: options.size, overlap: 0 }).map((each) => ({
          start: start + each.start,
          end: start + each.end,
          tokenCount: each.tokenCount,
        }));
  for (const each of found) {
    if (each.end <= freshFrom) continue;
    requireRoomForChunk(chunks, options);
    chunks.push({
      ...each,
      text: text.slice(each.start, each.end),
      overlap: Math.max(0, (chunks.at(-1)?.end ?? 0) - each.start),
    });
  }
}

/** The last separator of LangChain stands between any two UTF-16 units, also of one character. */
function wholeCharacters(text: string, { start, end }: Bounds): Bounds {
  const isWithin = (position: number) =>
    /[\ud800-\udbff]/.test(text.charAt(position - 1)) && /[\udc00-\udfff]/.test(text.charAt(position));
  return { start: isWithin(start) ? start - 1 : start, end: isWithin(end) ? end - 1 : end };
}

/** Loads the package, which takes time and memory, only here. */
async function openSplitter(splitter: LangChainSplitter, { size, overlap }: ChunkOptions): Promise<Split> {
  const { RecursiveCharacterTextSplitter } = await import('@langchain/textsplitters');
  /**
   * Notes where the chunks stand. The package tells texts alone, and the same text may stand in several places. All of a text
   * passes through `mergeSplits` piece by piece, in its order and whole, since separators are kept and any two units of a text
   * may be apart.
   */
  class PlacingSplitter extends RecursiveCharacterTextSplitter {
    readonly placed: Bounds[] = [];
    private position = 0;

    override mergeSplits(splits: string[]): Promise<string[]> {
      for (const bounds of mergePieces(splits, this.position, { size, overlap })) this.placed.push(bounds);
      for (const split of splits) this.position += split.length;
      // The texts are read from the places.
      return Promise.resolve([]);
    }
  }
  const separators =
    splitter === 'recursive'
      ? {}
      : { separators: RecursiveCharacterTextSplitter.getSeparatorsForLanguage(splitter) };
  return async (text) => {
    const fields = { chunkSize: size, chunkOverlap: overlap, lengthFunction: countTokens };
    const placing = new PlacingSplitter({ ...fields, ...separators });
    await placing.splitText(text);
    return placing.placed.map((bounds) => trimmed(text, bounds));
  };
}

/** `TextSplitter.mergeSplits` of the package, by places. @param position where the first of the pieces begins */
function mergePieces(
  splits: readonly string[],
  position: number,
  { size, overlap }: Pick<ChunkOptions, 'size' | 'overlap'>,
): Bounds[] {
  const found: Bounds[] = [];
  const counts = splits.map(countTokens);
  let [first, start, end, total] = [0, position, position, 0];
  for (const [i, split] of splits.entries()) {
    const count = at(counts, i);
    if (total + count > size && first < i) {
      found.push({ start, end });
      while (total > overlap || (total + count > size && total > 0)) {
        total -= at(counts, first);
        start += at(splits, first).length;
        first += 1;
      }
    }
    total += count;
    end += split.length;
  }
  found.push({ start, end });
  return found;
}

function trimmed(text: string, { start, end }: Bounds): Bounds {
  const held = text.slice(start, end);
  const last = start + held.trimEnd().length;
  return { start: Math.min(last, end - held.trimStart().length), end: last };
}
