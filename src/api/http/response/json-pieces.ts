import { randomUUID } from 'node:crypto';
import { StreamedText } from '../../services/streamed-text.js';

/** Stands for a long text while the rest of a value is serialized. It is random, so no value can contain it. */
const PLACE = randomUUID();

/** Serializes a value as JSON (RFC 8259); null when it has long texts, whose parts `jsonPieces` reads. */
export function jsonText(value: unknown): string | null {
  return hasText(value) ? null : JSON.stringify(value);
}

/** Serializes a value as JSON, with its long texts in parts. Long texts may be up to two levels deep. */
export async function* jsonPieces(value: unknown): AsyncGenerator<string> {
  const texts: StreamedText[] = [];
  const pieces = JSON.stringify(takeOut(value, texts)).split(PLACE);
  for (const [i, piece] of pieces.entries()) {
    yield piece;
    const text = texts[i];
    if (!text) return;
    // Each part is escaped by itself. Halves of a surrogate pair are escaped separately and read as the pair.
    for await (const part of text.parts) yield JSON.stringify(part).slice(1, -1);
  }
}

/** Looks as deep as `takeOut`. */
function hasText(value: unknown, depth = 0): boolean {
  if (value instanceof StreamedText) return true;
  if (depth > 1 || typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((inner) => hasText(inner, depth + 1));
}

/** Looks two levels deep only: visiting every value of every item would cost more than serializing it. */
function takeOut(value: unknown, texts: StreamedText[], depth = 0): unknown {
  if (value instanceof StreamedText) {
    texts.push(value);
    return PLACE;
  }
  if (depth > 1 || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, takeOut(inner, texts, depth + 1)]),
  );
}
