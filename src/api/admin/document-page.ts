import type { RequestHandler } from 'express';
import { AppError } from '../../shared/errors.js';
import { requestFacts } from '../request-facts.js';
import { sendJson } from '../send-json.js';
import type { DocumentInspection, InspectDocument } from '../services/document-inspection.js';
import { html, sendPage, type Html } from './html.js';

export interface DocumentPageOptions {
  readonly inspect: InspectDocument;
  readonly adminPath: string;
}

/** What there is to know about a document without reading it: as a page, or as JSON for who asks for that. */
export function createDocumentPage({
  inspect,
  adminPath,
}: DocumentPageOptions): RequestHandler<{ id: string }> {
  return async (request, response) => {
    requestFacts(request).route = '/admin/documents/{document_id}';
    const document = await inspect(request.params.id);
    if (!document) throw new AppError(404, 'Document not found');
    if (request.accepts(['json', 'html']) === 'html') {
      sendPage(response, 200, { title: 'Document', body: page(document, adminPath) });
    } else {
      sendJson(response, 200, document);
    }
  };
}

function page(document: DocumentInspection, adminPath: string): Html {
  const { generations, jobs, error, published, pending } = document;
  const version = (content: typeof published) =>
    content === null
      ? 'none'
      : `version ${String(content.version)} of ${content.created_at}: ${counts(content)}`;
  return html`<p><a href="${adminPath}/queues">Queues</a></p>
    <section class="card">
      <h1>Document</h1>
      ${table([
        ['Id', html`<code>${document.document_id}</code>`],
        ['Owner', document.owner_id],
        ['Status', `${document.status}${document.stage === document.status ? '' : `, ${document.stage}`}`],
        ['Progress', `${String(Math.round(document.progress * 100))} %`],
        ['Error', error === null ? 'none' : `${error.code}, while ${error.stage}`],
        ['Version', `${String(document.version)}, attempt ${String(document.attempt)}`],
        ['Published', version(published)],
        ['Pending', version(pending)],
        ['Tags', document.retagging ? 'being rewritten' : 'up to date'],
        ['Created', document.created_at],
        ['Updated', document.updated_at],
        ['Ingest started', document.ingest_started_at ?? 'none is running'],
      ])}
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
          : table(jobs.map(({ queue, id, state }) => [state, jobLink(adminPath, queue, id)]))
      }
    </section>`;
}

const counts = ({ chunk_count: chunks, token_count: tokens }: { chunk_count: number; token_count: number }) =>
  `${String(chunks)} chunks, ${String(tokens)} tokens`;

const jobLink = (adminPath: string, queue: string, id: string) =>
  html`<a href="${adminPath}/queues/queue/${queue}/${encodeURIComponent(id)}"><code>${id}</code></a>`;

function table(rows: readonly (readonly [string | Html, string | Html])[]): Html {
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
