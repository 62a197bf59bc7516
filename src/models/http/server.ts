import { createServer, type RequestListener, type Server } from 'node:http';
import { KEEP_ALIVE_MILLISECONDS } from '../../shared/tools/keep-alive.js';

/** Creates the HTTP server. A batch of texts may take minutes on a slow processor; clients have time limits of their own. */
export const createModelsServer = (listener: RequestListener): Server =>
  createServer({ requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, listener);
