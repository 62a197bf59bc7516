/** The actions of requests. Every route and every page of operators names one, or null where nothing is read or changed. */
const REQUEST_ACTIONS = [
  'document.list',
  'document.read',
  'document.status',
  'document.chunks',
  'document.extraction',
  'document.page',
  'document.download',
  'document.open_link',
  'document.search',
  'document.query',
  'document.ingest',
  'document.replace',
  'document.change',
  'document.delete',
  'document.retry',
  'document.cancel',
  'document.leave',
  'document.accept',
  'sharing.read',
  'sharing.block',
  'sharing.unblock',
  'sharing.accept',
  'sharing.forget',
  'cache.list',
  'cache.read',
  'cache.create',
  'cache.update',
  'cache.add',
  'cache.query',
  'cache.delete',
  'usage.read',
  'token.create',
  'admin.view',
  'admin.login',
  'admin.logout',
  'admin.queues',
  'admin.queue_change',
  'admin.document_read',
  'admin.document_retry',
  'admin.document_cancel',
  'admin.document_delete',
] as const;
export type RequestAction = (typeof REQUEST_ACTIONS)[number];

/** The changes of a document, whichever process brought them about. */
const CHANGE_ACTIONS = [
  'document.created',
  'document.replaced',
  'document.published',
  'document.failed',
  'document.cancelled',
  'document.retried',
  'document.changed',
  'document.shared',
  'document.removed',
] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** Reads and changes that no request brings about at that moment. */
const BUILD_ACTIONS = ['cache.built'] as const;
export type BuildAction = (typeof BUILD_ACTIONS)[number];

/** Commands on the machine itself that copy or change data of all, or make a way in. */
const COMMAND_ACTIONS = ['command.token', 'command.backup', 'command.restore', 'command.reindex'] as const;
export type CommandAction = (typeof COMMAND_ACTIONS)[number];

/** The events of the log itself. A start without a stop tells of a process that was killed. */
const LOG_ACTIONS = ['audit.start', 'audit.stop', 'audit.lost'] as const;
export type LogAction = (typeof LOG_ACTIONS)[number];

export const AUDIT_ACTIONS: readonly string[] = [
  ...REQUEST_ACTIONS,
  ...CHANGE_ACTIONS,
  ...BUILD_ACTIONS,
  ...COMMAND_ACTIONS,
  ...LOG_ACTIONS,
];
