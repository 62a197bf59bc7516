import { checkMark } from './controls.js';

/** Collects the properties of a legacy form field (RTF 1.9.1, `\\formfield`). */
export interface RtfFormField {
  control(word: string, parameter: number): void;
  /** Adds an entry of its list. */
  addEntry(text: string): void;
  /** Returns the text that the ended field shows; undefined without a field, or for one whose result is its text. */
  take(): string | undefined;
}

const [CHECKBOX, LIST] = [1, 2];
/** The result of a field that is as it was made. */
const UNCHANGED = 25;
const MAX_ENTRIES = 1_000;

export function createFormField(): RtfFormField {
  let values = new Map<string, number>();
  let entries: string[] = [];
  return {
    control: (word, parameter) => {
      if (word === 'fftype' || word === 'ffres' || word === 'ffdefres') values.set(word, parameter);
    },
    addEntry: (text) => {
      if (entries.length < MAX_ENTRIES) entries.push(text);
    },
    take: () => {
      const [type, listed] = [values.get('fftype'), entries];
      const result = values.get('ffres') ?? UNCHANGED;
      const chosen = result === UNCHANGED ? (values.get('ffdefres') ?? 0) : result;
      values = new Map();
      entries = [];
      if (type === CHECKBOX) return checkMark(chosen === 0 ? 'off' : 'on');
      return type === LIST ? listed[chosen] : undefined;
    },
  };
}
