export const uriExamples = {
  body: { name: 'alice', expiry_days: 30 },
  responses: {
    200: { uri: 'databridge://alice:eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl@127.0.0.1:8000' },
    401: { detail: 'Invalid authentication credentials' },
    403: { detail: 'Insufficient permissions' },
  },
};
