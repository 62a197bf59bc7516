import { z } from 'zod';
import type { Metadata } from '../../../shared/document.js';
import type { ValidationItem } from '../../../shared/errors.js';
import { MAX_METADATA_DEPTH } from '../../../shared/filters/paths.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { isWellFormed } from '../../../shared/well-formed.js';
import { OBJECT_SCHEMA } from './field-schemas.js';
import { addItem, MESSAGES, SURROGATE } from './validation-errors.js';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_LEAVES = 128;

/** The field `metadata` of a document: at most 16 KiB of JSON, 128 leaves and 64 levels. */
export const metadata = z
  .custom<Metadata>(isPlainObject, { error: MESSAGES.dict, abort: true })
  .meta({ override: OBJECT_SCHEMA })
  .superRefine((value, context) => {
    const item = checkMetadata(value);
    if (item) addItem(context, item);
  })
  .meta({ override: OBJECT_SCHEMA });

/**
 * Returns what is wrong with a document's metadata, or null. An empty object or list counts as a leaf. The check stops at
 * the first limit, so that a hostile value costs no more than a good one.
 */
function checkMetadata(metadata: object): ValidationItem | null {
  const waiting: { value: unknown; depth: number }[] = [{ value: metadata, depth: 0 }];
  let leaves = 0;
  let characters = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, depth } = next;
    if (depth > MAX_METADATA_DEPTH) return excess('levels of nesting', MAX_METADATA_DEPTH);
    characters += typeof value === 'string' ? value.length : 0;
    if (characters > MAX_METADATA_BYTES) return excess('bytes of JSON', MAX_METADATA_BYTES);
    const inner: unknown[] = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (inner.length === 0 && depth > 0) leaves += 1;
    if (inner.length + leaves > MAX_METADATA_LEAVES) return excess('leaves', MAX_METADATA_LEAVES);
    const texts = typeof value === 'string' ? [value] : keysOf(value);
    if (!texts.every(isWellFormed)) return { loc: [], msg: MESSAGES.surrogate, type: SURROGATE };
    for (const child of inner) waiting.push({ value: child, depth: depth + 1 });
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return { loc: [], msg: MESSAGES.float, type: 'type_error.float' };
    }
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  return bytes > MAX_METADATA_BYTES ? excess('bytes of JSON', MAX_METADATA_BYTES) : null;
}

const keysOf = (value: unknown): string[] => (isPlainObject(value) ? Object.keys(value) : []);

function excess(unit: string, limit: number): ValidationItem {
  const msg = `ensure this value has at most ${String(limit)} ${unit}`;
  return { loc: [], msg, type: 'value_error', ctx: { limit_value: limit } };
}
