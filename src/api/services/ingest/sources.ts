import { createHash, hash } from 'node:crypto';
import { displayFilename, MAX_FILENAME_CHARACTERS, type Content } from '../../../shared/document.js';
import { adviceFor, detectFileType, DETECTION_BYTES, KNOWN_CONTENT_TYPES } from '../../../readers/index.js';
import { InvalidFieldError, UnsupportedTypeError } from '../../../shared/errors.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../../../shared/ports.js';
import {
  isShortSource,
  MAX_SHORT_BYTES,
  shortSourceKey,
  sourceKey,
  type ShortSource,
  type DraftObjects,
} from '../../../shared/storage/sources.js';
import { eachOf } from '../stream-end.js';
import type { AllowBytes, ByteAllowance, ItemAllowances } from './admission/byte-allowances.js';
import { fileTooLarge, type IncomingFile, type ReceiveFile } from './incoming.js';

/** The document and version that the bytes belong to. */
export interface SourceOwner {
  readonly documentId: string;
  readonly version: number;
  /** The owner of the document, and the bytes that it counts with already; none for a new one. */
  readonly ownerId: string;
  readonly counted?: number;
  /** The allowances of all items where it is one of many; they stay open until the records are written. */
  readonly items?: ItemAllowances;
}

/** A text that is stored, or is short and has to be written together with the record that refers to it. */
export interface StoredText {
  readonly content: Content;
  readonly source?: ShortSource;
}

/** The place of bytes, which for a short text are still to be written with its record. */
export interface KeptBytes {
  readonly storageKey: string;
  readonly source?: ShortSource | undefined;
}

export interface Sources {
  storeText(owner: SourceOwner, text: string): Promise<StoredText>;
  /** @throws AppError when the file is refused or its transfer fails; then nothing is left in the storage */
  storeFile<Details>(
    owner: SourceOwner,
    receive: ReceiveFile<Details>,
  ): Promise<{ readonly content: Content; readonly details: Details }>;
  /**
   * Keeps bytes a second time, for a version of another document: the key of a source names its document. The caller removes
   * the first ones.
   */
  copyFor(owner: Pick<SourceOwner, 'documentId' | 'version'>, kept: KeptBytes): Promise<KeptBytes>;
  /** Tells whether the storage has lost the object. @throws UnavailableError while the storage is away */
  isLost(storageKey: string): Promise<boolean>;
  /** Removes bytes that no record refers to. A failure is only logged. */
  discard(storageKey: string): Promise<void>;
}

interface Dependencies {
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
  readonly maxFileBytes: number;
  readonly allowBytes: AllowBytes;
  readonly logger: Logger;
}

/** Stores the source bytes of documents, and describes them. */
export function createSources(parts: Dependencies): Sources {
  return {
    discard: (storageKey) => discard(parts, storageKey),
    copyFor: (owner, kept) => copyFor(parts, owner, kept),
    isLost: (storageKey) => isLost(parts.storage, storageKey),
    storeText: (owner, text) => storeText(parts, owner, text),
    storeFile: async (owner, receive) => {
      const allowance = await allow(parts, owner);
      const place = placeOf(owner, allowance, parts);
      const { maxBytes, tooLarge } = place;
      try {
        const store = (file: IncomingFile) => storeFile(parts, place, file);
        const { stored: content, details } = await receive({ maxBytes, tooLarge, store });
        if (!owner.items) allowance.close();
        return { content, details };
      } catch (error) {
        await discard(parts, place.storageKey);
        allowance.close();
        throw error;
      }
    },
  };
}

const allow = ({ allowBytes }: Dependencies, { documentId, ownerId, counted = 0, items }: SourceOwner) =>
  allowBytes({ documentId, ownerId, counted }, items);

/** The destination of a file, and its greatest size. */
interface Place {
  readonly storageKey: string;
  readonly version: number;
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  readonly take: ByteAllowance['take'];
  readonly whole: ByteAllowance['whole'];
}

function placeOf(
  owner: SourceOwner,
  { most, overQuota, take, whole }: ByteAllowance,
  { maxFileBytes }: Dependencies,
): Place {
  const tooLarge = most < maxFileBytes ? overQuota : () => fileTooLarge(maxFileBytes);
  const { version } = owner;
  const maxBytes = Math.min(most, maxFileBytes);
  return { storageKey: sourceKey(owner), version, maxBytes, tooLarge, take, whole };
}

