import type { RequestHandler } from 'express';
import { isLoopbackHost } from '../../shared/settings/loopback.js';

/**
 * Refuses requests whose `Host` is not ours. In a DNS rebinding attack, the name of a foreign page points to this machine,
 * and the header holds that name: without a token, the page would read and remove the states here.
 */
export function refuseForeignHosts(own: readonly string[]): RequestHandler {
  return (request, response, next) => {
    const given = request.headersDistinct['host'] ?? [];
    // No browser sends a request without the header.
    const isOwn = given.every((host) => {
      const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
      return isLoopbackHost(name) || own.includes(name);
    });
    if (isOwn) next();
    else
      response.status(403).json({
        error: {
          message: 'without models.token, only addresses of this machine and models.urls are answered',
          type: 'invalid_request_error',
          code: 'wrong_host',
        },
      });
  };
}
