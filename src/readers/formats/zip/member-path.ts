/**
 * Returns the member of an archive that a reference names, relative to the member that holds it. The part behind `#` is
 * left out, and nothing leads out of the archive.
 */
export function memberPath(reference: string, holder: string): string {
  const [path = ''] = reference.replace(/\\/g, '/').split('#');
  const folders = path.startsWith('/') ? [] : holder.split('/').slice(0, -1);
  for (const step of decodePath(path).split('/'))
    if (step === '..') folders.pop();
    else if (step !== '.' && step !== '') folders.push(step);
  return folders.join('/');
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
