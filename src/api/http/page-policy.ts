import helmet from 'helmet';

type Directives = Readonly<Record<string, readonly string[]>>;

/**
 * Makes the Content-Security-Policy of pages whose scripts are files of ours and whose styles are partly inline. Whatever
 * no directive allows is forbidden; `more` adds directives or replaces these.
 */
export function pagePolicy(more: Directives) {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      frameAncestors: ["'none'"],
      ...more,
    },
  });
}
