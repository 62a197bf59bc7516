import type { Precondition } from '../../../shared/documents/entity-tag.js';

/**
 * Parses an `If-Match` header (RFC 9110, 13.1.1); null without one. Weak tags never match, since the comparison is strong.
 * A tag that lacks its quotes counts as a quoted one.
 */
export function parseIfMatch(header: string | undefined): Precondition | null {
  if (header === undefined) return null;
  const members = header.split(',').map((member) => member.trim());
  if (members.includes('*')) return { type: 'any' };
  return { type: 'tags', tags: members.flatMap(strongTag) };
}

function strongTag(member: string): string[] {
  if (member.startsWith('W/')) return [];
  const isQuoted = member.length > 1 && member.startsWith('"') && member.endsWith('"');
  return [isQuoted ? member.slice(1, -1) : member];
}
