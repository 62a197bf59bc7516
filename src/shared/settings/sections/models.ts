import { z } from 'zod';
import { MODEL_LANGUAGES } from '../../local-models/recommended.js';
import { addresses, choice, host, orEmpty, text, whole } from '../setting-kinds.js';

export const models = z.strictObject({
  dir: text(
    '',
    { accepts: (value) => value === '' || value.startsWith('/'), allowed: 'an absolute path, or empty' },
    'Folder of the files of local models; empty: `models` in the data folder.',
  ),
  language: choice(
    MODEL_LANGUAGES,
    'english',
    'Language of the documents, which decides what `quire models pull` takes unless it is told.',
  ),
  host: text('127.0.0.1', host, 'Address that the process with local models listens on.'),
  port: whole(8010, { min: 1, max: 65_535 }, 'Port that the process with local models listens on.'),
  urls: addresses(
    'Addresses at which API and workers find processes with local models, of the same files and token; empty: models.host and models.port.',
  ),
  token: text(
    '',
    orEmpty({
      accepts: (value) => /^[\x21-\x7e]{16,}$/.test(value),
      allowed: 'at least 16 printable characters',
    }),
    'Token between that process and the others; empty: none is asked for, on a loopback address only. `npm start` makes one.',
    { secret: true },
  ),
  memoryMegabytes: whole(
    4_096,
    { min: 64, max: 16_777_216 },
    'Memory for local models together; the least recently used ones are unloaded for others.',
  ),
  threads: whole(
    0,
    { min: 0, max: 1_024 },
    'Threads for local models; 0: half of the cores. More than are free make all of them slow.',
  ),
  contextTokens: whole(
    8_192,
    { min: 256, max: 1_048_576 },
    'Largest window of a local model, prompt and answer together; its memory is reserved for each conversation.',
  ),
  conversations: whole(
    2,
    { min: 1, max: 64 },
    'Conversations that a local chat model holds at once; more wait.',
  ),
  maxWaiting: whole(
    1_024,
    { min: 1, max: 1_000_000 },
    'Texts and conversations that may wait for a local model; more are answered 503.',
  ),
});

export const caches = z.strictObject({
  engine: choice(
    ['auto', 'llama', 'prompt'],
    'auto',
    'Holder of named caches: `llama`, the local model that their `gguf_file` names and that has read their documents; `prompt`, which sends the documents with each question; `auto`: `llama` where the file is there.',
  ),
  stateMegabytes: whole(
    20_480,
    { min: 1, max: 1_000_000_000 },
    'Disk space for what local models have read of named caches; beyond it the least recently used of the owner with most goes, and is read again when it is asked for.',
  ),
  idleDays: whole(
    30,
    { min: 0, max: 36_500 },
    'Days after which what a local model has read of a named cache is removed if nobody has asked for it; it is read again when somebody does. 0: never.',
  ),
});
