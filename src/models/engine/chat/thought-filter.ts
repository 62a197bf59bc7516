export interface ThoughtFilter {
  /** Returns the part of the text so far that is surely no thought and was not returned yet. */
  push(text: string): string;
  /** Returns the text that was held back at the end. */
  end(): string;
}

/**
 * Leaves out the thoughts of a model before it answers.
 *
 * @param before the end of the prompt, which may open a thought already
 */
export function createThoughtFilter(
  thoughts: { readonly begin: string; readonly end: string } | null,
  before: string,
): ThoughtFilter {
  if (!thoughts) return { push: (text) => text, end: () => '' };
  const [begin, end] = [thoughts.begin.trim(), thoughts.end.trim()];
  let isThinking = before.trimEnd().endsWith(begin);
  let held = '';
  return {
    push: (text) => {
      held += text;
      let shown = '';
      for (;;) {
        const marker = isThinking ? end : begin;
        const at = held.indexOf(marker);
        if (at < 0) {
          // Text that may be the beginning of a marker waits for its rest.
          const kept = overlapLength(held, marker);
          if (!isThinking) shown += held.slice(0, held.length - kept);
          held = held.slice(held.length - kept);
          return shown;
        }
        if (!isThinking) shown += held.slice(0, at);
        held = held.slice(at + marker.length);
        if (isThinking) held = held.trimStart();
        isThinking = !isThinking;
      }
    },
    end: () => (isThinking ? '' : held),
  };
}

/** The length of the longest end of a text that is a beginning of the marker. */
function overlapLength(text: string, marker: string): number {
  for (let length = Math.min(text.length, marker.length - 1); length > 0; length -= 1) {
    if (text.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}
