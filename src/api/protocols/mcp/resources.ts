import {
  ResourceNotFoundError,
  type ReadResourceResult,
  type ListResourcesResult,
} from '@modelcontextprotocol/server';
import { shownContent } from '../../../shared/document.js';
import { NotFoundError } from '../../../shared/errors.js';
import { requirePermission } from '../../auth/authentication.js';
import type { Documents } from '../../services/documents/read-documents.js';
import { listNewest } from './list-documents.js';
import { documentTitle, PLACE_DESCRIPTION, readPassage, tellingText } from './passages.js';
import type { McpRequest } from './tool.js';

const PREFIX = 'quire://documents/';

export const resourceTemplate = {
  uriTemplate: `${PREFIX}{id}`,
  name: 'document',
  title: 'A document, or a passage of one',
  description: PLACE_DESCRIPTION,
  mimeType: 'text/plain',
};

/** The documents as resources: the text of each, and the newest first in lists. */
export function createResources(documents: Documents) {
  return {
    list: async (cursor: string | undefined, request: McpRequest): Promise<ListResourcesResult> => {
      request.noteAction('document.list');
      requirePermission(request.caller, 'read');
      const { records, next } = await listNewest(documents, { filter: null, json: null, cursor }, request);
      const resources = records.map((record) => ({
        uri: PREFIX + record.id,
        name: record.id,
        title: documentTitle(record),
        description: `${shownContent(record).contentType}, of ${record.createdAt}`,
        mimeType: 'text/plain',
      }));
      return { resources, ...(next !== null && { nextCursor: next }) };
    },

    read: async (uri: string, request: McpRequest): Promise<ReadResourceResult> => {
      try {
        request.noteAction('document.read');
        requirePermission(request.caller, 'read');
        const id = uri.startsWith(PREFIX) ? uri.slice(PREFIX.length) : '';
        const text = tellingText(await readPassage(documents, id, request));
        return { contents: [{ uri, mimeType: 'text/plain', text }] };
      } catch (error) {
        if (error instanceof NotFoundError) throw new ResourceNotFoundError(uri, error.message);
        throw error;
      }
    },
  };
}
