import { z } from 'zod';
import { HIDDEN_TEXT, OCR_MODES } from '../../../readers/index.js';
import { choice, flag, gigabyte, hour, share, text, whole } from '../setting-kinds.js';

/** The user and group without any rights on Debian, Alpine, Fedora and related systems. */
const nobody = 65_534;
const ids = { min: 1, max: 4_294_967_294 };
export const ingest = z.strictObject({
  waitSeconds: whole(
    20,
    { min: 0, max: 120 },
    'Time for which an ingest waits for its document to be searchable.',
  ),
  maxFileBytes: whole(104_857_600, { min: 1, max: 16 * gigabyte }, 'Largest uploaded file, in bytes.'),
  maxBatchDocuments: whole(1_000, { min: 1, max: 100_000 }, 'Maximum number of texts in a JSON batch.'),
  maxBatchFiles: whole(100, { min: 1, max: 10_000 }, 'Maximum number of files in a form with many files.'),
  maxChunks: whole(
    20_000,
    { min: 1, max: 1_000_000 },
    'Maximum number of chunks of a document; a document with more fails as `too_large`.',
  ),
  parseSeconds: whole(120, { min: 1, max: hour }, 'Longest time for parsing and chunking a document.'),
  parseMemoryMegabytes: whole(2048, { min: 1536, max: 1_048_576 }, 'Address space of a parser process.'),
  parserProcesses: whole(
    2,
    { min: 1, max: 64 },
    'Maximum number of parser processes of an ingestion worker.',
  ),
  parserIdleSeconds: whole(
    60,
    { min: 1, max: hour },
    'A parser process without a document for so long ends; the next document starts one.',
  ),
  parserUid: whole(nobody, ids, 'User that parser processes run as where the worker is root; 65534: nobody.'),
  parserGid: whole(nobody, ids, 'Group that parser processes run as where the worker is root.'),
  hiddenText: choice(
    HIDDEN_TEXT,
    'drop',
    'Text that readers of a file do not see, such as white on white, and comments: left out and named in the extraction, read like other text, or read and named.',
  ),
  partial: flag(
    false,
    'Lets a file that exceeds a limit of its reader keep the text that was read until then; otherwise it fails as `too_large`.',
  ),
  ocr: choice(
    OCR_MODES,
    'auto',
    'Text recognition: of pages that have no readable text and of pictures, never, or of all pages.',
  ),
  ocrLanguages: text(
    'eng',
    {
      accepts: (value) => /^[a-z]{3}(?:_[a-z]+)*(?:\+[a-z]{3}(?:_[a-z]+)*)*$/.test(value),
      allowed: 'names of languages as Tesseract has them, separated by +, such as eng+deu',
    },
    'Languages of text recognition. Beside eng, each needs its package @tesseract.js-data/<language>.',
  ),
  attachments: flag(
    false,
    'Lets files that a mail carries become documents of their own, with the access of the mail.',
  ),
  attachmentDepth: whole(
    2,
    { min: 1, max: 10 },
    'Depth to which attachments of attachments become documents; 1: only the attachments of the file that was sent.',
  ),
  maxAttachments: whole(
    20,
    { min: 1, max: 100 },
    'Maximum number of attachments of a document that become documents.',
  ),
  maxWaiting: whole(
    100_000,
    { min: 1, max: 10_000_000 },
    'Maximum number of documents of all callers that wait or are being ingested; more are answered 503.',
  ),
  maxWaitingPerCaller: whole(
    20_000,
    { min: 1, max: 10_000_000 },
    'Maximum number of documents of a caller that wait or are being ingested; more are answered 429.',
  ),
  maxMemoryShare: share(
    0.85,
    'Share of the `maxmemory` of Redis above which requests that make it grow are answered 503, and waiting ones are put off.',
    { min: 0.1, max: 0.95 },
  ),
});

export const chunk = z.strictObject({
  size: whole(512, { min: 16, max: 8192 }, 'Maximum number of tokens of a chunk.'),
  overlap: whole(
    64,
    { min: 0, max: 8191 },
    'Tokens of the chunk before that a chunk repeats; less than chunk.size.',
  ),
});
