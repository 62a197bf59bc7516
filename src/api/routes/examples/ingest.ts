import { documentNotFound, handover, handoverText, lease, leaseText, overQuota, queued } from './story.js';

const cancelled = { detail: 'The ingest was cancelled' };

export const ingestTextExamples = {
  idempotencyKey: 'lease-of-mill-lane',
  plain: { content: leaseText },
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

const KEYS_ID = 'b8d5f1c2-64e0-4a7d-8f39-0d2c7e5a9146';
const METER_ID = 'e4a1c7d8-92b3-4f60-a5de-71c8f0b36d29';

const RADIATOR_ID = 'a27e90b4-1f6c-4d83-b5e0-6c94d7f1a832';
const LAMP_ID = 'c93b6e05-d218-47fa-9c61-f5087ab3d4e1';

const bill =
  'Bill of the caretaker for two spare keys of the office at 12 Mill Lane. The keys cost 40 euros.';

const meter = 'The electricity meter of the office read 4,711 on 3 March 2025.';

/** Returns the answers for documents that are done, and before that. */
const responsesFor = (...ids: readonly string[]) => ({
  200: ids.map((document_id, index) => ({ index, status: 'completed' as const, document_id })),
  202: ids.map((document_id, index) => ({ index, status: 'queued' as const, document_id })),
});

export const ingestBatchExamples = {
  idempotencyKey: 'bill-and-meter-of-mill-lane',
  plain: { documents: [{ content: bill }, { content: meter }] },
  body: {
    documents: [
      { content: bill, filename: 'keys.txt', metadata: { kind: 'bill', year: 2025 } },
      {
        content: meter,
        access_control: { readers: ['bob'] },
      },
    ],
  },
  responses: responsesFor(KEYS_ID, METER_ID),
};

export const ingestFilesExamples = {
  idempotencyKey: 'repairs-of-mill-lane',
  upload: {
    files: ['The radiator in the hall was mended.', 'The lamp in the hall was mended.'],
    metadata: '[{"kind": "repair", "room": "hall"}, {"kind": "repair", "part": "lamp"}]',
    access_control: '{"readers": ["bob"]}',
    on_duplicate: 'new',
    ocr: 'auto',
  },
  responses: responsesFor(RADIATOR_ID, LAMP_ID),
};
