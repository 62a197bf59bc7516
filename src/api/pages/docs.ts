import type { RequestHandler } from 'express';
import { sendText } from '../http/response/send-json.js';
import type { Route } from '../http/route.js';
import { createDocsPage } from './docs-page.js';
import { createOpenApi } from './openapi.js';

export interface Docs {
  /** `/openapi.json` */
  readonly document: RequestHandler;
  /** Everything under `/docs`. */
  readonly page: RequestHandler;
}

/** The reference of the interface, as a document and as a page. */
export function createDocs(routes: readonly Route[]): Docs {
  const openApi = createOpenApi(routes);
  // All clients get the same bytes, so that slow ones do not each hold a copy.
  const bytes = Buffer.from(JSON.stringify(openApi));
  return {
    document: (_request, response) => {
      sendText(response, 200, bytes);
    },
    page: createDocsPage(openApi),
  };
}
