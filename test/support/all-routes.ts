import { createRoutes } from '../../src/api/routes.js';
import { createServices } from '../../src/api/services.js';
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
  const secrets = ['a secret'] as const;
  const services = createServices(context, secrets);
  return createRoutes(context, { services, secrets, guesses: nothing, phase: () => 'serving' });
}
