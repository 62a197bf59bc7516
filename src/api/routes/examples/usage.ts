export const quotaUsageExamples = {
  responses: {
    200: {
      documents: { used: 3, limit: 1000 },
      bytes: { used: 48_213, limit: null },
      chunks: { used: 41, limit: 100_000 },
    },
  },
};

export const usageStatisticsExamples = {
  responses: { 200: { ingest_text: 2, ingest_file: 1, retrieve_chunks: 1, query: 1 } },
};

export const recentUsageExamples = {
  query: { operation_type: 'retrieve_chunks', since: '2025-03-01T00:00:00Z', status: 'success', limit: 1 },
  responses: {
    200: [
      {
        timestamp: '2025-03-04T08:10:45.031Z',
        operation_type: 'retrieve_chunks' as const,
        tokens_used: 6,
        user_id: 'alice',
        duration_ms: 7,
        status: 'success' as const,
        metadata: { query: 'How much is the rent?', k: 2, min_score: 0.2, ranking: 'lexical' },
      },
    ],
  },
};
