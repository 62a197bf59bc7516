import { isBuiltin } from 'node:module';

/** A class of an installed package, as settings name it. */
export interface ProviderClass {
  /** The installed package, such as `@langchain/openai`. */
  readonly packageName: string;
  /** The import: the package, or one of its entries, such as `@langchain/community/embeddings/jina`. */
  readonly specifier: string;
  readonly className: string;
}

const SEGMENT = /^[A-Za-z0-9_][\w.-]*$/;
const SCOPE = /^@[a-z0-9_][\w.-]*$/;
const CLASS_NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Reads `<package>:<Class>`. Only names of packages and of their entries pass: no path, no address and no module of Node
 * itself, so that a setting can load installed packages alone. @returns null for anything else
 */
export function parseProviderClass(text: string): ProviderClass | null {
  const [specifier = '', className = '', ...rest] = text.split(':');
  if (text.length > 200 || rest.length > 0 || !CLASS_NAME.test(className)) return null;
  const [first = '', ...others] = specifier.split('/');
  const isScoped = SCOPE.test(first);
  const segments = isScoped ? others : [first, ...others];
  const [name] = segments;
  if (name === undefined || !segments.every((segment) => SEGMENT.test(segment))) return null;
  const packageName = isScoped ? `${first}/${name}` : name;
  return isBuiltin(packageName) || isBuiltin(specifier) ? null : { packageName, specifier, className };
}
