import { z } from 'zod';
import { DOCUMENT_STATUSES } from '../../shared/document.js';
import { defineRoute } from '../http/route.js';
import { sourceId } from '../http/validation/document-fields.js';
import { list, optionalNull } from '../http/validation/field-schemas.js';
import { addItem } from '../http/validation/validation-errors.js';
import type { LookedUp, LookUp } from '../services/documents/lookup.js';
import { lookupExamples } from './examples/documents.js';

const MAX_VALUES = 1_000;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const lookupBody = z
  .object({
    sha256: optionalNull(list(digest, { max: MAX_VALUES })).describe(
      'Digests (SHA-256, in small hexadecimal digits) of the bytes of contents.',
    ),
    source_ids: optionalNull(list(sourceId, { max: MAX_VALUES })).describe('Names of sources.'),
  })
  .superRefine(({ sha256, source_ids }, context) => {
    if ((sha256 === undefined) !== (source_ids === undefined)) return;
    const isNone = sha256 === undefined;
    const msg = isNone ? 'one of sha256 and source_ids is required' : 'only one of sha256 and source_ids';
    addItem(context, { loc: [isNone ? 'sha256' : 'source_ids'], msg, type: 'value_error' });
  })
  .meta({ id: 'DocumentLookup', description: 'What is looked for: contents, or sources.' });

const lookedUp = z
  .object({
    document_id: z.uuid(),
    source_id: z.string().nullable().describe('The name of its source; null where none was stated.'),
    sha256: z.string().describe('The digest of its newest content, published or not.'),
    version: z.int().positive().describe('The version of that content.'),
    status: z.enum(DOCUMENT_STATUSES).describe('How far the ingest of that content is.'),
  })
  .meta({ id: 'LookedUpDocument', description: 'A document of yours that is there already.' });

const lookupView = z
  .object({
    documents: z.array(lookedUp).describe('The documents, in the order of what was looked for.'),
    missing: z.array(z.string()).describe('The digests or names of which there is no document.'),
  })
  .meta({ id: 'DocumentLookupResult', description: 'Which of your documents are there.' });

export const lookupRoute = ({ lookUp }: { readonly lookUp: LookUp }) =>
  defineRoute({
    method: 'post',
    tag: 'Documents',
    permission: 'read',
    path: '/documents/lookup',
    audit: 'document.list',
    summary: 'Look up which contents or sources are there already',
    description:
      'Tells of which of up to 1,000 contents or sources you have documents, so that nothing is sent again that is there. ' +
      'Only documents count that you own and may read. By contents, those count whose newest content waits, is being ' +
      'ingested or is completed, and one of several is told.',
    request: { body: lookupBody },
    responses: { 200: lookupView },
    examples: lookupExamples,
    handle: async ({ caller, body, signal }, reply) => {
      const { sha256, source_ids } = body;
      const by = sha256 ? 'content' : 'source';
      const { found, missing } = await lookUp({
        by,
        values: sha256 ?? source_ids ?? [],
        callerId: caller.id,
        principal: caller.principal,
        signal,
      });
      return reply.json(200, { documents: found.map(viewLookedUp), missing: [...missing] });
    },
  });

const viewLookedUp = ({ id, sourceId, sha256, version, status }: LookedUp): z.infer<typeof lookedUp> => ({
  document_id: id,
  source_id: sourceId,
  sha256,
  version,
  status,
});
