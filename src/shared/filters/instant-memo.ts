import type { Json, FilterableDocument } from '../document.js';
import { parseInstant } from './instants.js';

/** A document's texts as instants, in milliseconds since 1970. A text that is no date is NaN, which no comparison matches. */
interface Instants {
  ofText(text: string): number;
  ofList(values: readonly Json[]): Float64Array;
}

/**
 * Parses each date of a document once, however many conditions of a filter compare it: 64 conditions on a list of 128
 * dates would parse 8,192. Only the last document is remembered, since filters go through documents one by one.
 */
export function createInstantMemo(): (document: FilterableDocument) => Instants {
  let last: { readonly document: FilterableDocument; readonly instants: Instants } | null = null;
  return (document) => {
    if (last?.document !== document) last = { document, instants: createInstants() };
    return last.instants;
  };
}

function createInstants(): Instants {
  const texts = new Map<string, number>();
  const lists = new Map<readonly Json[], Float64Array>();
  const ofText = (text: string): number => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    const instant = parseInstant(text) ?? NaN;
    texts.set(text, instant);
    return instant;
  };
  const ofList = (values: readonly Json[]): Float64Array => {
    const known = lists.get(values);
    if (known) return known;
    const instants = Float64Array.from(values, (value) => (typeof value === 'string' ? ofText(value) : NaN));
    lists.set(values, instants);
    return instants;
  };
  return { ofText, ofList };
}
