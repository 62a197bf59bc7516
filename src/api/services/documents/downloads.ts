import { createHmac, timingSafeEqual } from 'node:crypto';
import { principalOf, type Principal } from '../../../shared/access/access.js';
import { shownContent, type DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { ForbiddenError, NotFoundError } from '../../../shared/errors.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../../../shared/ports.js';
import { readDocument, type DocumentRequest } from './document-access.js';
import { logSourceMissing } from './source-text.js';

/** The query parameters of a signed download address. */
export interface DownloadTicket {
  readonly caller: string;
  /** Seconds since 1970. */
  readonly expires: string;
  readonly signature: string;
}

/** Makes the signed address of a document's source file; null for ingested text. `baseUrl` has no trailing slash. */
export type DownloadUrl = (
  record: Pick<DocumentRecord, 'id' | 'published' | 'pending'>,
  request: { readonly principal: Principal; readonly baseUrl: string },
) => string | null;

export interface DownloadLinks {
  readonly urlFor: DownloadUrl;
  /** @throws ForbiddenError unless we signed exactly this and it has not expired */
  verify(documentId: string, ticket: DownloadTicket): DocumentRequest;
}

const refused = () => new ForbiddenError('Invalid or expired download address');

/**
 * Makes and verifies addresses with which anybody can download one document as a certain caller until they expire. They
 * are signed with HMAC-SHA256 and a key that is derived from the secret of the access tokens.
 */
export function createDownloadLinks({
  secrets,
  validSeconds,
}: {
  /** The current secret, which signs, then the previous one, which is still accepted. */
  readonly secrets: readonly [string, ...string[]];
  readonly validSeconds: number;
}): DownloadLinks {
  const derive = (secret: string) => createHmac('sha256', secret).update('quire download address 1').digest();
  const [current, ...previous] = [derive(secrets[0]), ...secrets.slice(1).map(derive)];
  const digest = (key: Buffer, documentId: string, caller: string, expires: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([documentId, caller, expires]))
      .digest();

  return {
    urlFor: (record, { principal: { id: callerId }, baseUrl }) => {
      if (shownContent(record).kind === 'text') return null;
      const expires = String(Math.floor(Date.now() / 1000) + validSeconds);
      const signature = digest(current, record.id, callerId, expires).toString('base64url');
      const query = new URLSearchParams({ caller: callerId, expires, signature });
      return `${baseUrl}/downloads/${record.id}?${query.toString()}`;
    },
    verify: (documentId, { caller, expires, signature }) => {
      const given = Buffer.from(signature, 'base64url');
      const fits = [current, ...previous].some((key) => {
        const expected = digest(key, documentId, caller, expires);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
      if (!fits || !(Number(expires) * 1000 > Date.now())) throw refused();
      return { documentId, principal: principalOf(caller) };
    },
  };
}

export interface Download {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly filename: string;
}

/** Opens the source bytes of a document's current content. */
export type OpenDownload = (request: DocumentRequest) => Promise<Download>;

/** @throws ForbiddenError; NotFoundError: no such document, or its source is lost; UnavailableError while storage is away */
export function createDownloads({
  records,
  storage,
  logger,
}: {
  readonly records: Pick<Records, 'read' | 'inTurn'>;
  readonly storage: ObjectStorage;
  readonly logger: Logger;
}): OpenDownload {
  return async (request) => {
    let missing: string | null = null;
    for (;;) {
      const record = await readDocument(records, request, 'read');
      const { storageKey, contentType, filename, kind } = shownContent(record);
      // If a newer version was published in the meantime, the record now names another object, which is tried next.
      if (storageKey === missing) {
        logSourceMissing(logger, { documentId: record.id, storageKey });
        throw new NotFoundError('The source of this document is missing');
      }
      try {
        const bytes = await storage.open(storageKey);
        const name = filename ?? (kind === 'text' ? `${record.id}.txt` : record.id);
        return { bytes, sizeBytes: bytes.size, contentType, filename: name };
      } catch (error) {
        if (!(error instanceof MissingObjectError)) throw error;
        missing = storageKey;
      }
    }
  };
}
