const DEEPEST_INDENT = 8;

/** Writes a line for each value: `key: value` in objects, `- value` in lists, an empty line after each record. */
export interface ValueLines {
  /** The finished lines that were not taken yet. */
  readonly lines: string[];
  /** Adds a value, or the key of one. */
  value(text: string): void;
  /** Heeds a mark: a bracket, a colon or a comma. */
  mark(mark: string): void;
  finish(): void;
}

export function createValueLines(): ValueLines {
  const lines: string[] = [];
  const open: string[] = [];
  let pending: string | undefined;
  let key: string | undefined;
  let isApart = false;
  const put = (line: string): void => {
    lines.push('  '.repeat(Math.min(open.length > 0 ? open.length - 1 : 0, DEEPEST_INDENT)) + line);
    isApart = false;
  };
  const flush = (): void => {
    if (pending === undefined && key === undefined) return;
    const value = pending ?? '';
    if (key !== undefined) put(`${key}: ${value}`);
    else put(open.at(-1) === '[' ? `- ${value}` : value);
    pending = undefined;
    key = undefined;
  };
  return {
    lines,
    value: (text) => {
      if (pending !== undefined) flush();
      pending = text;
    },
    mark: (mark) => {
      if (mark === ':' && key === undefined) {
        key = pending;
        pending = undefined;
        return;
      }
      flush();
      if (mark === '{' || mark === '[') open.push(mark);
      if (mark === '}' || mark === ']') open.pop();
      if (mark !== '}' || open.length > 1 || isApart) return;
      lines.push('');
      isApart = true;
    },
    finish: flush,
  };
}
