import type { Handler, RouteParts } from './route.js';

export const listModels =
  ({ catalog }: RouteParts): Handler =>
  async (_request, response) => {
    response.json({ object: 'list', data: await catalog.list() });
  };

export const describeModel =
  ({ catalog }: RouteParts): Handler =>
  async (request, response) => {
    response.json(await catalog.describe(String(request.params['model'])));
  };
