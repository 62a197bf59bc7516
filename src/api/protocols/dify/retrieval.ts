import { z } from 'zod';
import { NotFoundError } from '../../../shared/errors.js';
import { difyError } from '../../http/response/error-shapes.js';
import { defineRoute, type Route } from '../../http/route.js';
import { jsonFloat, jsonInteger, nonBlankString, optionalNull } from '../../http/validation/field-schemas.js';
import { LEASE_ID, lease, leaseText } from '../../routes/examples/story.js';
import { MAX_QUERY_CHARACTERS, SEARCH_BODY_BYTES } from '../../routes/retrieval.js';
import type { Retrieval } from '../../services/retrieval/retrieval.js';
import { findPassages, MAX_PASSAGES, type FoundPassage } from '../found-passages.js';
import { findScope, withinScope, type ScopeParts } from '../scope.js';
import { metadataCondition, toFilter } from './metadata-condition.js';

const difyBody = z
  .object({
    knowledge_id: z
      .string()
      .describe(
        '`all` (or `*`) for all documents that you may read, `own` for your own. Any other is a 404.',
      ),
    query: nonBlankString({ max: MAX_QUERY_CHARACTERS }),
    retrieval_setting: optionalNull(
      z.object({
        top_k: optionalNull(jsonInteger({ ge: 1, le: MAX_PASSAGES })),
        score_threshold: optionalNull(jsonFloat({ ge: 0, le: 1 })),
      }),
    ),
    metadata_condition: optionalNull(metadataCondition),
  })
  .meta({ id: 'DifyRequest', description: 'A query of Dify, and the knowledge that may answer it.' });

const difyView = z
  .object({
    records: z.array(
      z.object({
        content: z.string(),
        score: z.number(),
        title: z.string(),
        document_id: z.string(),
        metadata: z
          .record(z.string(), z.unknown())
          .describe('That of the document, with `document_id`, `chunk_number` and `url` of the passage.'),
      }),
    ),
  })
  .meta({ id: 'DifyRecords', description: 'The passages that fit best, as Dify reads them.' });

const difyExamples = {
  plain: { knowledge_id: 'all', query: 'How much is the rent?' },
  body: {
    knowledge_id: 'own',
    query: 'How much is the rent?',
    retrieval_setting: { top_k: 1, score_threshold: 0.1 },
    metadata_condition: {
      logical_operator: 'and' as const,
      conditions: [{ name: ['kind'], comparison_operator: 'is', value: 'lease' }],
    },
  },
  responses: {
    200: {
      records: [
        {
          content: leaseText,
          score: 0.34,
          title: 'Lease of the office at 12 Mill Lane. The lease runs for thre…',
          document_id: LEASE_ID,
          metadata: {
            ...lease.metadata,
            document_id: LEASE_ID,
            chunk_number: 0,
            url: `http://127.0.0.1:8000/view/${LEASE_ID}?chunk=0`,
          },
        },
      ],
    },
    404: { error_code: 2001, error_msg: 'The knowledge does not exist' },
  },
};

interface DifyServices extends ScopeParts {
  readonly retrieval: Pick<Retrieval, 'chunks'>;
}

export const difyRoute = (services: DifyServices): Route =>
  defineRoute({
    method: 'post',
    path: '/dify/retrieval',
    tag: 'Other protocols',
    audit: 'document.search',
    permission: 'read',
    summary: 'Find passages, as Dify asks an external knowledge base',
    description: 'The address that Dify is given ends in `/dify`, and its key is a token of Quire.',
    maxBodyBytes: SEARCH_BODY_BYTES,
    request: { body: difyBody },
    responses: { 200: difyView, 404: difyError },
    examples: difyExamples,
    handle: async (request, reply) => {
      const { knowledge_id: id, query, retrieval_setting: setting, metadata_condition } = request.body;
      const knowledge = await findScope(services, id, request.caller.principal);
      if (!knowledge) throw new NotFoundError('The knowledge does not exist');
      const scope = withinScope(knowledge, { filter: toFilter(metadata_condition), shared: undefined });
      const { top_k: k = 4, score_threshold: minScore = 0 } = setting ?? {};
      const passages = await findPassages(services.retrieval, request, { query, k, minScore, scope });
      return reply.json(200, { records: passages.map(viewRecord) });
    },
  });

const viewRecord = ({ content, score, name, metadata, documentId, chunkNumber, url }: FoundPassage) => ({
  content,
  score,
  title: name,
  document_id: documentId,
  metadata: { ...metadata, document_id: documentId, chunk_number: chunkNumber, url },
});
