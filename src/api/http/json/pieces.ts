import { randomUUID } from 'node:crypto';
import { LongText } from '../../services/retrieval/long-text.js';

/** Stands for a long text while the rest of a value is written; nobody can know it, and so it is in no value. */
const PLACE = randomUUID();

/** JSON (RFC 8259) of a value whose long texts, within its own fields or theirs, come in parts. */
export async function* jsonPieces(value: unknown): AsyncGenerator<string> {
  const texts: LongText[] = [];
  const shallow = takeOut(value, texts);
  if (texts.length === 0) {
    yield JSON.stringify(value);
    return;
  }
  const pieces = JSON.stringify(shallow).split(PLACE);
  for (const [i, piece] of pieces.entries()) {
    yield piece;
    const text = texts[i];
    if (!text) return;
    // Each part for itself: halves of a surrogate pair are written as such, and read as the pair.
    for await (const part of text.parts) yield JSON.stringify(part).slice(1, -1);
  }
}

/** Two levels, where answers have them: looking at every value of every item would cost more than writing it. */
function takeOut(value: unknown, texts: LongText[], depth = 0): unknown {
  if (value instanceof LongText) {
    texts.push(value);
    return PLACE;
  }
  if (depth > 1 || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, takeOut(inner, texts, depth + 1)]),
  );
}
