import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { addTo } from '../shared/at.js';
import { AUDIT_ACTIONS } from '../shared/audit/entry.js';
import { auditFolder } from '../shared/audit/audit-log.js';
import { readAudit, type AuditFilter } from '../shared/audit/read-audit.js';
import { loadSettings, type Environment } from '../shared/settings/load.js';
import { systemErrorCode } from '../shared/system-error-code.js';
import { say, UserError } from './user-messages.js';

export interface AuditRequest {
  readonly since?: string;
  readonly until?: string;
  readonly caller?: string;
  readonly document?: string;
  readonly action?: string;
}

/** Prints the lines of the audit log that are asked for, in the order of their times. @throws UserError, SettingsError */
export async function printAudit(request: AuditRequest, env: Environment, output: Writable): Promise<void> {
  // The reader of the output, such as `head`, may have read enough.
  const enough = new AbortController();
  const stop = () => enough.abort();
  output.on('error', stop).on('close', stop);
  const filter = filterOf(request);
  const unreadable = new Map<string, number>();
  const onUnreadable = (path: string) => addTo(unreadable, path);
  const failed = new Map<string, unknown>();
  const onFailed = (path: string, error: unknown) => failed.set(path, error);
  const options = { filter, onUnreadable, onFailed };
  for await (const line of readAudit(auditFolder(loadSettings(env, [])), options)) {
    if (enough.signal.aborted) return;
    if (!output.write(`${line}\n`)) await once(output, 'drain', enough).catch(stop);
  }
  for (const [path, count] of unreadable) say(`${path}: ${String(count)} unreadable lines were left out`);
  if (failed.size > 0) throw new UserError([...failed].map(sentenceOf).join('\n'));
}

const sentenceOf = ([path, error]: readonly [string, unknown]) =>
  `${path} cannot be read (${systemErrorCode(error) ?? String(error)}): its lines, or the last of them, were left out`;

function filterOf({ since, until, caller, document, action }: AuditRequest): AuditFilter {
  const isOf = (part: string) =>
    AUDIT_ACTIONS.some((known) => known === part || known.startsWith(`${part}.`));
  if (action !== undefined && !isOf(action))
    throw new UserError(
      `--action ${action}: allowed: ${AUDIT_ACTIONS.join(', ')}, or what stands before the dot`,
    );
  const [sinceMs, untilMs] = [timeOf('since', since), timeOf('until', until)];
  return { sinceMs, untilMs, caller, document, action };
}

function timeOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/.test(text);
  const atMs = isTime ? Date.parse(text) : NaN;
  if (Number.isFinite(atMs)) return atMs;
  throw new UserError(
    `--${option} ${text}: allowed: a day or a time in UTC, as 2026-01-31 or 2026-01-31T12:00:00Z`,
  );
}
