import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { toError } from '../../errors.js';
import type { ProviderClass } from '../../models/provider-class.js';
import { systemErrorCode } from '../../system-error-code.js';

/** The package, its class or the options of it cannot be used. The message completes "<setting>: …". */
export class UnusableClassError extends Error {
  override readonly name = 'UnusableClassError';
}

export type Construct = new (options: Record<string, unknown>) => unknown;

const namespaceSchema = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null,
);

/** Loads a class from a package that is installed beside this program. @throws UnusableClassError */
export async function loadClass({ packageName, specifier, className }: ProviderClass): Promise<Construct> {
  if (!isInstalled(packageName)) {
    throw new UnusableClassError(`the package is not installed: npm install ${packageName}`);
  }
  let loaded: unknown;
  try {
    loaded = await import(specifier);
  } catch (error) {
    const code = systemErrorCode(error) ?? toError(error).name;
    throw new UnusableClassError(`${specifier} cannot be loaded (${code})`, { cause: error });
  }
  const found = namespaceSchema.parse(loaded)[className];
  if (isConstructor(found)) return found;
  throw new UnusableClassError(`${specifier} exports no class ${className}`);
}

/** Node looks for packages in the folders `node_modules` beside this file and above it. */
function isInstalled(packageName: string): boolean {
  const folders = createRequire(import.meta.url).resolve.paths(packageName) ?? [];
  return folders
    .filter((folder) => folder.endsWith(`${sep}node_modules`))
    .some((folder) => existsSync(join(folder, packageName, 'package.json')));
}

function isConstructor(value: unknown): value is Construct {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}

/** A method that a class has or inherits; null when it has none of that name. */
export function methodOf(construct: Construct, name: string): ((...given: unknown[]) => unknown) | null {
  const method: unknown = Reflect.get(z.custom<object>().parse(construct.prototype), name);
  return isMethod(method) ? method : null;
}

function isMethod(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === 'function';
}

/** Makes an instance. An error of its constructor may quote an option: values of options are taken out. */
export function construct(type: Construct, options: Record<string, unknown>): unknown {
  try {
    return new type(options);
  } catch (error) {
    const { message } = toError(error);
    const shown = textsIn(options).reduce((text, secret) => text.replaceAll(secret, '…'), message);
    throw new UnusableClassError(`its constructor refuses the options: ${shown.slice(0, 300)}`);
  }
}

/** The strings in a value of JSON, the longest first. Short ones are no secrets, and part of many words. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 3 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value)
    .flatMap(textsIn)
    .sort((left, right) => right.length - left.length);
}
