/** Calls `read` at most once in `milliseconds`; callers in between share its result, even while it is pending. */
export function shareResult<Result>(
  milliseconds: number,
  read: () => Promise<Result>,
): () => Promise<Result> {
  let last: { readonly at: number; readonly result: Promise<Result> } | null = null;
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= milliseconds) last = { at: now, result: read() };
    return last.result;
  };
}
