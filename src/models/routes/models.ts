import type { Handler, RouteParts } from './route.js';

export const listModels =
  ({ models }: RouteParts): Handler =>
  async (_request, response) => {
    response.json({ object: 'list', data: await models.list() });
  };

export const describeModel =
  ({ models }: RouteParts): Handler =>
  async (request, response) => {
    response.json(await models.describe(String(request.params['model'])));
  };
