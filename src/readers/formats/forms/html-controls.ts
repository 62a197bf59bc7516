import { checkMark, chosenText } from './controls.js';
import type { Attributes } from '../xml/read-markup.js';

/** Kinds of fields whose value nobody has filled in, or nobody may read. */
const UNREAD = new Set(['hidden', 'password', 'submit', 'button', 'reset', 'image', 'file']);
const STATES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
const MAX_OPTIONS = 10_000;

/**
 * Returns the text that an element shows by its attributes: the state of a box or button, or the text of a field; empty for
 * nothing.
 */
export function controlText(name: string, attributes: Attributes): string {
  const { role = '', type = 'text', value = '', checked } = attributes;
  if (name !== 'input') {
    const state = STATES.has(role) ? attributes['aria-checked'] : undefined;
    return state === 'true' || state === 'false' ? checkMark(state === 'true' ? 'on' : 'off') : '';
  }
  const kind = type.trim().toLowerCase();
  if (STATES.has(kind)) return checkMark(checked === undefined ? 'off' : 'on');
  return UNREAD.has(kind) ? '' : value;
}

interface Option {
  readonly parts: string[];
  readonly isSelected: boolean;
}

export interface ShownOptions {
  readonly texts: readonly string[];
  readonly areChosen: boolean;
}

/** Follows a list to choose from. Where something is chosen, that is its text; else all options are, as on paper. */
export interface SelectTracker {
  /** @returns whether the element cannot be in the list, so that its end is missing */
  endsBefore(name: string): boolean;
  open(name: string, attributes: Attributes): void;
  /** Takes text that is in the list. @returns whether it did */
  takes(text: string): boolean;
  /** Ends the list; undefined where there is none. */
  end(): ShownOptions | undefined;
}

/** Elements that no list holds. */
const OUTSIDE = new Set(
  'input textarea select p table tr td th ul ol li form section article main footer header nav h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);

export function createSelects(): SelectTracker {
  let options: Option[] | undefined;
  return {
    endsBefore: (name) => options !== undefined && OUTSIDE.has(name),
    open: (name, { selected, label }) => {
      if (name === 'select') options = [];
      else if (name === 'option' && options && options.length < MAX_OPTIONS)
        options.push({ parts: label === undefined ? [] : [`${label} `], isSelected: selected !== undefined });
    },
    takes: (text) => {
      if (!options) return false;
      options.at(-1)?.parts.push(text);
      return true;
    },
    end: () => {
      if (!options) return undefined;
      const all = options.map(({ parts, isSelected }) => ({ text: parts.join('').trim(), isSelected }));
      options = undefined;
      const chosen = all.filter(({ isSelected }) => isSelected).map(({ text }) => text);
      if (chosen.length > 0) return { texts: [chosenText(chosen)], areChosen: true };
      return { texts: all.map(({ text }) => text), areChosen: false };
    },
  };
}
