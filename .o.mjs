import { createOpenApi } from './dist/api/pages/openapi.js';
