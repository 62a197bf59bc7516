import type { Content } from '../../../../shared/document.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import { itemIdOf } from '../../../../shared/idempotency/reservation.js';
import { documentNotFound } from '../../documents/document-access.js';
import type { RequestContext } from '../../request-context.js';
import type { Admit, Arrival } from '../admission/admission.js';
import { createItemAllowances, type ItemAllowances } from '../admission/byte-allowances.js';
import type { IncomingFile } from '../incoming.js';
import { begunOperation, newDocumentOf, type DocumentDetails, type IngestParts } from '../ingest.js';
import { openWait, settleAll, type AwaitedBatch, type BatchWaitParts } from './batch-wait.js';
import type { NewItem, OpenItem, StoredItem } from './items.js';
import { storeUnlessKnown } from './known-contents.js';
import { storeItems, type StoreItemsParts } from './store-items.js';
import { answerWritten, type WrittenParts } from './written-items.js';

/** The details that a form gives one of its files, or the fault in them. */
export type FileDetails =
  | { readonly details: DocumentDetails; readonly error?: never }
  | { readonly error: unknown; readonly details?: never };

/** The intake of the files of a form, one after the other. */
export interface FilesIntake {
  readonly maxBytes: number;
  /** Stores a file, which may be refused before its end. Rejects only when its transfer breaks off. */
  readonly store: (file: IncomingFile) => Promise<StoredFile>;
}

/** A file whose bytes are stored and that no record refers to yet, or that was refused. */
export type StoredFile =
  | { readonly documentId: string; readonly content: Content; readonly error?: never }
  | { readonly error: unknown; readonly content?: never };

/** Receives the files of a form, and the details of each. */
export type ReceiveForm = (
  intake: FilesIntake,
) => Promise<{ readonly files: readonly StoredFile[]; readonly details: readonly FileDetails[] }>;

type StoreFormParts = StoreItemsParts &
  WrittenParts &
  Pick<IngestParts, 'collections'> & { readonly arrivals: Arrivals };

export type IngestFilesParts = Omit<StoreFormParts, 'wait' | 'arrivals'> &
  BatchWaitParts &
  Pick<IngestParts, 'accounting'> & {
    readonly admit: Admit;
    readonly maxFileBytes: number;
  };

/** Resolves when the form is read and its documents are stored. A form that breaks off leaves nothing. */
export type IngestFiles = (receive: ReceiveForm, context: RequestContext) => Promise<AwaitedBatch>;

export function createIngestFiles(parts: IngestFilesParts): IngestFiles {
  const { sources, maxFileBytes } = parts;
  return async (receive, context) => {
    const begun: StoredFile[] = [];
    const arrivals: Arrivals = new Map();
    const items = createItemAllowances();
    const wait = openWait(parts, context);
    let next = 0;
    try {
      const form = await receive({
        maxBytes: maxFileBytes,
        store: async (file) => {
          const documentId = itemIdOf(context.reservation, next);
          next += 1;
          const stored = await storeFile(parts, file, { documentId, context, arrivals, items });
          begun.push(stored);
          return stored;
        },
      });
      const stored = await storeForm({ ...parts, wait, arrivals }, form, context);
      return settleAll(parts, wait, { callerId: context.callerId, items: stored });
    } catch (error) {
      wait.close();
      for (const { content } of begun) if (content) await sources.discard(content.storageKey);
      throw error;
    } finally {
      items.close();
      for (const arrival of arrivals.values()) arrival.leave();
    }
  };
}

/** The arrivals of the files of a form, by the documents that they will be. */
type Arrivals = Map<string, Arrival>;

interface Storing {
  readonly documentId: string;
  readonly context: RequestContext;
  /** Gets the arrival of the file. */
  readonly arrivals: Arrivals;
  /** The share of the quota of bytes that the files of the form hold. */
  readonly items: ItemAllowances;
}

async function storeFile(
  { admit, records, sources, accounting }: IngestFilesParts,
  file: IncomingFile,
  { documentId, context, arrivals, items }: Storing,
): Promise<StoredFile> {
  const receiveOne = async <Stored>({ store }: { store: (file: IncomingFile) => Promise<Stored> }) => ({
    stored: await store(file),
    details: null,
  });
  try {
    const isWritten =
      context.reservation?.hasCreated === true && (await records.readState(documentId)) !== null;
    // It is answered from its document once the form is read, and takes no room. By then that may be gone.
    if (isWritten) return { error: documentNotFound() };
    const arrival = await admit(context.callerId);
    arrivals.set(documentId, arrival);
    const owner = { documentId, version: 1, ownerId: context.callerId, items };
    const store = () => sources.storeFile(owner, receiveOne);
    const { content } = await accounting.begin(begunOperation('ingest_file', context), store);
    return { documentId, content };
  } catch (error) {
    // The form ends with an error of its own where the transfer broke off.
    return { error };
  }
}

/** Writes the records of the files whose details are right, and discards the bytes of the others. */
async function storeForm(
  parts: StoreFormParts,
  { files, details }: Awaited<ReturnType<ReceiveForm>>,
  context: RequestContext,
): Promise<StoredItem[]> {
  const { sources, duplicates, knownSources, wait, arrivals } = parts;
  const earlier = await answerWritten(
    parts,
    files.map((_, index) => ({ index })),
    context,
  );
  const answered = new Set(earlier.map(({ index }) => index));
  const [ready, refused]: [ReadyFile[], StoredItem[]] = [[], []];
  for (const [index, file] of files.entries()) {
    const said = await permitted(parts, details[index], context);
    const isOpen = !answered.has(index);
    if (isOpen && file.content && said?.details)
      ready.push(toReady(index, file.content, { details: said.details, documentId: file.documentId }));
    else if (file.content) await sources.discard(file.content.storageKey);
    if (isOpen && !file.content) refused.push({ index, error: file.error });
    else if (isOpen && !said?.details) refused.push({ index, error: said?.error });
  }
  const stored = await storeUnlessKnown(
    {
      duplicates,
      knownSources,
      wait,
      ownerId: context.callerId,
      store: async (some) => {
        const documents = await toDocuments(some, context);
        for (const { record } of documents) arrivals.get(record.id)?.becomes(record.id);
        return storeItems(parts, documents, context);
      },
      drop: ({ content }) => sources.discard(content.storageKey),
    },
    ready,
  );
  return [...stored, ...earlier, ...refused].sort((a, b) => a.index - b.index);
}

/** The details of a file, or the error where the caller may not write the collection that they name. */
async function permitted(
  { collections }: Pick<IngestParts, 'collections'>,
  said: FileDetails | undefined,
  { principal }: RequestContext,
): Promise<FileDetails | undefined> {
  try {
    await collections.into(said?.details?.collection, principal);
    return said;
  } catch (error) {
    return { error };
  }
}

/** A file whose bytes and details are right. */
interface ReadyFile extends OpenItem {
  readonly documentId: string;
  readonly content: Content;
  readonly details: DocumentDetails;
}

const toReady = (
  index: number,
  content: Content,
  { details, documentId }: Pick<ReadyFile, 'details' | 'documentId'>,
): ReadyFile => ({
  index,
  documentId,
  content,
  details,
  onDuplicate: details.onDuplicate,
  sourceId: details.sourceId,
  sha256: () => content.sha256,
});

async function toDocuments(files: readonly ReadyFile[], context: RequestContext): Promise<NewItem[]> {
  const documents: NewItem[] = [];
  for (const { index, documentId, content, details } of files) {
    await nextSlice();
    documents.push({ index, ...newDocumentOf(content, details, { documentId, context }) });
  }
  return documents;
}
