import type { AccessLists } from '../access/access.js';

/** The actions of requests. Every route and every page of operators names one, or null where nothing is read or changed. */
const REQUEST_ACTIONS = [
  'document.list',
  'document.facets',
  'document.read',
  'document.status',
  'document.chunks',
  'document.extraction',
  'document.page',
  'document.view',
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
  'collection.list',
  'collection.read',
  'collection.create',
  'collection.change',
  'collection.delete',
  'collection.put',
  'collection.take',
  'cache.list',
  'cache.read',
  'cache.create',
  'cache.update',
  'cache.add',
  'cache.query',
  'cache.delete',
  'model.embed',
  'model.rerank',
  'usage.read',
  'token.create',
  'view.view',
  'view.login',
  'view.logout',
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
  'document.given',
  'document.removed',
] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** Reads and changes that no request brings about at that moment. */
const BUILD_ACTIONS = ['cache.built'] as const;
type BuildAction = (typeof BUILD_ACTIONS)[number];

/** Commands on the machine itself that copy or change data of all, or make a way in. */
const COMMAND_ACTIONS = [
  'command.token',
  'command.backup',
  'command.restore',
  'command.reindex',
  'command.give',
] as const;
export type CommandAction = (typeof COMMAND_ACTIONS)[number];

/** The events of the log itself. A start without a stop tells of a process that was killed. */
const LOG_ACTIONS = ['audit.start', 'audit.stop', 'audit.lost'] as const;
type LogAction = (typeof LOG_ACTIONS)[number];

export const AUDIT_ACTIONS: readonly string[] = [
  ...REQUEST_ACTIONS,
  ...CHANGE_ACTIONS,
  ...BUILD_ACTIONS,
  ...COMMAND_ACTIONS,
  ...LOG_ACTIONS,
];

/** A request and the status of its answer. It holds ids, and never the text of the request or its answer. */
export interface RequestEntry {
  readonly type: 'request';
  readonly action: RequestAction;
  readonly request: string;
  /** Absent where no valid token names one. */
  readonly caller?: string | undefined;
  /** The claim `jti` of the token, if it has one. */
  readonly token?: string | undefined;
  /** Whom else it is about: the user that a token is made for, that a signed address was made for, or an owner in a list. */
  readonly user?: string | undefined;
  /** The address of the client; of IPv6, its network. */
  readonly client: string;
  /** 499 where the client left before its answer began. */
  readonly status: number;
  /** False where the client did not get all of the answer. */
  readonly complete: boolean;
  readonly ms: number;
  /** The documents that the path names, and the documents that the answer names or was made of. */
  readonly documents?: readonly string[] | undefined;
  /** The number of further documents that are not listed. */
  readonly more?: number | undefined;
  /** A digest of the name of a cache. */
  readonly cache?: string | undefined;
  /** The collection that the path names, or within which was searched or ingested. */
  readonly collection?: string | undefined;
}

/** The number of refused requests of a kind that have no line of their own, since too many came within a minute. */
export interface RefusalsEntry {
  readonly type: 'refusals';
  readonly action: RequestAction;
  /** Absent where no valid token named one. */
  readonly caller?: string | undefined;
  /** The address of the client, or `others` where there were too many of them. */
  readonly client: string;
  readonly count: number;
  /** The number of answers with each status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** A change of a document, as it was committed. */
export interface ChangeEntry {
  readonly type: 'change';
  readonly action: ChangeAction;
  /** The request that brought it about, if it did so at once. */
  readonly request?: string | undefined;
  /** Absent for changes that nobody asks for at that moment, such as the end of an ingest. */
  readonly caller?: string | undefined;
  readonly documents: readonly [string];
  readonly owner: string;
  readonly version: number;
  /** The users who came into the lists of access and went out of them. */
  readonly access?: AccessDifference | undefined;
}

export type AccessDifference = Partial<Record<keyof AccessLists, ListDifference>>;

interface ListDifference {
  readonly added?: readonly string[] | undefined;
  readonly removed?: readonly string[] | undefined;
  /** The number of further users that are not listed. */
  readonly more?: number | undefined;
}

/** A build of a cache that a worker ended, and whose documents are read from then on by questions to the cache. */
export interface BuildEntry {
  readonly type: 'build';
  readonly action: BuildAction;
  /** The owner of the cache, with whose rights the documents were read. */
  readonly caller: string;
  /** A digest of the name of the cache. */
  readonly cache: string;
  readonly documents: readonly string[];
  /** The number of further documents that are not listed. */
  readonly more?: number | undefined;
}

/** A command that was given on the machine itself, as it ends. */
export interface CommandEntry {
  readonly type: 'command';
  readonly action: CommandAction;
  /** The account of the operating system that gave it. */
  readonly account: string;
  /** The user that a token was made for, or whom documents were given to. */
  readonly user?: string | undefined;
  /** The user whose documents were given away. */
  readonly from?: string | undefined;
  readonly succeeded: boolean;
  readonly ms: number;
}

/** The places where a process begins and ends to write, and the number of lines lost in between. */
export interface LogEntry {
  readonly type: 'log';
  readonly action: LogAction;
  readonly lost?: number | undefined;
}

export type AuditEntry = RequestEntry | RefusalsEntry | ChangeEntry | BuildEntry | CommandEntry | LogEntry;

/**
 * Characters that JSON leaves as they are though terminals obey them (C1 controls), or though some readers end a line
 * there.
 */
const TOLD_APART = /[\u007f-\u009f\u2028\u2029]/g;

/** A value as one line of JSON. Whatever its texts are, no reader finds another line in it, and no terminal a command. */
export const jsonLine = (value: unknown): string => `${escapeControls(JSON.stringify(value))}\n`;

/** The same JSON, with escapes in the place of these characters. */
export const escapeControls = (json: string): string =>
  json.replace(TOLD_APART, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Is told when lines or old files make trouble. */
export interface AuditLogger {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
