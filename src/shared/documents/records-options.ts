import type { Logger } from '../observability/logger.js';
import { quotasOf } from '../settings/quotas-of.js';
import type { Settings } from '../settings/schema.js';
import { logMalformed } from './record-fields.js';

/** For records of a process that serves: malformed ones are logged, and owners have the quotas of the settings. */
export const recordsOptions = (settings: Pick<Settings, 'quota'>, logger: Logger) => ({
  onMalformed: logMalformed(logger),
  quotas: quotasOf(settings),
});
