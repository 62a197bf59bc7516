import { COLLECTION_ID, collectionNotFound } from './collections.js';
import { handover, HANDOVER_ID, lease, LEASE_ID, leaseText } from './story.js';

const search = { query: 'How much is the rent?', filters: { kind: 'lease' }, k: 2, min_score: 0.2 };
/** The answer to a request with `rerank: true`. */
const noReranker = {
  detail: 'There is no reranker: `rerank` needs the setting `reranker` of the service, which is "none"',
};

const rentStart = leaseText.indexOf('rent ');

export const retrieveChunksExamples = {
  plain: { query: search.query },
  body: {
    ...search,
    ranking: 'lexical' as const,
    rerank: false,
    collection: COLLECTION_ID,
    context: { mode: 'window' as const, before: 1, after: 1, max_tokens: 1_000 },
    highlight: true,
    explain: false,
  },
  responses: {
    400: noReranker,
    404: collectionNotFound,
    200: [
      {
        content: leaseText,
        score: 0.34,
        document_id: LEASE_ID,
        owner: 'alice',
        chunk_number: 0,
        location: { lines: { first: 1, last: 1 } },
        section: [],
        metadata: lease.metadata,
        content_type: 'text/plain',
        filename: null,
        download_url: null,
        url: `http://127.0.0.1:8000/view/${LEASE_ID}?chunk=0`,
        page_url: null,
        highlights: [{ start: rentStart, end: rentStart + 'rent'.length }],
        matches: [{ chunk_number: 0, start: 0, end: leaseText.length, score: 0.34 }],
      },
    ],
  },
};

export const retrieveDocumentsExamples = {
  plain: { query: 'Which window does not close?' },
  body: { query: 'Which window does not close?', k: 2, min_score: 0.2 },
  responses: {
    400: noReranker,
    404: collectionNotFound,
    200: [
      {
        score: 0.75,
        document_id: HANDOVER_ID,
        owner: 'alice',
        metadata: handover.metadata,
        url: `http://127.0.0.1:8000/view/${HANDOVER_ID}?chunk=0`,
        content: {
          type: 'url' as const,
          value:
            `http://127.0.0.1:8000/downloads/${HANDOVER_ID}?caller=alice&expires=1740997231` +
            '&signature=3q7Yp58gExreyvuQGYfV4WWmikyCem4Z_fFcSBuZToY',
          filename: 'handover.txt',
        },
        additional_metadata: {},
      },
    ],
  },
};

export const explainExamples = {
  plain: { query: search.query, document_id: LEASE_ID },
  body: { ...search, document_id: HANDOVER_ID, ranking: 'lexical' as const, per: 'chunk' as const },
  responses: {
    200: {
      document_id: HANDOVER_ID,
      found: false,
      reason: 'filtered' as const,
      detail: 'The document does not fulfil the filter.',
      status: 'completed' as const,
      error: null,
      conditions: [{ loc: ['kind'], condition: '{"kind":"lease"}' }],
      rank: null,
      of: null,
      k: 2,
      min_score: 0.2,
      score: null,
      chunk_number: null,
      explanation: null,
    },
    404: { detail: 'Document not found' },
  },
};

const leaseQuote = 'The rent is 1,800 euros a month.';
const quoteStart = leaseText.indexOf(leaseQuote);
const quoteEnd = quoteStart + leaseQuote.length;

export const outcome = {
  usage: { completion_tokens: 56, prompt_tokens: 56, total_tokens: 112 },
  finish_reason: 'stop' as const,
  sources: [
    {
      document_id: LEASE_ID,
      owner: 'alice',
      chunk_number: 0,
      score: 0.34,
      location: { lines: { first: 1, last: 1 } },
      section: [],
      filename: null,
      title: null,
      text: leaseText,
      quotes: [{ text: leaseQuote, start: quoteStart, end: quoteEnd, line: 1 }],
      url: `http://127.0.0.1:8000/view/${LEASE_ID}?chunk=0&quote=${String(quoteStart)}-${String(quoteEnd)}`,
      page_url: null,
    },
  ],
  unsupported: [],
};

export const leaseCompletion =
  'Extracted from the documents (no language model is configured):\n\n' +
  `The rent is 1,800 euros a month. [1]\n\n[1] document ${LEASE_ID}, chunk 0`;

export const queryExamples = {
  plain: { query: search.query },
  body: { ...search, max_tokens: 200, temperature: 0, stream: false },
  responses: {
    400: noReranker,
    404: collectionNotFound,
    200: {
      completion: leaseCompletion,
      ...outcome,
    },
  },
  events: [
    { type: 'token' as const, text: '\nThe rent is 1,800 euros a month. [1]' },
    { type: 'end' as const, ...outcome },
  ],
};
