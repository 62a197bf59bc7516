import type { CallerTags } from '../../access/access.js';
import type { Filter } from '../../filters/parse.js';
import { comparisonTags, equalsTag, existsTag } from '../../filters/index-tags.js';
import { isOwnField } from '../../filters/paths.js';

/** A condition on documents that lets through at least the documents that the filter matches. */
export interface Clause {
  /** Text in the engine's query language, made only of hex tags and operators. */
  readonly text: string;
  /** True if it lets through no other documents. */
  readonly isExact: boolean;
}

/** A filter in the engine's language. `all` and `none` have no text there. */
type Compiled = { readonly type: 'all' | 'none' } | { readonly type: 'some'; readonly text: string };
interface Part {
  readonly compiled: Compiled;
  readonly isExact: boolean;
}

/**
 * A query may have this many tags: the engine reads some 50,000 a second, on the thread that serves everybody. A condition
 * of more tags is replaced by one for documents that have its key.
 */
const MAX_TAGS = 4_000;
/** A range is made of this many tags at most; most ranges have half as many. */
const TAGS_OF_RANGE = 76;

/** The bounds of the tags that a condition may have. */
interface Bounds {
  readonly maxTags: number;
  /** True if all documents have the tags of fields that metadata does not hide; see `owner-tags.ts`. */
  readonly areOwnersTagged: boolean;
}

/** The condition for the documents that a caller may read and a filter matches; null when there can be none. */
export function compileClause(
  caller: CallerTags,
  filter: Filter | null,
  areOwnersTagged = true,
): Clause | null {
  const access = tagged(caller.tags);
  const { compiled, isExact: isFilterExact } = filter
    ? compileConjunct(filter, { maxTags: maxTagsOfLeaf(filter), areOwnersTagged })
    : { compiled: all, isExact: true };
  const isExact = isFilterExact && caller.areExact;
  switch (compiled.type) {
    case 'none':
      return null;
    case 'all':
      return { text: access, isExact };
    case 'some':
      return { text: `${access} ${compiled.text}`, isExact };
  }
}

const all: Compiled = { type: 'all' };
const none: Compiled = { type: 'none' };
/** Lets everything through; the check above the index narrows it down. */
const widened: Part = { compiled: all, isExact: false };

const tagged = (tags: readonly string[]) => `@tags:{${tags.join('|')}}`;

function maxTagsOfLeaf(filter: Filter): number {
  const sizes = tagsOfLeaves(filter);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return total <= MAX_TAGS ? MAX_TAGS : Math.floor(MAX_TAGS / sizes.length);
}

function tagsOfLeaves(filter: Filter): number[] {
  switch (filter.type) {
    case 'and':
    case 'or':
      return filter.filters.flatMap(tagsOfLeaves);
    case 'not':
      return tagsOfLeaves(filter.filter);
    case 'exists':
    case 'startsWith':
    case 'contains':
      return [1];
    case 'equals':
      return [filter.values.length];
    case 'compare':
      return [TAGS_OF_RANGE];
  }
}

/** Compiles a conjunct of the outermost AND, the only place where the engine answers a NOT correctly. */
function compileConjunct(filter: Filter, bounds: Bounds): Part {
  if (filter.type === 'and') return conjunction(filter.filters.map((part) => compileConjunct(part, bounds)));
  if (filter.type === 'not') return compileNegated(filter.filter, bounds);
  return compilePositive(filter, bounds);
}

function compileNegated(filter: Filter, bounds: Bounds): Part {
  if (filter.type === 'not') return compileConjunct(filter.filter, bounds);
  if (filter.type === 'or') return conjunction(filter.filters.map((part) => compileNegated(part, bounds)));
  const { compiled, isExact } = compilePositive(filter, bounds);
  // The negation of a widened condition would leave out documents that match.
  if (!isExact) return widened;
  switch (compiled.type) {
    case 'all':
      return { compiled: none, isExact };
    case 'none':
      return { compiled: all, isExact };
    case 'some':
      return { compiled: { type: 'some', text: `-${grouped(compiled.text)}` }, isExact };
  }
}

/** Compiles a filter to text that has no NOT anywhere inside. */
function compilePositive(filter: Filter, bounds: Bounds): Part {
  const { maxTags, areOwnersTagged } = bounds;
  if ('path' in filter && isOwnField(filter.path)) {
    if (filter.type === 'exists') return { compiled: all, isExact: true };
    if (!areOwnersTagged) return widened;
  }
  switch (filter.type) {
    case 'and':
      return conjunction(filter.filters.map((part) => compilePositive(part, bounds)));
    case 'or':
      return union(filter.filters.map((part) => compilePositive(part, bounds)));
    case 'not':
      return widened;
    case 'exists':
      return someOf([existsTag(filter.path)], true);
    // No tag tells of a part of a text: the check decides among all documents that have something there.
    case 'startsWith':
    case 'contains':
      return withPath(filter.path);
    case 'equals':
      return filter.values.length > maxTags
        ? withPath(filter.path)
        : someOf(
            filter.values.map((value) => equalsTag(filter.path, value)),
            true,
          );
    case 'compare': {
      const tags = comparisonTags(filter.path, filter.comparison, filter.operand);
      return tags.length > maxTags ? withPath(filter.path) : someOf(tags, false);
    }
  }
}

/** Documents that have something under a path. */
const withPath = (path: string): Part => (isOwnField(path) ? widened : someOf([existsTag(path)], false));

function someOf(tags: readonly string[], isExact: boolean): Part {
  return { compiled: tags.length === 0 ? none : { type: 'some', text: tagged(tags) }, isExact };
}

function conjunction(parts: readonly Part[]): Part {
  const isExact = parts.every((part) => part.isExact);
  if (parts.some(({ compiled }) => compiled.type === 'none')) return { compiled: none, isExact: true };
  const texts = textsOf(parts);
  return { compiled: texts.length === 0 ? all : { type: 'some', text: texts.join(' ') }, isExact };
}

function union(parts: readonly Part[]): Part {
  const isExact = parts.every((part) => part.isExact);
  if (parts.some(({ compiled }) => compiled.type === 'all')) return { compiled: all, isExact };
  const texts = textsOf(parts);
  if (texts.length === 0) return { compiled: none, isExact };
  return { compiled: { type: 'some', text: `(${texts.map(grouped).join('|')})` }, isExact };
}

const grouped = (text: string) => `(${text})`;

function textsOf(parts: readonly Part[]): string[] {
  return parts.flatMap(({ compiled }) => (compiled.type === 'some' ? [compiled.text] : []));
}
