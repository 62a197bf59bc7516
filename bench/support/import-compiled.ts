/**
 * Imports a file of `dist/`, by its path there: what reads files that only the build makes works nowhere else.
 * @returns the module; its caller knows of which source it is
 */
export async function importCompiled(path: string): Promise<unknown> {
  const found: unknown = await import(new URL(`../../dist/${path}`, import.meta.url).href);
  return found;
}
