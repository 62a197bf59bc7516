const name = /^[A-Za-z0-9._-]{1,128}$/;

/** @throws Error unless `key` is `/`-separated names that no object storage could take for anything but names */
export function assertObjectKey(key: string): void {
  const names = key.split('/');
  const valid = key.length <= 512 && names.every((part) => name.test(part) && part !== '.' && part !== '..');
  if (!valid) throw new Error('invalid object key');
}
