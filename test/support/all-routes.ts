import { createRoutes } from '../../src/api/routes.js';
import { fileSettingsSchema } from '../../src/shared/settings/schema.js';
import type { Route } from '../../src/api/http/route.js';

/** All routes of the API for the sake of what they declare. Nothing is behind them: none can be called. */
export function allRoutes(): Route[] {
  // @NOTE only the services look into the context, and only once they are called.
  const nothing = new Proxy(() => undefined, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : nothing),
    apply: () => nothing,
  }) as never;
  const settings = { ...fileSettingsSchema.parse({}), jwtSecretKey: '' };
  const context = new Proxy(nothing, {
    get: (_, name) => (name === 'settings' ? settings : nothing),
  });
  return createRoutes(context, { secrets: ['a secret'], guesses: nothing, phase: () => 'serving' });
}
