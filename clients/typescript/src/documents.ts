import { createMethods, readAnswer, sendTo, splitOptions } from './call.js';
import { createForm, type FileSource, type Progress } from './form.js';
import type { components } from './openapi.js';
import { QuireError } from './quire-error.js';
import type { AnswerOf, Exact, QueryOf } from './routes.js';
import { sleep, type CallOptions, type Connection } from './send.js';

type Schemas = components['schemas'];

/** Which documents are listed, and in which order. */
export type ListOptions = CallOptions &
  Omit<QueryOf<'GET /documents'>, 'filters' | 'cursor' | 'skip' | 'total'> & {
    readonly filters?: Schemas['Filters'];
    /** The most documents that are listed. Without it, all are. */
    readonly limit?: number;
  };

type FileOptions = CallOptions &
  Omit<Schemas['DocumentFile'], 'file'> & {
    readonly filename?: string | undefined;
    readonly onProgress?: ((progress: Progress) => void) | undefined;
  };

const PAGE = 100;
const FIRST_LOOK_MILLISECONDS = 100;
const RAREST_LOOK_MILLISECONDS = 2_000;

export function createDocuments(connection: Connection) {
  const methods = createMethods(connection, {
    get: 'GET /documents/{document_id}',
    /** Replaces all of the metadata, the file name, or lists of readers. */
    patch: 'PATCH /documents/{document_id}',
    delete: 'DELETE /documents/{document_id}',
    status: 'GET /documents/{document_id}/status',
    chunks: 'GET /documents/{document_id}/chunks',
    extraction: 'GET /documents/{document_id}/extraction',
    retry: 'POST /documents/{document_id}/retry',
    cancel: 'POST /documents/{document_id}/cancel',
    download: 'GET /documents/{document_id}/download',
    page: 'GET /documents/{document_id}/pages/{page}.png',
    putText: 'PUT /documents/{document_id}/content',
  });
  return {
    ...methods,
    /** Lists documents one by one, page after page; what comes and goes meanwhile neither repeats nor hides others. */
    list: <Sent extends ListOptions>(options?: Sent & Exact<Sent, ListOptions>) =>
      listDocuments(connection, options ?? {}),
    /** Replaces the content by a file; searches find the old one until it is ready. */
    putFile: <Sent extends FileOptions>(
      id: string,
      source: FileSource,
      options?: Sent & Exact<Sent, FileOptions>,
    ) => putFile(connection, { id, source, options: options ?? {} }),
    /** Changes single keys of the metadata (RFC 7396); null takes a key away. */
    merge: <Sent extends Schemas['DocumentMergePatch']>(
      id: string,
      body: Sent & Exact<Sent, Schemas['DocumentMergePatch']>,
      options: CallOptions = {},
    ) => mergeDocument(connection, { id, body, options }),
    /**
     * Waits until searches find the newest content of a document.
     * @throws QuireError where it cannot be read (400), or was cancelled
     */
    waitUntilReady: (id: string, options: CallOptions = {}) => waitUntilReady(methods, id, options),
  };
}

async function* listDocuments(
  connection: Connection,
  { limit = Infinity, ...options }: ListOptions,
): AsyncGenerator<Schemas['Document']> {
  const { call, fields } = splitOptions(options);
  const read = async (response: Response) => ({
    // @NOTE the route is typed to answer this.
    page: (await response.json()) as AnswerOf<'GET /documents'>,
    next: cursorOf(response.headers.get('Link')),
  });
  const readFrom = (cursor: string | null, left: number) => {
    const query = { ...fields, cursor, limit: Math.min(left, PAGE) };
    return sendTo(connection, 'GET /documents', { query }, { ...call, read });
  };
  for (let left = limit, cursor: string | null = null; left > 0;) {
    const { page, next } = await readFrom(cursor, left);
    yield* page;
    if (next === null) return;
    cursor = next;
    left -= page.length;
  }
}

/** The place at which a list goes on. The rest of the address counts for nothing: a proxy may have another. */
function cursorOf(link: string | null): string | null {
  const [address = '', relation = ''] = (link ?? '').split('>; ');
  return relation === 'rel="next"' ? new URL(address.slice(1)).searchParams.get('cursor') : null;
}

interface ById<Options> {
  readonly id: string;
  readonly options: Options;
}

async function putFile(
  connection: Connection,
  { id, source, options }: ById<FileOptions> & { readonly source: FileSource },
) {
  const route = 'PUT /documents/{document_id}/content';
  const { onProgress, filename, ...others } = options;
  const { call, fields } = splitOptions(others);
  const payload = createForm({ files: [{ field: 'file', source, filename }], fields, onProgress });
  const parts = { path: { document_id: id }, payload };
  return sendTo(connection, route, parts, { ...call, read: readAnswer(route) });
}

function mergeDocument(
  connection: Connection,
  { id, body, options }: ById<CallOptions> & { readonly body: Schemas['DocumentMergePatch'] },
) {
  const route = 'PATCH /documents/{document_id}';
  const parts = { path: { document_id: id }, body, type: 'application/merge-patch+json' };
  return sendTo(connection, route, parts, { ...options, read: readAnswer(route) });
}

interface Looking {
  readonly status: (id: string, options: CallOptions) => Promise<Schemas['DocumentStatus']>;
  readonly get: (id: string, options: CallOptions) => Promise<Schemas['Document']>;
}

async function waitUntilReady(
  { status: look, get }: Looking,
  id: string,
  { timeout = Infinity, ...options }: CallOptions,
): Promise<Schemas['Document']> {
  const end = performance.now() + timeout;
  for (let pause = FIRST_LOOK_MILLISECONDS; ; pause = Math.min(pause * 1.5, RAREST_LOOK_MILLISECONDS)) {
    const { status, error } = await look(id, options);
    if (status === 'completed') return get(id, options);
    if (status === 'cancelled') throw new QuireError({ status: 409, detail: 'The ingest was cancelled' });
    if (status === 'failed')
      throw new QuireError({ status: 400, detail: error?.message ?? 'The document cannot be read' });
    if (performance.now() + pause > end)
      throw new QuireError({ status: null, detail: `Not ready within ${String(timeout)} ms` });
    await sleep(pause, options.signal);
  }
}
