import type { FilterableDocument } from '../document.js';
import { isPlainObject } from '../json-values.js';
import { matchesFilter } from './match.js';
import { parseFilter } from './parse.js';

/** A condition of a filter that a document does not fulfil, as its caller wrote it. */
export interface FailedCondition {
  /** Its place in the filter. */
  readonly loc: readonly (string | number)[];
  readonly written: Readonly<Record<string, unknown>>;
}

/**
 * Returns the conditions of a client's filter, which `parseFilter` takes, that a document does not fulfil: of those that must
 * all hold. Alternatives (`$or`) and what is negated (`$not`) are one condition each.
 */
export function failedConditions(json: unknown, document: FilterableDocument): FailedCondition[] {
  return isPlainObject(json) ? failedIn(json, document, []) : [];
}

function failedIn(
  conditions: Readonly<Record<string, unknown>>,
  document: FilterableDocument,
  loc: FailedCondition['loc'],
): FailedCondition[] {
  return Object.entries(conditions).flatMap(([key, value]) => {
    const place = [...loc, key];
    if (isFulfilled(one(key, value), document)) return [];
    if (key === '$and' && Array.isArray(value))
      return value.flatMap((part: unknown, i) =>
        isPlainObject(part) ? failedIn(part, document, [...place, i]) : [],
      );
    if (key.startsWith('$') || !isPlainObject(value)) return [{ loc: place, written: one(key, value) }];
    return Object.entries(value).flatMap(([operator, operand]) => {
      const written = one(key, one(operator, operand));
      return isFulfilled(written, document) ? [] : [{ loc: [...place, operator], written }];
    });
  });
}

/** An object with one key, which may be any. */
const one = (key: string, value: unknown): Record<string, unknown> => Object.fromEntries([[key, value]]);

function isFulfilled(condition: Record<string, unknown>, document: FilterableDocument): boolean {
  const parsed = parseFilter(condition);
  return !('filter' in parsed) || parsed.filter === null || matchesFilter(document, parsed.filter);
}
