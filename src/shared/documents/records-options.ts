import type { AuditLog } from '../audit/audit-log.js';
import { auditChanges } from '../audit/document-changes.js';
import type { Logger } from '../observability/logger.js';
import { quotasOf } from '../settings/quotas-of.js';
import type { Settings } from '../settings/schema.js';
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
