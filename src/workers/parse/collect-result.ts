import { IngestError } from '../../shared/errors.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import { MAX_HEADER_CHARACTERS } from './extraction/chunk-bounds.js';
import { mostText } from './extraction/text-limits.js';
import { PROGRESS_MILLISECONDS, type ChildMessage, type ChildTask, type ParseTask } from './protocol.js';

/** Most messages that a picture may come in. */
const MAX_PARTS = 1_000;
/**
 * The characters that chunks may repeat of the ones before, for each character that they do not repeat: a few times the
 * overlap of the settings, because letters differ in their tokens.
 */
const MAX_REPEATED = 8;
const REPEATED_ALLOWANCE = 16 * 1024 * 1024;

interface Limits {
  /** The size of the file, or the length of the text, that the child reads. */
  readonly sourceSize: number;
  readonly timeoutMilliseconds: number;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Collects the messages of a child about a task, within the bounds of a document of its size: a file may have taken it
 * over.
 */
export function createResultCollector(task: ChildTask, { timeoutMilliseconds, ...limits }: Limits) {
  const chunks: ChunkText[] = [];
  const picture: string[] = [];
  const text = 'chunk' in task ? createTextCount(task, limits.sourceSize) : null;
  let progressLeft = 2 + (2 * timeoutMilliseconds) / PROGRESS_MILLISECONDS;
  /** Returns whether that is more than there can be. */
  const add = (message: ChildMessage): boolean => {
    switch (message.type) {
      case 'progress':
        limits.onProgress?.(message.share);
        return (progressLeft -= 1) < 0;
      case 'chunks':
        for (const chunk of message.chunks) chunks.push(chunk);
        return text?.add(message.chunks) ?? true;
      case 'picture':
        return picture.push(message.part) > MAX_PARTS;
      default:
        return false;
    }
  };
  const isWhole = ({ receipt }: Extract<ChildMessage, { type: 'done' }>): boolean =>
    text === null ? picture.length > 0 : text.characters() === receipt?.characters && chunks.length > 0;
  return {
    chunks,
    picture,
    /** Takes a part of the result. Returns why the child is not to be heard any more. */
    take: (message: ChildMessage): IngestError | null => {
      if (add(message)) return saysTooMuch();
      return message.type === 'done' && !isWhole(message) ? notValid() : null;
    },
  };
}

/** Counts the text of chunks, and their repeated text. */
function createTextCount(task: ParseTask, sourceSize: number) {
  const { size, overlap, maxChunks = Infinity } = task.chunk;
  const most = mostText(task, sourceSize);
  const mostRepeated = (MAX_REPEATED * size) / Math.max(1, size - overlap);
  let chunks = 0;
  let fresh = 0;
  let repeated = 0;
  return {
    characters: () => fresh,
    /** Returns whether that is more than a source of this size holds. */
    add: (more: readonly ChunkText[]): boolean => {
      chunks += more.length;
      for (const chunk of more) {
        fresh += chunk.text.length - chunk.overlap;
        repeated += chunk.overlap;
      }
      const headers = MAX_HEADER_CHARACTERS * chunks;
      const mayRepeat = REPEATED_ALLOWANCE + headers + mostRepeated * fresh;
      return chunks > maxChunks || fresh > most || repeated > mayRepeat;
    },
  };
}

export const notValid = () =>
  new IngestError('corrupt', 'The document makes the parser say what is not valid.');
const saysTooMuch = () => new IngestError('too_large', 'The parser said more than it may.');
