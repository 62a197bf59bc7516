import { Router, type Request, type Response } from 'express';
import { noteDocuments } from '../../shared/audit/notes.js';
import { isFinal } from '../../shared/document.js';
import { NotFoundError } from '../../shared/errors.js';
import { MAX_DEATHS } from '../../shared/queues/job-kinds.js';
import { HttpError } from '../http/http-error.js';
import { noteRoute } from '../http/logging/access-log.js';
import { answeredRequestId } from '../http/request/headers.js';
import { sendJson } from '../http/response/write.js';
import type { InspectDocument, DocumentInspection } from '../services/documents/document-inspection.js';
import type { OperatorChanges } from '../services/documents/operator-changes.js';
import { sendPage, html, wantsPage, type Html } from '../browser/html.js';
import type { Visit, Visits } from '../browser/page-visitor.js';
import { readSmallForm, type FormOptions } from '../browser/small-form.js';

export interface DocumentPagesOptions extends FormOptions {
  readonly inspect: InspectDocument;
  readonly changes: OperatorChanges;
  readonly visits: Visits;
  /** The visit of a request that was admitted. */
  readonly visitOf: (request: Request) => Visit;
  readonly adminPath: string;
}

/** Makes the page of a document, and the actions of operators there. Clients that accept no HTML get JSON. */
export function createDocumentPages(options: DocumentPagesOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/documents/:id', (request, response) => showDocument(options, request, response));
  router.all('/documents/:id', refuseMethod('GET, HEAD'));
  for (const name of ACTIONS) {
    const path = `/documents/:id/${name}` as const;
    router.post(path, (request, response) => act(options, { request, response, name }));
    router.all(path, refuseMethod('POST'));
  }
  return router;
}

const refuseMethod = (allow: string) => () => {
  throw new HttpError(405, 'Method Not Allowed', { headers: { Allow: allow } });
};

type DocumentRequest = Request<{ id: string }>;

async function showDocument(
  { inspect, visits, visitOf, adminPath }: DocumentPagesOptions,
  request: DocumentRequest,
  response: Response,
): Promise<void> {
  noteRoute(request, '/admin/documents/{document_id}', 'admin.document_read');
  noteDocuments([request.params.id]);
  const document = await inspect(request.params.id);
  if (!document) throw new NotFoundError('Document not found');
  if (!wantsPage(request)) {
    sendJson(response, 200, viewInspection(document));
    return;
  }
  const csrf = visits.csrfToken(request, response, visitOf(request));
  sendPage(response, 200, { title: 'Document', body: documentPage(document, { adminPath, csrf }) });
}

interface Acting {
  readonly request: DocumentRequest;
  readonly response: Response;
  readonly name: ActionName;
}

async function act(options: DocumentPagesOptions, { request, response, name }: Acting): Promise<void> {
  const { inspect, visits, visitOf, adminPath } = options;
  noteRoute(request, `/admin/documents/{document_id}/${name}`, `admin.document_${name}`);
  noteDocuments([request.params.id]);
  const visit = visitOf(request);
  const { csrf } = visit.isByToken ? {} : await readOwnForm(options, { request, response, visit });
  visits.requireOwnPage(request, visit, csrf);
  const { id } = request.params;
  await change(options.changes, { name, id, requestId: answeredRequestId(response) });
  if (wantsPage(request)) {
    const isGone = name === 'delete';
    response.redirect(
      303,
      isGone ? `${adminPath}/queues` : `${adminPath}/documents/${encodeURIComponent(id)}`,
    );
    return;
  }
  const document = await inspect(id);
  if (document) sendJson(response, 200, viewInspection(document));
  else response.status(204).end();
}

const readOwnForm = (
  { bodies, bodyGraceSeconds }: FormOptions,
  { request, response, visit }: { request: Request; response: Response; visit: Visit },
) => readSmallForm(request, response, { bodies, bodyGraceSeconds, holder: visit.caller?.id ?? '' });

interface Asked {
  readonly name: ActionName;
  readonly id: string;
  readonly requestId: string;
}

async function change(changes: OperatorChanges, { name, id, requestId }: Asked): Promise<void> {
  switch (name) {
    case 'retry':
      await changes.retry(id, requestId);
      return;
    case 'cancel':
      await changes.cancel(id, requestId);
      return;
    case 'delete':
      await changes.remove(id, requestId);
      return;
  }
}

/** Converts an inspection to its public JSON. */
function viewInspection(document: DocumentInspection) {
  const { status, stage, progress, error, version, attempt, retagging, jobs } = document;
  return {
    document_id: document.documentId,
    owner_id: document.ownerId,
    filename: document.filename,
    status,
    stage,
    progress,
    error,
    version,
    attempt,
    published_version: document.publishedVersion,
    retagging,
    created_at: document.createdAt,
    updated_at: document.updatedAt,
    ingest_started_at: document.ingestStartedAt,
    published: document.published && viewVersion(document.published),
    pending: document.pending && viewVersion(document.pending),
    generations: document.generations.map(({ id, ...counts }) => ({ id, ...viewCounts(counts) })),
    jobs,
  };
}

interface Counts {
  readonly chunkCount: number;
  readonly tokenCount: number;
}

