import { createRoutes } from '../../src/api/routes.js';
import type { Route } from '../../src/api/http/route.js';

/** All routes of the API for the sake of what they declare. Nothing is behind them: none can be called. */
export function allRoutes(): Route[] {
  // @NOTE only the services look into the context, and only once they are called.
  const nothing = new Proxy(() => undefined, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : nothing),
    apply: () => nothing,
  }) as never;
  return createRoutes(nothing, { secrets: ['a secret'], guesses: nothing, phase: () => 'serving' });
}
