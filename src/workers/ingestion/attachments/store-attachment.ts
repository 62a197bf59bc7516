import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Content } from '../../../shared/document.js';
import { displayFilename } from '../../../shared/documents/display-filename.js';
import { detectFileType, DETECTION_BYTES, type KeptAttachment } from '../../../readers/index.js';
import type { ObjectStorage } from '../../../shared/ports.js';
import type { DraftObjects } from '../../../shared/storage/draft-objects.js';
import { sourceKey } from '../../../shared/storage/object-key.js';

interface Dependencies {
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
}

/** Detects the type of an attachment by its content, its name and its declaration in the mail; null when it is not read. */
export async function attachmentType({
  file,
  filename,
  contentType,
}: KeptAttachment): Promise<string | null> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(DETECTION_BYTES), 0, DETECTION_BYTES, 0);
    return detectFileType(buffer.subarray(0, bytesRead), filename, contentType)?.contentType ?? null;
  } finally {
    await handle.close();
  }
}

/** Stores the bytes of an attachment. The sweep removes them if no record refers to them in the end. */
export async function storeAttachment(
  { storage, drafts }: Dependencies,
  documentId: string,
  { file, filename, contentType }: KeptAttachment,
): Promise<Content> {
  const hash = createHash('sha256');
  const storageKey = sourceKey({ documentId, version: 1 });
  const { size } = await stat(file);
  await drafts.announce(storageKey);
  await storage.put(storageKey, hashed(createReadStream(file), hash));
  return {
    version: 1,
    kind: 'file',
    contentType,
    filename: displayFilename(filename),
    storageKey,
    sizeBytes: size,
    sha256: hash.digest('hex'),
    createdAt: new Date().toISOString(),
    generation: null,
    chunkCount: 0,
    tokenCount: 0,
  };
}

async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    hash.update(part);
    yield part;
  }
}
