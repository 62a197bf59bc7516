const KEYS_ID = 'b8d5f1c2-64e0-4a7d-8f39-0d2c7e5a9146';
const METER_ID = 'e4a1c7d8-92b3-4f60-a5de-71c8f0b36d29';

const RADIATOR_ID = 'a27e90b4-1f6c-4d83-b5e0-6c94d7f1a832';
const LAMP_ID = 'c93b6e05-d218-47fa-9c61-f5087ab3d4e1';

const bill =
  'Bill of the caretaker for two spare keys of the office at 12 Mill Lane. The keys cost 40 euros.';

export const ingestBatchExamples = {
  body: {
    documents: [
      { content: bill, filename: 'keys.txt', metadata: { kind: 'bill', year: 2025 } },
      {
        content: 'The electricity meter of the office read 4,711 on 3 March 2025.',
        access_control: { readers: ['bob'] },
      },
    ],
  },
  responses: {
    200: [
      { index: 0, status: 'completed' as const, document_id: KEYS_ID },
      { index: 1, status: 'completed' as const, document_id: METER_ID },
    ],
    202: [
      { index: 0, status: 'queued' as const, document_id: KEYS_ID },
      { index: 1, status: 'queued' as const, document_id: METER_ID },
    ],
  },
};

export const ingestFilesExamples = {
  upload: {
    files: ['The radiator in the hall was mended.', 'The lamp in the hall was mended.'],
    metadata: '[{"kind": "repair", "room": "hall"}, {"kind": "repair", "part": "lamp"}]',
    access_control: '{"readers": ["bob"]}',
  },
  responses: {
    200: [
      { index: 0, status: 'completed' as const, document_id: RADIATOR_ID },
      { index: 1, status: 'completed' as const, document_id: LAMP_ID },
    ],
    202: [
      { index: 0, status: 'queued' as const, document_id: RADIATOR_ID },
      { index: 1, status: 'queued' as const, document_id: LAMP_ID },
    ],
  },
};
