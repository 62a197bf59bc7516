import type { Json, MatchableDocument } from '../../src/shared/document.js';

/** The filter language once more, straight from the client's JSON, slow and plain: what the real one is held against. */
export function oracle(document: MatchableDocument, filter: unknown): boolean {
  return Object.entries(filter as Record<string, unknown>).every(([key, condition]) => {
    if (key === '$and') return (condition as unknown[]).every((part) => oracle(document, part));
    if (key === '$or') return (condition as unknown[]).some((part) => oracle(document, part));
    if (key === '$not') return !oracle(document, condition);
    return holds(normal(key, lookUp(document, key)), normal(key, condition));
  });
}

/** File names that differ in Unicode's normal forms only are the same one. */
function normal<Value>(key: string, value: Value): Value {
  if (key !== 'filename') return value;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? value : (JSON.parse(text.normalize('NFC')) as Value);
}

function holds(value: Json | undefined, condition: unknown): boolean {
  if (typeof condition !== 'object' || condition === null) return elements(value).includes(condition as Json);
  return Object.entries(condition).every(([name, operand]: [string, unknown]) => {
    const some = (test: (element: Json) => boolean) => elements(value).some(test);
    switch (name) {
      case '$eq':
        return some((element) => element === operand);
      case '$ne':
        return !some((element) => element === operand);
      case '$in':
        return some((element) => (operand as Json[]).some((wanted) => wanted === element));
      case '$nin':
        return !some((element) => (operand as Json[]).some((wanted) => wanted === element));
      case '$exists':
        return (value !== undefined) === operand;
      case '$not':
        return !holds(value, operand);
      case '$startsWith':
        return some((element) => typeof element === 'string' && element.startsWith(String(operand)));
      case '$contains':
        return containsOne(value, operand);
      case '$containsAny':
        return (operand as unknown[]).some((each) => containsOne(value, each));
      case '$gt':
        return some((element) => order(element, operand) > 0);
      case '$gte':
        return some((element) => order(element, operand) >= 0);
      case '$lt':
        return some((element) => order(element, operand) < 0);
      case '$lte':
        return some((element) => order(element, operand) <= 0);
      default:
        throw new Error(name);
    }
  });
}

function elements(value: Json | undefined): Json[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** A text holds a part of it, and a list has its elements. */
function containsOne(value: Json | undefined, sought: unknown): boolean {
  if (Array.isArray(value)) return value.some((element) => element === sought);
  return typeof value === 'string' && typeof sought === 'string' && value.split(sought).length > 1;
}

/** NaN, which no comparison holds for, where there is no order. */
function order(left: Json, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string' || !left.includes('-')) return NaN;
  const bound = right.startsWith('now') ? relativeTo(new Date(), right) : new Date(right);
  return new Date(left).getTime() - bound.getTime();
}

/** The date that `now-1M/d` names, by the calendar of JavaScript. */
export function relativeTo(now: Date, text: string): Date {
  const fields = { y: 'FullYear', M: 'Month', d: 'Date', h: 'Hours', m: 'Minutes', s: 'Seconds' } as const;
  const date = new Date(now);
  for (const [step = '', unit = ''] of text.matchAll(/[+-]\d+(.)|\/(.)/g)) {
    const name = (unit || step.slice(1)) as keyof typeof fields | 'w';
    if (step.startsWith('/')) roundDown(date, name);
    else if (name === 'w') date.setUTCDate(date.getUTCDate() + 7 * parseInt(step, 10));
    else {
      const day = date.getUTCDate();
      date[`setUTC${fields[name]}`](date[`getUTC${fields[name]}`]() + parseInt(step, 10));
      // The 31st of a month of 30 days is the first of the next one.
      if ((name === 'M' || name === 'y') && date.getUTCDate() !== day) date.setUTCDate(0);
    }
  }
  return date;
}

function roundDown(date: Date, unit: string): void {
  date.setUTCMilliseconds(0);
  if (unit !== 's') date.setUTCSeconds(0);
  if (!'sm'.includes(unit)) date.setUTCMinutes(0);
  if (!'smh'.includes(unit)) date.setUTCHours(0);
  if (unit === 'w') while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
  if ('My'.includes(unit)) date.setUTCDate(1);
  if (unit === 'y') date.setUTCMonth(0);
}

function lookUp(document: MatchableDocument, key: string): Json | undefined {
  if (key === 'system_metadata.owner') return document.ownerId;
  const stored = reach(document.metadata, key.split('.'));
  if (stored !== undefined) return stored;
  if (key === 'external_id') return document.id;
  if (key === 'created_at') return document.createdAt;
  const content = document.published ?? document.pending;
  if (key === 'filename') return content?.filename;
  return key === 'content_type' ? content?.contentType : undefined;
}

const flat = (list: Json[]): Json[] => list.flatMap((each) => (Array.isArray(each) ? flat(each) : [each]));

/** The values at the path of each object of a list, and of the lists in it. */
function reachInList(list: Json[], parts: string[]): Json | undefined {
  const values = flat(list)
    .map((each) => reach(each, parts))
    .filter((each) => each !== undefined);
  return values.length === 0 ? undefined : values.flatMap((each) => each);
}

function reach(value: Json | undefined, parts: string[]): Json | undefined {
  if (parts.length === 0) return value;
  if (Array.isArray(value)) return reachInList(value, parts);
  if (typeof value !== 'object' || value === null) return undefined;
  const own = new Map(Object.entries(value));
  const literal = own.get(parts.join('.'));
  return literal !== undefined
    ? literal
    : parts.length > 1
      ? reach(own.get(parts[0] ?? ''), parts.slice(1))
      : undefined;
}
