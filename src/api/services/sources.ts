import { createHash } from 'node:crypto';
import type { Content } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import { DETECTION_BYTES, detectFileType, KNOWN_CONTENT_TYPES } from '../../shared/file-types.js';
import type { DraftObjects } from '../../shared/draft-objects.js';
import type { Logger } from '../../shared/logger.js';
import { sourceKey } from '../../shared/object-key.js';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import { tooLarge, type IncomingFile, type ReceiveUpload } from '../upload.js';
import { displayFilename } from './filenames.js';

/** Which version of which document the bytes are for. */
export interface SourceOwner {
  readonly documentId: string;
  readonly version: number;
}

export interface FileSource {
  readonly receiveUpload: ReceiveUpload;
  /** Most bytes of each further form field. */
  readonly fields: Readonly<Record<string, number>>;
  readonly onField?: (name: string, value: string | null) => void;
}

export interface Sources {
  storeText(owner: SourceOwner, text: string): Promise<Content>;
  /** @throws AppError 400, 413, 415, 422 for what is wrong with the upload; then nothing is left in storage */
  storeUpload(owner: SourceOwner, source: FileSource): Promise<Content>;
  /** Whether storage has lost the object. @throws UnavailableError while storage is away */
  isLost(storageKey: string): Promise<boolean>;
  /** Clears away bytes that no record refers to; what cannot be removed now is logged. */
  discard(storageKey: string): Promise<void>;
}

/** Puts the source bytes of documents into object storage, and tells what they are. */
export function createSources({
  storage,
  drafts,
  maxFileBytes,
  logger,
}: {
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
  readonly maxFileBytes: number;
  readonly logger: Logger;
}): Sources {
  const discard = async (storageKey: string) => {
    try {
      await storage.remove(storageKey);
      await drafts.forget(storageKey);
    } catch (error) {
      logger.warn({ err: error, storageKey }, 'source bytes left behind');
    }
  };

  const storeFile = async (storageKey: string, version: number, file: IncomingFile): Promise<Content> => {
    const facts: FileFacts = { hash: createHash('sha256'), sizeBytes: 0, contentType: '' };
    await drafts.announce(storageKey);
    await storage.put(storageKey, inspect(file, facts, maxFileBytes));
    const { hash, sizeBytes, contentType } = facts;
    const filename = displayFilename(file.filename);
    const sha256 = hash.digest('hex');
    return newContent({ version, kind: 'file', contentType, filename, storageKey, sizeBytes, sha256 });
  };

  const isLost = async (storageKey: string) => {
    try {
      await storage.open(storageKey);
      return false;
    } catch (error) {
      if (error instanceof MissingObjectError) return true;
      throw error;
    }
  };

  return {
    ...{ discard, isLost },
    storeText: async ({ documentId, version }, text) => {
      const bytes = Buffer.from(text, 'utf8');
      const storageKey = sourceKey({ documentId, version });
      await drafts.announce(storageKey);
      await storage.put(storageKey, once(bytes));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const sizeBytes = bytes.length;
      const contentType = 'text/plain';
      return newContent({
        version,
        kind: 'text',
        contentType,
        filename: null,
        storageKey,
        sizeBytes,
        sha256,
      });
    },
    storeUpload: async (owner, { receiveUpload, ...target }) => {
      const storageKey = sourceKey(owner);
      try {
        const content = await receiveUpload({
          ...target,
          maxFileBytes,
          storeFile: (file) => storeFile(storageKey, owner.version, file),
        });
        if (!content) throw missingFile();
        return content;
      } catch (error) {
        await discard(storageKey);
        throw error;
      }
    },
  };
}

/** @returns an AppError 422 */
export const missingFile = (): AppError =>
  new AppError(422, [{ loc: ['body', 'file'], msg: 'field required', type: 'value_error.missing' }]);

type SourceFacts = Omit<Content, 'createdAt' | 'generation' | 'chunkCount' | 'tokenCount'>;

function newContent(facts: SourceFacts): Content {
  return { ...facts, createdAt: new Date().toISOString(), generation: null, chunkCount: 0, tokenCount: 0 };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

interface FileFacts {
  readonly hash: ReturnType<typeof createHash>;
  sizeBytes: number;
  /** Empty until it is told. */
  contentType: string;
}

/** Passes a file's bytes on and notes what they are; refuses it at the byte that shows that it cannot be taken. */
async function* inspect(
  file: IncomingFile,
  facts: FileFacts,
  maxFileBytes: number,
): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  for await (const bytes of file.bytes) {
    facts.sizeBytes += bytes.length;
    if (facts.sizeBytes > maxFileBytes) throw tooLarge(maxFileBytes);
    facts.hash.update(bytes);
    if (facts.contentType === '') {
      // Put together once: parts may be single bytes.
      head.push(bytes);
      headBytes += bytes.length;
      if (headBytes >= DETECTION_BYTES) facts.contentType = detect(file, beginning(head));
    }
    yield bytes;
  }
  facts.contentType ||= detect(file, beginning(head));
}

const beginning = (parts: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat(parts).subarray(0, DETECTION_BYTES);

/** @throws AppError 415 */
function detect(file: IncomingFile, head: Uint8Array): string {
  const type = detectFileType(head, file.filename, file.declaredType);
  if (type) return type.contentType;
  throw new AppError(415, `Unsupported file type; known are ${KNOWN_CONTENT_TYPES.join(', ')}`);
}
