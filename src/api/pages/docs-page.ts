import { Router } from 'express';
import helmet from 'helmet';
import swaggerUi from 'swagger-ui-express';
import type { OpenApi } from './openapi.js';

const uiOptions = {
  customSiteTitle: 'Quire API',
  swaggerOptions: {
    // Else the page would ask a server on the internet to check it.
    validatorUrl: null,
    persistAuthorization: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
  },
};

/** Swagger UI from files of ours, below the path it is mounted at: it asks nobody else for anything. */
export function createDocsPage(openApi: OpenApi): Router {
  const router = Router();
  // Mounted without a slash, the page's files are one folder down, also behind a proxy's prefix.
  const html = swaggerUi.generateHTML(openApi, uiOptions);
  const withFolder = (folder: string) => html.replaceAll(/(href|src)="\.\//g, `$1="./${folder}`);
  router.use(
    helmet.contentSecurityPolicy({
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    }),
  );
  router.get('/', (request, response) => {
    const isFolder = request.originalUrl.split('?')[0]?.endsWith('/') ?? false;
    response.type('html').send(withFolder(isFolder ? '' : 'docs/'));
  });
  // A file of the package that is none of the page, and that would be refused in plain text.
  router.get('/package.json', (_request, _response, next) => {
    next('router');
  });
  router.use(swaggerUi.serveFiles(openApi, uiOptions));
  return router;
}
