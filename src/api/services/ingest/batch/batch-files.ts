import { randomUUID } from 'node:crypto';
import type { Content } from '../../../../shared/document.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { RequestContext } from '../../request-context.js';
import type { Admit } from '../admission.js';
import type { IncomingFile } from '../incoming-file.js';
import { begunOperation, newRecord, type DocumentDetails } from '../ingest.js';
import { openWait, type AwaitedBatch, type BatchParts } from './batch-ingest.js';
import type { NewDocument, StoredItem } from './outcomes.js';
import { settleItems } from './settle-items.js';
import { storeRecords } from './store-records.js';

/** What a form says of one of its files, or what is wrong with that. */
export type FileDetails =
  | { readonly details: DocumentDetails; readonly error?: never }
  | { readonly error: unknown; readonly details?: never };

/** Where the files of a form go, one after the other. */
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

export interface FilesParts extends BatchParts {
  readonly admit: Admit;
  readonly maxFileBytes: number;
}

/** Resolves when the form is read and its documents are stored. A form that breaks off leaves nothing. */
export type IngestFiles = (receive: ReceiveForm, context: RequestContext) => Promise<AwaitedBatch>;

export function createIngestFiles(parts: FilesParts): IngestFiles {
  const { sources, maxFileBytes } = parts;
  return async (receive, context) => {
    const begun: StoredFile[] = [];
    const leaves: (() => void)[] = [];
    const wait = openWait(parts, context);
    try {
      const form = await receive({
        maxBytes: maxFileBytes,
        store: async (file) => {
          const stored = await storeFile(parts, file, { context, leaves });
          begun.push(stored);
          return stored;
        },
      });
      const stored = await storeForm({ ...parts, wait }, form, context);
      const settled = settleItems(parts, wait, stored).finally(() => {
        wait.close();
      });
      return { heldBytes: 500 * stored.length, settled };
    } catch (error) {
      wait.close();
      for (const { content } of begun) if (content) await sources.discard(content.storageKey);
      throw error;
    } finally {
      for (const leave of leaves) leave();
    }
  };
}

interface Storing {
  readonly context: RequestContext;
  /** Gets a function that ends the admission of the file. */
  readonly leaves: (() => void)[];
}

async function storeFile(
  { admit, sources, accounting }: FilesParts,
  file: IncomingFile,
  { context, leaves }: Storing,
): Promise<StoredFile> {
  const documentId = randomUUID();
  const receiveOne = async <Stored>({ store }: { store: (file: IncomingFile) => Promise<Stored> }) => ({
    stored: await store(file),
    details: null,
  });
  try {
    leaves.push(await admit(context.callerId));
    const store = () => sources.storeFile({ documentId, version: 1 }, receiveOne);
    const { content } = await accounting.begin(begunOperation('ingest_file', context), store);
    return { documentId, content };
  } catch (error) {
    // Where the transfer broke off, the form ends with an error of its own.
    return { error };
  }
}

/** Writes the records of the files whose details are right, and discards the bytes of the others. */
async function storeForm(
  parts: Parameters<typeof storeRecords>[0],
  { files, details }: Awaited<ReturnType<ReceiveForm>>,
  context: RequestContext,
): Promise<StoredItem[]> {
  const documents: NewDocument[] = [];
  const refused: StoredItem[] = [];
  for (const [index, file] of files.entries()) {
    await nextSlice();
    const said = details[index];
    if (!file.content) refused.push({ index, error: file.error });
    else if (said?.details) {
      const { documentId, content } = file;
      documents.push({ index, record: newRecord(content, { ...said.details, documentId }, context) });
    } else {
      await parts.sources.discard(file.content.storageKey);
      refused.push({ index, error: said?.error });
    }
  }
  const stored = await storeRecords(parts, documents, context);
  return [...stored, ...refused].sort((a, b) => a.index - b.index);
}
