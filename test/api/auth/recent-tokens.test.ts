import { describe, expect, jest, test } from '@jest/globals';
import { rememberTokens } from '../../../src/api/auth/authentication.js';

const inMilliseconds = (milliseconds: number) => (Date.now() + milliseconds) / 1_000;

/** Knows tokens that begin with `good`, and notes each one that it is asked for. */
function startVerifier({ expiresAt = inMilliseconds(60_000) }: { expiresAt?: number } = {}) {
  const asked: string[] = [];
  const find = rememberTokens((token) => {
    asked.push(token);
    return token.startsWith('good') && Date.now() < expiresAt * 1_000 ? { holder: token, expiresAt } : null;
  });
  return { asked, find };
}

describe('remembered tokens', () => {
  test('a good token is verified once, and names its own holder', () => {
    const { asked, find } = startVerifier();
    const holders = ['good-a', 'good-b', 'good-a', 'good-b'].map((token) => find(token)?.holder);
    expect(holders).toEqual(['good-a', 'good-b', 'good-a', 'good-b']);
    expect(asked).toEqual(['good-a', 'good-b']);
  });

  test('a refused token is looked at each time', () => {
    const { asked, find } = startVerifier();
    expect([find('bad'), find('bad')]).toEqual([null, null]);
    expect(asked).toEqual(['bad', 'bad']);
  });

  test('an expired token is refused, however often it was good', () => {
    const { find } = startVerifier({ expiresAt: inMilliseconds(60_000) });
    expect(find('good')).not.toBeNull();
    expect(find('good')).not.toBeNull();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_001);
    expect(find('good')).toBeNull();
    clock.mockRestore();
  });

  test('of more than a thousand, the one that was not used for longest is forgotten', () => {
    const { asked, find } = startVerifier();
    for (let each = 0; each < 1_000; each += 1) find(`good-${String(each)}`);
    find('good-0');
    find('good-1000');
    asked.length = 0;
    for (const each of [0, 2, 999, 1_000, 1]) find(`good-${String(each)}`);
    expect(asked).toEqual(['good-1']);
  });
});