async function storeText(parts: Dependencies, owner: SourceOwner, text: string): Promise<StoredText> {
  const bytes = Buffer.from(text, 'utf8');
  const isShort = bytes.length <= MAX_SHORT_BYTES;
  const storageKey = isShort ? shortSourceKey(owner) : sourceKey(owner);
  const content = newContent({
    version: owner.version,
    kind: 'text',
    contentType: 'text/plain',
    filename: null,
    storageKey,
    sizeBytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  });
  if (isShort) return { content, source: { storageKey, bytes } };
  const allowance = await allow(parts, owner);
  try {
    allowance.take(bytes.length);
    allowance.whole();
    await parts.drafts.announce(storageKey);
    await parts.storage.put(storageKey, eachOf([bytes]));
  } catch (error) {
    await discard(parts, storageKey);
    allowance.close();
    throw error;
  }
  if (!owner.items) allowance.close();
  return { content };
}

async function storeFile(
  { storage, drafts }: Dependencies,
  place: Place,
  file: IncomingFile,
): Promise<Content> {
  requireShortName(file.filename);
  const facts: FileFacts = { hash: createHash('sha256'), sizeBytes: 0, contentType: '' };
  const { storageKey, version } = place;
  await drafts.announce(storageKey);
  await storage.put(storageKey, inspect(file, facts, place));
  const { hash, sizeBytes, contentType } = facts;
  const filename = displayFilename(file.filename);
  const sha256 = hash.digest('hex');
  return newContent({ version, kind: 'file', contentType, filename, storageKey, sizeBytes, sha256 });
}

async function copyFor(
  parts: Dependencies,
  owner: Pick<SourceOwner, 'documentId' | 'version'>,
  { storageKey: known, source }: KeptBytes,
): Promise<KeptBytes> {
  if (source) {
    const storageKey = shortSourceKey(owner);
    return { storageKey, source: { storageKey, bytes: source.bytes } };
  }
  const storageKey = sourceKey(owner);
  try {
    await parts.drafts.announce(storageKey);
    await parts.storage.put(storageKey, await parts.storage.open(known));
  } catch (error) {
    await discard(parts, storageKey);
    throw error;
  }
  return { storageKey };
}

/** A name of a file is as long as one of a text at most. @throws InvalidFieldError */
function requireShortName(name: string | null): void {
  const value = MAX_FILENAME_CHARACTERS;
  if (name === null || Array.from(name).length <= value) return;
  const message = `ensure this value has at most ${String(value)} characters`;
  throw new InvalidFieldError('filename', message, { value, of: 'characters' });
}

async function isLost(storage: ObjectStorage, storageKey: string): Promise<boolean> {
  try {
    await storage.open(storageKey);
    return false;
  } catch (error) {
    if (error instanceof MissingObjectError) return true;
    throw error;
  }
}

async function discard({ storage, drafts, logger }: Dependencies, storageKey: string): Promise<void> {
  // One that is short is only written with its record.
  if (isShortSource(storageKey)) return;
  try {
    await storage.remove(storageKey);
    await drafts.forget(storageKey);
  } catch (error) {
    logger.warn({ err: error, storageKey }, 'source bytes left behind');
  }
}

type SourceFacts = Omit<Content, 'createdAt' | 'generation' | 'chunkCount' | 'tokenCount'>;

function newContent(facts: SourceFacts): Content {
  const createdAt = new Date().toISOString();
  const content = { ...facts, createdAt, generation: null, chunkCount: 0, tokenCount: 0 };
  // Nothing of a text is left out. The gaps of a file are known when it was read.
  return facts.kind === 'text' ? { ...content, gaps: 0 } : content;
}

interface FileFacts {
  readonly hash: ReturnType<typeof createHash>;
  sizeBytes: number;
  /** Empty until it is known. */
  contentType: string;
}

/** Passes a file's bytes on and collects facts about them. Refuses the file as soon as its bytes exceed a limit. */
async function* inspect(
  file: IncomingFile,
  facts: FileFacts,
  { maxBytes, tooLarge, take, whole }: Place,
): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  for await (const bytes of file.bytes) {
    facts.sizeBytes += bytes.length;
    if (facts.sizeBytes > maxBytes) throw tooLarge();
    take(bytes.length);
    facts.hash.update(bytes);
    if (facts.contentType === '') {
      // The parts are joined only once, because they may be single bytes.
      head.push(bytes);
      headBytes += bytes.length;
      if (headBytes >= DETECTION_BYTES) facts.contentType = detect(file, beginning(head));
    }
    yield bytes;
  }
  facts.contentType ||= detect(file, beginning(head));
  whole();
}

const beginning = (parts: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat(parts).subarray(0, DETECTION_BYTES);

/** @throws UnsupportedTypeError */
function detect(file: IncomingFile, head: Uint8Array): string {
  const type = detectFileType(head, file.filename, file.declaredType);
  if (type) return type.contentType;
  const advice = adviceFor(head, file.filename);
  if (advice) throw new UnsupportedTypeError(`Unsupported file type; ${advice}`);
  throw new UnsupportedTypeError(`Unsupported file type; known are ${KNOWN_CONTENT_TYPES.join(', ')}`);
}
