import { documentNotFound, handover, handoverText, lease, leaseText, overQuota, queued } from './story.js';

const cancelled = { detail: 'The ingest was cancelled' };

export const ingestTextExamples = {
  idempotencyKey: 'lease-of-mill-lane',
  body: {
    content: leaseText,
    filename: 'lease.txt',
    metadata: { kind: 'lease', year: 2025 },
    access_control: { writers: ['alice'] },
  },
  responses: {
    200: lease,
    202: queued(lease),
    400: { detail: 'The document holds no text.' },
    404: documentNotFound,
    409: cancelled,
    507: overQuota,
  },
};

export const ingestFileExamples = {
  idempotencyKey: 'handover-of-mill-lane',
  upload: {
    file: handoverText,
    metadata: '{"kind": "handover", "year": 2025}',
    access_control: '{"readers": ["bob"]}',
    on_duplicate: 'new',
    ocr: 'auto',
  },
  responses: {
    200: handover,
    202: queued(handover),
    400: { detail: 'Invalid metadata JSON' },
    404: documentNotFound,
    409: cancelled,
    507: overQuota,
  },
};
