import { readChunks } from './read-events.js';
import type { Payload } from './send.js';

/** A file: its bytes, a stream of them, or, outside browsers, its path or `file:` address. */
export type FileSource =
  Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | URL | string;

/** Bytes that have been handed to the network; `total` is null where a stream does not tell its length. */
export interface Progress {
  readonly sent: number;
  readonly total: number | null;
}

export interface FilePart {
  /** The name of the field. */
  readonly field: string;
  readonly source: FileSource;
  /** The name that the source has itself is taken without it. */
  readonly filename: string | undefined;
}

interface FormParts {
  readonly files: readonly FilePart[];
  /** Values that are no strings are sent as JSON; undefined ones are left out. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Content with what is known of it; `size` is null where only reading tells it. */
interface Opened {
  readonly name: string | null;
  readonly type: string;
  readonly size: number | null;
  readonly isOnce: boolean;
  /** Called once for each time that the form is sent. */
  readonly open: () => Blob | AsyncIterable<Uint8Array>;
}

/** The parts of Node's modules that files need, which Deno and Bun have too. */
interface FileSystem {
  readonly statSync: (path: string | URL) => { readonly size: number };
  readonly createReadStream: (path: string | URL) => AsyncIterable<Uint8Array>;
}
declare const process: { readonly getBuiltinModule?: (name: string) => unknown } | undefined;

/** Null in browsers. */
const fileSystem =
  typeof process === 'undefined'
    ? null
    : // @NOTE whoever has this function has this module, with these functions.
      ((process.getBuiltinModule?.('node:fs') ?? null) as FileSystem | null);

const CRLF = '\r\n';

/** A form with files (RFC 7578). Outside browsers its files are streamed, and never whole in memory. */
export function createForm({ files, fields, onProgress }: FormParts): Payload {
  const boundary = `quire-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const opened = files.map(({ field, filename, source }) => ({ field, filename, ...openSource(source) }));
  const sizes = opened.map(({ size }) => size);
  const total = sizes.includes(null) ? null : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0);
  const head = (disposition: string, more = '') =>
    `--${boundary}${CRLF}Content-Disposition: form-data; ${disposition}${CRLF}${more}${CRLF}`;
  let isOpened = false;

  /** The texts of the form, and the contents of its files between them. */
  function* pieces(): Generator<string | Blob | AsyncIterable<Uint8Array>> {
    // The fields come first, so that the service can judge them before the files.
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      yield head(`name="${escaped(name)}"`) + text + CRLF;
    }
    for (const { field, filename, name, type, open } of opened) {
      const shown = escaped(filename ?? name ?? 'file');
      yield head(`name="${field}"; filename="${shown}"`, `Content-Type: ${type}${CRLF}`);
      yield open();
      yield CRLF;
    }
    yield `--${boundary}--${CRLF}`;
  }

  return {
    type: `multipart/form-data; boundary=${boundary}`,
    open: () => {
      isOpened = true;
      return fileSystem === null ? gather(pieces()) : streamOf(bytesOf(pieces(), total, onProgress));
    },
    canRepeat: () => !isOpened || opened.every(({ isOnce }) => !isOnce),
  };
}

/** A quoted string (RFC 2045) in UTF-8; a name has no lines. */
const escaped = (name: string) => name.replaceAll(/[\r\n]/g, ' ').replaceAll(/["\\]/g, '\\$&');

const UNKNOWN_TYPE = 'application/octet-stream';

function openSource(source: FileSource): Opened {
  if (typeof source === 'string' || source instanceof URL) return openPath(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
    return openSource(new Blob([source instanceof ArrayBuffer ? source : new Uint8Array(source)]));
  if (source instanceof Blob) {
    const { size } = source;
    const type = source.type === '' ? UNKNOWN_TYPE : source.type;
    const name = 'name' in source && typeof source.name === 'string' ? source.name : null;
    return { name, type, size, isOnce: false, open: () => source };
  }
  const open = () => (source instanceof ReadableStream ? readChunks(source) : source);
  // A stream of Node that reads a file knows its path.
  const name = 'path' in source && typeof source.path === 'string' ? baseOf(source.path) : null;
  return { name, type: UNKNOWN_TYPE, size: null, isOnce: true, open };
}

function openPath(path: string | URL): Opened {
  if (fileSystem === null) throw new TypeError('There are no paths in a browser: hand over a File or a Blob');
  const { statSync, createReadStream } = fileSystem;
  const name = baseOf(typeof path === 'string' ? path : decodeURIComponent(path.pathname));
  const { size } = statSync(path);
  return { name, type: UNKNOWN_TYPE, size, isOnce: false, open: () => createReadStream(path) };
}

const baseOf = (path: string) => path.replace(/^.*[/\\]/, '');

/** The content of a form for browsers, which send no stream over HTTP/1.1: a Blob stays where it is, on the disk perhaps. */
async function gather(pieces: Iterable<string | Blob | AsyncIterable<Uint8Array>>): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (const piece of pieces) {
    if (typeof piece === 'string' || piece instanceof Blob) parts.push(piece);
    else for await (const bytes of piece) parts.push(new Uint8Array(bytes));
  }
  return new Blob(parts);
}

async function* bytesOf(
  pieces: Iterable<string | Blob | AsyncIterable<Uint8Array>>,
  total: number | null,
  onProgress: FormParts['onProgress'],
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let sent = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      yield encoder.encode(piece);
      continue;
    }
    for await (const bytes of piece instanceof Blob ? readChunks(piece.stream()) : piece) {
      yield bytes;
      sent += bytes.byteLength;
      onProgress?.({ sent, total });
    }
  }
}

/** A stream that is read no faster than it is sent, and closes its source where the request ends early. */
function streamOf(content: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await content.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async () => {
      await content.return(undefined);
    },
  });
}
