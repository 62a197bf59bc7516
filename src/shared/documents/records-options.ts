import type { AuditLog } from '../audit/audit-log.js';
import { auditChanges } from '../audit/document-changes.js';
import type { Logger } from '../observability/logger.js';
import type { Settings } from '../settings/schema.js';
import type { Quotas } from './counts.js';
import { logMalformed } from './record-fields.js';

/** For records of a process that serves: malformed ones are logged, owners have the quotas of the settings, and changes are audited. */
export const recordsOptions = (
  settings: Pick<Settings, 'quota'>,
  logger: Logger,
  audit: AuditLog | null,
) => ({
  onMalformed: logMalformed(logger),
  quotas: quotasOf(settings),
  onChange: audit ? auditChanges(audit) : undefined,
});

const orNone = (most: number): number | null => (most === 0 ? null : most);

/** Returns the quotas of an owner, by the settings. */
export const quotasOf = ({ quota }: Pick<Settings, 'quota'>): Quotas => ({
  documents: orNone(quota.documents),
  bytes: orNone(quota.bytes),
  chunks: orNone(quota.chunks),
});
