import { open } from 'node:fs/promises';
import { z } from 'zod';
import { jsonOrNull } from '../json-values.js';
import { escapeControls } from './entry.js';
import { dayOf, listDayFiles, type DayFile } from './day-files.js';

/** The filter for lines; absent fields do not matter. */
export interface AuditFilter {
  /** From this time on, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Before this time. */
  readonly untilMs?: number | undefined;
  /** The caller who sent the request, or whom else it was about. */
  readonly caller?: string | undefined;
  readonly document?: string | undefined;
  /** An action, or all of a kind, such as `cache`. */
  readonly action?: string | undefined;
}

const lineSchema = z.looseObject({
  time: z.iso.datetime(),
  action: z.string(),
  caller: z.string().optional(),
  user: z.string().optional(),
  from: z.string().optional(),
  documents: z.array(z.string()).optional(),
});
type Line = z.infer<typeof lineSchema>;

interface ReadOptions {
  readonly filter: AuditFilter;
  /** Called with each line that is no entry, such as the last one of a process that was killed. */
  readonly onUnreadable: (path: string) => void;
  /** Called with each file whose lines, from some place on, cannot be read. The lines of the others are read. */
  readonly onFailed: (path: string, error: unknown) => void;
}

/** The lines of all files of a folder in the order of their times. Of each file of a day, a small part is in memory at a time. */
export async function* readAudit(folder: string, options: ReadOptions): AsyncGenerator<string> {
  const { filter } = options;
  const days = new Map<string, DayFile[]>();
  for (const file of await listDayFiles(folder)) {
    if (!isWantedDay(file, filter)) continue;
    days.set(file.day, [...(days.get(file.day) ?? []), file]);
  }
  for (const files of days.values())
    for await (const { line, text } of mergeFiles(files, options)) if (isWanted(line, filter)) yield text;
}

function isWantedDay({ day }: DayFile, { sinceMs, untilMs }: AuditFilter): boolean {
  const isEarly = sinceMs !== undefined && day < dayOf(sinceMs);
  const isLate = untilMs !== undefined && day > dayOf(untilMs);
  return !isEarly && !isLate;
}

function isWanted(line: Line, { sinceMs, untilMs, caller, document, action }: AuditFilter): boolean {
  const atMs = Date.parse(line.time);
  if (atMs < (sinceMs ?? -Infinity) || atMs >= (untilMs ?? Infinity)) return false;
  if (caller !== undefined && ![line.caller, line.user, line.from].includes(caller)) return false;
  if (document !== undefined && line.documents?.includes(document) !== true) return false;
  return action === undefined || line.action === action || line.action.startsWith(`${action}.`);
}

interface Read {
  readonly line: Line;
  /** As it stands in the file, but that no terminal obeys it. */
  readonly text: string;
}

/** Merges files whose lines are in order, giving the earliest line again and again. */
async function* mergeFiles(files: readonly DayFile[], options: ReadOptions): AsyncGenerator<Read> {
  const sources = files.map(({ path }) => linesOf(path, options));
  const heads = new Map<AsyncGenerator<Read>, Read>();
  const advance = async (source: AsyncGenerator<Read>) => {
    const next = await source.next();
    if (next.done === true) heads.delete(source);
    else heads.set(source, next.value);
  };
  try {
    for (const source of sources) await advance(source);
    while (heads.size > 0) {
      const [source, head] = earliest(heads);
      yield head;
      await advance(source);
    }
  } finally {
    await Promise.all(sources.map((source) => source.return(undefined)));
  }
}

/** There are as many files of a day as processes were started, so that no heap is needed. */
function earliest<Source>(heads: ReadonlyMap<Source, Read>): readonly [Source, Read] {
  const [first, ...others] = heads;
  if (!first) throw new Error('there is no line');
  return others.reduce((best, each) => (each[1].line.time < best[1].line.time ? each : best), first);
}

async function* linesOf(
  path: string,
  { onUnreadable, onFailed }: Pick<ReadOptions, 'onUnreadable' | 'onFailed'>,
): AsyncGenerator<Read> {
  try {
    for await (const text of fileLines(path)) {
      const line = text === null ? null : parseLine(text);
      if (text !== null && line) yield { line, text: escapeControls(text) };
      else onUnreadable(path);
    }
  } catch (error) {
    onFailed(path, error);
  }
}

const parseLine = (text: string): Line | null => lineSchema.safeParse(jsonOrNull(text)).data ?? null;

const CHUNK_BYTES = 64 * 1024;
/** Longer than any line that is written. */
export const MAX_LINE_BYTES = 8 * 1024 ** 2;
const NEWLINE = 10;

/** Gives the lines of a file; null for each that is too long. Between reads the file is closed, so that any number is read at once. */
async function* fileLines(path: string): AsyncGenerator<string | null> {
  const line = createLine();
  for await (const chunk of chunksOf(path)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty()) yield line.take();
}

/** Gathers the parts of a line; of a line that is too long, none. */
function createLine() {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    add: (part: Buffer) => {
      size += part.length;
      if (size > MAX_LINE_BYTES) parts = [];
      else parts.push(part);
    },
    isEmpty: () => size === 0,
    take: (): string | null => {
      const text = size > MAX_LINE_BYTES ? null : Buffer.concat(parts).toString();
      parts = [];
      size = 0;
      return text;
    },
  };
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  let position = 0;
  for (;;) {
    const chunk = await readAt(path, position);
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}

async function readAt(path: string, position: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    // A small file takes no more memory than it has bytes, since many are read at once.
    return bytesRead < CHUNK_BYTES ? Buffer.from(buffer.subarray(0, bytesRead)) : buffer;
  } finally {
    await file.close();
  }
}
