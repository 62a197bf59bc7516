import { Router } from 'express';
import swaggerUi from 'swagger-ui-express';
import { pagePolicy } from '../http/page-policy.js';
import type { OpenApi } from './openapi.js';

const uiOptions = {
  customSiteTitle: 'Quire API',
  swaggerOptions: {
    // Without this, the page would ask a server on the internet to validate it.
    validatorUrl: null,
    persistAuthorization: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
  },
};

/** Swagger UI, served from our own files below the path that it is mounted at. It loads nothing from elsewhere. */
export function createDocsPage(openApi: OpenApi): Router {
  const router = Router();
  // Under an address without a slash at its end, the files of the page are one folder down.
  const html = swaggerUi.generateHTML(openApi, uiOptions);
  const withFolder = (folder: string) => html.replaceAll(/(href|src)="\.\//g, `$1="./${folder}`);
  router.use(pagePolicy({ baseUri: ["'none'"], formAction: ["'none'"] }));
  router.get('/', (request, response) => {
    const isFolder = request.originalUrl.split('?')[0]?.endsWith('/') ?? false;
    response.type('html').send(withFolder(isFolder ? '' : 'docs/'));
  });
  // This file of the package does not belong to the page. Its handler would refuse it in plain text.
  router.get('/package.json', (_request, _response, next) => {
    next('router');
  });
  router.use(swaggerUi.serveFiles(openApi, uiOptions));
  return router;
}
