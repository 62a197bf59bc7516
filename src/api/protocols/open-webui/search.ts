import { z } from 'zod';
import { defineRoute, type Route } from '../../http/route.js';
import { jsonInteger, nonBlankString, optionalNullOr } from '../../http/validation/field-schemas.js';
import { LEASE_ID, leaseText } from '../../routes/examples/story.js';
import { MAX_QUERY_CHARACTERS, SEARCH_BODY_BYTES } from '../../routes/retrieval.js';
import type { Retrieval } from '../../services/retrieval/retrieval.js';
import { findPassages, MAX_PASSAGES } from '../found-passages.js';
import { EVERYTHING } from '../scope.js';

const searchBody = z
  .object({
    query: nonBlankString({ max: MAX_QUERY_CHARACTERS }),
    count: optionalNullOr(jsonInteger({ ge: 1, le: MAX_PASSAGES }), 4).describe(
      'How many results are returned at most.',
    ),
  })
  .meta({ id: 'OpenWebUISearch', description: 'A search of Open WebUI.' });

const searchResult = z
  .object({
    link: z.string().describe('The page of the passage, which asks who may read it.'),
    title: z.string(),
    snippet: z.string().describe('The passage.'),
  })
  .meta({ id: 'OpenWebUIResult', description: 'A passage, as Open WebUI reads the results of a search.' });

const searchExamples = {
  plain: { query: 'How much is the rent?' },
  body: { query: 'How much is the rent?', count: 1 },
  responses: {
    200: [
      {
        link: `http://127.0.0.1:8000/view/${LEASE_ID}?chunk=0`,
        title: 'Lease of the office at 12 Mill Lane. The lease runs for thre…',
        snippet: leaseText,
      },
    ],
  },
};

export const openWebUIRoute = (retrieval: Pick<Retrieval, 'chunks'>): Route =>
  defineRoute({
    method: 'post',
    path: '/open-webui/search',
    tag: 'Other protocols',
    audit: 'document.search',
    permission: 'read',
    summary: 'Find passages, as Open WebUI asks an external search engine',
    description:
      'Searches all documents that the caller may read. The key in Open WebUI is a token of Quire.',
    maxBodyBytes: SEARCH_BODY_BYTES,
    request: { body: searchBody },
    responses: { 200: z.array(searchResult) },
    examples: searchExamples,
    handle: async (request, reply) => {
      const { query, count: k } = request.body;
      const passages = await findPassages(retrieval, request, { query, k, minScore: 0, scope: EVERYTHING });
      const results = passages.map(({ url: link, name: title, content: snippet }) => ({
        link,
        title,
        snippet,
      }));
      return reply.json(200, results);
    },
  });
