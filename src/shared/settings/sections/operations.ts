import { z } from 'zod';
import { choice, flag, isRedisUrl, orEmpty, text, whole } from '../setting-kinds.js';

export const redis = z.strictObject({
  url: text(
    '',
    orEmpty({ accepts: isRedisUrl, allowed: 'a redis:// or rediss:// address' }),
    'Redis to use; empty: `npm start` finds or starts one.',
    { secret: true, alias: 'REDIS_URL' },
  ),
});

export const usage = z.strictObject({
  keepDays: whole(90, { min: 1, max: 3650 }, 'Days that usage records are kept.'),
  keepRecords: whole(10_000, { min: 1, max: 1_000_000 }, 'Maximum number of usage records kept of a user.'),
});

export const admin = z.strictObject({
  queuesReadOnly: flag(
    true,
    'Whether /admin/queues only shows jobs, without buttons to retry and remove them.',
  ),
  sessionMinutes: whole(60, { min: 1, max: 1440 }, 'How long a login at /admin/login is valid.'),
});

export const metrics = z.strictObject({
  token: text(
    '',
    orEmpty({
      accepts: (value) => /^[\x21-\x7e]{16,}$/.test(value),
      allowed: 'at least 16 printable characters',
    }),
    'Bearer token for scraping /metrics; empty: admin tokens only.',
    { secret: true },
  ),
});

export const log = z.strictObject({
  level: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Lowest level that is logged.',
  ),
});
