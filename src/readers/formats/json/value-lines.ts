const MAX_INDENT = 8;

/**
 * Writes a line for each value: `key: value` in objects, `- value` in lists, an empty line after each record. An object in a list
 * that is a value itself begins with a dash, too.
 */
export interface ValueLines {
  /** The finished lines that were not taken yet. */
  readonly lines: string[];
  /** Adds a value, or the key of one. */
  value(text: string): void;
  /** Heeds a mark: a bracket, a colon or a comma. */
  mark(mark: string): void;
  finish(): void;
}

/** @param lines the lines that come before the written ones */
export function createValueLines(lines: string[] = []): ValueLines {
  const open: string[] = [];
  let pending: string | undefined;
  let key: string | undefined;
  let isApart = false;
  let beginsItem = false;
  const put = (line: string): void => {
    lines.push(beginsItem ? `${indentOf(open.length - 1)}- ${line}` : indentOf(open.length) + line);
    beginsItem = false;
    isApart = false;
  };
  const flush = (): void => {
    if (pending === undefined && key === undefined) return;
    const mark = open.at(-1) === '[' ? '- ' : '';
    put((key === undefined ? mark : `${key}: `) + (pending ?? ''));
    [pending, key] = [undefined, undefined];
  };
  return {
    lines,
    value: (text) => {
      if (pending !== undefined) flush();
      pending = text;
    },
    mark: (mark) => {
      if (mark === ':' && key === undefined) {
        [key, pending] = [pending, undefined];
        return;
      }
      flush();
      beginsItem = mark === '{' && open.length > 1 && open.at(-1) === '[';
      if (mark === '{' || mark === '[') open.push(mark);
      if (mark === '}' || mark === ']') open.pop();
      if (mark !== '}' || open.length > 1 || isApart) return;
      lines.push('');
      isApart = true;
    },
    finish: flush,
  };
}

const indentOf = (depth: number): string => '  '.repeat(Math.min(Math.max(0, depth - 1), MAX_INDENT));