const viewVersion = ({ version, createdAt, ...counts }: NonNullable<DocumentInspection['published']>) => ({
  version,
  created_at: createdAt,
  ...viewCounts(counts),
});

const viewCounts = ({ chunkCount, tokenCount }: Counts) => ({
  chunk_count: chunkCount,
  token_count: tokenCount,
});

interface PageParts {
  readonly adminPath: string;
  /** The token that its forms send. */
  readonly csrf: string;
}

/** Shows everything about a document except its content, and the actions of an operator on it. */
function documentPage(document: DocumentInspection, { adminPath, csrf }: PageParts): Html {
  const { generations, jobs } = document;
  return html`<p><a href="${adminPath}/queues">Queues</a></p>
    <section class="card">
      <h1>Document</h1>
      ${table(facts(document))}
    </section>
    <section class="card">
      <h2>Actions</h2>
      ${actionsFor(document).map((action) => actionForm(action, { document, adminPath, csrf }))}
    </section>
    <section class="card">
      <h2>Generations</h2>
      ${
        generations.length === 0
          ? html`<p>None.</p>`
          : table(generations.map((each) => [html`<code>${each.id}</code>`, counts(each)]))
      }
    </section>
    <section class="card">
      <h2>Jobs of this attempt</h2>
      ${
        jobs.length === 0
          ? html`<p>The queues know none any more.</p>`
          : table(jobs.map((job) => [job.state, describeJob(adminPath, job)]))
      }
    </section>`;
}

/** The actions of an operator on a document. */
const ACTIONS = ['retry', 'cancel', 'delete'] as const;
type ActionName = (typeof ACTIONS)[number];

interface Action {
  readonly name: ActionName;
  readonly label: string;
  /** The effect of the action. */
  readonly effect: string;
}

function actionsFor({ status, attempt, published, filename }: DocumentInspection): Action[] {
  const kept = published === null ? 'Nothing of it was published.' : 'What is published stays.';
  const retry: Action = {
    name: 'retry',
    label: 'Retry',
    effect:
      `Its source is read again as attempt ${String(attempt + 1)}, in its owner's turn. Deaths of workers count anew: ` +
      `it fails again when ${String(MAX_DEATHS)} workers die of it.`,
  };
  const cancel: Action = { name: 'cancel', label: 'Cancel', effect: `The attempt under way ends. ${kept}` };
  const remove: Action = {
    name: 'delete',
    label: 'Delete',
    effect: `${filename ?? 'The document'} is removed for good, with its source, its chunks and the documents of its attachments.`,
  };
  const canRetry = status === 'failed' || status === 'cancelled';
  return [...(canRetry ? [retry] : []), ...(isFinal({ status }) ? [] : [cancel]), remove];
}

function actionForm(
  { name, label, effect }: Action,
  { document, adminPath, csrf }: PageParts & { readonly document: DocumentInspection },
): Html {
  return html`<form
    method="post"
    action="${adminPath}/documents/${encodeURIComponent(document.documentId)}/${name}"
  >
    <input type="hidden" name="csrf" value="${csrf}" />
    <p>${effect}</p>
    ${
      name === 'delete'
        ? html`<label><input class="check" type="checkbox" required /> I want it deleted</label>`
        : null
    }
    <button type="submit" class="${name === 'delete' ? 'plain' : 'wanted'}">${label}</button>
  </form>`;
}

type Rows = readonly (readonly [string | Html, string | Html])[];

function facts(document: DocumentInspection): Rows {
  const { error } = document;
  return [
    ['Id', html`<code>${document.documentId}</code>`],
    ['File name', document.filename ?? 'none'],
    ['Owner', document.ownerId],
    ['Status', `${document.status}${document.stage === document.status ? '' : `, ${document.stage}`}`],
    ['Progress', `${String(Math.round(document.progress * 100))} %`],
    ['Error', error === null ? 'none' : `${error.code}, while ${error.stage}`],
    ['Version', `${String(document.version)}, attempt ${String(document.attempt)}`],
    ['Published', describeVersion(document.published)],
    ['Pending', describeVersion(document.pending)],
    ['Tags', document.retagging ? 'being rewritten' : 'up to date'],
    ['Created', document.createdAt],
    ['Updated', document.updatedAt],
    ['Ingest started', document.ingestStartedAt ?? 'none is running'],
  ];
}

const describeVersion = (content: DocumentInspection['published']) =>
  content === null
    ? 'none'
    : `version ${String(content.version)} of ${content.createdAt}: ${counts(content)}`;

const counts = ({ chunkCount, tokenCount }: Counts) =>
  `${String(chunkCount)} chunks, ${String(tokenCount)} tokens`;

type ShownJob = DocumentInspection['jobs'][number];

const describeJob = (adminPath: string, { queue, id, waits }: ShownJob) =>
  html`<a href="${adminPath}/queues/queue/${queue}/${encodeURIComponent(id)}"><code>${id}</code></a>
    ${waits === null ? null : html`<br />waits: ${waits}`}`;

function table(rows: Rows): Html {
  return html`<table>
    ${rows.map(
      ([name, value]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${value}</td>
        </tr>`,
    )}
  </table>`;
}
