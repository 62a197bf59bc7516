import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request that a page shows as a command, with what it shows of the answer. */
export interface ShownRequest {
  readonly page: string;
  readonly method: string;
  /** As the OpenAPI document writes it. */
  readonly path: string;
  /** The JSON that is sent; undefined where there is none. */
  readonly body: unknown;
  /** A part of the answer, in which `…` stands for what differs; undefined where the page shows none. */
  readonly answer: unknown;
}

const folderOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));
const pages = ['README.md', ...folderOf('docs')].filter((file) => file.endsWith('.md'));

/** Shell blocks, each with the block of JSON that follows it, and blocks of JSON that follow none. */
const BLOCKS = /^```(sh|json)\n([^]*?)^```\n(?:\n```json\n([^]*?)^```\n)?/gm;

/** The meaning of the blocks of JSON that follow no command; null for what no request has to do with. */
const BARE: Readonly<Record<string, ((json: string) => Omit<ShownRequest, 'page'>) | null>> = {
  'docs/reference/search.md': (json) => ({
    method: 'post',
    path: '/retrieve/chunks',
    body: parse(json),
    answer: undefined,
  }),
  'docs/reference/batches.md': (lines) => ({
    method: 'post',
    path: '/ingest/batch',
    body: undefined,
    answer: lines.trim().split('\n').map(parse),
  }),
  'docs/reference/audit-log.md': null,
  'docs/how-to/use-with-assistants.md': null,
};

const parse = (json: string): unknown => JSON.parse(json);

/** Returns the requests to `paths` in README and docs. @throws Error for JSON of which nobody has said what it is */
export function shownRequests(paths: readonly string[]): ShownRequest[] {
  return pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(BLOCKS)].flatMap(([, kind, text = '', answer]) => {
      if (kind === 'sh') return commandsOf({ page, script: text, answer }, paths);
      const read = BARE[page];
      if (read === undefined) throw new Error(`${page} shows JSON that follows no command`);
      return read ? [{ page, ...read(text) }] : [];
    }),
  );
}

interface Block {
  readonly page: string;
  readonly script: string;
  readonly answer: string | undefined;
}

const commandsOf = ({ page, script, answer }: Block, paths: readonly string[]): ShownRequest[] =>
  script
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => requestOf(line, paths))
    .map((request) => ({ page, ...request, answer: answer === undefined ? undefined : parse(answer) }));

function requestOf(line: string, paths: readonly string[]) {
  const asked = /127\.0\.0\.1:8000(\/[^\s'"?]*)/.exec(line)?.[1];
  if (!line.includes('curl') || asked === undefined) return [];
  const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const path = paths.find((each) => each === asked) ?? paths.find((each) => pattern(each).test(asked));
  if (path === undefined) return [];
  const sent = / -d '(\{[^']*\})'/.exec(line)?.[1];
  const method = / -(?:d|F|X POST)/.test(line) ? 'post' : 'get';
  return [{ method, path, body: sent === undefined ? undefined : parse(sent) }];
}
