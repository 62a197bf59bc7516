// Makes the clients that are out of date: their types from the OpenAPI document of the service, then what ships. With --types,
// it makes the types alone. It reads the service's sources, and needs no build of it.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestTime, root } from './prepare.mjs';

const typescript = join(root, 'clients', 'typescript');
const langchain = join(root, 'clients', 'langchain');
const types = join(typescript, 'src', 'openapi.ts');
const sources = ['src', 'test/support/all-routes.ts', 'scripts/build-clients.mjs', 'package-lock.json'];

const paths = sources.map((path) => join(root, path));
if (!isNewer(types, paths)) writeFileSync(types, await makeTypes());
const parts = [typescript, langchain].flatMap((client) => [
  join(client, 'src'),
  join(client, 'tsconfig.json'),
]);
const isBuilt = [typescript, langchain].every((client) =>
  isNewer(join(client, 'dist', '.tsbuildinfo'), parts),
);
if (process.argv[2] !== '--types' && !isBuilt) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-b', langchain], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

function isNewer(made, sources) {
  if (!existsSync(made)) return false;
  return Math.max(...sources.map(newestTime)) < statSync(made).mtimeMs;
}

async function makeTypes() {
  // The code of the service is compiled as it is imported.
  const { register } = await import('tsx/esm/api');
  register();
  const { createOpenApi } = await import('../src/api/pages/openapi.ts');
  const { allRoutes } = await import('../test/support/all-routes.ts');
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  const routes = allRoutes();
  const named = routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, traitsOf(route)]);
  return `/* Made by scripts/build-clients.mjs. */

/** All routes, each with what a client has to know of it beside its types. */
export const ROUTES: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(Object.fromEntries(named), null, 2)};

${astToString(await openapiTypescript(withoutErrors(createOpenApi(routes))))}`;
}

function traitsOf({ method, permission, idempotency, responses, request }) {
  const traits = {
    // It changes no document, and so may be asked twice.
    read: method === 'get' || permission === 'read',
    // It heeds an `Idempotency-Key`.
    keyed: idempotency !== undefined,
    // It answers 202 where its work goes on.
    waits: 202 in responses,
    // It answers with a file or a picture.
    bytes: typeof responses[200] === 'string',
    body: request.body !== undefined,
  };
  return Object.keys(traits).filter((name) => traits[name]);
}

/** Leaves out what routes answer to mistakes: it is the same for all of them, and most of the document. */
function withoutErrors(document) {
  const copy = JSON.parse(JSON.stringify(document));
  for (const operation of Object.values(copy.paths).flatMap(Object.values))
    for (const status of Object.keys(operation.responses))
      if (status >= 400) delete operation.responses[status];
  return copy;
}
