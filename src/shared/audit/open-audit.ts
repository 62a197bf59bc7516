import { join } from 'node:path';
import { createDiskWatch } from '../disk/disk-watch.js';
import type { Settings } from '../settings/schema.js';
import { createAuditLog, type AuditLog } from './audit-log.js';
import type { AuditLogger } from './entry.js';

/** Whatever makes data grow is refused before this share of `disk.min_free_megabytes` is left, which is for Redis alone. */
const SHARE_LEFT = 0.25;

interface OpenOptions {
  readonly logger: AuditLogger;
  /** The process of Quire that writes, such as `api`. */
  readonly process: string;
  /** Calls its argument when the process ends. */
  readonly onExit: (end: () => void) => void;
}

type AuditSettings = Pick<Settings, 'audit' | 'dataDirectory' | 'disk' | 'redis'>;

/** The folder of the audit log. */
export const auditFolder = ({ audit, dataDirectory }: Pick<Settings, 'audit' | 'dataDirectory'>): string =>
  audit.folder === '' ? join(dataDirectory, 'audit') : audit.folder;

/** The audit log of this process; null where the settings want none, which costs nothing. */
export function openAudit(settings: AuditSettings, options: OpenOptions): AuditLog | null {
  if (!settings.audit.log) return null;
  const folder = auditFolder(settings);
  const { directory } = settings.redis;
  const disk = createDiskWatch({
    disk: 'audit',
    directories: [folder],
    spare: settings.disk.minFreeMegabytes * 2 ** 20 * SHARE_LEFT,
    redisDirectory: directory === '' ? null : directory,
    onChange: () => undefined,
  });
  const hasRoom = async () => !(await disk.isShort());
  const { keepDays, maxMegabytes } = settings.audit;
  const maxBytes = maxMegabytes === 0 ? Infinity : maxMegabytes * 2 ** 20;
  const log = createAuditLog({ ...options, folder, keepDays, maxBytes, hasRoom });
  options.onExit(log.end);
  return log;
}
