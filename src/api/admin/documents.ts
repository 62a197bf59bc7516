import { Router, type Request, type Response } from 'express';
import { NotFoundError } from '../../shared/errors.js';
import { noteDocuments } from '../../shared/audit/notes.js';
import { HttpError } from '../http/http-error.js';
import { noteRoute } from '../http/logging/request-facts.js';
import { sendJson } from '../http/response/send-json.js';
import type { InspectDocument } from '../services/documents/document-inspection.js';
import type { OperatorChanges } from '../services/documents/operator-changes.js';
import { ACTIONS, documentPage, type ActionName } from './document-page.js';
import { sendPage } from './html.js';
import { viewInspection } from './inspection-view.js';
import type { Visit, Visits } from './page-visitor.js';
import { readSmallForm, type FormOptions } from './small-form.js';

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

const wantsPage = (request: Pick<Request, 'accepts'>) => request.accepts(['json', 'html']) === 'html';

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
  await change(options.changes, { name, id, requestId: response.get('X-Request-Id') ?? '' });
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
